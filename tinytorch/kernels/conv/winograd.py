"""Convolutions with kernels of 3 x 3 by Winograd's method in C (native/winograd.c). Their twins are in columns.py.

They need 16 multiplications where a direct convolution needs 36, but more additions. Errors are about twice as large as
those of direct sums, which is less than the difference between torch's own kernels.
"""
from .. import native
from . import windows


def suits(x, other, channels, outputs, kernel, out, stride, padding, dilation, groups, bias=None):
    """Whether C takes the arrays and this method is faster: it needs many channels, and many squares of 2 x 2 outputs
    in each image, so that the additional work is small beside the saved multiplications."""
    return kernel == (3, 3) and groups == 1 and stride == dilation == (1, 1) and 24 <= channels <= 512 \
        and outputs >= 24 and min(out) >= 6 and windows.suits(x, other, bias) \
        and min(padding[0][0], padding[1][0]) >= 0 and max(padding[0][0], padding[1][0]) <= min(out)


def forward(x, weight, bias, out, padding):
    """`columns.forward`."""
    x, weight, bias = windows.in_order(x, weight, bias)
    count, channels, *size = x.shape
    outputs = len(weight)
    return native.result("convolve_squares", (count, outputs) + out, count, channels, *size, outputs, *out,
                         padding[0][0], padding[1][0], 9 * channels, 9, 0, x, weight, bias)


def input_grad(grad, weight, bias, size, padding):
    """`columns.input_grad`."""
    grad, weight, bias = windows.in_order(grad, weight, bias)
    count, outputs, *out = grad.shape
    channels = weight.shape[1]
    return native.result("convolve_squares", (count, channels) + size, count, outputs, *out, channels, *size,
                         2 - padding[0][0], 2 - padding[1][0], 9, 9 * channels, 1, grad, weight, bias)
