"""F.pad: constant, reflect, replicate and circular borders."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments import ints_of
from ...autograd.op import op
from ...autograd.promotion import stored_as
from ...autograd.public import public, refuse
from ...tensor import Tensor
from ...types import Ints, Number

__all__ = ["constant_pad_nd"]


@op(name="constant_pad_nd", input=lambda g, widths: _constant(g, tuple((-a, -b) for a, b in widths), 0))
def _constant(input, widths, value):
    shape = [n + a + b for n, (a, b) in zip(input.shape, widths)]
    result = np.zeros(shape, input.dtype)
    if value:
        result[...] = dt.cast(np.asarray(value), input.dtype)
    source = tuple([slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(input.shape, widths)])
    target = tuple([slice(max(a, 0), n - max(b, 0)) for n, (a, b) in zip(shape, widths)])
    result[target] = input[source]
    return result


@op(name="pad_by_index_backward", grad=lambda g, axis, index: _by_index(g, axis, index))
def _by_index_backward(grad, axis, index, size):
    shape = grad.shape[:axis] + (size,) + grad.shape[axis + 1:]
    result = np.zeros(shape, grad.dtype)
    np.add.at(result.swapaxes(0, axis), index, grad.swapaxes(0, axis))
    return result


@op(name="pad_by_index", input=lambda g, shape, axis, index: _by_index_backward(g, axis, index, shape[axis]))
def _by_index(input, axis, index):
    return input.take(index, axis=axis)


def _widths(pad, ndim):
    """torch's list (last dimension first) as a pair for each dimension."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return ((0, 0),) * (ndim - len(pairs)) + tuple(reversed(pairs))


@public()
def constant_pad_nd(input: Tensor, pad: Ints, value: Number = 0) -> Tensor:
    """`input` with borders of `value`; `pad` as in `torch.nn.functional.pad`. Negative widths cut off.

    >>> import tinytorch as torch
    >>> torch.constant_pad_nd(torch.tensor([1, 2]), (1, 2), 7)
    tensor([7, 1, 2, 7, 7])
    """
    return _constant_pad(input, ints_of(pad, "constant_pad_nd", "pad", 2), value)


def _constant_pad(input, pad, value):
    shape = input.array.shape
    if isinstance(value, complex) and input.array.dtype.kind not in dt.COMPLEX:
        value = stored_as(value, input.array.dtype)
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * len(shape):
        raise RuntimeError("Length of pad should be no more than twice the number of dimensions of the input. Pad "
                           f"length is {len(pad)}while the input has {len(shape)}dimensions.")
    widths = _widths(pad, len(shape))
    for n, (a, b) in zip(shape, widths):
        if min(a, 0) + min(b, 0) + n < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
        if n + a + b < 0:
            raise RuntimeError(f"The input size {n}, plus negative padding {a} and {b} resulted in a negative output "
                               "size, which is invalid.")
    return _constant(input, widths, value)


@public(hot=True)
def pad(input: Tensor, pad: Ints, mode: str = "constant", value: float | None = None) -> Tensor:
    """`input` with borders: `pad` = (left, right) of the last dimension, then of the one before, and so on.

    Modes: "constant" (`value`, default 0), "reflect" (mirrored, without the edge), "replicate" (the edge), "circular"
    (from the other side); these three pad the last 1 to 3 dimensions of an input with one or two more.
    NotImplementedError for other numbers of dimensions, RuntimeError for widths that are too large.

    >>> import tinytorch as torch
    >>> torch.nn.functional.pad(torch.tensor([[1, 2, 3]]), (2, 1), mode="reflect")
    tensor([[3, 2, 1, 2, 3, 2]])
    """
    try:
        if value is not None and not isinstance(value, (float, int)):
            refuse(_public_pad, input, pad, mode, value)
        return _pad(input, pad if set(map(type, pad)) == _PLAIN else ints_of(pad, "pad", "pad", 2), mode, value)
    except (AttributeError, RuntimeError, TypeError):
        refuse(_public_pad, input, pad, mode, value)
        raise


_public_pad = pad                              # in whose body `pad` is an argument
_PLAIN = {int}


def _pad(input, pad, mode, value):
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    ndim = input.array.ndim
    if len(pad) > 2 * ndim:
        raise RuntimeError("Padding length should be less than or equal to two times the input dimension but got "
                           f"padding length {len(pad)} and input of dimension {ndim}")
    if mode == "constant":
        return _constant_pad(input, pad, value or 0)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _INDEX:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) not in (2, 4, 6) or ndim - len(pad) // 2 not in (1, 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last "
            "dimension)\n  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding "
            "size = 6 (pads last 3 dimensions)")
    result = input
    for axis, (before, after) in reversed(list(enumerate(_widths(pad, ndim)))):
        if before or after:
            result = _by_index(result, axis, _INDEX[mode](input.array.shape, axis, before, after))
    return input.clone() if result is input else result


def _reflect(shape, axis, before, after):
    n = shape[axis]
    if before >= n or after >= n:
        argument = 2 + 2 * (len(shape) - axis)
        raise RuntimeError(f"Argument #{argument}: Padding size should be less than the corresponding input dimension, "
                           f"but got: padding ({before}, {after}) at dimension {axis} of input {list(shape)}")
    i = np.abs(np.arange(-before, n + after))
    return np.where(i >= n, 2 * (n - 1) - i, i)


def _replicate(shape, axis, before, after):
    n = shape[axis]
    if n + before + after <= 0 or n == 0:
        raise RuntimeError(f"Expected a non-empty output, but padding ({before}, {after}) at dimension {axis} of input "
                           f"{list(shape)} leaves nothing")
    return np.clip(np.arange(-before, n + after), 0, n - 1)


def _circular(shape, axis, before, after):
    n = shape[axis]
    if before > n or after > n:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if n + before + after < 0:
        raise RuntimeError("Negative padding value is resulting in an empty dimension")
    kept = np.arange(max(-before, 0), n - max(-after, 0))      # what negative widths leave
    return kept[np.arange(-max(before, 0), len(kept) + max(after, 0)) % len(kept)] if len(kept) else kept


_INDEX = {"reflect": _reflect, "replicate": _replicate, "circular": _circular}
