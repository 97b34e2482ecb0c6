"""Views of parts of a tensor: select narrow split chunk unbind diagonal unfold as_strided ..."""
from __future__ import annotations

from operator import index as as_int

import numpy as np

from ... import dtypes as dt
from ...arguments import extent_of, in_64_bits, int_of, ints_of
from ...autograd.op import op, renamed, single
from ...autograd.promotion import EXACT, refuse_complex_gradient
from ...autograd.public import method, public, refuse
from ...autograd.views import layouts
from ...kernels.memory import overflow
from ...kinds.lazy import bits_of, resolved
from ...tensor import Tensor, check_dim
from ...types import Extent, Extents, Ints, Tensors
from .diagonal import diagonal
from .index import _select, _slice
from .join import joined
from .shape import in_place_view
from .strided import _as_strided, _as_strided_scatter, empty_view_at, layout_of, size_mismatch

__all__ = ["as_strided", "as_strided_scatter", "chunk", "diagonal_scatter", "dsplit", "hsplit", "narrow",
           "narrow_copy", "select", "select_scatter", "slice_scatter", "split", "split_with_sizes", "tensor_split",
           "unbind", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "vsplit"]

_ALL = slice(None)


# ------------------------------------------------------------------ primitives
def _joined_parts(g, shape, dim, lengths):
    """The gradient of a split: the gradients of the parts joined, with zeros for parts that have none."""
    some = next(part for part in g if part is not None)
    parts = []
    for part, n in zip(g, lengths):
        if part is None:
            size = shape[:dim] + (n,) + shape[dim + 1:]
            part = some.new_zeros(size) if isinstance(some, Tensor) else np.zeros(size, some.dtype)
        parts.append(part)
    return joined(dim, parts)


def _splitting(name, view=True):
    @op(name=name, multi=True, view=view, input=lambda g, shape, dim, lengths: _joined_parts(g, shape, dim, lengths))
    def primitive(input, dim, lengths):
        input = input if view else resolved(input)
        parts, start, before = [], 0, (_ALL,) * dim
        for n in lengths:
            part = input[before + (slice(start, start + n),)]
            parts.append(part if n else empty_view_at(input, part, start * input.strides[dim]))
            start += n
        return tuple(parts)
    return primitive


_split, _split_with_sizes = _splitting("split"), _splitting("split_with_sizes")
#: Their results share memory too, but are no views: no write to them is refused, and their versions are counted apart.
_unsafe_split = _splitting("unsafe_split", False)
_unsafe_split_with_sizes = _splitting("unsafe_split_with_sizes", False)


def _unbound(g, shape, dim):
    """The gradient of unbind: the gradients of the slices, stacked."""
    size = shape[:dim] + (1,) + shape[dim + 1:]
    parts = [part if part is None else part.reshape(size) for part in g]
    return _joined_parts(parts, shape, dim, (1,) * len(parts))


@op(name="unbind", multi=True, view=True, input=lambda g, shape, dim: _unbound(g, shape, dim))
def _unbind(input, dim):
    before = (_ALL,) * dim
    return tuple([input[before + (i, ...)] for i in range(input.shape[dim])])


@op(name="unfold", view=True, input=lambda g, shape, dim, size, step: _unfold_backward(g, shape, dim, size, step))
def _unfold(input, dim, size, step):
    windows = np.lib.stride_tricks.sliding_window_view(input, size, dim, writeable=input.flags.writeable)
    return windows[(_ALL,) * dim + (slice(None, None, step),)]


_unfold_number = renamed(_slice, "unfold")


@op(name="unfold_backward", g=lambda g, dim, size, step: _unfold(g, dim, size, step))
def _unfold_backward(g, shape, dim, size, step):
    result = np.zeros(shape, g.dtype)
    before, count = (_ALL,) * dim, g.shape[dim]
    for i in range(size):                      # the i-th places of all windows, which differ
        result[before + (slice(i, i + step * (count - 1) + 1, step),)] += g[..., i]
    return result


@public(hot=True, method=True, inplace=in_place_view, shares=True)
def as_strided(input: Tensor, size: Extents, stride: Extents, storage_offset: Extent | None = None) -> Tensor:
    """A view of the memory of `input` with any sizes and strides, counted in elements.

    RuntimeError if it would reach beyond the memory, TypeError for arguments that are not integers.

    >>> import tinytorch as torch
    >>> torch.as_strided(torch.arange(6), (2, 2), (1, 2), 1)
    tensor([[1, 3],
            [2, 4]])
    """
    part = _places("as_strided", 1, input, size, stride, storage_offset)
    return _as_strided(input, *part, layouts(input._array, input._array)[1])


