"""The tensors that the ctx of a Function keeps for backward."""
from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from ..tensor import Tensor, wrap
from .grad_mode import mode
from .node import SELECT, Node, new_node
from .saved import Packed, modified, refuse_hooks


def output_edge(node: Node, k: int) -> Node:
    """The edge that takes the gradient of output `k`."""
    return new_node(SELECT, (node,), (k, None, None), (), node.shape[k]) if node.op.multi else node


def refuse_none(pack: Callable, unpack: Callable) -> NoReturn:
    raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")


class KeptTensor:
    """A tensor that a ctx keeps, with its version. For an output only the array is kept, because the tensor would keep
    its own node alive."""

    __slots__ = ("kept", "cell", "version", "source", "number")
    kept: Any                                  # a Tensor, the array of an output, or Packed
    source: Any                                # a node or a reference to it, a leaf, or None

    def __init__(self, tensor: Tensor, node: Node, number: int | None) -> None:
        self.cell, self.version, self.number = tensor._version_counter, tensor._version_counter[0], number
        if number is not None:
            self.kept, self.source = tensor._array, weakref.ref(node)
        else:
            self.kept, self.source = tensor, tensor._node
        if mode.saved_tensors_hooks is not None:
            self.pack(*mode.saved_tensors_hooks)

    def pack(self, pack: Callable, unpack: Callable) -> None:
        """Replace the tensor by the result of the user's pack function."""
        kept = self.kept
        refuse_hooks(False, kept.__class__ is Packed)
        self.cell = None                       # the version of a packed tensor is not compared
        if isinstance(kept, Tensor) and kept._requires_grad and kept._node is None:
            self.source = kept
        self.kept = Packed(kept if isinstance(kept, Tensor) else wrap(kept), pack, unpack)

    def tensor(self) -> Tensor:
        kept, source = self.kept, self.source
        if self.number is not None:
            source = source()
        if self.cell is not None and self.cell[0] != self.version:
            if isinstance(kept, Tensor):
                source, kept = kept.grad_fn, kept._array
            raise modified(self.cell, self.version, kept, source and source.name())
        if isinstance(kept, Tensor):
            return kept
        array = kept.restored()._array if kept.__class__ is Packed else kept
        if isinstance(source, Tensor):
            tensor = source._alias()
            tensor._array = array
            return tensor
        tensor = wrap(array)
        if source is not None:
            tensor._node = source if self.number is None else output_edge(source, self.number)
            tensor._requires_grad = True
        return tensor
