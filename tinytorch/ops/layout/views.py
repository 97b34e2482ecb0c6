"""Views of parts of a tensor: select narrow split chunk unbind diagonal unfold as_strided ..."""
from operator import index as as_int

import numpy as np

from ...arguments import int_of, ints_of
from ...autograd import above
from ...autograd.grad_mode import mode
from ...autograd.op import op, renamed, single
from ...autograd.promotion import write_out
from ...autograd.public import methods
from ...autograd.views import layouts, to_base
from ...kernels import layout
from ...kernels.memory import overflow
from ...tensor import Tensor, check_dim, root_of
from .diagonal import diagonal
from .index import _select, _slice
from .join import joined
from .shape import changes_itself

__all__ = ["as_strided", "as_strided_scatter", "chunk", "diagonal_scatter", "dsplit", "hsplit", "narrow",
           "narrow_copy", "select", "select_scatter", "slice_scatter", "split", "split_with_sizes", "tensor_split",
           "unbind", "unsafe_chunk", "unsafe_split", "vsplit"]

_ALL = slice(None)


# ------------------------------------------------------------------ primitives
def _joined_parts(g, shape, dim, lengths):
    """The gradient of a split: the parts' gradients in a row, zeros for those that have none."""
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
        parts, start, before = [], 0, (_ALL,) * dim
        for n in lengths:
            parts.append(input[before + (slice(start, start + n),)])
            start += n
        return tuple(parts)
    return primitive


_split, _split_with_sizes = _splitting("split"), _splitting("split_with_sizes")
#: These share memory as well, but are no views: writes to them are refused nowhere, nor do others notice.
_unsafe_split = _splitting("unsafe_split", False)
_unsafe_split_with_sizes = _splitting("unsafe_split_with_sizes", False)


def _unbound(g, shape, dim):
    """The gradient of unbind: the slices' gradients stacked."""
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
    for i in range(size):                      # the i-th place of every window: no two are the same
        result[before + (slice(i, i + step * (count - 1) + 1, step),)] += g[..., i]
    return result


@op(name="as_strided", view=True, input=lambda g, size, stride, offset, whole: to_base(
    g, _layout(size, stride, offset, whole[3]), whole))
def _as_strided(input, size, stride, offset, whole):
    """`offset` counts from the first element of the memory that `input` lies in; `whole` is the layout of `input`."""
    return layout.strided(_memory(input), size, stride, offset)


@op(name="as_strided_backward", g=lambda g, source, target: relaid(g, target, source))
def relaid(g, source, target):
    """The elements of `g` carried over by place: see kernels/layout.py."""
    return layout.relaid(g, source, target)


@op(name="without_part", g=lambda g, part, whole: without_part(g, part, whole))
def without_part(g, part, whole):
    """`g`, laid out as `whole`, with zeros in the part that the layout `part` covers."""
    return layout.split_off(g, part, whole)[0]


def _replaced_grad(g, part, whole):
    """torch's gradient of `input` is that of the elements replaced by `src`; its tangents are those of the others."""
    return without_part(g, part, whole) if mode.computing_jvp else relaid(relaid(g, whole, part), part, whole)


@op(name="as_strided_scatter", input=lambda g, part, whole: _replaced_grad(g, part, whole),
    src=lambda g, part, whole: relaid(g, whole, part))
def _as_strided_scatter(input, src, part, whole):
    memory = _memory(input).copy()
    size, stride, offset = part[0], [s // input.itemsize for s in part[1]], part[2] // input.itemsize
    target = layout.strided(memory, size, stride, offset)
    if target.shape != src.shape:
        raise _unlike(src, target)
    target[...] = src
    return layout.at(memory, whole)


def _layout(size, stride, offset, dtype):
    """The layout of a view whose strides and offset are counted in elements."""
    return size, [n * dtype.itemsize for n in stride], offset * dtype.itemsize, dtype


def _memory(array):
    """All the memory that `array` is a view of, as one dimension of its dtype."""
    root = root_of(array)
    if not root.flags.forc:
        count = 1 + sum((n - 1) * s for n, s in zip(root.shape, root.strides)) // root.itemsize if root.size else 0
        return np.lib.stride_tricks.as_strided(root, (count,), (root.itemsize,))
    flat = root.reshape(-1, order="A")
    return flat if flat.dtype == array.dtype else flat.view(array.dtype)


def as_strided(input, size, stride, storage_offset=None):
    """A view of the memory of `input` with any sizes and strides, counted in elements.

    RuntimeError if it would reach outside the memory, TypeError for what are no integers.

    >>> import tinytorch as torch
    >>> torch.as_strided(torch.arange(6), (2, 2), (1, 2), 1)
    tensor([[1, 3],
            [2, 4]])
    """
    part = _places("as_strided", 1, input, size, stride, storage_offset)
    return _as_strided(input, *part, layouts(input.array, input.array)[1])


def _places(name, position, input, size, stride, storage_offset):
    """The arguments of as_strided, the first of them at `position`, checked: sizes, strides and offset."""
    size, stride = ints_of(size, name, "size", position), ints_of(stride, name, "stride", position + 1)
    offset = input.storage_offset() if storage_offset is None else (
        int_of(storage_offset, name, "storage_offset", position + 2))
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
def select(input, dim, index):
    """The slice at `index` of dimension `dim`, which disappears: a view. IndexError out of range.

    >>> import tinytorch as torch
    >>> torch.tensor([[1, 2], [3, 4]]).select(1, 0)
    tensor([1, 3])
    """
    shape, index = input.array.shape, as_int(index)
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = check_dim(dim, len(shape))
    if not -shape[dim] <= index < shape[dim]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}")
    return _select(input, (_ALL,) * dim + (index, ...))


