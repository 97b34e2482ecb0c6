"""Views and other changes of shape: reshape, transpose, expand, squeeze ... They share memory."""
import numpy as np

from ..autograd.op import methods, op
from ..tensor import Size, Tensor, check_dim

__all__ = ["permute", "reshape", "squeeze", "transpose", "t", "unsqueeze"]


@op(name="view", view=True, input=lambda g, shape: _view(g, shape))
def _view(input, size):
    return input.reshape(size)


@op(name="permute", view=True, input=lambda g, dims: _permute(g, tuple(np.argsort(dims).tolist())))
def _permute(input, dims):
    return input.transpose(dims)


@op(name="expand", view=True, input=lambda g: g)
def _expand(input, size):
    return np.broadcast_to(input, size)


def sizes(args):
    """The sizes of f(2, 3), f((2, 3)) or f(torch.Size) as a tuple of ints."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    return tuple([a if a.__class__ is int else int(a) for a in args])


def _resolve(size, array):
    """`size` with its -1 filled in. RuntimeError if the numbers of elements differ."""
    known = 1
    for n in size:
        known *= n if n != -1 else 1
    if -1 in size:
        if size.count(-1) > 1:
            raise RuntimeError("only one dimension can be inferred")
        if known == 0:
            raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified "
                               "dimension size -1 can be any value and is ambiguous")
        if array.size % known == 0:
            return tuple([array.size // known if n == -1 else n for n in size])
    elif known == array.size:
        return size
    raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {array.size}")


def reshape(input, *shape):
    """The same elements in another shape: a view where the strides allow it, else a copy.

    >>> import tinytorch as torch
    >>> torch.arange(4).reshape(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """
    return _view(input, _resolve(sizes(shape), input.array))


def transpose(input, dim0, dim1):
    """A view with two dimensions swapped.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).transpose(0, 1).shape
    torch.Size([3, 2])
    """
    ndim = input.ndim
    dim0, dim1 = check_dim(dim0, ndim), check_dim(dim1, ndim)
    dims = list(range(ndim))
    if ndim:
        dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return _permute(input, tuple(dims))


def permute(input, *dims):
    """A view with the dimensions in the order `dims`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    dims = tuple(check_dim(d, input.ndim) for d in sizes(dims))
    return _permute(input, dims)


def t(input):
    """Transpose of a matrix (a tensor of fewer dimensions as it is)."""
    return transpose(input, 0, 1) if input.ndim == 2 else input


def expand(self, *size):
    """A view with dimensions of size 1 repeated; -1 keeps a size."""
    size = sizes(size)
    lead = len(size) - self.array.ndim
    size = tuple(self.array.shape[i - lead] if n == -1 else n for i, n in enumerate(size))
    return _expand(self, size)


def unsqueeze(input, dim):
    """A view with a dimension of size 1 put in at `dim`."""
    dim = check_dim(dim, input.ndim + 1)
    shape = input.array.shape
    return _view(input, shape[:dim] + (1,) + shape[dim:])


def squeeze(input, dim=None):
    """A view without the dimensions of size 1 (or without those of `dim`)."""
    shape = input.array.shape
    drop = range(len(shape)) if dim is None else [check_dim(d, len(shape)) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    return _view(input, tuple(n for i, n in enumerate(shape) if n != 1 or i not in drop))


methods(reshape, transpose, permute, t, expand, unsqueeze, squeeze)
Tensor.view = reshape
Tensor.T = property(lambda self: permute(self, *reversed(range(self.ndim))))
