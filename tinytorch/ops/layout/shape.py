"""Changes of shape: view reshape transpose permute expand squeeze ... They share memory where torch's functions do."""
from __future__ import annotations

import functools
import math

from ... import dtypes as dt
from ...arguments import ints_of
from ...autograd.op import single
from ...autograd.public import method, public, refuse
from ...autograd.views import become, check_in_place
from ...errors import warn
from ...kernels.copies import in_rows, reshaped, viewable
from ...kernels.layout import with_new_dims
from ...tensor import Tensor, check_dim
from ...types import Extents, Ints
from .sizes import distinct_dims, inverse, resolve_size, sizes
from .strided import view_as_dtype

__all__ = ["adjoint", "flatten", "moveaxis", "movedim", "numel", "permute",
           "ravel", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unflatten", "unsqueeze"]


# ------------------------------------------------------------------ primitives
def _reshaping(name):
    """A primitive f(input, size) that views the input in another shape. The caller has checked that the strides allow
    it."""
    @single(name=name, view=True, input=lambda g, shape: reshaped(g, shape))
    def primitive(input, size):
        return input.reshape(size)
    return primitive


_view, _unsqueeze, _reshape_alias = _reshaping("view"), _reshaping("unsqueeze"), _reshaping("reshape_alias")
_squeeze, _squeeze_dim, _squeeze_dims = _reshaping("squeeze"), _reshaping("squeeze.1"), _reshaping("squeeze.2")
_transpose_number, _t_vector = _reshaping("transpose"), _reshaping("t")      # for tensors without dimensions to swap


@single(name="unsqueeze", view=True, input=lambda g, shape: g.reshape(shape))
def _unsqueeze_view(input, size, dim):
    """For inputs in any order of memory, where NumPy's stride of the new dimension differs from torch's."""
    return with_new_dims(input, size, (dim,))


@single(name="_unsafe_view", input=lambda g, shape: reshaped(g, shape))
def _reshape_copy(input, size):
    return in_rows(input).reshape(size)


@single(name="permute", view=True, input=lambda g, dims: _permute(g, inverse(dims)))
def _permute(input, dims):
    return input.transpose(dims)


def _swapping(name):
    @single(name=name, view=True, input=lambda g, dim0, dim1: g.swapaxes(dim0, dim1))
    def _swapped(input, dim0, dim1):
        return input.swapaxes(dim0, dim1)
    return _swapped


_transpose, _t = _swapping("transpose"), _swapping("t")


# ------------------------------------------------------------------ in-place forms of views
def in_place_view(function):
    """The method `f_` for a function `f` that gives a view: the tensor becomes that view of itself."""
    @functools.wraps(function)
    def changing(self, *args, **kwargs):
        check_in_place(self)
        try:
            result = function(self, *args, **kwargs)
        except RuntimeError as error:
            raise RuntimeError(str(error).replace(f"{name}()", f"{name}_()")) from None
        return become(self, result)
    name = function.__name__
    changing.__name__ = changing.__qualname__ = name + "_"
    changing.__doc__ = f"Gives `self` the shape of `{name}` and returns it."
    return changing


# ------------------------------------------------------------------ view and reshape
@method(repeats=True)
def view(self: Tensor, *args: int | Ints | dt.dtype, size: Ints | None = None, dtype: dt.dtype | None = None) -> Tensor:
    """The same memory in another shape, view(2, -1), or read as another dtype, view(torch.int32).

    RuntimeError if the shape does not fit the number of elements or the strides (`reshape` copies then).

    >>> import tinytorch as torch
    >>> torch.arange(4).view(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """
    if dtype is not None or len(args) == 1 and isinstance(args[0], dt.dtype):
        return view_as_dtype(self, args[0] if dtype is None else dtype)
    try:
        size = sizes(args if size is None else (size,))
    except TypeError:
        names = ", ".join(type(n).__name__ for n in args)
        raise TypeError(f"view() received an invalid combination of arguments - got ({names}), but expected one of:\n"
                        " * (torch.dtype dtype)\n * (tuple of ints size)\n") from None
    array = self._array
    size = resolve_size(size, array.size)
    if not viewable(array, size):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension "
                           "spans across two contiguous subspaces). Use .reshape(...) instead.")
    return _view(self, size)


@public(hot=True, method=True, shares=True, repeats=True)
def reshape(input: Tensor, *size: int | Ints, shape: Extents | None = None) -> Tensor:
    """The same elements in another shape: a view where the strides allow it, else a copy.

    >>> import tinytorch as torch
    >>> torch.arange(4).reshape(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """
    array = input._array
    size = resolve_size(sizes(size if shape is None else (shape,), "reshape", "shape"), array.size)
    if array.flags.c_contiguous:
        return _view(input, size)
    return _reshape_alias(input, size) if viewable(array, size) else _reshape_copy(input, size)


