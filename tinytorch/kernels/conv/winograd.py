"""Convolutions of images by kernels of 3 x 3 in C (native/winograd.c). Their twins are those of columns.py.

They take 16 multiplications where others take 36, and add what they multiply: errors are about twice as large as those
of sums one by one, which still lie below what torch's own kernels differ by.
"""
from .. import native
from . import windows


def suits(x, other, channels, outputs, kernel, out, stride, padding, dilation, groups, bias=None):
    """Whether C convolves images so, and it is the quicker way: where there are as many channels, and squares of 2 x 2
    outputs in each image, as what it adds is little beside what it saves."""
    return kernel == (3, 3) and groups == 1 and stride == dilation == (1, 1) and 24 <= channels <= 512 \
        and outputs >= 24 and min(out) >= 6 and windows.suits(x, other, bias) \
        and min(padding[0][0], padding[1][0]) >= 0 and max(padding[0][0], padding[1][0]) <= min(out)


def forward(x, weight, bias, out, padding):
    """As columns.forward."""
    x, weight, bias = windows.in_order(x, weight, bias)
    count, channels, *size = x.shape
    outputs = len(weight)
    return native.result("convolve_squares", (count, outputs) + out, count, channels, *size, outputs, *out,
                         padding[0][0], padding[1][0], 9 * channels, 9, 0, x, weight, bias)


def input_grad(grad, weight, bias, size, padding):
    """As columns.input_grad."""
    grad, weight, bias = windows.in_order(grad, weight, bias)
    count, outputs, *out = grad.shape
    channels = weight.shape[1]
    return native.result("convolve_squares", (count, channels) + size, count, outputs, *out, channels, *size,
                         2 - padding[0][0], 2 - padding[1][0], 9, 9 * channels, 1, grad, weight, bias)
