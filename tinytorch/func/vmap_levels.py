"""Into a vmap and out of it: tensors of batches become tensors that show one sample, and the other way round.

Inside, the tape records operations on samples. The tensors that leave a vmap have one node (`_leaving`), whose rule
runs backward through that part of the tape with batches of gradients. Tensors that came in as batches get the gradient
of each sample separately. All other tensors are shared by the samples, and get the sum of the gradients.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import count

import numpy as np

from ..autograd.engine import run_backward
from ..autograd.grad_mode import mode
from ..autograd.node import SELECT, GradientEdge, Node, Op, new_node, next_sequence_nr
from ..autograd.outputs import UNWATCHED
from ..autograd.transform_levels import handle, is_tracked, leaf_below
from ..kinds.lazy import Lazy, resolved
from ..seam import seam
from ..tensor import Tensor, new_instance, wrap
from .batched import Batched

_numbers = count(1)

#: The message for random operations in the randomness mode "error".
DRAWN = ("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
         "randomness flags on vmap or perform the randomness operation out of vmap")


class VmapLevel:
    """An active vmap. `with level` makes it active, and its backward does so again later.

    number       the level of its batches; a vmap inside of it has a larger number
    size         the number of samples
    randomness   the behaviour of random operations
    grad_levels  the number of transforms that were active when it began
    start        the sequence number at its beginning: nodes that were recorded before have larger numbers
    """

    __slots__ = ("number", "size", "randomness", "grad_levels", "start", "before")

    def __init__(self, size: int, randomness: str) -> None:
        self.number, self.size, self.randomness = next(_numbers), size, randomness
        self.grad_levels, self.start = mode.grad_levels, next_sequence_nr()

    def __enter__(self) -> VmapLevel:
        self.before = mode.vmap_levels
        try:
            mode.vmap_levels = (*self.before, self)
            seam.watch("vmap", True)
            return self
        except BaseException:                  # after an interrupt `__exit__` would not be called
            self.__exit__()
            raise

    def __exit__(self, *exc_info: object) -> None:
        mode.vmap_levels = self.before
        seam.watch("vmap", bool(self.before))


# ------------------------------------------------------------------ arrays
def entered(array: np.ndarray, level: int, dim: int) -> Batched:
    """A batch of the samples along dimension `dim`. A batch of a level further out stays outermost."""
    if type(array) is Lazy:
        array = resolved(array)
    if type(array) is Batched and array.level > level:
        return Batched(entered(array.physical, level, dim + 1), array.level)
    return Batched(np.moveaxis(array, dim, 0) if dim else array, level)


def stripped(array: np.ndarray, level: int) -> np.ndarray | None:
    """All samples of a batch of this level, along the first dimension; None if the array is the same for all."""
    if type(array) is Lazy:
        array = resolved(array)
    if type(array) is not Batched or array.level < level:
        return None
    if array.level == level:
        return array.physical
    inner = stripped(array.physical, level)
    return None if inner is None else Batched(np.moveaxis(inner, 0, 1), array.level)


def _physical(array, level, dim):
    """All samples along dimension `dim`. An array that is the same for all samples is repeated for each of them."""
    found = stripped(array, level.number)
    if found is None:
        found = np.broadcast_to(resolved(array) if type(array) is Lazy else array, (level.size, *array.shape))
    return np.moveaxis(found, 0, dim) if dim else found


# ------------------------------------------------------------------ tensors
def _entering(x, level, dim):
    return x


#: The operation of a batch that comes in; saved: (None, level, dim, ..., the leaf outside).
ENTER = Op(_entering, name="alias", rules={"x": lambda g, level, dim: (
    leave([g], [dim], level)[0] if isinstance(g, Tensor) else _physical(g, level, dim))})
ENTER.enters = True

#: The operation of a result that comes in again, after its batches were taken out. Its gradient stays within the vmap.
ENTER_AGAIN = Op(_entering, name="alias", rules={"x": lambda g, level: (
    taken_out(g, level) if isinstance(g, Tensor) else _physical(g, level, 0))})
#: The operation of a tensor that is taken out for a while; saved: (None, level, ...).
TAKE_OUT = Op(lambda x, level: x, name="alias", rules={"x": lambda g, level: (
    enter(g, level, 0, True) if isinstance(g, Tensor) else entered(g, level.number, 0))})


def taken_out(x: Tensor, level: VmapLevel) -> Tensor:
    """All samples of a tensor along the first dimension, for a function whose result comes in again."""
    result = wrap(_physical(x._array, level, 0))
    if mode.grad_now and is_tracked(x):
        result._node = new_node(TAKE_OUT, (x._node or x,), (None, level, None, None), (), result._array.shape)
        result._requires_grad = True
    return result


def enter(x: Tensor, level: VmapLevel, dim: int, again: bool = False) -> Tensor:
    """The tensor that shows one sample of `x`, in the same memory."""
    tensor = new_instance(Tensor)
    tensor._array, tensor._version_counter = entered(x._array, level.number, dim), x._version_counter
    tensor._view_info, tensor._node, tensor._requires_grad = None, None, False
    if is_tracked(x) and mode.grad_now:
        what = None if again else leaf_below(x)
        tensor._node = new_node(ENTER_AGAIN if again else ENTER, (x._node or x,), (None, level, dim, None, what), (),
                               tensor._array.shape)
        tensor._requires_grad = True
    return tensor


def is_batched(x: Tensor, level: VmapLevel) -> bool:
    """Whether a tensor differs from sample to sample."""
    return stripped(x._array, level.number) is not None


def leave(tensors: Sequence[Tensor], dims: Sequence[int], level: VmapLevel) -> list[Tensor]:
    """The tensors of all samples, which lie along dimensions `dims`."""
    results = [wrap(_physical(t._array, level, dim)) for t, dim in zip(tensors, dims)]
    tracked = [i for i, t in enumerate(tensors) if mode.grad_now and is_tracked(t)]
    if not tracked:
        return results
    targets = _crossings([tensors[i] for i in tracked], level)
    if not targets:
        return results
    inner = [(handle(tensors[i]), dims[i]) for i in tracked]
    names = {t._node.op.backward_name if t._node is not None else "AliasBackward0" for t, _ in inner}
    edges = [target.edges[0] if _came_in(target, level) else target for target in targets]
    node = new_node(_leaving(names.pop() if len(names) == 1 else "VmapBackward0"), edges,
                    (None, None, (level, inner, targets)), UNWATCHED,
                    tuple([results[i]._array.shape for i in tracked]))
    if mode.grad_now is not True:
        mode.grad_now(node, tuple([results[i]._array for i in tracked]), tuple(tensors))
    for k, i in enumerate(tracked):
        results[i]._node = new_node(SELECT, (node,), (k, None, None), (), results[i]._array.shape)
        results[i]._requires_grad = True
    return results


def _came_in(node, level):
    """Whether a node belongs to a tensor that came in as a batch of this level."""
    return isinstance(node, Node) and node.op is ENTER and node.saved[1] is level


def _crossings(roots, level):
    """The ends of the tape of the inside: nodes of tensors that came in as batches, and nodes and leaves outside."""
    found, seen, stack = {}, set(), [t._node or t for t in roots]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if not isinstance(node, Node):
            own = node.__dict__.get("level")
            if (own is None or own.alive) and stripped(node._array, level.number) is None:
                found[node] = None
        elif _came_in(node, level) or node.sequence_nr > level.start or (
                node.op is SELECT and node.edges[0].sequence_nr > level.start):      # a saved output
            found[node] = None
        else:
            stack.extend(node.edges)
    return list(found)


def _backward(g, wanted, aux):
    """The gradients of the tensors outside."""
    level, inner, targets = aux
    taped = any([isinstance(d, Tensor) for d in g])
    with level:
        roots, grads = [], []
        for (tensor, dim), d in zip(inner, g):
            if d is None:
                continue
            d = d if isinstance(d, Tensor) else wrap(d)
            roots.append(tensor)
            grads.append(enter(d, level, dim) if is_batched(tensor, level) else d.sum(dim))
        asked = [GradientEdge(None, 0, target) for target, w in zip(targets, wanted) if w]
        found = iter(run_backward(roots, grads, True, taped, asked, False, False))
        results = []
        for target, w in zip(targets, wanted):
            d = next(found) if w else None
            if d is not None:
                if _came_in(target, level):
                    d, = leave([d], [target.saved[2]], level)
                elif is_batched(d, level):
                    d = leave([d], [0], level)[0].sum(0)
            results.append(d if d is None or taped else d._array)
    return results


@functools.cache
def _leaving(name):
    """The operation of tensors that leave a vmap, by the name that its node shall have."""
    op = Op(leave, name="vmap", multi=True, joint=_backward, backward_name=name)
    op.converts = True                         # the backward inside takes gradients that are records unchanged
    return op