@public(method=True, shares=True)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.view(other.size())`."""
    return view(self, other._array.shape)


@public(method=True, shares=True)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.reshape(other.size())`."""
    return reshape(self, other._array.shape)


@public(hot=True, method=True, shares=True, repeats=True)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Joins the dimensions start_dim to end_dim (inclusive) to one.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    shape = input._array.shape
    start, end = check_dim(start_dim, len(shape)), check_dim(end_dim, len(shape))
    if not shape:
        return reshape(input, 1)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return input
    return reshape(input, shape[:start] + (math.prod(shape[start:end + 1]),) + shape[end + 1:])


@public(shares=True)
def unflatten(input: Tensor, dim: int, sizes: Extents) -> Tensor:
    """Splits dimension `dim` into several of the given sizes, one of which may be -1.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 12).unflatten(1, (3, -1)).shape
    torch.Size([2, 3, 4])
    """
    dim, sizes = check_dim(dim, input._array.ndim), ints_of(sizes, "unflatten", "sizes", 3, True) if sizes else ()
    shape = input._array.shape
    if not shape:
        raise RuntimeError("unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions")
    if not sizes:
        raise RuntimeError(_NO_SIZES)
    known = -math.prod(sizes) if -1 in sizes else math.prod(sizes)
    if sizes.count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    if known != shape[dim] and not (-1 in sizes and known and shape[dim] % known == 0):
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
                           f"({shape[dim]}) in the input tensor")
    return view(input, shape[:dim] + tuple(shape[dim] // known if n == -1 else n for n in sizes) + shape[dim + 1:])


_NO_SIZES = "unflatten: sizes must be non-empty"


@method("unflatten", in_python=True, repeats=True)
def _unflatten_method(self: Tensor, dim: int, sizes: Ints) -> Tensor:
    """Splits dimension `dim` into several of the given sizes, one of which may be -1."""
    if not sizes:                              # torch checks this first too
        raise RuntimeError(_NO_SIZES)
    return unflatten(self, dim, sizes)


@public(method=True, shares=True)
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension: a view if the tensor is contiguous, else a copy.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).ravel().shape
    torch.Size([6])
    """
    return input.contiguous().view(input._array.size)


# ------------------------------------------------------------------ order of dimensions
@public(hot=True, method=True, inplace=in_place_view, shares=True, repeats=True)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dimensions swapped (`swapaxes`, `swapdims` are the same).

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).transpose(0, 1).shape
    torch.Size([3, 2])
    """
    ndim = input._array.ndim
    dim0, dim1 = check_dim(dim0, ndim), check_dim(dim1, ndim)
    return _transpose(input, dim0, dim1) if ndim else _transpose_number(input, ())


@public(method=True, inplace=in_place_view, shares=True)
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """`transpose` under NumPy's name."""
    return transpose(input, axis0, axis1)


@public(method=True, inplace=in_place_view, shares=True)
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """`transpose` under another name."""
    return transpose(input, dim0, dim1)


@public(hot=True, shares=True, repeats=True)
def permute(input: Tensor, dims: Ints) -> Tensor:
    """A view with the dimensions in the order `dims`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    if not isinstance(dims, (tuple, list)):
        refuse(permute, input, dims)
    return _permuted(input, sizes((dims,), "permute", "dims", False))


@method("permute", repeats=True)
def _permute_method(self: Tensor, *args: int | Ints, dims: Ints | None = None) -> Tensor:
    """A view with the dimensions in the order `dims`: permute(1, 0) or permute((1, 0))."""
    dims = sizes(args, "permute", "dims", False) if dims is None else ints_of(dims, "permute", "dims", None)
    return _permuted(self, dims)


def _permuted(input, dims):
    ndim = input._array.ndim
    if len(dims) != ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
                           f"the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = "
                           f"{len(dims)}")
    dims = tuple([check_dim(d, ndim) for d in dims])
    if len(set(dims)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permute(input, dims)


@public(method=True, shares=True, any_layout=True)
def movedim(input: Tensor, source: Ints | int, destination: Ints | int) -> Tensor:
    """A view with the dimensions `source` (an int or several) moved to `destination`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3, 4).movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    ndim, several = input._array.ndim, isinstance(source, (tuple, list))
    if several != isinstance(destination, (tuple, list)):
        raise TypeError("movedim() received an invalid combination of arguments: source and destination must both be "
                        "int or both tuple of ints")
    pair = [tuple(d) if several else (d,) for d in (source, destination)]
    if len(pair[0]) != len(pair[1]):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({list(pair[0])} dims) should contain "
                           f"the same number of dims as destination ({list(pair[1])} dims)")
    for k, name in enumerate(("source", "destination")):
        found = tuple(check_dim(d, ndim) for d in pair[k])
        if len(set(found)) != len(found):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(pair[k])})")
        pair[k] = found
    rest = iter([d for d in range(ndim) if d not in pair[0]])
    placed = dict(zip(pair[1], pair[0]))
    order = tuple([placed[i] if i in placed else next(rest) for i in range(ndim)])
    return _permute(input, order) if ndim else input._alias()