def _places(name, position, input, size, stride, storage_offset):
    """(sizes, strides, offset): the checked arguments of as_strided. The first of them is argument `position`."""
    size, stride = ints_of(size, name, "size", position, True), ints_of(stride, name, "stride", position + 1, True)
    offset = input.storage_offset() if storage_offset is None else (
        extent_of(storage_offset, name, "storage_offset", position + 2))
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if min(stride, default=0) < 0:
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if min(size, default=0) < 0:
        raise overflow(size, stride)
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    return size, stride, offset


# ------------------------------------------------------------------ one part
@public(method=True, shares=True)
def select(input: Tensor, dim: int, index: Extent) -> Tensor:
    """The slice at `index` of dimension `dim`, without that dimension, as a view. IndexError out of range.

    >>> import tinytorch as torch
    >>> torch.tensor([[1, 2], [3, 4]]).select(1, 0)
    tensor([1, 3])
    """
    shape, index = input._array.shape, as_int(index)
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = check_dim(dim, len(shape))
    if not -shape[dim] <= index < shape[dim]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}")
    return _select(input, (_ALL,) * dim + (index, ...))


@public(method=True, shares=True)
def narrow(input: Tensor, dim: int, start: Tensor | Extent, length: Extent) -> Tensor:
    """`length` slices of dimension `dim` from `start` (a number or 0-dim integer tensor), as a view.

    >>> import tinytorch as torch
    >>> torch.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    shape = input._array.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if isinstance(start, Tensor) and (start._array.ndim or start._array.dtype.kind not in dt.INTEGER):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    dim, start = check_dim(dim, len(shape)), as_int(start)
    n = shape[dim]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start += n if start < 0 else 0
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return _slice(input, (_ALL,) * dim + (slice(start, start + length), ...))


@single(name="narrow_copy", batches="leading", input=lambda g: g)
def _narrow_copy(input):
    return np.array(input, order="C")


@public(method=True, out="Expected self.dtype() == output.dtype() to be true, but got false.  (Could this error "
                         "message be improved?  If so, please report an enhancement request to PyTorch.)")
def narrow_copy(input: Tensor, dim: int, start: Extent, length: Extent, *, out: Tensor | None = None) -> Tensor:
    """A copy of the slices that `narrow` gives.

    >>> import tinytorch as torch
    >>> torch.narrow_copy(torch.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    if 0 < input._array.ndim <= dim:            # torch's message differs from that of other functions here
        raise RuntimeError("Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could "
                           "this error message be improved?  If so, please report an enhancement request to PyTorch.)")
    return _narrow_copy(narrow(input, dim, start, length))


@method()
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of `size` along a dimension, `step` apart, in a new last dimension, as a view.

    >>> import tinytorch as torch
    >>> torch.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    ndim = self._array.ndim
    dimension = int_of(dimension, "unfold", "dimension", 1)
    size, step = int_of(size, "unfold", "size", 2), int_of(step, "unfold", "step", 3)
    dim = check_dim(dimension, ndim)
    n = self._array.shape[dim] if ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return _unfold(self, dim, size, step) if ndim else _unfold_number(self.reshape(1), (slice(size), ...))


# ------------------------------------------------------------------ all parts
@public(method=True, shares=True, repeats=True)
def unbind(input: Tensor, dim: int = 0) -> Tensors:
    """The slices along `dim` as a tuple of views.

    >>> import tinytorch as torch
    >>> torch.tensor([[1, 2], [3, 4]]).unbind(1)
    (tensor([1, 3]), tensor([2, 4]))
    """
    if not input._array.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return _unbind(input, check_dim(dim, input._array.ndim))


@public(python=True, shares=True)
def split(tensor: Tensor, split_size_or_sections: int | Ints, dim: int = 0) -> Tensors:
    """Views along `dim`. An int is the size of each part (the last may be smaller); a list gives the sizes.

    >>> import tinytorch as torch
    >>> torch.split(torch.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    return tensor.split(split_size_or_sections, dim)


@method("split", in_python=True, repeats=True)
def _split_method(self: Tensor, split_size: int | Ints, dim: int = 0) -> Tensors:
    """Views along `dim`. An int is the size of each part (the last may be smaller); a list gives the sizes."""
    if split_size.__class__ is not int:
        if isinstance(split_size, (tuple, list)) or isinstance(split_size, Tensor) and split_size._array.size != 1:
            return split_with_sizes(self, split_size, dim)
        split_size = int_of(int(split_size) if isinstance(split_size, Tensor) else split_size, "split", "split_size", 2)
    return _in_pieces(_split, self, in_64_bits(split_size), dim)


def _in_pieces(primitive, tensor, size, dim):
    n, dim = _length(tensor, dim, "split")
    size = as_int(size)
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    return primitive(tensor, dim, _lengths(n, size))


def _lengths(n, size):
    count = max(-(-n // size), 1) if size else 1
    return (size,) * (count - 1) + (n - size * (count - 1),)


def _length(tensor, dim, name):
    ndim = tensor._array.ndim
    if not ndim:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    dim = check_dim(dim, ndim)
    return tensor._array.shape[dim], dim


@public(method=True, shares=True)
def split_with_sizes(input: Tensor, split_sizes: Extents, dim: int = 0) -> Tensors:
    """Views of the given sizes along `dim`. RuntimeError unless they sum to its length.

    >>> import tinytorch as torch
    >>> torch.arange(5).split_with_sizes([1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    return _in_sizes(_split_with_sizes, input, split_sizes, dim)


def _in_sizes(primitive, input, split_sizes, dim):
    n, dim = _length(input, dim, "split")
    lengths = ints_of(split_sizes, "split_with_sizes", "split_sizes", 2, True)
    if any(k < 0 for k in lengths):
        raise RuntimeError(f"split_with_sizes expects split_sizes have only non-negative entries, but got "
                           f"split_sizes={list(lengths)}")
    if sum(lengths) != n:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
                           f"dimension {dim}), but got split_sizes={list(lengths)}")
    return primitive(input, dim, lengths)


@public(hot=True, method=True, shares=True, repeats=True)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Tensors:
    """At most `chunks` views of equal size (the last may be smaller) along `dim`.

    >>> import tinytorch as torch
    >>> torch.arange(5).chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return _in_chunks(_split, _split_with_sizes, input, chunks, dim)


def _in_chunks(primitive, empty, input, chunks, dim):
    if chunks.__class__ is not int or chunks >= 1 << 63:
        chunks = int_of(chunks, "chunk", "chunks", 2)
    if not input._array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {in_64_bits(chunks)}")
    n, dim = _length(input, dim, "chunk")
    if n == 0:
        return empty(input, dim, (0,) * chunks)
    return primitive(input, dim, _lengths(n, -(-n // chunks)))


@public(method=True, shares=True, looks=True)
def tensor_split(input: Tensor, sections: Tensor | Extent | Extents | None = None, dim: int = 0, *,
                 indices: Extents | None = None, tensor_indices_or_sections: Tensor | None = None) -> Tensors:
    """Views along `dim`: `sections` parts of nearly equal size, or parts that begin at the given indices.

    >>> import tinytorch as torch
    >>> torch.arange(5).tensor_split(3)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    given = _cuts("tensor_split", sections, indices, tensor_indices_or_sections)
    if not input._array.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    if isinstance(given, Tensor):
        if given._array.dtype != np.int64 or given._array.ndim > 1:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                               "one-dimensional tensor of dtype long")
        given = given.tolist()
    dim = check_dim(dim, input._array.ndim)
    n = input._array.shape[dim]
    if not isinstance(given, (tuple, list)):
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        cuts = [i * (n // given) + min(i, n % given) for i in range(1, given)]
    else:
        cuts = ints_of(given, "tensor_split", "indices", 2, True)
    spans = zip([None, *cuts], [*cuts, None])
    return tuple([_slice(input, (_ALL,) * dim + (slice(start, stop), ...)) for start, stop in spans])


def _cuts(name, *given):
    """The one argument of `given` that is not None. TypeError if there are none or several."""
    given = [x for x in given if x is not None]
    if len(given) != 1:
        raise TypeError(f"{name}() received an invalid combination of arguments: expected int sections or tuple of "
                        "ints indices")
    return given[0]


def _split_evenly(name, least, dim, input, sections, indices):
    """hsplit, vsplit and dsplit: `tensor_split` along `dim` of a tensor of `least` or more dimensions."""
    given, shape = _cuts(name, sections, indices), input._array.shape
    if len(shape) < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                           f"{len(shape)} dimensions!")
    if not isinstance(given, (tuple, list)) and (given <= 0 or shape[dim] % given):
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                           f"{shape[dim]} is not divisible by the split_size {given}!")
    return tensor_split(input, given, dim)


@public(method=True, spread=True, shares=True)
def hsplit(input: Tensor, sections: Ints | int | None = None, *, indices: Ints | None = None) -> Tensors:
    """`tensor_split` for columns, into equal parts or before `indices`.

    >>> import tinytorch as torch
    >>> torch.hsplit(torch.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    return _split_evenly("hsplit", 1, int(input._array.ndim != 1), input, sections, indices)


@public(method=True, spread=True, shares=True)
def vsplit(input: Tensor, sections: Ints | int | None = None, *, indices: Ints | None = None) -> Tensors:
    """`tensor_split` for rows, into equal parts or before `indices`.

    >>> import tinytorch as torch
    >>> torch.vsplit(torch.arange(4).reshape(2, 2), 2)
    (tensor([[0, 1]]), tensor([[2, 3]]))
    """
    return _split_evenly("vsplit", 2, 0, input, sections, indices)


@public(method=True, spread=True, shares=True)
def dsplit(input: Tensor, sections: Ints | int | None = None, *, indices: Ints | None = None) -> Tensors:
    """`tensor_split` for depth, into equal parts or before `indices`.

    >>> import tinytorch as torch
    >>> torch.dsplit(torch.zeros(1, 1, 4), 2)[0].shape
    torch.Size([1, 1, 2])
    """
    return _split_evenly("dsplit", 3, 2, input, sections, indices)


@public(method=True, shares=True)
def unsafe_split(input: Tensor, split_size: Extent, dim: int = 0) -> Tensors:
    """`split` into tensors that share the memory but are no views. Writes to them are not checked.

    >>> import tinytorch as torch
    >>> len(torch.unsafe_split(torch.arange(4), 2))
    2
    """
    return _in_pieces(_unsafe_split, input, split_size, dim)


@public(method=True, shares=True)
def unsafe_split_with_sizes(input: Tensor, split_sizes: Extents, dim: int = 0) -> Tensors:
    """`split_with_sizes` into tensors that share the memory but are no views.

    >>> import tinytorch as torch
    >>> torch.unsafe_split_with_sizes(torch.arange(5), [1, 4])[0]
    tensor([0])
    """
    return _in_sizes(_unsafe_split_with_sizes, input, split_sizes, dim)


@public(method=True, shares=True)
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> Tensors:
    """`chunk` into tensors that share the memory but are no views.

    >>> import tinytorch as torch
    >>> len(torch.unsafe_chunk(torch.arange(4), 2))
    2
    """
    return _in_chunks(_unsafe_split, _unsafe_split_with_sizes, input, chunks, dim)


# ------------------------------------------------------------------ copies with a part replaced
def _replaced(input, src, part):
    """A copy of `input` whose view part(copy) is replaced by `src`."""
    result = input.clone()
    target = part(result)
    if target._array.shape != src._array.shape:
        raise size_mismatch(src._array, target._array)
    target.copy_(src)
    return result


@public(method=True)
def select_scatter(input: Tensor, src: Tensor, dim: int, index: Extent) -> Tensor:
    """A copy of `input` with input.select(dim, index) replaced by `src`.

    >>> import tinytorch as torch
    >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    refuse_complex_gradient("select_scatter", input, src)
    return _replaced(input, src, lambda x: select(x, dim, index))


@public(out=EXACT, apart=None, method=True)
def slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: Extent | None = None, end: Extent | None = None,
                  step: Extent = 1) -> Tensor:
    """A copy of `input` with the slice start:end:step of dimension `dim` replaced by `src`.

    >>> import tinytorch as torch
    >>> torch.slice_scatter(torch.zeros(4), torch.ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """
    refuse_complex_gradient("slice_scatter", input, src)
    dim = check_dim(dim, input._array.ndim)
    return _replaced(input, src, lambda x: _slice(x, (_ALL,) * dim + (slice(start, end, step), ...)))


@public(method=True)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of `input` with its diagonal replaced by `src`.

    >>> import tinytorch as torch
    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _replaced(input, src, lambda x: diagonal(x, offset, dim1, dim2))


@public(hot=True, method=True)
def as_strided_scatter(input: Tensor, src: Tensor, size: Extents, stride: Extents,
                       storage_offset: Extent | None = None) -> Tensor:
    """A copy of `input` with the elements of as_strided(size, stride, storage_offset) replaced by `src`.

    The copy holds the whole memory that `input` views. RuntimeError if those elements lie outside it, or if `src` has
    other sizes.

    >>> import tinytorch as torch
    >>> torch.as_strided_scatter(torch.zeros(4), torch.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    if not isinstance(input, Tensor) or not isinstance(src, Tensor):
        refuse(as_strided_scatter, input, src)
    part = layout_of(*_places("as_strided_scatter", 2, input, size, stride, storage_offset), input._array.dtype,
                     bits_of(input._array))
    return _as_strided_scatter(input, src, part, layouts(input._array, input._array)[1])
