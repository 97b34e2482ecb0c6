"""torch.autograd.graph: nodes, edges, hooks on several tensors, and hooks on saved tensors."""
from __future__ import annotations

import contextlib
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..kinds.lazy import address_of, bits_of
from ..tensor import Tensor
from .grad_mode import all_threads, mode
from .hooks import RemovableHandle
from .node import AccumulateGrad, GradientEdge, Node as _Node, Step, function_of
from .paths import edge_of, reached_by
from .places import note_place
from .saved import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = ["GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
           "get_gradient_edge", "increment_version", "region_activation_memory_budget", "register_multi_grad_hook",
           "save_on_cpu", "saved_tensors_hooks", "set_override_stale_capture_stream",
           "set_warn_on_accumulate_grad_stream_mismatch"]


class Node(ABC):
    """The class of `grad_fn`, for isinstance: nodes of the tape are registered as its subclasses."""

    @abstractmethod
    def name(self) -> str:
        """The name of the operation that computed the tensor, as in "MulBackward0"."""

    @property
    @abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """(node, output number) for each input."""

    @property
    @abstractmethod
    def metadata(self) -> dict:
        """A dictionary for the user."""

    @abstractmethod
    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Call fn(grad_inputs, grad_outputs) when the node has run."""

    @abstractmethod
    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Call fn(grad_outputs) before the node runs."""


Node.register(_Node)
Node.register(AccumulateGrad)
Node.register(Step)


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place in the graph where the gradient of `tensor` arrives. `grad` and `backward` accept it in place of the
    tensor, which need not be kept alive. RuntimeError if the tensor requires no grad.

    >>> import tinytorch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.autograd.graph.get_gradient_edge(x * 2).node.name()
    'MulBackward0'
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge = tensor._node or tensor
    node, number = function_of(edge)
    return GradientEdge(node, number, edge if edge is not node and tensor._node is not None else None)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write to `tensor` (or to each of several), as an in-place operation does. Writes to inference tensors are
    not counted. RuntimeError for any other object."""
    tensors = [tensor] if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in tensors:
        if not t.is_inference():
            t._version_counter[0] += 1
            if all_threads.noting_writes:
                note_place(t._version_counter)


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> RemovableHandle:
    """Call a function with the gradients of several tensors, in each backward that computes some of them.

    mode "all": fn(gradients) when all gradients that this backward computes are there, None for the others
    mode "any": fn(gradient) with the first gradient
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    gathering = _Gathering(tensors, fn, mode == "any")
    return _Handles([t.register_hook(gathering.hook_of(k)) for k, t in enumerate(tensors)])


class _Gathering:
    """The gradients of several tensors, collected during one backward."""

    def __init__(self, tensors, fn, first_only):
        self.edges = [weakref.ref(edge_of(t)) for t in tensors]      # the hooks must not keep the graph alive
        self.fn, self.first_only = fn, first_only
        self.task: weakref.ref | None = None
        self.grads: Any
        self.missing: int
        self.called: bool

    def hook_of(self, k):
        def hook(g):
            if self.task is None or self.task() is not mode.graph_task:
                self._start()
            self.grads[k] = g
            self.missing -= 1
            if self.first_only:
                if not self.called:
                    self.called = True
                    self.fn(g)
            elif self.missing == 0:
                self.fn(self.grads)
                self.grads = None
        return hook

    def _start(self):
        """Begin a new backward: count the gradients that it will compute."""
        self.task = weakref.ref(mode.graph_task)     # weak, because a task holds the graph
        self.called, self.grads = False, [None] * len(self.edges)
        if not self.first_only:
            reached = reached_by(mode.graph_task.roots, mode.graph_task.inputs)
            self.missing = sum(edge() in reached for edge in self.edges)
        else:
            self.missing = 0


class _Handles(RemovableHandle):
    """Several handles that are removed together."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()


class _SavedCopies:
    """The copies that one `allow_mutation_on_saved_tensors` keeps: one for each version of each saved tensor."""

    open: _SavedCopies | None = None           # the one whose context has been entered

    def __init__(self):
        self.copies = {}

    def pack(self, tensor):
        cell = tensor._version_counter
        array = tensor._array
        key = id(cell), tensor._version, address_of(array), bits_of(array), tensor.shape, tensor.stride()
        if key not in self.copies:             # the cell is kept too, so that no other object gets its id
            self.copies[key] = tensor.detach().clone(), cell
        return key

    def unpack(self, key):
        if _SavedCopies.open is not self:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which "
                                 "the graph was originally recorded.")
        return self.copies[key][0]

    def clear(self):
        self.copies.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_SavedCopies]:
    """Context manager: tensors that were saved for backward may be written to in place. Backward, which must run
    inside as well (else AssertionError), reads their values from before the write. Each tensor is copied when it is
    saved, and the copies are kept until the end. RuntimeError if nested.

    >>> import tinytorch as torch
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     x = torch.ones(2, requires_grad=True)
    ...     y = x * 1
    ...     z = (y ** 2).sum()
    ...     _ = y.zero_()
    ...     z.backward()
    >>> x.grad
    tensor([2., 2.])
    """
    if _SavedCopies.open is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    copies = _SavedCopies()
    try:
        _SavedCopies.open = copies
        with saved_tensors_hooks(copies.pack, copies.unpack):
            yield copies
    finally:
        _SavedCopies.open = None               # first, because an interrupt may come later
        copies.clear()


def _flag(name):
    def function(enabled):
        if not isinstance(enabled, bool):
            raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Accepted and without effect: there are no streams. RuntimeError if `enabled` is no bool."
    return function


set_override_stale_capture_stream = _flag("set_override_stale_capture_stream")
set_warn_on_accumulate_grad_stream_mismatch = _flag("set_warn_on_accumulate_grad_stream_mismatch")


def region_activation_memory_budget(budget):
    """RuntimeError: it applies to compiled functions only."""
    raise RuntimeError("torch.autograd.graph.region_activation_memory_budget can only be used inside a torch.compile "
                       "region; it has no effect in eager mode.")
