"""Elementwise choice: where."""
from __future__ import annotations

import numpy as np

from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.promotion import (
    NUMBERS,
    check_broadcast,
    converted,
    filled_as,
    promoted,
    result_dtype,
    write_out,
)
from ...autograd.public import method, public, refuse
from ...errors import type_name, warn_once
from ...kernels.expressions import on_tensors
from ...kernels.masks import chosen
from ...tensor import Tensor, wrap
from ...types import Number

__all__ = ["where"]

_OPERANDS = (Tensor, *NUMBERS)


@op(name="where", elementwise=True, input=lambda g, condition: pick(condition, g, 0.0),
    other=lambda g, condition: pick(condition, 0.0, g))
def _where(condition, input, other):
    return chosen(condition, input, other)


def pick(condition, input, other):
    """np.where for derivative rules, of arrays or Tensors. Constants may be Python floats."""
    if not isinstance(condition, Tensor) and not isinstance(input, Tensor) and not isinstance(other, Tensor):
        return chosen(condition, input, other)
    mask = condition._array if isinstance(condition, Tensor) else condition
    input, other = promoted(input, other)
    return _where(mask, input, other)


on_tensors(where=pick)


def scaled_unless(condition, g, slope):
    """g * slope, but 0 where `condition` holds, even if the slope is infinite or NaN there. In forward mode the slope
    is set to 0 there too: the derivative of this rule multiplies by the slope that was left out, which may be
    infinite."""
    if mode.computing_jvp:
        slope = pick(condition, 0.0, slope)
    return pick(condition, 0.0, g * slope)


@public(hot=True, looks=True)
def where(condition: Tensor, input: Tensor | Number = ..., other: Tensor | Number = ..., *,
          out: Tensor | None = None) -> Tensor | tuple[Tensor, ...]:
    """`input` where `condition` is true, else `other`. All three broadcast; `input` and `other` may be numbers.

    With the condition alone, the result is the indices of its non-zero elements: a tensor for each dimension.
    Else it has the common dtype of the two. RuntimeError if the condition is neither bool nor uint8.

    >>> import tinytorch as torch
    >>> x = torch.tensor([-1., 2.])
    >>> torch.where(x > 0, x, 0.)
    tensor([0., 2.])
    >>> torch.where(x > 0)
    (tensor([1]),)
    """
    if input is ... and other is ...:
        return condition.nonzero(as_tuple=True)
    mask = condition._array
    if not (isinstance(input, Tensor) and isinstance(other, Tensor) and input._array.dtype is other._array.dtype):
        if not isinstance(input, _OPERANDS) or not isinstance(other, _OPERANDS):
            refuse(where, condition, input, other)
        input, other = _operands(input, other)
    if mask.dtype != bool:
        if mask.dtype != np.uint8:
            raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                               f"{type_name(condition)}")
        warn_once("where received a uint8 condition tensor. This behavior is deprecated and will be removed in a "
                  "future version of PyTorch. Use a boolean condition instead.")
        mask = mask != 0
        condition = wrap(mask)
    try:
        return write_out(out, _where(condition, input, other), condition, input, other,
                         exact="Expected out type to be {Want} but got {Have}")
    except ValueError:
        check_broadcast(input._array.shape, other._array.shape)
        check_broadcast(mask.shape, np.broadcast_shapes(input._array.shape, other._array.shape))
        raise


def _operands(input, other):
    """The two as tensors of their common dtype. Raises an error for a number that this dtype cannot hold."""
    d = result_dtype((input, other)).numpy
    return [converted(x, d) if isinstance(x, Tensor) else wrap(filled_as(x, d, 1)) for x in (input, other)]


@method("where")
def _where_method(self, condition, other):
    """`self` where `condition` is true, else `other`."""
    return where(condition, self, other)