def narrow(input, dim, start, length):
    """`length` slices of dimension `dim` from `start` (a number or 0-dim integer tensor): a view.

    >>> import tinytorch as torch
    >>> torch.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    shape = input.array.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if isinstance(start, Tensor) and (start.array.ndim or start.array.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    dim, start = check_dim(dim, len(shape)), as_int(start)
    n = shape[dim]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start += n if start < 0 else 0
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return _slice(input, (_ALL,) * dim + (slice(start, start + length), ...))


@single(name="narrow_copy", input=lambda g: g)
def _narrow_copy(input):
    return np.array(input, order="C")


def narrow_copy(input, dim, start, length, *, out=None):
    """A copy of `narrow`.

    >>> import tinytorch as torch
    >>> torch.narrow_copy(torch.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    if 0 < input.array.ndim <= dim:            # here torch has other words than everywhere else
        raise RuntimeError("Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could "
                           "this error message be improved?  If so, please report an enhancement request to PyTorch.)")
    return write_out(out, _narrow_copy(narrow(input, dim, start, length)), input)


def unfold(self, dimension, size, step):
    """Windows of `size` along a dimension, `step` apart, as a new last dimension: a view.

    >>> import tinytorch as torch
    >>> torch.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    dim, ndim = check_dim(dimension, self.array.ndim), self.array.ndim
    n = self.array.shape[dim] if ndim else 1
    size, step = int_of(size, "unfold", "size", 2), int_of(step, "unfold", "step", 3)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return _unfold(self, dim, size, step) if ndim else _unfold_number(self.reshape(1), (slice(size), ...))


# ------------------------------------------------------------------ all parts
def unbind(input, dim=0):
    """The slices along `dim` as a tuple of views.

    >>> import tinytorch as torch
    >>> torch.tensor([[1, 2], [3, 4]]).unbind(1)
    (tensor([1, 3]), tensor([2, 4]))
    """
    if not input.array.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return _unbind(input, check_dim(dim, input.array.ndim))


def split(tensor, split_size_or_sections, dim=0):
    """Views along `dim`: each of the given size but maybe the last (an int), or of the given sizes (a list).

    >>> import tinytorch as torch
    >>> torch.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if not isinstance(split_size_or_sections, (int, Tensor)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    return _in_pieces(_split, tensor, split_size_or_sections, dim)


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
    ndim = tensor.array.ndim
    if not ndim:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    dim = check_dim(dim, ndim)
    return tensor.array.shape[dim], dim


def split_with_sizes(input, split_sizes, dim=0):
    """Views of the given sizes along `dim`. RuntimeError unless they sum to its length.

    >>> import tinytorch as torch
    >>> torch.arange(5).split_with_sizes([1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    n, dim = _length(input, dim, "split")
    lengths = tuple([as_int(k) for k in split_sizes])
    if any(k < 0 for k in lengths):
        raise RuntimeError(f"split_with_sizes expects split_sizes have only non-negative entries, but got "
                           f"split_sizes={list(lengths)}")
    if sum(lengths) != n:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
                           f"dimension {dim}), but got split_sizes={list(lengths)}")
    return _split_with_sizes(input, dim, lengths)


def chunk(input, chunks, dim=0):
    """At most `chunks` views of equal size (but maybe the last) along `dim`.

    >>> import tinytorch as torch
    >>> torch.arange(5).chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return _in_chunks(_split, _split_with_sizes, input, chunks, dim)


def _in_chunks(primitive, empty, input, chunks, dim):
    if not input.array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n, dim = _length(input, dim, "chunk")
    if n == 0:
        return empty(input, dim, (0,) * chunks)
    return primitive(input, dim, _lengths(n, -(-n // chunks)))


def tensor_split(input, indices_or_sections, dim=0):
    """Views along `dim`: a number of nearly equal parts (an int), or cut before the given indices.

    >>> import tinytorch as torch
    >>> torch.arange(5).tensor_split(3)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if not input.array.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = check_dim(dim, input.array.ndim)
    n, given = input.array.shape[dim], indices_or_sections
    if isinstance(given, Tensor):
        if given.array.dtype != np.int64 or given.array.ndim > 1:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                               "one-dimensional tensor of dtype long")
        given = given.tolist()
    if isinstance(given, int):
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        cuts = [i * (n // given) + min(i, n % given) for i in range(1, given)]
    else:
        cuts = [as_int(i) for i in given]
    spans = zip([None, *cuts], [*cuts, None])
    return tuple([_slice(input, (_ALL,) * dim + (slice(start, stop), ...)) for start, stop in spans])


def _split_in(name, least, dim_of):
    def function(input, indices_or_sections):
        ndim = input.array.ndim
        if ndim < least:
            raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                               f"{ndim} dimensions!")
        dim, n = dim_of(ndim), input.array.shape[dim_of(ndim)]
        if isinstance(indices_or_sections, int):
            if indices_or_sections <= 0 or n % indices_or_sections:
                raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                                   f"dimension {n} is not divisible by the split_size {indices_or_sections}!")
        return tensor_split(input, indices_or_sections, dim)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`tensor_split` for {'columns' if name[0] == 'h' else 'rows' if name[0] == 'v' else 'depth'}."
    return function


hsplit = _split_in("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
vsplit = _split_in("vsplit", 2, lambda ndim: 0)
dsplit = _split_in("dsplit", 3, lambda ndim: 2)


def unsafe_split(tensor, split_size, dim=0):
    """`split` into tensors that share the memory but are no views: nothing keeps them from being written to.

    >>> import tinytorch as torch
    >>> len(torch.unsafe_split(torch.arange(4), 2))
    2
    """
    return _in_pieces(_unsafe_split, tensor, split_size, dim)


def unsafe_chunk(input, chunks, dim=0):
    """`chunk` into tensors that share the memory but are no views.

    >>> import tinytorch as torch
    >>> len(torch.unsafe_chunk(torch.arange(4), 2))
    2
    """
    return _in_chunks(_unsafe_split, _unsafe_split_with_sizes, input, chunks, dim)


# ------------------------------------------------------------------ copies with a part replaced
def _replaced(input, src, part):
    """A copy of `input` with the view that `part` makes of it replaced by `src`."""
    result = input.clone()
    target = part(result)
    if target.array.shape != src.array.shape:
        raise _unlike(src.array, target.array)
    target.copy_(src)
    return result


def _unlike(src, target):
    return RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, "
                        f"slice size = {list(target.shape)}")


def select_scatter(input, src, dim, index):
    """A copy of `input` with input.select(dim, index) replaced by `src`.

    >>> import tinytorch as torch
    >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    return _replaced(input, src, lambda x: select(x, dim, index))


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy of `input` with the slice start:end:step of dimension `dim` replaced by `src`.

    >>> import tinytorch as torch
    >>> torch.slice_scatter(torch.zeros(4), torch.ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """
    dim = check_dim(dim, input.array.ndim)
    return _replaced(input, src, lambda x: _slice(x, (_ALL,) * dim + (slice(start, end, step), ...)))


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy of `input` with its diagonal replaced by `src`.

    >>> import tinytorch as torch
    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _replaced(input, src, lambda x: diagonal(x, offset, dim1, dim2))


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy of `input` with the elements of as_strided(size, stride, storage_offset) replaced by `src`.

    The copy has all of the memory that `input` is a view of. RuntimeError if those elements lie outside of it, or
    `src` has other sizes.

    >>> import tinytorch as torch
    >>> torch.as_strided_scatter(torch.zeros(4), torch.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    part = _layout(*_places("as_strided_scatter", 2, input, size, stride, storage_offset), input.array.dtype)
    return _as_strided_scatter(input, src, part, layouts(input.array, input.array)[1])


changes_itself(as_strided)
methods(as_strided, as_strided_scatter, chunk, diagonal_scatter, dsplit, hsplit, narrow, narrow_copy, select,
        select_scatter, slice_scatter, split, split_with_sizes, tensor_split, unbind, unfold, unsafe_chunk,
        unsafe_split, vsplit)
above.relaid = relaid
above.without_part = without_part
