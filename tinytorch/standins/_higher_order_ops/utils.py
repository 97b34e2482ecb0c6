"""Checks and helpers of the loops in this folder."""
from collections.abc import Sequence
from typing import Any

from ..ops.layout.join import stack
from ..tensor import Tensor
from ..utils import _pytree as pytree

__all__ = ["check_like", "check_scanned", "stacked"]


def _said(leaf):
    return (leaf.dtype, tuple(leaf.shape)) if isinstance(leaf, Tensor) else type(leaf)


def check_like(given: Any, wanted: Any, given_name: str, wanted_name: str) -> None:
    """RuntimeError if two trees have different numbers of leaves, or leaves with different dtypes or shapes."""
    given, wanted = pytree.tree_leaves(given), pytree.tree_leaves(wanted)
    if len(given) != len(wanted):
        raise RuntimeError(f"Expected {given_name} and {wanted_name} to have same number of outputs but got "
                           f"{len(given)} and {len(wanted)}")
    for i, (a, b) in enumerate(zip(given, wanted)):
        if _said(a) != _said(b):
            raise RuntimeError(f"Expected {given_name} and {wanted_name} to have same metadata but found: pair[{i}] "
                               f"differ: {_said(a)} vs {_said(b)}")


def check_scanned(leaves: Sequence[Tensor], dim: int, error: type[Exception]) -> None:
    """Raises `error` unless each tensor has the dimension `dim`, and elements along it."""
    if any([leaf.ndim <= dim or not leaf.shape[dim] for leaf in leaves]):
        raise error("All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0")


def stacked(results: Sequence[Any]) -> Any:
    """One tree for several trees of the same structure, with tensors stacked along a new first dimension."""
    leaves = [pytree.tree_leaves(result) for result in results]
    return pytree.tree_unflatten([stack(same) for same in zip(*leaves)], pytree.tree_structure(results[0]))
