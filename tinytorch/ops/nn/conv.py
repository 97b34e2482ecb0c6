"""Convolutions: conv1d conv2d conv3d and their transposes.

There are three primitives, each linear in both of its tensors: the convolution, the gradient of its input (the
transposed convolution) and the gradient of its weight. The derivatives of each are the other two, so higher
derivatives need no further rules. Arguments of the primitives: `padding`, a (before, after) pair for each axis;
`last`, three flags: whether the output, the input's gradient and the weight's gradient have their channels last in
memory; `learns`, whether the weight's gradient may be asked for; `columns`, the windows of the input, if the forward
has kept them for the weight's gradient (real dtypes only; see kernels/conv/columns.py).
"""
from __future__ import annotations

from math import prod

import numpy as np

from ... import dtypes as dt
from ...arguments import ints_of, is_one_int
from ...autograd.op import op
from ...autograd.public import public
from ...autograd.record_dtypes import in_float32
from ...errors import C_NAMES, not_implemented, refuse_records, type_name, warn
from ...kernels.conv import columns as kernels, few_outputs
from ...kernels.layout import channels_last, in_channels_last
from ...tensor import Tensor
from ...types import Extent, Extents
from ..layout.shape import squeeze, unsqueeze
from ..plan import cached_by_shape
from ..reduction.reductions import _sum
from .fold import whole
from .pad import constant_pad_nd

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
           "convolution"]


# ------------------------------------------------------------------ primitives
# This rule names `input` and `weight`, because torch saves both, whichever gradient is wanted.
def _all_but_channels(g, input, weight):
    return _sum(g, (0,) + tuple(range(2, len(g.shape))), False)


def _wide(x):
    """float16 in float32, which BLAS can multiply; anything else as it is."""
    return x.astype(np.float32) if x is not None and x.dtype.char == "e" else x


#: The usual `last`: channels first everywhere. The kernels compute with channels first; a result with channels last
#: is a copy.
_FIRST = (False, False, False)


@op(name="convolution", first=7, aux=True,
    input=lambda g, last, stride, padding, dilation, groups, input, weight:
        _conv_input_grad((last[1], last[0], last[2]), input.shape[2:], stride, padding, dilation, groups, g,
                         weight.conjugate(), None),
    weight=lambda g, last, stride, padding, dilation, groups, input, weight, aux:
        _conv_weight_grad(last, weight.shape[2:], stride, padding, dilation, groups, aux, input.conjugate(), g),
    bias=_all_but_channels, called={"input": "input"})
def _conv(last, learns, out, stride, padding, dilation, groups, input, weight, bias, keep):
    result, columns = kernels.forward(_wide(input), _wide(weight), _wide(bias), out, stride, padding, dilation, groups,
                                      keep and learns and input.dtype.kind == dt.NATIVE)
    if last[0] is True:
        result = in_channels_last(result)
    return result if result.dtype == input.dtype else result.astype(input.dtype), columns


@op(name="convolution", first=6,
    input=lambda g, last, stride, padding, dilation, groups, input, weight:
        _conv((last[1], last[0], last[2]), False, input.shape[2:], stride, padding, dilation, groups, g,
              weight.conjugate(), None),
    weight=lambda g, last, stride, padding, dilation, groups, input, weight:
        _conv_weight_grad(last, weight.shape[2:], stride, padding, dilation, groups, None, g, input.conjugate()),
    bias=_all_but_channels, called={"input": "input"})
def _conv_input_grad(last, size, stride, padding, dilation, groups, input, weight, bias):
    result = kernels.input_grad(_wide(input), _wide(weight), _wide(bias), size, stride, padding, dilation, groups,
                                last[0])
    if last[0] is True and result.flags.c_contiguous:
        result = in_channels_last(result)
    return result if result.dtype == input.dtype else result.astype(input.dtype)


@op(name="convolution", first=7,
    input=lambda g, shape, last, stride, padding, dilation, groups, grad:
        _conv_input_grad((last[1], last[0], last[2]), shape[2:], stride, padding, dilation, groups, grad.conjugate(), g,
                         None),
    grad=lambda g, shape, last, stride, padding, dilation, groups, input:
        _conv(last, False, shape[2:], stride, padding, dilation, groups, input.conjugate(), g, None),
    called={"input": "input"})
