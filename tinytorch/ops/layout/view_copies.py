"""Functions that return a contiguous copy of a view: view_copy permute_copy ..."""
from __future__ import annotations

import contextlib
import functools

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import no_grad
from ...autograd.op import single
from ...autograd.promotion import EXACT, write_out
from ...autograd.public import public
from ...tensor import Tensor, check_dim
from ...types import Extent, Extents, Ints, Tensors
from ..elementwise.arithmetic import REFUSED, refused
from ..elementwise.complex import view_as_complex, view_as_real
from .broadcast import expand
from .diagonal import diagonal
from .index import _ALL, _alias, _slice
from .shape import permute, reshape, squeeze, t, transpose, unsqueeze, view
from .views import as_strided, select, split, split_with_sizes, unbind, unfold

__all__ = ["alias_copy", "as_strided_copy", "detach_copy", "diagonal_copy", "expand_copy", "permute_copy",
           "select_copy", "slice_copy", "split_copy", "split_with_sizes_copy", "squeeze_copy", "t_copy",
           "transpose_copy", "unbind_copy", "unfold_copy", "unsqueeze_copy", "view_as_complex_copy",
           "view_as_real_copy", "view_copy"]


def _copying(name):
    """A primitive that copies. Its node is named as torch names the copy of the view `name`."""
    @single(name=f"{name}_copy" if "." in name else f"{name}.0_copy", batches="leading", input=lambda g: g)
    def primitive(input):
        return input.copy("C")
    return primitive


def _copies(function, of_dim=None, unrecorded=False):
    """Decorator of a function f_copy that gives the same view as f. It makes a public function that copies the view.

    `of_dim`: the name of f's node where f has further arguments. `unrecorded`: writes to `out` are not recorded, so
    that an `out` which requires grad is accepted.
    """
    name = function.__name__.removesuffix("_copy")
    plain, other = _copying(name), _copying(of_dim or name)

    @functools.wraps(function)
    def copy(*args, out=None, **options):
        seen, input = function(*args, **options), args[0]
        primitive = other if len(args) > 1 or options else plain
        if isinstance(seen, Tensor):
            return write_out(out, primitive(seen), input, exact=EXACT)
        copies = tuple([primitive(part) for part in seen])
        if out is None:
            return copies
        with no_grad() if unrecorded else contextlib.nullcontext():
            for each, part in zip(out, copies):
                write_out(each, part, input, exact=EXACT)
        return None
    return public()(copy)


@_copies
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input`."""
    return _alias(input, (...,))


@_copies
def as_strided_copy(input: Tensor, size: Extents, stride: Extents, storage_offset: Extent | None = None, *,
                    out: Tensor | None = None) -> Tensor:
    """A copy of the view that `as_strided` gives."""
    return as_strided(input, size, stride, storage_offset)


@_copies
def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `diagonal` gives."""
    return diagonal(input, offset, dim1, dim2)


@_copies
def expand_copy(input: Tensor, size: Extents, *, implicit: bool = False, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `Tensor.expand` gives."""
    return expand(input, size)


@_copies
def permute_copy(input: Tensor, dims: Ints, *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `permute` gives."""
    return permute(input, dims)


@_copies
def select_copy(input: Tensor, dim: int, index: Extent, *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `select` gives."""
    return select(input, dim, index)


@_copies
def slice_copy(input: Tensor, dim: int = 0, start: Extent | None = None, end: Extent | None = None,
               step: Extent = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of the slice start:end:step of dimension `dim`."""
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    if not input._array.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    return _slice(input, (_ALL,) * check_dim(dim, input._array.ndim) + (slice(start, end, step), ...))


@_copies
def split_copy(input: Tensor, split_size: Extent, dim: int = 0, *, out: Tensors | None = None) -> Tensors:
    """Copies of the parts that `split` gives, returned or written to `out`."""
    return split(input, split_size, dim)


@functools.partial(_copies, unrecorded=True)
def split_with_sizes_copy(input: Tensor, split_sizes: Extents, dim: int = 0, *,
                          out: Tensors | None = None) -> Tensors:
    """Copies of the parts that `split_with_sizes` gives, returned or written to `out`."""
    return split_with_sizes(input, split_sizes, dim)


@functools.partial(_copies, of_dim="squeeze.1")
def squeeze_copy(input: Tensor, dim: Ints | int = ..., *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `squeeze` gives."""
    return squeeze(input, dim)


@_copies
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `t` gives."""
    return t(input)


@_copies
def transpose_copy(input: Tensor, dim0: int, dim1: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `transpose` gives."""
    return transpose(input, dim0, dim1)


@_copies
def unbind_copy(input: Tensor, dim: int = 0, *, out: Tensors | None = None) -> Tensors:
    """Copies of the slices that `unbind` gives, returned or written to `out`."""
    return unbind(input, dim)


@_copies
def unfold_copy(input: Tensor, dimension: int, size: int, step: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `Tensor.unfold` gives."""
    return unfold(input, dimension, size, step)


@_copies
def unsqueeze_copy(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `unsqueeze` gives."""
    return unsqueeze(input, dim)


@_copies
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `view_as_complex` gives."""
    return view_as_complex(input)


@_copies
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of the view that `view_as_real` gives."""
    return view_as_real(input.resolve_conj())


@_copies
def view_copy(input: Tensor, size: Extents | dt.dtype | None = None, dtype: dt.dtype | None = None, *,
              out: Tensor | None = None) -> Tensor:
    """A copy of the elements in another shape, or read as another dtype. Any strides are accepted."""
    if size is None or isinstance(size, dt.dtype):
        return view(input, dtype=size or dtype)
    return reshape(input, size)


@single(name="detach_copy", input=refused("detach_copy"), backward_name=REFUSED)
def _detach_copy(input):
    return np.array(input, order="C")


@public(out=EXACT)
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy that cannot be differentiated: backward raises RuntimeError.

    >>> import tinytorch as torch
    >>> torch.detach_copy(torch.tensor([1., 2.]))
    tensor([1., 2.])
    """
    return _detach_copy(input)
