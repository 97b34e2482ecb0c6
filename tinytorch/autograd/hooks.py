"""Hooks: the handle that registering one returns, and how gradients pass through them."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, overload

import numpy as np

from .. import dtypes as dt
from ..kernels.errstate import as_outside
from ..tensor import Tensor, wrap
from . import late_bound

#: An ndarray (or a NumPy number) in a plain backward, a Tensor under create_graph and in hooks.
Gradient: TypeAlias = Any


class RemovableHandle:
    """The handle of a registered hook: `remove()` removes the hook, as does leaving a `with` block of the handle."""

    next_id = 0

    def __init__(self, hooks_dict: dict, *, extra_dict: dict | Iterable[dict] = ()) -> None:
        # extra_dict: a dict or a list of dicts that may hold an entry under the hook's id as well
        extra = [extra_dict] if isinstance(extra_dict, dict) else extra_dict or ()
        self.dicts, self.id = (hooks_dict, *extra), RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        for hooks in self.dicts:
            hooks.pop(self.id, None)

    def __getstate__(self) -> tuple:
        hooks, *extra = self.dicts
        return (hooks, self.id, tuple(extra)) if extra else (hooks, self.id)

    def __setstate__(self, state: tuple) -> None:
        hooks, self.id, *extra = state         # in torch's handles, None stands for hooks that are gone
        others = extra[0] if extra else ()
        self.dicts = (OrderedDict() if hooks is None else hooks, *others)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def add_hook(hooks: dict[int, Callable], hook: Callable) -> RemovableHandle:
    """Put `hook` into a dictionary of hooks; returns its handle."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


@overload
def as_tensor(g: None) -> None: ...
@overload
def as_tensor(g: Gradient) -> Tensor: ...


def as_tensor(g: Gradient | None) -> Tensor | None:
    """A gradient (ndarray, Tensor or None) as a Tensor or None."""
    if g is None or isinstance(g, Tensor):
        return g
    if g.__class__ is late_bound.sparse_array:
        return g.tensor()
    return wrap(g if g.__class__ is np.ndarray else np.asarray(g))


def checked_gradient(g: Gradient, shape: tuple[int, ...], source: str, i: int = 0) -> Gradient:
    """The gradient that `source` returned for its input number `i`. RuntimeError unless `shape` broadcasts to its
    shape."""
    lead = len(g.shape) - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, g.shape[lead:])):
        raise RuntimeError(f"{source} returned an invalid gradient at index {i} - got {list(g.shape)} but expected "
                           f"shape compatible with {list(shape)}")
    return g


def _like(g, tensor):
    """`tensor` in the form of `g`: an ndarray in a plain backward."""
    return tensor if tensor is None or isinstance(g, Tensor) else tensor._array


def through_tensor_hooks(hooks: dict[int, Callable], g: Gradient | None) -> Gradient | None:
    """Pass a gradient through the hooks of its tensor. A hook's result, if it is not None, replaces the gradient."""
    tensor = as_tensor(g)
    for hook in list(hooks.values()):
        with as_outside():
            result = hook(tensor)
        if result is not None:
            check_replacement(_name_of(hook), result, tensor)
            tensor = result
    return _like(g, tensor)


def _name_of(hook):
    return getattr(hook, "__name__", "<unknown>")


def check_replacement(name: str, result: object, before: Any) -> None:
    """Raise if a hook's replacement for a gradient is no tensor, or differs from the gradient in dtype or shape."""
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    if result._array.dtype != before._array.dtype:
        raise RuntimeError(f"hook '{name}' has changed the type of value (was torch.{dt.of(before._array).tensor_type} "
                           f"got torch.{dt.of(result._array).tensor_type})")
    if result._array.shape != before._array.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")


def through_node_hooks(hooks: dict[int, Callable], grads: Sequence[Gradient | None],
                       *others: Sequence[Gradient | None]) -> Sequence[Gradient | None]:
    """Pass a tuple of gradients (ndarrays or Tensors; None for none) through hooks of a node. Each hook is called with
    the tuple and with `others`; a tuple that it returns replaces the gradients."""
    if not hooks:
        return grads
    tensors = tuple([as_tensor(g) for g in grads])
    beside = [tuple([as_tensor(g) for g in other]) for other in others]
    for hook in list(hooks.values()):
        with as_outside():
            result = hook(tensors, *beside)
        if result is None:
            continue
        if not isinstance(result, tuple):
            raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
        if len(result) != len(tensors):
            raise RuntimeError(f"hook '{_name_of(hook)}' has returned an incorrect number of "
                               f"values (got {len(result)}, but expected {len(tensors)})")
        for new, old in zip(result, tensors):
            if new is not None and old is None:
                raise RuntimeError("can't replace a None gradient with a non-None value")
            if new is not None:
                check_replacement(_name_of(hook), new, old)
        tensors = result
    plain = not any(isinstance(g, Tensor) for g in grads)
    return [t._array if plain and t is not None else t for t in tensors]