def _conv_weight_grad(last, kernel, stride, padding, dilation, groups, columns, input, grad):
    if isinstance(columns, Tensor):            # saved columns are a Tensor where a derivative is recorded
        columns = columns._array
    result = kernels.weight_grad(_wide(input), _wide(grad), kernel, stride, padding, dilation, groups, columns)
    if last[2]:
        result = in_channels_last(result)
    return result if result.dtype == input.dtype else result.astype(input.dtype)


# ------------------------------------------------------------------ memory order
def _last(n, input, weight, stride, dilation, groups, far=False):
    """`last` of a convolution of `input` with `weight` by torch's rules. `far`: an output padding is at least as large
    as its stride."""
    by_weight, by_input = channels_last(weight), channels_last(input)
    if n == 1:                                 # torch copies the input to C order and adds an axis
        pixels = few_outputs.by_pixel(input) and (len(weight) > 1 or weight.shape[2] == 1)
        if by_weight:
            return True, True, True
        return (False, _BY_PIXEL, False) if pixels else _FIRST
    points = max(weight.shape[2:]) == 1
    if not (by_weight or by_input) or n == 3 and input.dtype.kind != dt.COMPLEX and (
            far or not _by_mkldnn(input, weight.shape, stride, dilation, groups)):
        return _FIRST
    if input.dtype.kind == dt.COMPLEX:
        return True, False, False
    return True, True, by_weight or not points or input.dtype == dt.BFLOAT16


def _by_mkldnn(input, weight, stride, dilation, groups, dtype=None):
    """Whether torch leaves this convolution of volumes to oneDNN, which keeps their memory format. `dtype` defaults to
    that of `input`."""
    dtype = dtype or input.dtype
    if dtype != np.float32:
        return dtype == dt.BFLOAT16
    count, wide = len(input), (max(weight[-2:]) > 1)
    return (max(stride) > 1 or max(dilation) > 1 or count >= 16 or wide) and (
        groups > 1 or min(weight[-2:]) > 3 or count > 1 or prod(input.shape[:4]) > 20480)


#: A value of `last`: the gradient of the input has the order in which the input was read, pixel by pixel. This is the
#: case of 1-d convolutions over (N, L, C) arrays that were transposed, such as embedded words.
_BY_PIXEL = "by pixel"


# ------------------------------------------------------------------ checks
def _numbers(value, name, n, dims):
    """`value` (an int or several) as `dims` ints. RuntimeError for another count."""
    if isinstance(value, (tuple, list)):
        value = ints_of(value, "convolution", name, None, True)
    else:
        value = (int(value) if is_one_int(value) else whole(value, name),) * n
    if len(value) == 1:
        value *= dims
    if len(value) != dims:
        raise RuntimeError(f"expected {name} to be a single integer value or a list of {dims} values to match the "
                           f"convolution dimensions, but got {name}={list(value)}")
    return value


def _check_dims(function, n, input, weight):
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if input.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {function.__name__}, but got "
                           f"input of size: {list(input.shape)}")


def _check_dtypes(input, weight, bias, transposed=False):
    dtype = input._array.dtype
    if dtype is weight._array.dtype and (bias is None or bias._array.dtype is dtype) and dtype.kind not in dt.BOOL:
        return
    have, want = type_name(input), type_name(weight)
    if bias is not None and type_name(bias) != have and (have == want or not transposed):
        raise RuntimeError(f"Input type ({C_NAMES[have]}) and bias type ({C_NAMES[type_name(bias)]}) should be the "
                           "same")
    if have != want:
        if "Complex" in have + want and bias is None:
            raise RuntimeError(f"Input type (CPU{have}Type) and weight type (torch.{want}Tensor) should be the same")
        raise RuntimeError(f"expected scalar type {have} but found {want}")
    if have == "Bool":
        raise not_implemented("slow_conv2d_cpu", dt.bool)


