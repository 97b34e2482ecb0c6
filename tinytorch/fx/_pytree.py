"""torch.fx._pytree: nested containers taken apart by the TreeSpec of another container."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from ..utils import _pytree as pytree

__all__ = ["register_pytree_flatten_spec", "tree_flatten_spec"]

SUPPORTED_NODES: dict[type, Callable] = {
    dict: lambda value, spec: [value[key] for key in spec.context],
    list: lambda value, spec: [value[i] for i in range(spec.num_children)],
    namedtuple: lambda value, spec: [value[i] for i in range(spec.num_children)],
    tuple: lambda value, spec: [value[i] for i in range(spec.num_children)]}
SUPPORTED_NODES_EXACT_MATCH: dict[type, Callable | None] = dict.fromkeys(
    SUPPORTED_NODES, lambda value, spec: len(value) == spec.num_children)


def register_pytree_flatten_spec(cls: type, flatten_fn_spec: Callable,
                                 flatten_fn_exact_match_spec: Callable | None = None) -> None:
    """Registers how a container of the class is taken apart: `flatten_fn_spec(value, spec)` returns the list of its
    parts."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def tree_flatten_spec(pytree_: Any, spec: Any) -> list:
    """The leaves of a nested container in the order of a TreeSpec; RuntimeError if its structure differs."""
    if spec.is_leaf():
        return [pytree_]
    if spec.type in SUPPORTED_NODES:
        parts = SUPPORTED_NODES[spec.type](pytree_, spec)
        return [x for part, below in zip(parts, spec.children()) for x in tree_flatten_spec(part, below)]
    flat, found = pytree.tree_flatten(pytree_)
    if found != spec:
        raise RuntimeError(f"Real spec {found} of object {pytree_} is different from expected spec {spec}.")
    return flat
