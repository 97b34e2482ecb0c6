"""Fusion of a batch norm in evaluation with the layer before it."""
import copy

from ...ops.creation.factories import ones_like, zeros_like
from ...ops.elementwise.math import rsqrt
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _fused(layer, bn, fuse, *options):
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    result = copy.deepcopy(layer)
    result.weight, result.bias = fuse(result.weight, result.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight,
                                      bn.bias, *options)
    return result


def _check_evaluation(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that computes bn(conv(x)). `transpose` says that `conv` is transposed. AssertionError in training
    or without running statistics.

    >>> import tinytorch as torch
    >>> conv, bn = torch.nn.Conv2d(1, 2, 3).eval(), torch.nn.BatchNorm2d(2).eval()
    >>> x = torch.ones(1, 1, 4, 4)
    >>> bool((torch.nn.utils.fuse_conv_bn_eval(conv, bn)(x) - bn(conv(x))).abs().max() < 1e-5)
    True
    """
    _check_evaluation(conv, bn)
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """(weight, bias) of the fused convolution, as Parameters."""
    dtype = conv_w.dtype if conv_b is None else conv_b.dtype
    conv_b = zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = zeros_like(bn_rm) if bn_b is None else bn_b
    factor = rsqrt(bn_rv + bn_eps)
    shape = ([1, -1] if transpose else [-1, 1]) + [1] * (conv_w.dim() - 2)
    weight = (conv_w * (bn_w * factor).reshape(shape)).to(conv_w.dtype)
    bias = ((conv_b - bn_rm) * factor * bn_w + bn_b).to(dtype)
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, conv_b.requires_grad)


def fuse_linear_bn_eval(linear, bn):
    """A linear layer that computes bn(linear(x)). `bn` has as many features as the layer, or one.

    AssertionError in training, without running statistics or for other sizes.
    """
    _check_evaluation(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
                             f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}")
    return _fused(linear, bn, fuse_linear_bn_weights)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """(weight, bias) of the fused linear layer, as Parameters."""
    dtype = linear_w.dtype if linear_b is None else linear_b.dtype
    linear_b = zeros_like(bn_rm) if linear_b is None else linear_b
    factor = bn_w * rsqrt(bn_rv + bn_eps)
    weight = linear_w * factor.unsqueeze(-1).to(linear_w.dtype)
    bias = ((linear_b - bn_rm) * factor + bn_b).to(dtype)
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, linear_b.requires_grad)
