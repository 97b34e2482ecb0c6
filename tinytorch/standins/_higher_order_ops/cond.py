"""cond: calls one of two functions, depending on a tensor."""
from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from ..utils import _pytree as pytree

__all__ = ["cond"]


def cond(pred: bool | int | float | Tensor, true_fn: Callable, false_fn: Callable, operands: tuple | list = ()) -> Any:
    """true_fn(*operands) if `pred`, else false_fn(*operands). `pred` is a number or a tensor of one element. With a
    tensor, the leaves of `operands` are tensors (RuntimeError).

    >>> import tinytorch as torch
    >>> x = torch.tensor([1., 2.])
    >>> torch.cond(x.sum() > 2, torch.neg, torch.abs, (x,))
    tensor([-1., -2.])
    """
    if not isinstance(pred, (bool, int, float)):
        if not isinstance(pred, Tensor):
            raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
        if pred.numel() != 1:
            raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
        if not callable(true_fn) or not callable(false_fn):
            raise RuntimeError("Expect both branches to be callable.")
        if not isinstance(operands, (tuple, list)) or not pytree.tree_all(lambda x: isinstance(x, Tensor), operands):
            raise RuntimeError("Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of "
                               f"tensor leaves, but got {operands}.")
    return true_fn(*operands) if pred else false_fn(*operands)
