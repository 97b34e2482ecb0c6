"""F.pad: constant, reflect, replicate and circular borders."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments import ints_of
from ...autograd.op import op, renamed
from ...autograd.promotion import stored_as
from ...autograd.public import public, refuse
from ...errors import not_implemented, refuse_records
from ...kernels import arrange
from ...kernels.layout import channels_last, dense_copy, in_channels_last
from ...tensor import Tensor
from ...types import Extents, Number

__all__ = ["constant_pad_nd"]


# ------------------------------------------------------------------ primitives
@op(name="constant_pad_nd", input=lambda g, widths: _constant(g, tuple((-a, -b) for a, b in widths), 0))
def _constant(input, widths, value):
    shape, source = tuple([n + a + b for n, (a, b) in zip(input.shape, widths)]), input
    if widths and min(map(min, widths)) < 0:
        source = input[(..., *[slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(input.shape, widths)])]
    if source.shape == shape:                  # no border is added
        return dense_copy(source)
    if input.dtype == np.float32 and (input.ndim not in (4, 5) or input.strides[1] > input.strides[-1]):
        found = arrange.bordered(input, widths, float(stored_as(value, input.dtype)) if value else 0.0)
        if found is not None:
            return found
    result = _zeros(shape, input)
    if value:
        result[...] = stored_as(value, input.dtype)
    result[tuple([slice(max(a, 0), n - max(b, 0)) for n, (a, b) in zip(shape, widths)])] = source
    return result


def _zeros(shape, like):
    """Zeros in the memory format that torch takes array `like` to have."""
    ndim = len(shape)
    if ndim not in (4, 5) or like.strides[1] > like.strides[-1] or not channels_last(like):
        return np.zeros(shape, like.dtype)
    order = (0, *range(2, ndim), 1)
    return np.zeros([shape[d] for d in order], like.dtype).transpose(0, ndim - 1, *range(1, ndim - 1))


def _picked(last, picks, input):
    """The elements of `input` at an index along some axes. `picks`: pairs (axis, index). `last`: the result has
    channels last in memory."""
    result = input
    for axis, index in picks:
        result = result.take(index, axis=axis)
    if last:
        return in_channels_last(result)
    return result.copy("C") if result is input else result


@op(name="pad_by_index_backward", first=3, grad=lambda g, last, picks: _by_index(last, picks, g),
    stored=dt.ONLY_COMPLEX32)
def _by_index_backward(last, picks, shape, grad):
    result = grad if picks else grad.copy("C")
    for axis, index in reversed(picks):
        result = np.zeros(grad.shape[:axis] + shape[axis:axis + 1] + grad.shape[axis + 1:], grad.dtype)
        np.add.at(result.swapaxes(0, axis), index, grad.swapaxes(0, axis))
        grad = result
    return in_channels_last(result) if last else result


@op(name="pad_by_index", first=2, input=lambda g, shape, last, picks: _by_index_backward(last, picks, shape, g))
def _by_index(last, picks, input):
    return _picked(last, picks, input)


@op(name="reflection_pad", first=2, input=lambda g, last, picks, input:
        _by_index_backward(last, picks, tuple(input.shape), g))
def _with_edge(last, picks, input):
    """`_by_index` under the names of reflection and replication, for which torch saves the input."""
    return _picked(last, picks, input)


#: The primitive for each mode and number of axes.
_by_mode = {(mode, n): renamed(_with_edge, f"{name}_pad{n}d") for mode, name in
            (("reflect", "reflection"), ("replicate", "replication")) for n in (1, 2, 3)}


# ------------------------------------------------------------------ checks
def _widths(pad, ndim):
    """torch's flat list of widths (last dimension first) as a (before, after) pair for each dimension."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return ((0, 0),) * (ndim - len(pairs)) + tuple(reversed(pairs))


@public()
def constant_pad_nd(input: Tensor, pad: Extents, value: Number = 0) -> Tensor:
    """`input` with borders of `value`; `pad` as in `torch.nn.functional.pad`. Negative widths remove elements.

    >>> import tinytorch as torch
    >>> torch.constant_pad_nd(torch.tensor([1, 2]), (1, 2), 7)
    tensor([7, 1, 2, 7, 7])
    """
    return _constant_pad(input, ints_of(pad, "constant_pad_nd", "pad", 2, True), value)


def _constant_pad(input, pad, value):
    shape = input._array.shape
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


@public(hot=True, autocast="up", in_python=True, repeats=True)
def pad(input: Tensor, pad: Extents, mode: str = "constant", value: float | None = None) -> Tensor:
    """`input` with borders: `pad` = (left, right) of the last dimension, then of the one before, and so on.

    Modes: "constant" (`value`, default 0), "reflect" (mirrored, without the edge), "replicate" (the edge), "circular"
    (from the other side). The last three modes pad the last 1 to 3 dimensions of an input with one or two more.
    NotImplementedError for other numbers of dimensions, RuntimeError for widths that are too large.

    >>> import tinytorch as torch
    >>> torch.nn.functional.pad(torch.tensor([[1, 2, 3]]), (2, 1), mode="reflect")
    tensor([[3, 2, 1, 2, 3, 2]])
    """
    if value is not None and not isinstance(value, (float, int)) or not isinstance(pad, (tuple, list)):
        refuse(_public_pad, input, pad, mode, value)
    return _pad(input, pad if set(map(type, pad)) == _PLAIN else ints_of(pad, "pad", "pad", 2, True), mode, value)