def _check_settings(shape, stride, padding, dilation, groups, output_padding):
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(output_padding) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) <= 0 and 0 not in shape:  # without elements torch never gets to this check
        raise RuntimeError("dilation should be greater than zero, but got "
                           f"{[1] * (len(dilation) == 1) + list(dilation)}")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


def _check_shapes(input, weight, bias, groups, transposed):
    shape, size = list(weight), list(input)
    if shape[0] < groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got "
                           f"weight of size {shape} instead")
    if shape[0] % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but "
                           f"got weight of size [{shape}] instead")
    channels = shape[0] if transposed else shape[1] * groups
    given = f"Given transposed={int(transposed)}" if transposed else f"Given groups={groups}"
    if size[1] != channels:
        raise RuntimeError(f"{given}, weight of size {shape}, expected input{size} to have {channels} channels, "
                           f"but got {size[1]} channels instead")
    outputs = shape[1] * groups if transposed else shape[0]
    if bias is not None and bias != (outputs,):
        given = given + "," if transposed else "Given"
        raise RuntimeError(f"{given} weight of size {shape}, expected bias to be 1-dimensional with {outputs} "
                           f"elements, but got bias of size {list(bias)} instead")


def _by(sizes):
    return "(" + " x ".join([str(n) for n in sizes]) + ")"


# ------------------------------------------------------------------ public
def _forward(function, n, input, weight, bias, stride, padding, dilation, groups):
    try:
        _check_dims(function, n, input._array, weight._array)
        if input._array.ndim == n + 1:
            return squeeze(_forward(function, n, unsqueeze(input, 0), weight, bias, stride, padding, dilation, groups),
                           0)
        _check_dtypes(input, weight, bias)
        settings = _settings(n, input._array.shape, weight._array.shape, bias if bias is None else bias._array.shape,
                             stride, padding, dilation, groups)
    except _NoChannels as found:
        return _conv_of_no_channels(found.args[0], input, weight, bias)
    if padding.__class__ is str:
        input, settings = _evenly_padded(input, *settings)
    x, w = input._array.strides, weight._array.strides
    last = _FIRST
    if x[1] <= x[-1] or w[1] < w[-1] or w[1] == w[-1] and weight._array.shape[1] == 1:
        last = _last(n, input._array, weight._array, settings[1], *settings[3:])
    if input._array.dtype.kind == dt.WIDENED:
        if input._array.dtype == dt.BFLOAT16:
            return in_float32(_conv, last, weight._requires_grad, *settings, input, weight, bias)
        refuse_records("slow_conv2d_cpu", input, dt.FLOAT8_RECORDS)
        return _by_parts(lambda *given: _forward(function, n, *given, stride, padding, dilation, groups), input, weight,
                         bias)
    return _conv(last, weight._requires_grad, *settings, input, weight, bias)


def _by_parts(convolve, input, weight, bias):
    """A convolution of complex32 numbers as three convolutions of float16 numbers (Gauss), as torch computes it."""
    x, y = input.real, input.imag
    v, w = weight.real, weight.imag
    p, q = (None, None) if bias is None else (bias.real, bias.imag)
    first, second = convolve(x, v, p), convolve(y, w, None)
    both = convolve(x + y, v + w, None if bias is None else p + q)
    return first - second + (both - first - second) * 1j


