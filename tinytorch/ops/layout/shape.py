"""Changes of shape: view reshape transpose permute expand squeeze ... They share memory where torch's do."""
import math
import warnings
from operator import index as as_int

import numpy as np

from ... import dtypes as dt
from ...autograd.op import single
from ...autograd.public import methods
from ...autograd.views import become, check_in_place
from ...tensor import Tensor, check_dim, wrap

__all__ = ["adjoint", "atleast_1d", "atleast_2d", "atleast_3d", "flatten", "moveaxis", "movedim", "numel", "permute",
           "ravel", "reshape", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unflatten", "unsqueeze"]


# ------------------------------------------------------------------ primitives
def _reshaping(name):
    """A primitive f(input, size): a view with another shape. The caller knows that the strides allow it."""
    @single(name=name, view=True, input=lambda g, shape: g.reshape(shape))
    def primitive(input, size):
        return input.reshape(size)
    return primitive


_view, _unsqueeze, _reshape_alias = _reshaping("view"), _reshaping("unsqueeze"), _reshaping("reshape_alias")
_squeeze, _squeeze_dim, _squeeze_dims = _reshaping("squeeze"), _reshaping("squeeze.1"), _reshaping("squeeze.2")
_transpose_number, _t_vector = _reshaping("transpose"), _reshaping("t")      # nothing to swap


@single(name="_unsafe_view", input=lambda g, shape: g.reshape(shape))
def _reshape_copy(input, size):
    return input.copy("C").reshape(size)


@single(name="permute", view=True, input=lambda g, dims: _permute(g, inverse(dims)))
def _permute(input, dims):
    return input.transpose(dims)


def _swapping(name):
    @single(name=name, view=True, input=lambda g, dim0, dim1: g.swapaxes(dim0, dim1))
    def primitive(input, dim0, dim1):
        return input.swapaxes(dim0, dim1)
    return primitive


_transpose, _t = _swapping("transpose"), _swapping("t")


# ------------------------------------------------------------------ arguments
def sizes(args):
    """The sizes of f(2, 3), f((2, 3)) or f(torch.Size) as a tuple of ints."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    return tuple([a if a.__class__ is int else as_int(a) for a in args])


def inverse(dims):
    """The permutation that undoes `dims`."""
    result = [0] * len(dims)
    for i, d in enumerate(dims):
        result[d] = i
    return tuple(result)


def distinct_dims(dims, ndim):
    """Dimensions (an int or several) from the front. RuntimeError if one appears twice."""
    found = tuple([check_dim(d, ndim) for d in ((dims,) if isinstance(dims, int) else dims)])
    if len(set(found)) != len(found):
        raise RuntimeError(f"dim {next(d for d in found if found.count(d) > 1)} appears multiple times in the list of "
                           "dims")
    return found


def resolve_size(size, count):
    """`size` with its -1 filled in for `count` elements. RuntimeError if they do not fit."""
    known = math.prod(size)
    if known == count and known >= 0 and (not size or min(size) >= 0):
        return size
    for i, n in enumerate(size):
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(size)}")
    if -1 in size:
        if size.count(-1) > 1:
            raise RuntimeError("only one dimension can be inferred")
        known = -known
        if known == 0 and count == 0:
            raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified "
                               "dimension size -1 can be any value and is ambiguous")
        if known and count % known == 0:
            return tuple([count // known if n == -1 else n for n in size])
    raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {count}")


def viewable(array, size):
    """Whether `array` can take shape `size` without a copy."""
    try:
        return array.flags.c_contiguous or np.may_share_memory(array, array.reshape(size))
    except MemoryError:                        # it was about to make a copy
        return False


# ------------------------------------------------------------------ view and reshape
def view(self, *args, size=None, dtype=None):
    """The same memory in another shape, view(2, -1), or read as another dtype, view(torch.int32).

    RuntimeError if the shape does not fit the elements or the strides (then `reshape` copies).

    >>> import tinytorch as torch
    >>> torch.arange(4).view(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """
    if dtype is not None or len(args) == 1 and isinstance(args[0], dt.dtype):
        return _view_as_dtype(self, args[0] if dtype is None else dtype)
    try:
        if not args and size is None:
            raise TypeError
        size = sizes(args if size is None else (size,))
    except TypeError:
        names = ", ".join(type(n).__name__ for n in args)
        raise TypeError(f"view() received an invalid combination of arguments - got ({names}), but expected one of:\n"
                        " * (torch.dtype dtype)\n * (tuple of ints size)\n") from None
    array = self.array
    size = resolve_size(size, array.size)
    if not viewable(array, size):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension "
                           "spans across two contiguous subspaces). Use .reshape(...) instead.")
    return _view(self, size)


def _view_as_dtype(self, dtype):
    array, want = self.array, dtype.numpy
    have = array.dtype.itemsize
    if have != want.itemsize:
        if not array.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 to view {self.dtype.type_name} as "
                               f"{dtype.type_name} (different element sizes)")
        ratio = want.itemsize // have
        if ratio and array.shape[-1] % ratio:
            raise RuntimeError(f"self.size(-1) must be divisible by {ratio} to view {self.dtype.type_name} as "
                               f"{dtype.type_name} (different element sizes), but got {array.shape[-1]}")
        if self.stride(-1) != 1 and array.shape[-1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 to view {self.dtype.type_name} as "
                               f"{dtype.type_name} (different element sizes), but got {self.stride(-1)}")
        if ratio and self.storage_offset() % ratio:
            raise RuntimeError(f"self.storage_offset() must be divisible by {ratio} to view "
                               f"{self.dtype.type_name} as {dtype.type_name} (different element sizes), "
                               f"but got {self.storage_offset()}")
        for i, step in enumerate(self.stride()[:-1] if ratio else ()):
            if step % ratio:
                raise RuntimeError(f"self.stride({i}) must be divisible by {ratio} to view "
                                   f"{self.dtype.type_name} as {dtype.type_name} (different element "
                                   f"sizes), but got {step}")
    result = wrap(array.view(want))
    result.version = self.version
    return result


def reshape(input, *size, shape=None):
    """The same elements in another shape: a view where the strides allow it, else a copy.

    >>> import tinytorch as torch
    >>> torch.arange(4).reshape(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """
    array = input.array
    size = resolve_size(sizes(size if shape is None else (shape,)), array.size)
    if array.flags.c_contiguous:
        return _view(input, size)
    return _reshape_alias(input, size) if viewable(array, size) else _reshape_copy(input, size)


def view_as(self, other):
    """`self.view(other.size())`."""
    return view(self, other.array.shape)


def reshape_as(self, other):
    """`self.reshape(other.size())`."""
    return reshape(self, other.array.shape)


def flatten(input, start_dim=0, end_dim=-1):
    """Dimensions start_dim to end_dim (with it) as one.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    shape = input.array.shape
    start, end = check_dim(start_dim, len(shape)), check_dim(end_dim, len(shape))
    if not shape:
        return reshape(input, 1)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return input
    return reshape(input, shape[:start] + (math.prod(shape[start:end + 1]),) + shape[end + 1:])


def unflatten(input, dim, sizes):
    """Dimension `dim` as several of the given sizes, one of which may be -1.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 12).unflatten(1, (3, -1)).shape
    torch.Size([2, 3, 4])
    """
    dim, sizes = check_dim(dim, input.array.ndim), tuple(sizes)
    shape = input.array.shape
    if not shape:
        raise RuntimeError("unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions")
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    known = -math.prod(sizes) if -1 in sizes else math.prod(sizes)
    if sizes.count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    if known != shape[dim] and not (-1 in sizes and known and shape[dim] % known == 0):
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
                           f"({shape[dim]}) in the input tensor")
    return view(input, shape[:dim] + tuple(shape[dim] // known if n == -1 else n for n in sizes) + shape[dim + 1:])


def ravel(input):
    """All elements in one dimension: a view of a contiguous tensor, else a copy.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).ravel().shape
    torch.Size([6])
    """
    return input.contiguous().view(input.array.size)


# ------------------------------------------------------------------ order of dimensions
def transpose(input, dim0, dim1):
    """A view with two dimensions swapped (`swapaxes`, `swapdims` are the same).

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).transpose(0, 1).shape
    torch.Size([3, 2])
    """
    ndim = input.array.ndim
    dim0, dim1 = check_dim(dim0, ndim), check_dim(dim1, ndim)
    return _transpose(input, dim0, dim1) if ndim else _transpose_number(input, ())


def swapaxes(input, axis0, axis1):
    """`transpose` under NumPy's name."""
    return transpose(input, axis0, axis1)


def swapdims(input, dim0, dim1):
    """`transpose` under another name."""
    return transpose(input, dim0, dim1)


def permute(input, *args, dims=None):
    """A view with the dimensions in the order `dims`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    dims, ndim = sizes(args if dims is None else (dims,)), input.array.ndim
    if len(dims) != ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
                           f"the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = "
                           f"{len(dims)}")
    dims = tuple([check_dim(d, ndim) for d in dims])
    if len(set(dims)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permute(input, dims)


def movedim(input, source, destination):
    """A view with the dimensions `source` (an int or several) moved to `destination`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3, 4).movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    ndim = input.array.ndim
    pair = [(d,) if isinstance(d, int) else tuple(d) for d in (source, destination)]
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
    return _permute(input, tuple([placed[i] if i in placed else next(rest) for i in range(ndim)]))


def moveaxis(input, source, destination):
    """`movedim` under NumPy's name."""
    return movedim(input, source, destination)


def t(input):
    """Transpose of a matrix (a tensor of fewer dimensions as it is).

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).t().shape
    torch.Size([3, 2])
    """
    ndim = input.array.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return _t(input, 0, 1) if ndim == 2 else _t_vector(input, input.array.shape)


def _reversed(self):
    """The view with all dimensions reversed."""
    if self.array.ndim not in (0, 2):
        warnings.warn("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and "
                      "it will throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
                      "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
                      UserWarning, stacklevel=2)
    return _permute(self, tuple(range(self.array.ndim))[::-1])


def _matrix(self, name):
    """The view with the last two dimensions swapped; a number itself."""
    if not self.array.ndim:
        return self
    if self.array.ndim < 2:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. "
                           f"Got {self.array.ndim}-D tensor.")
    return _transpose(self, self.array.ndim - 2, self.array.ndim - 1)


def adjoint(input):
    """The conjugate of the last two dimensions swapped.

    >>> import tinytorch as torch
    >>> torch.tensor([[1 + 2j, 3]]).adjoint().shape
    torch.Size([2, 1])
    """
    return _matrix(input, "adjoint()").conjugate()


def _hermitian(self):
    """The conjugate transpose of a matrix."""
    if self.array.ndim not in (0, 2):
        more = " For batches of matrices, consider using tensor.mH" if self.array.ndim > 2 else ""
        raise RuntimeError("tensor.H is only supported on matrices (2-D tensors). "
                           f"Got {self.array.ndim}-D tensor.{more}")
    return _matrix(self, "H").conjugate()


# ------------------------------------------------------------------ dimensions of size 1, broadcasting
def unsqueeze(input, dim):
    """A view with a dimension of size 1 put in at `dim`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).unsqueeze(1).shape
    torch.Size([2, 1, 3])
    """
    shape = input.array.shape
    dim = check_dim(dim, len(shape) + 1)
    return _unsqueeze(input, shape[:dim] + (1,) + shape[dim:])


def squeeze(input, dim=None):
    """A view without the dimensions of size 1 (or without those among `dim`, an int or several).

    >>> import tinytorch as torch
    >>> torch.zeros(1, 2, 1).squeeze(0).shape
    torch.Size([2, 1])
    """
    shape = input.array.shape
    if dim is None:
        return _squeeze(input, tuple([n for n in shape if n != 1]))
    drop = distinct_dims(dim, len(shape))
    primitive = _squeeze_dim if isinstance(dim, int) else _squeeze_dims
    return primitive(input, tuple([n for i, n in enumerate(shape) if n != 1 or i not in drop]))


def _at_least(name, grow):
    def function(*tensors):
        if len(tensors) == 1:
            tensors = tensors[0]
        if isinstance(tensors, Tensor):
            return grow(tensors)
        return tuple([grow(tensor) for tensor in tensors])
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The tensor (or each of several) with dimensions of size 1 added up to {name[-2]} dimensions."
    return function


def _grow_3d(x):
    if x.array.ndim >= 3:
        return x
    return unsqueeze(x, -1) if x.array.ndim == 2 else unsqueeze(unsqueeze(reshape(x, -1), 0), -1)


atleast_1d = _at_least("atleast_1d", lambda x: x if x.array.ndim else reshape(x, 1))
atleast_2d = _at_least("atleast_2d", lambda x: x if x.array.ndim >= 2 else unsqueeze(reshape(x, -1), 0))
atleast_3d = _at_least("atleast_3d", _grow_3d)


def numel(input):
    """The number of elements.

    >>> import tinytorch as torch
    >>> torch.numel(torch.zeros(2, 3))
    6
    """
    return input.array.size


def is_same_size(self, other):
    """Whether the shapes are equal."""
    return self.array.shape == other.array.shape


# ------------------------------------------------------------------ methods
def changes_itself(function):
    """Make a function that gives a view the method `f_`, which makes that view of the tensor itself."""
    def method(self, *args, **kwargs):
        check_in_place(self)
        try:
            result = function(self, *args, **kwargs)
        except RuntimeError as error:
            raise RuntimeError(str(error).replace(function.__name__ + "()", method.__name__ + "()")) from None
        return become(self, result)
    method.__name__ = method.__qualname__ = function.__name__ + "_"
    method.__doc__ = f"Gives `self` the shape of `{function.__name__}` and returns it."
    setattr(Tensor, method.__name__, method)


for _function in (squeeze, unsqueeze, t, transpose, swapaxes, swapdims):
    changes_itself(_function)
methods(view, reshape, view_as, reshape_as, flatten, unflatten, ravel, transpose, swapaxes, swapdims, permute, movedim,
        moveaxis, t, adjoint, unsqueeze, squeeze, is_same_size)
Tensor.T = property(_reversed)
Tensor.mT = property(lambda self: _matrix(self, "mT"))
Tensor.H = property(_hermitian)
Tensor.mH = property(lambda self: _matrix(self, "mH").conjugate())