_public_pad = pad                              # the name for functions in which `pad` is an argument
_PLAIN = {int}


def _pad(input, pad, mode, value):
    if mode != "constant" and not (isinstance(mode, str) and mode in _INDEX):
        refuse(_public_pad, input, pad, mode, value)
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    ndim = input._array.ndim
    if len(pad) > 2 * ndim:
        raise RuntimeError("Padding length should be less than or equal to two times the input dimension but got "
                           f"padding length {len(pad)} and input of dimension {ndim}")
    if mode == "constant":
        return _constant_pad(input, pad, float(value or 0))
    return _pad_by_index(input, pad, mode, value)


def _pad_by_index(input, pad, mode, value):
    """`pad` in the modes that copy elements of the input: reflect, replicate and circular."""
    ndim = input._array.ndim
    ints_of(pad, "pad", "pad", 2)              # the widths must fit in 64 bits
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if len(pad) not in (2, 4, 6) or ndim - len(pad) // 2 not in (1, 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last "
            "dimension)\n  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding "
            "size = 6 (pads last 3 dimensions)")
    shape, axes = input._array.shape, len(pad) // 2
    if mode != "circular":
        _check_edges(mode, axes, input, pad)
    picks = tuple([(axis, _INDEX[mode](shape, axis, before, after)) for axis, (before, after) in
                   reversed(list(enumerate(_widths(pad, ndim)))) if before or after])
    if mode == "circular":
        return _by_index(False, picks, input)
    refuse_records(f"{'reflection' if mode == 'reflect' else 'replication'}_pad{axes}d", input)
    x = input._array
    last = axes > 1 and ndim > 3 and x.strides[1] <= x.strides[-1] and channels_last(x)
    if last and mode == "reflect" and axes == 3 and not all([len(index) for _, index in picks]):
        last = False                           # for an empty result torch has gradients in C order
    return _by_mode[mode, axes](last, picks, input)


def _check_edges(mode, axes, input, pad):
    """torch's errors for reflection and replication."""
    shape = list(input._array.shape)
    if 0 in shape[-axes - 1:]:
        raise RuntimeError(f"Expected {axes + 1}D or {axes + 2}D (batch mode) tensor with possibly 0 batch size and "
                           f"other non-zero dimensions for input, but got: {shape}")
    if mode == "reflect":
        for i in range(axes):
            n, before, after = shape[-1 - i], pad[2 * i], pad[2 * i + 1]
            if before >= n or after >= n:
                raise RuntimeError(
                    f"Argument #{2 * i + 4}: Padding size should be less than the corresponding input dimension, but "
                    f"got: padding ({before}, {after}) at dimension {len(shape) - 1 - i} of input {shape}")
    sizes = [shape[-1 - i] + pad[2 * i] + pad[2 * i + 1] for i in range(axes)][::-1]
    if max(sizes) < 1:
        names = "DHW"[-axes:]
        given = ", ".join([f"{name}: {m}" for name, m in zip(names, shape[-axes:])])
        if axes == 3:
            given = given.replace(",", "", 1)
        elif axes == 2 and mode == "replicate":
            given += " "
        got = " ".join([f"{name}: {m}" for name, m in zip(names, sizes)])
        raise RuntimeError(f"input ({given}) is too small. Calculated output {got}")
    if min(sizes) < 0:
        if mode == "reflect" and axes == 2:
            raise RuntimeError("numel: integer multiplication overflow")
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {shape[:-axes] + sizes}")
    if input._array.dtype.kind in dt.BOOL:
        raise not_implemented(f"{'reflection' if mode == 'reflect' else 'replication'}_pad{axes}d", input)


def _reflect(shape, axis, before, after):
    n = shape[axis]
    i = np.abs(np.arange(-before, n + after))
    return np.where(i >= n, 2 * (n - 1) - i, i)


def _replicate(shape, axis, before, after):
    return np.clip(np.arange(-before, shape[axis] + after), 0, shape[axis] - 1)


def _circular(shape, axis, before, after):
    n = shape[axis]
    if before > n or after > n:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if n + before + after < 0:
        raise RuntimeError("Negative padding value is resulting in an empty dimension")
    kept = np.arange(max(-before, 0), n - max(-after, 0))      # the elements that negative widths leave
    if not len(kept):                          # torch leaves the result uninitialised here
        return np.zeros(n + before + after, np.intp)
    return kept[np.arange(-max(before, 0), len(kept) + max(after, 0)) % len(kept)]


_INDEX = {"reflect": _reflect, "replicate": _replicate, "circular": _circular}
