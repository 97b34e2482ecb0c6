"""Depthwise convolutions, with one kernel for each channel, in C (native/depthwise.c). columns.py has their twins."""
from .. import native
from . import windows


def suits(x, other, outputs, channels, kernel, groups, padding, bias=None):
    """Whether C takes the arrays: images of one or two axes, with one output for each channel."""
    return groups > 1 and groups == outputs == channels and len(kernel) < 3 and min([lo for lo, _ in padding]) >= 0 \
        and windows.suits(x, other, bias)


def _settings(size, out, kernel, stride, padding, dilation):
    """The settings that the kernels take, for two axes."""
    before = tuple([lo for lo, _ in padding])
    if len(kernel) == 1:
        size, out, kernel, stride, before, dilation = (
            (1, *size), (1, *out), (1, *kernel), (1, *stride), (0, *before), (1, *dilation))
    return *size, *out, *kernel, *stride, *before, *dilation


def forward(x, weight, bias, out, stride, padding, dilation):
    """`columns.forward`."""
    x, weight, bias = windows.in_order(x, weight, bias)
    return native.result("depthwise_forward", x.shape[:2] + out, *x.shape[:2],
                         *_settings(x.shape[2:], out, weight.shape[2:], stride, padding, dilation), x, weight, bias)


def input_grad(grad, weight, bias, size, stride, padding, dilation):
    """`columns.input_grad`."""
    grad, weight = windows.in_order(grad, weight)
    result = native.result("depthwise_input", grad.shape[:2] + size, *grad.shape[:2],
                           *_settings(size, grad.shape[2:], weight.shape[2:], stride, padding, dilation), grad, weight)
    if bias is not None:
        result += bias.reshape((-1,) + (1,) * len(size))
    return result


def weight_grad(x, grad, kernel, stride, padding, dilation):
    """`columns.weight_grad`."""
    x, grad = windows.in_order(x, grad)
    return native.result("depthwise_weights", (x.shape[1], 1) + kernel, *x.shape[:2],
                         *_settings(x.shape[2:], grad.shape[2:], kernel, stride, padding, dilation), x, grad)
