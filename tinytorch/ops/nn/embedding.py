"""Embeddings: rows of a table by number; one_hot."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments import extent_of
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.places import count_write
from ...autograd.promotion import refuse_complex_gradient
from ...autograd.public import public, refuse
from ...autograd.views import check_in_place, check_written
from ...errors import not_a_tensor, type_name
from ...kernels import embedding as kernels
from ...kernels.memory import empty
from ...kernels.scatter import any_outside, owned
from ...kinds.one_step import one_step
from ...tensor import Tensor, wrap
from ...types import Extent


@op(name="embedding_dense_backward",
    grad=lambda g, indices, padding: _without_padding(_embedding(g, indices, -1, False), indices, padding))
def _embedding_backward(grad, indices, count, padding, by_frequency):
    return kernels.lookup_backward(grad, indices, count, padding, by_frequency)


def _without_padding(rows, indices, padding):
    if padding < 0:
        return rows
    return rows * (indices != padding)[..., None]


#: torch's names of the arguments.
_CALLED = {"padding": "padding_idx", "by_frequency": "scale_grad_by_freq"}


def _gradient(g, shape, indices, padding, by_frequency):
    if mode.computing_jvp:                     # the tangent of a row counts once, and padding has one too
        padding, by_frequency = -1, False
    return _embedding_backward(g, indices, shape[0], padding, by_frequency)


@op(name="embedding", weight=_gradient, called=_CALLED)
def _embedding(weight, indices, padding, by_frequency):
    return kernels.lookup(weight, indices)


def _rows_gradient(g, shape, indices, padding, by_frequency):
    if mode.computing_jvp:                     # a tangent is never sparse
        return _gradient(g, shape, indices, padding, by_frequency)
    return gradient_of_rows(g, shape, indices, padding, by_frequency)


def gradient_of_rows(g, shape, indices, padding, by_frequency):
    """The sparse gradient of a table of `shape` whose rows `indices` have the gradients `g`."""
    if by_frequency:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    from ...sparse.embedding import rows_of  # loaded with the first sparse tensor
    return rows_of(g, tuple(shape), indices, padding)


@op(name="embedding", weight=_rows_gradient, called=_CALLED,
    converts=True)     # a table in bfloat16 has a gradient in bfloat16
def _embedding_of_rows(weight, indices, padding, by_frequency):
    """`_embedding` whose gradient is sparse."""
    return kernels.lookup(weight, indices)


def _padding_row(padding_idx, weight):
    if padding_idx is None:
        return -1
    count = weight._array.shape[0]
    if not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return extent_of(padding_idx, "embedding", "padding_idx", 3) % count


def _check_lookup(input, weight, function="embedding"):
    if weight._array.ndim != 2:
        if not weight._array.ndim and weight.requires_grad:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError("'weight' must be 2-D")
    if input._array.dtype.char not in "ilq":
        found = "CPUBoolType" if input._array.dtype.kind in dt.BOOL else f"torch.{input.dtype.tensor_type}"
        raise RuntimeError("Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
                           f"Int; but got {found} instead (while checking arguments for {function})")


def _renorm(weight, input, max_norm, norm_type):
    if weight._array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{type_name(weight)} instead.")
    check_written(weight._array)
    max_norm, norm_type = (x.item() if isinstance(x, Tensor) else x for x in (max_norm, norm_type))
    kernels.limit_norms(weight._array, input._array, max_norm, norm_type)
    count_write(weight)


@public()
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows `indices` of `input` down to the norm `max_norm`, in place, where their norm is larger.

    >>> import tinytorch as torch
    >>> torch.embedding_renorm_(torch.tensor([[3., 4.]]), torch.tensor([0]), 1., 2.)
    tensor([[0.6000, 0.8000]])
    """
    _check_lookup(indices, input, "embedding_renorm_")
    check_in_place(input)
    _renorm(input, indices, max_norm, norm_type)
    return input


@public(hot=True, in_python=True, writes="weight")
def embedding(input: Tensor, weight: Tensor, padding_idx: Extent | None = None, max_norm: float | None = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """The rows of `weight` (V, D) that `input` (*, int64 or int32) numbers: (*, D).

    The row `padding_idx` gets no gradient. `max_norm` first scales longer rows down, in place. `scale_grad_by_freq`
    divides each row's gradient by how often it was read. With `sparse` the gradient of `weight` is a sparse tensor of
    the rows that were read. IndexError if a row does not exist.

    >>> import tinytorch as torch
    >>> torch.nn.functional.embedding(torch.tensor([1, 0]), torch.tensor([[1., 2.], [3., 4.]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    padding = _padding_row(padding_idx, weight)
    try:
        _check_lookup(input, weight)
    except AttributeError:
        # torch's function has the arguments in this order.
        for i, (name, x) in enumerate((("weight", weight), ("indices", input)), 1):
            if not isinstance(x, Tensor):
                raise not_a_tensor("embedding", name, i, x) from None
        raise
    if weight._array.dtype.kind == dt.COMPLEX:
        refuse_complex_gradient("embedding", weight)
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    if scale_grad_by_freq.__class__ is not bool or sparse.__class__ is not bool:
        refuse(embedding, input, weight, None, None, 2.0, scale_grad_by_freq, sparse)
    return (_embedding_of_rows if sparse else _embedding)(weight, input, padding, scale_grad_by_freq)


@public(looks=True)
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """int64 (*, num_classes): 1 at each class of `input` (*, int64), 0 elsewhere.

    num_classes -1 stands for one more than the largest class. RuntimeError for classes out of range.

    >>> import tinytorch as torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    index = input._array
    if index.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not index.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(empty(index.shape + (num_classes,), index.dtype, np.zeros))
    index = owned(index)                       # what is checked is what is used
    if num_classes == -1 and not index.min() < 0:
        num_classes = int(index.max()) + 1
    return wrap(_of_classes(index, num_classes))


@one_step
def _of_classes(index, num_classes):
    if num_classes < 0 or any_outside(index, num_classes):
        raise RuntimeError("Class values must be non-negative." if index.min() < 0 else
                           "Class values must be smaller than num_classes.")
    result = empty(index.shape + (num_classes,), index.dtype, np.zeros)
    firsts = np.arange(0, index.size * num_classes, num_classes)
    result.reshape(-1)[index.reshape(-1) + firsts] = 1
    return result