@cached_by_shape
def _settings(n, shape, weight, bias, stride, padding, dilation, groups):
    """(output size, stride, padding pairs, dilation, groups) for the shapes of input, weight and bias."""
    dims, size, kernel, groups = len(weight) - 2, shape[2:], weight[2:], whole(groups, "groups")
    stride, dilation = _numbers(stride, "stride", n, dims), _numbers(dilation, "dilation", n, dims)
    if isinstance(padding, str):
        pairs = _named_padding(padding, kernel, stride, dilation)
    else:
        pairs = tuple([(p, p) for p in _numbers(padding, "padding", n, dims)])
    if len(shape) != len(weight):
        raise RuntimeError(f"Expected {len(weight)}-dimensional input for {len(weight)}-dimensional weight "
                           f"{list(weight)}, but got {len(shape)}-dimensional input of size {list(shape)} instead")
    _check_settings(shape, stride, [p for p, _ in pairs], dilation, groups, (0,))
    _check_shapes(shape, weight, bias, groups, False)
    padded = [m + before + after for m, (before, after) in zip(size, pairs)]
    span = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    if any([m < s for m, s in zip(padded, span)]):
        raise RuntimeError(f"Calculated padded input size per channel: {_by(padded)}. Kernel size: {_by(span)}. Kernel "
                           "size can't be greater than actual input size")
    _check_filled(shape)
    out = tuple([(m - k) // s + 1 for m, k, s in zip(padded, span, stride)])
    if not shape[1]:
        raise _NoChannels((shape[0], 0, *out))
    _check_kernel(n, kernel)
    return out, stride, pairs, dilation, groups


class _NoChannels(Exception):
    """Raised for an input without channels: torch's result has no channels either, whatever the weight's sizes are."""


@op(name="convolution", first=1, input=lambda g, input: g.reshape(input.shape),
    weight=lambda g, weight: g.reshape(weight.shape), bias=lambda g, bias: g.reshape(0, *bias.shape))
def _conv_of_no_channels(shape, input, weight, bias):
    return (input.reshape(-1) * weight.reshape(-1)).reshape(shape)


def _check_filled(shape):
    """RuntimeError for channels without elements, unless there are no examples or no channels."""
    if 0 in shape[2:] and 0 not in shape[:2]:
        shape = [*shape[:2], *(1,) * (len(shape) == 3), *shape[2:]]
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}")


def _check_kernel(n, kernel):
    """RuntimeError for a kernel without elements."""
    if 0 in kernel:
        sizes = (1,) * (n == 1) + kernel
        got = f": {' x '.join(map(str, sizes))} (TxHxW)" if n == 3 else \
            f" kernel_height: {sizes[0]} kernel_width: {sizes[1]}"
        raise RuntimeError(f"kernel size should be greater than zero, but got{got}")


def _named_padding(padding, kernel, stride, dilation):
    """The (before, after) pairs for 'same' and 'valid'."""
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if max(stride) != 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, kernel)]
    if any([total % 2 for total in totals]):
        warn("Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy "
             "of the input be created")
    return tuple([(total // 2, total - total // 2) for total in totals])


def _evenly_padded(input, out, stride, pairs, *rest):
    """The input, padded at the end of each axis where its pair is uneven, and the settings for it. torch pads such an
    input in a copy, which it saves."""
    behind = [after - before for before, after in pairs]
    if any(behind):
        input = constant_pad_nd(input, [n for extra in reversed(behind) for n in (0, extra)])
        pairs = tuple([(before, before) for before, _ in pairs])
    return input, (out, stride, pairs, *rest)


def _transposed(function, n, input, weight, bias, stride, padding, output_padding, groups, dilation):
    _check_dims(function, n, input._array, weight._array)
    if input._array.ndim == n + 1:
        return squeeze(_transposed(function, n, unsqueeze(input, 0), weight, bias, stride, padding, output_padding,
                                   groups, dilation), 0)
    _check_dtypes(input, weight, bias, True)
    settings = _transposed_settings(n, input._array.shape, weight._array.shape,
                                    bias if bias is None else bias._array.shape, stride, padding, output_padding,
                                    groups, dilation)
    x, w = input._array.strides, weight._array.strides
    last = _FIRST
    if 0 in settings[0]:
        _check_empty(n, input._array, weight._array.shape, output_padding, *settings)
    if x[1] <= x[-1] or w[1] < w[-1] or w[1] == w[-1] and weight._array.shape[1] == 1:
        last = _last(n, input._array, weight._array, settings[1], *settings[3:],
                     _far(output_padding, n, settings[1]))
    if input._array.dtype.kind == dt.WIDENED:
        if input._array.dtype == dt.BFLOAT16:
            return in_float32(_conv_input_grad, last, *settings, input, weight, bias)
        refuse_records("slow_conv2d_cpu" if n < 3 else "slow_conv_transpose3d_out_cpu", input, dt.FLOAT8_RECORDS)
        return _by_parts(lambda *given: _transposed(function, n, *given, stride, padding, output_padding, groups,
                                                    dilation), input, weight, bias)
    return _conv_input_grad(last, *settings, input, weight, bias)


def _far(output_padding, n, stride):
    """Whether an output padding is at least as large as its stride."""
    return any([e >= s for e, s in zip(_numbers(output_padding, "output_padding", n, len(stride)), stride)])


def _check_empty(n, input, weight, output_padding, size, stride, padding, dilation, groups):
    """RuntimeError for an output without elements, unless torch leaves it to oneDNN, which returns such an output."""
    if 0 in input.shape:
        return
    dtype = np.dtype(np.float32) if input.dtype == np.complex64 else input.dtype
    kernel = weight if n > 1 else (*weight[:2], 1, *weight[2:])
    if _far(output_padding, n, stride) or not _by_mkldnn(input, kernel, stride, dilation, groups, dtype):
        raise _too_small(input.shape, size)


def _too_small(shape, size):
    row = (1,) * (len(size) == 1)              # torch computes with images of one row
    return RuntimeError(f"Given input size per channel: {_by((*row, *shape[2:]))}. Calculated output size per channel: "
                        f"{_by((*row, *size))}. Output size is too small")


@cached_by_shape
def _transposed_settings(n, shape, weight, bias, stride, padding, output_padding, groups, dilation):
    """`_settings` of the transposed convolution."""
    dims, groups = len(weight) - 2, whole(groups, "groups")
    stride, dilation = _numbers(stride, "stride", n, dims), _numbers(dilation, "dilation", n, dims)
    padding, extra = _numbers(padding, "padding", n, dims), _numbers(output_padding, "output_padding", n, dims)
    _check_settings(shape, stride, padding, dilation, groups, extra)
    _check_shapes(shape, weight, bias, groups, True)
    if 0 not in shape and any([e >= s and e >= d for e, s, d in zip(extra, stride, dilation)]):
        axes = ("depth", "height", "width")[-max(n, 2):]
        words = [f"{name}_{axis}: {value}" for name, values in
                 (("output_padding", extra), ("stride", stride), ("dilation", dilation))
                 for axis, value in zip(axes, (0 if name == "output_padding" else 1,) * (len(axes) - n) + values)]
        raise RuntimeError("output padding must be smaller than either stride or dilation, but got " + " ".join(words))
    size = tuple([(m - 1) * s - 2 * p + d * (k - 1) + 1 + e for m, s, p, d, k, e in
                  zip(shape[2:], stride, padding, dilation, weight[2:], extra)])
    if min(size) < 0 and 0 not in shape:
        raise _too_small(shape, size)
    _check_filled(shape)
    if 0 in weight and shape[1]:
        if not shape[0]:
            raise IndexError("select(): index 0 out of range for tensor of size [0] at dimension 0")
        got = [*weight[:2], *(1,) * (n == 1), *weight[2:]]
        if n == 3:
            raise RuntimeError("non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x "
                               f"kernel_width) tensor expected for weight, but got: {got}")
        _check_kernel(n, weight[2:])
        raise RuntimeError(f"non-empty 2D or 4D weight tensor expected, but got: {got}")
    return size, stride, tuple([(p, p) for p in padding]), dilation, groups


@public(hot=True, autocast="down")
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Extents = 1,
           padding: int | Extents | str = 0, dilation: int | Extents = 1, groups: Extent = 1) -> Tensor:
    """1-D convolution (cross-correlation).

    input (N, C, L) or (C, L), weight (O, C / groups, k), bias (O): output (N, O, L_out) with
    L_out = (L + 2 padding - dilation (k - 1) - 1) // stride + 1. `padding` may be 'same' or 'valid'.
    RuntimeError where sizes or dtypes do not fit.

    >>> import tinytorch as torch
    >>> torch.conv1d(torch.tensor([[[1., 2., 4.]]]), torch.tensor([[[1., 1.]]]))
    tensor([[[3., 6.]]])
    """
    return _forward(conv1d, 1, input, weight, bias, stride, padding, dilation, groups)


@public(hot=True, autocast="down", repeats=True)
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Extents = 1,
           padding: int | Extents | str = 0, dilation: int | Extents = 1, groups: Extent = 1) -> Tensor:
    """2-D convolution (cross-correlation); see `conv1d`.

    input (N, C, H, W) or (C, H, W), weight (O, C / groups, kH, kW): output (N, O, H_out, W_out).

    >>> import tinytorch as torch
    >>> torch.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2), padding="same")
    tensor([[[[4., 4., 2.],
              [4., 4., 2.],
              [2., 2., 1.]]]])
    """
    return _forward(conv2d, 2, input, weight, bias, stride, padding, dilation, groups)


@public(hot=True, autocast="down")
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Extents = 1,
           padding: int | Extents | str = 0, dilation: int | Extents = 1, groups: Extent = 1) -> Tensor:
    """3-D convolution (cross-correlation); see `conv1d`.

    input (N, C, D, H, W) or (C, D, H, W), weight (O, C / groups, kD, kH, kW).

    >>> import tinytorch as torch
    >>> torch.conv3d(torch.ones(1, 2, 4, 4, 4), torch.ones(3, 2, 2, 2, 2), stride=2).shape
    torch.Size([1, 3, 2, 2, 2])
    """
    return _forward(conv3d, 3, input, weight, bias, stride, padding, dilation, groups)


