"""torch.nn.functional: the layers as functions. ops/ implements most of them. This file has the functions that torch
writes in Python on top of its operations, with `inplace` and other defaults."""
from __future__ import annotations

import sys as _sys

import warnings

from ..errors import warn
from .. import dtypes as dt
from ..autograd.overridable import complete as _complete
from ..autograd.public import public
from ..missing import namespace as _namespace
from ..overrides import (handle_torch_function, has_torch_function, has_torch_function_unary,
                         has_torch_function_variadic)
from ..ops.linalg.products import linear
from ..ops.nn import activation as _activation, elu as _elu, relu as _relu
from ..ops.nn.activation import (glu, hardshrink, hardtanh_, logsigmoid, softplus, softshrink, softsign, tanhshrink,
                                 threshold_)
from ..ops.nn.adaptive_pool import (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d,
                                    adaptive_max_pool1d_with_indices, adaptive_max_pool2d,
                                    adaptive_max_pool2d_with_indices, adaptive_max_pool3d,
                                    adaptive_max_pool3d_with_indices, lp_pool1d, lp_pool2d, lp_pool3d, max_unpool1d,
                                    max_unpool2d, max_unpool3d)
from ..ops.nn.attention import scaled_dot_product_attention
from ..ops.nn.bilinear import bilinear
from ..ops.nn.conv_tbc import conv_tbc
from ..ops.nn.conv import conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d
from ..ops.nn.cross_entropy import cross_entropy, nll_loss
from ..ops.nn.ctc import ctc_loss
from ..ops.nn.dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from ..ops.nn.elu import celu_, elu_, selu_
from ..ops.nn.embedding import embedding, one_hot
from ..ops.nn.embedding_bag import embedding_bag
from ..ops.nn.fold import fold, unfold
from ..ops.nn.fractional_pool import (fractional_max_pool2d, fractional_max_pool2d_with_indices, fractional_max_pool3d,
                                      fractional_max_pool3d_with_indices)
from ..ops.nn.gelu import gelu
from ..ops.nn.grid_sample import affine_grid, grid_sample
from ..ops.nn.group_norm import group_norm, local_response_norm
from ..ops.nn.interpolate import interpolate, upsample, upsample_bilinear, upsample_nearest
from ..ops.nn.linear_cross_entropy import linear_cross_entropy
from ..ops.nn.loss import (binary_cross_entropy, binary_cross_entropy_with_logits, gaussian_nll_loss, huber_loss,
                           kl_div, l1_loss, mse_loss, poisson_nll_loss, smooth_l1_loss)
from ..ops.nn.margin_loss import (cosine_embedding_loss, hinge_embedding_loss, margin_ranking_loss, multi_margin_loss,
                                  multilabel_margin_loss, multilabel_soft_margin_loss, soft_margin_loss,
                                  triplet_margin_loss, triplet_margin_with_distance_loss)
from ..ops.nn.multi_head_attention import multi_head_attention_forward
from ..ops.nn.norm import batch_norm, instance_norm, layer_norm, rms_norm
from ..ops.nn.pad import pad
from ..ops.nn.pixel_shuffle import channel_shuffle, native_channel_shuffle, pixel_shuffle, pixel_unshuffle
from ..ops.nn.pool import (avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool1d_with_indices, max_pool2d,
                           max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices)
from ..ops.nn.relu import leaky_relu_, prelu, relu as _torch_relu, relu_, rrelu_
from ..ops.nn.similarity import cosine_similarity, normalize, pairwise_distance, pdist
from ..ops.nn.softmax import gumbel_softmax
from ..tensor import Tensor

from .low_precision import ScalingType, SwizzleType, grouped_mm, scaled_grouped_mm, scaled_mm

__getattr__ = _namespace(__name__, {"grad": f"{__package__}.grad"})


# ------------------------------------------------------------------ activations
@public(hot=True, python=True, seen=False)
def tanh(input: Tensor) -> Tensor:
    """`torch.tanh`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.tanh(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7616])
    """
    return input.tanh()


@public(hot=True, python=True, seen=False)
def sigmoid(input: Tensor) -> Tensor:
    """`torch.sigmoid`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.sigmoid(torch.tensor([0., 1.]))
    tensor([0.5000, 0.7311])
    """
    return input.sigmoid()


# ------------------------------------------------------------------ activations that may be computed in place
@public(hot=True, python=True)
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0). Its derivative at 0 is 0, at NaN 1. RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.nn.functional.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return relu_(input) if inplace else _torch_relu(input)


@public(hot=True, python=True, repeats=True)
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(input, 0), 6).

    >>> import tinytorch as torch
    >>> torch.nn.functional.relu6(torch.tensor([-1., 7.]))
    tensor([0., 6.])
    """
    return hardtanh_(input, 0, 6) if inplace else _activation.hardtanh(input, 0, 6)


@public(hot=True, python=True, repeats=True)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input` where positive, else input * negative_slope. NotImplementedError for integers.

    >>> import tinytorch as torch
    >>> torch.nn.functional.leaky_relu(torch.tensor([-1., 2.]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    return leaky_relu_(input, negative_slope) if inplace else _relu.leaky_relu(input, negative_slope)


@public(hot=True, python=True)
def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          inplace: bool = False) -> Tensor:
    """leaky_relu with a slope for each element: drawn from [lower, upper) in training, else (lower + upper) / 2.

    >>> import tinytorch as torch
    >>> torch.nn.functional.rrelu(torch.tensor([-16., 2.]), 0.25, 0.75)
    tensor([-8.,  2.])
    """
    return rrelu_(input, lower, upper, training) if inplace else _relu.rrelu(input, lower, upper, training)


@public(hot=True, python=True)
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` limited to [min_val, max_val]. The derivative is 0 at both ends and outside.

    ValueError if min_val > max_val, RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardtanh(torch.tensor([-2., 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return hardtanh_(input, min_val, max_val) if inplace else _activation.hardtanh(input, min_val, max_val)


@public(hot=True, python=True, repeats=True)
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`input` where it is above `threshold`, else `value`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.threshold(torch.tensor([0.5, 2.]), 1, 20)
    tensor([20.,  2.])
    """
    return threshold_(input, threshold, value) if inplace else _activation.threshold(input, threshold, value)