@public(method=True, shares=True, any_layout=True)
def moveaxis(input: Tensor, source: Ints | int, destination: Ints | int) -> Tensor:
    """`movedim` under NumPy's name."""
    return movedim(input, source, destination)


@public(hot=True, method=True, inplace=in_place_view, shares=True, repeats=True)
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix. A tensor of fewer dimensions is returned unchanged.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).t().shape
    torch.Size([3, 2])
    """
    ndim = input._array.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return _t(input, 0, 1) if ndim == 2 else _t_vector(input, input._array.shape)


def _reversed(self):
    """The view with all dimensions reversed."""
    if self._array.ndim not in (0, 2):
        warn("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and "
             "it will throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
             "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.")
    return _permute(self, tuple(range(self._array.ndim))[::-1])


def _matrix(self, name):
    """The view with the last two dimensions swapped. A tensor without dimensions is returned itself."""
    if not self._array.ndim:
        return self
    if self._array.ndim < 2:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. "
                           f"Got {self._array.ndim}-D tensor.")
    return _transpose(self, self._array.ndim - 2, self._array.ndim - 1)


@public(method=True, shares=True, any_layout=True)
def adjoint(input: Tensor) -> Tensor:
    """The conjugate with the last two dimensions swapped, as a view.

    >>> import tinytorch as torch
    >>> torch.tensor([[1 + 2j, 3]]).adjoint().shape
    torch.Size([2, 1])
    """
    return _matrix(input, "adjoint()").conj()


def _hermitian(self):
    """The conjugate transpose of a matrix."""
    if self._array.ndim not in (0, 2):
        more = " For batches of matrices, consider using tensor.mH" if self._array.ndim > 2 else ""
        raise RuntimeError("tensor.H is only supported on matrices (2-D tensors). "
                           f"Got {self._array.ndim}-D tensor.{more}")
    return _matrix(self, "H").conj()


# ------------------------------------------------------------------ dimensions of size 1, broadcasting
@public(hot=True, method=True, inplace=in_place_view, shares=True, repeats=True)
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a dimension of size 1 inserted at `dim`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).unsqueeze(1).shape
    torch.Size([2, 1, 3])
    """
    shape = input._array.shape
    dim = check_dim(dim, len(shape) + 1)
    size = shape[:dim] + (1,) + shape[dim:]
    return _unsqueeze(input, size) if input._view_info is None else _unsqueeze_view(input, size, dim)


@public(hot=True, method=True, inplace=in_place_view, spread=True, shares=True)
def squeeze(input: Tensor, dim: Ints | int = ...) -> Tensor:
    """A view without the dimensions of size 1 (or without those among `dim`, an int or several).

    >>> import tinytorch as torch
    >>> torch.zeros(1, 2, 1).squeeze(0).shape
    torch.Size([2, 1])
    """
    shape = input._array.shape
    if dim is ...:                             # it was not given; torch refuses None
        return _squeeze(input, tuple([n for n in shape if n != 1]) if 1 in shape else shape)
    if dim.__class__ is int:
        dim = check_dim(dim, len(shape))
        return _squeeze_dim(input, shape[:dim] + shape[dim + 1:] if shape and shape[dim] == 1 else shape)
    several = isinstance(dim, (tuple, list))
    if not several:
        refuse(squeeze, input, dim)
    drop = distinct_dims(ints_of(dim if several else (dim,), "squeeze", "dim", 2), len(shape))
    primitive = _squeeze_dims if several else _squeeze_dim
    return primitive(input, tuple([n for i, n in enumerate(shape) if n != 1 or i not in drop]))


@public(any_layout=True)
def numel(input: Tensor) -> int:
    """The number of elements.

    >>> import tinytorch as torch
    >>> torch.numel(torch.zeros(2, 3))
    6
    """
    return input._array.size


@public(method=True, any_layout=True)
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return self._array.shape == other._array.shape


Tensor.T = property(_reversed)
Tensor.mT = property(lambda self: _matrix(self, "mT"))
Tensor.H = property(_hermitian)
Tensor.mH = property(lambda self: _matrix(self, "mH").conj())