@public(hot=True, autocast="down")
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Extents = 1,
                     padding: int | Extents = 0, output_padding: int | Extents = 0, groups: Extent = 1,
                     dilation: int | Extents = 1) -> Tensor:
    """Transposed 1-D convolution: the gradient of a convolution's input, given that of its output.

    input (N, C, L) or (C, L), weight (C, O / groups, k), bias (O): output (N, O, L_out) with
    L_out = (L - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1.

    >>> import tinytorch as torch
    >>> torch.conv_transpose1d(torch.tensor([[[1., 2.]]]), torch.tensor([[[1., 1.]]]), stride=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    return _transposed(conv_transpose1d, 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@public(hot=True, autocast="down", repeats=True)
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Extents = 1,
                     padding: int | Extents = 0, output_padding: int | Extents = 0, groups: Extent = 1,
                     dilation: int | Extents = 1) -> Tensor:
    """Transposed 2-D convolution; see `conv_transpose1d`. weight (C, O / groups, kH, kW).

    >>> import tinytorch as torch
    >>> torch.conv_transpose2d(torch.ones(1, 3, 4, 4), torch.ones(3, 2, 3, 3), stride=2, output_padding=1).shape
    torch.Size([1, 2, 10, 10])
    """
    return _transposed(conv_transpose2d, 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@public(hot=True, autocast="down")
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Extents = 1,
                     padding: int | Extents = 0, output_padding: int | Extents = 0, groups: Extent = 1,
                     dilation: int | Extents = 1) -> Tensor:
    """Transposed 3-D convolution; see `conv_transpose1d`. weight (C, O / groups, kD, kH, kW).

    >>> import tinytorch as torch
    >>> torch.conv_transpose3d(torch.ones(1, 3, 2, 2, 2), torch.ones(3, 2, 2, 2, 2)).shape
    torch.Size([1, 2, 3, 3, 3])
    """
    return _transposed(conv_transpose3d, 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


@public()
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Extents, padding: Extents,
                dilation: Extents, transposed: bool, output_padding: Extents, groups: Extent) -> Tensor:
    """The convolution of as many axes as `weight` has beyond two, or its transpose; see `conv1d`.

    >>> import tinytorch as torch
    >>> x, w = torch.ones(1, 1, 4), torch.ones(1, 1, 2)
    >>> torch.convolution(x, w, None, (1,), (0,), (1,), False, (0,), 1)
    tensor([[[2., 2., 2.]]])
    """
    n = weight._array.ndim - 2
    if transposed:
        return _transposed(convolution, n, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _forward(convolution, n, input, weight, bias, stride, padding, dilation, groups)