_threshold = threshold                         # the name under which torch pickles it


@public(hot=True, python=True, repeats=True)
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(input + 3, 0), 6) / 6.

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardsigmoid(torch.tensor([-4., 0.]))
    tensor([0.0000, 0.5000])
    """
    return _activation.hardsigmoid_(input) if inplace else _activation.hardsigmoid(input)


@public(hot=True, python=True, repeats=True)
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * hardsigmoid(input).

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardswish(torch.tensor([-4., 3.]))
    tensor([-0.,  3.])
    """
    return _activation.hardswish_(input) if inplace else _activation.hardswish(input)


@public(hot=True, python=True, repeats=True)
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input), also called swish.

    >>> import tinytorch as torch
    >>> torch.nn.functional.silu(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7311])
    """
    return _activation.silu_(input) if inplace else _activation.silu(input)


@public(hot=True, python=True, repeats=True)
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input)).

    >>> import tinytorch as torch
    >>> torch.nn.functional.mish(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8651])
    """
    return _activation.mish_(input) if inplace else _activation.mish(input)


@public(hot=True, python=True, repeats=True)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where positive, else alpha * (exp(input) - 1).

    >>> import tinytorch as torch
    >>> torch.nn.functional.elu(torch.tensor([-1., 1.]))
    tensor([-0.6321,  1.0000])
    """
    return elu_(input, alpha) if inplace else _elu.elu(input, alpha)


@public(hot=True, python=True, repeats=True)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the constants that keep activations at mean 0 and variance 1.

    Klambauer et al. 2017, Self-Normalizing Neural Networks.

    >>> import tinytorch as torch
    >>> torch.nn.functional.selu(torch.tensor([-1., 1.]))
    tensor([-1.1113,  1.0507])
    """
    return selu_(input) if inplace else _elu.selu(input)


@public(hot=True, python=True, repeats=True)
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where positive, else alpha * (exp(input / alpha) - 1). RuntimeError if alpha is 0.

    >>> import tinytorch as torch
    >>> torch.nn.functional.celu(torch.tensor([-1., 1.]), 2.)
    tensor([-0.7869,  1.0000])
    """
    return celu_(input, alpha) if inplace else _elu.celu(input, alpha)


# ------------------------------------------------------------------ softmax
def _implicit(name, input):
    """The default dimension of earlier torch versions. `_stacklevel` exists for torch's signature alone: `warn` finds
    the caller's line without it."""
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
         "argument.")
    return 0 if input.dim() in (0, 1, 3) else 1


@public(hot=True, python=True)
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dt.dtype | None = None) -> Tensor:
    """torch.softmax; without `dim`, which is deprecated, along dimension 1 (0 for 0, 1 and 3 dimensions).

    >>> import tinytorch as torch
    >>> torch.nn.functional.softmax(torch.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    if dim is None:
        dim = _implicit("softmax", input)
    return input.softmax(dim, dtype)


def assert_int_or_pair(arg, arg_name, message):
    """AssertionError unless `arg` is an integer or has two elements."""
    assert isinstance(arg, int) or len(arg) == 2, message.format(arg_name)


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls `if_true` if its argument `arg_name` is true, else `if_false`. It has the docstring of
    either. RuntimeError if both have one."""
    def fn(*args, **kwargs):
        if arg_name in kwargs:
            chosen = kwargs[arg_name]
        else:
            chosen = args[arg_index] if arg_index < len(args) else default
        return (if_true if chosen else if_false)(*args, **kwargs)
    if module_name is not None:
        fn.__module__ = module_name
    if func_name is not None:
        fn.__name__ = func_name
    if if_true.__doc__ is not None and if_false.__doc__ is not None:
        raise RuntimeError("only one function can have a docstring")
    if if_false.__doc__ is not None:
        if_true.__doc__ = if_false.__doc__
    elif if_true.__doc__ is not None:
        if_false.__doc__ = if_true.__doc__
    fn.__doc__ = if_true.__doc__
    return fn


@public(hot=True, python=True)
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dt.dtype | None = None) -> Tensor:
    """softmax(-input).

    >>> import tinytorch as torch
    >>> torch.nn.functional.softmin(torch.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    if dim is None:
        dim = _implicit("softmin", input)
    return (-input).softmax(dim, dtype)


@public(hot=True, python=True)
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dt.dtype | None = None) -> Tensor:
    """torch.log_softmax. Without `dim`, the dimension is that of `softmax`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.log_softmax(torch.tensor([0., 0.]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    if dim is None:
        dim = _implicit("log_softmax", input)
    return input.log_softmax(dim, dtype)


_complete("nn.functional", _sys.modules[__name__])
