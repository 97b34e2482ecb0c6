"""Levels: the mechanism that function transforms and dual numbers share.

A level differentiates with respect to stand-ins of some tensors: aliases in the same memory that
the tape tracks. Reverse mode is a backward to the stand-ins. Forward mode needs no rules for
operations: the vector-Jacobian product J^H u is linear in a dummy u, so *its* derivative with respect
to u, in the direction of the tangent, is J t (backward through a recorded backward). Only a Function
has a separate rule, `jvp` (see function.py). Operations do not know of levels, so a level costs nothing
where it is not used.

The backward of some operations is not the adjoint of torch's forward mode: the gradient of `cholesky`
is made symmetric, while its forward mode takes a tangent unchanged. Such a rule reads
`mode.computing_jvp`, which is set while J^H u is computed for a tangent, and returns the adjoint then.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..tensor import Tensor, new_instance, wrap
from .engine import run_backward
from .grad_mode import for_tangents, mode
from .node import Node, Op, new_node
from .views import leaf_called, refresh


class Level:
    """An open differentiation: `with Level()` records, whatever the grad mode outside.

    `alive` until it ends; then nothing can be differentiated through its stand-ins any more. `before` is the grad mode
    outside. With `forward` the level computes tangents, which a `no_grad` inside does not stop.
    """

    __slots__ = ("alive", "before", "_off", "_forward")

    def __init__(self, forward: bool = False) -> None:
        self.alive, self._forward = True, forward
        self.before, self._off = mode.grad, mode.off

    def __enter__(self) -> Any:
        mode.grad = mode.recorder
        if self._forward:
            mode.off = for_tangents
        return self

    def __exit__(self, *exc_info: object) -> Literal[False]:
        self.alive = False
        mode.grad, mode.off = self.before, self._off
        return False


class Transform(Level):
    """The level of a transform of torch.func: inside, `backward()` and `requires_grad_()` are refused.

    `outside` is the number of such levels around it."""

    __slots__ = ("outside",)

    def __enter__(self) -> Any:
        self.outside = mode.grad_levels
        try:
            mode.grad_levels = self.outside + 1
            return super().__enter__()
        except BaseException:                  # an interrupt: there will be no `__exit__`
            mode.grad_levels, mode.grad, mode.off = self.outside, self.before, self._off
            raise

    def __exit__(self, *exc_info: object) -> Literal[False]:
        mode.grad_levels = self.outside
        return super().__exit__(*exc_info)


#: The op of a stand-in. saved[0] is its level, saved[AUX] names the leaf that it stands for (see `leaf_below`).
STAND_IN = Op(lambda tensor: tensor, name="view", rules={"tensor": lambda g: g})
STAND_IN.enters = True


def leaf_below(tensor: Tensor) -> str | None:
    """The name in messages of a tracked tensor that is a leaf or a view of a leaf, perhaps of an outer level; None for
    other tensors. A stand-in of such a tensor may not be written to either."""
    view = tensor._view_info
    return leaf_called(tensor._node) if view is None else leaf_called(view.base._node, True)


def stand_in(tensor: Tensor, level: Level, leaf: bool = False) -> Tensor:
    """A tracked tensor in the same memory, through which `level` differentiates.

    Its history is that of `tensor` if `tensor` was recorded outside. With `leaf` it is a leaf, which in-place
    operations refuse; without, it is a view of `tensor`, and is refused if `tensor` is a leaf.
    """
    alias = new_instance(Tensor)
    alias._array, alias._version_counter = tensor._array, tensor._version_counter
    alias._view_info, alias._requires_grad = None, True
    inner = is_tracked(tensor) and level.before
    if leaf and not inner:
        alias._node, alias.level = None, level
    else:
        edge = (tensor._node or tensor) if inner else None
        if leaf:
            what: str | None = "a leaf Variable"
        else:
            what = "a view of a leaf Variable" if inner and leaf_below(tensor) else None
        alias._node = new_node(STAND_IN, (edge,), (level, None, what), (), tensor._array.shape)
    return alias


def handle(alias: Tensor) -> Tensor:
    """A second tensor at the same place in the graph, which stays there if `alias` is written to."""
    tensor = wrap(alias._array)
    tensor._node, tensor._requires_grad = alias._node, True
    return tensor if alias._node is not None else alias


def is_tracked(tensor: Tensor) -> bool:
    """Whether the tensor has a history or is a leaf that requires grad. Brings its node up to date."""
    refresh(tensor, always=True)
    return tensor._requires_grad


def live(tensor: Tensor) -> bool:
    """Whether `tensor` depends on something that can still be differentiated: a leaf, or a stand-in of an open
    level."""
    if not is_tracked(tensor):
        return False
    stack, seen = [tensor._node or tensor], set()
    while stack:
        node = stack.pop()
        if not isinstance(node, Node):
            level = node.__dict__.get("level")
            if level is None or level.alive:
                return True
        elif node not in seen:
            seen.add(node)
            if node.op is STAND_IN and node.saved[0].alive:
                return True
            stack.extend(edge for edge in node.edges if edge is not None)
    return False


def release(tensor: Tensor) -> Tensor:
    """`tensor` as it leaves a level: without history, unless it has one outside and recording is on there."""
    return tensor if not is_tracked(tensor) or mode.grad_now and live(tensor) else tensor.detach()


def pull(outputs: Sequence[Tensor], cotangents: Sequence[Tensor | None],
         inputs: Sequence[Tensor]) -> list[Tensor | None]:
    """The vector-Jacobian products of a level that has ended: a tensor, or None, for each of `inputs`."""
    pairs: list[tuple[Tensor, Any]] = [(y, g) for y, g in zip(outputs, cotangents) if is_tracked(y)]
    taped = mode.grad_now and any(live(y) or is_tracked(g) for y, g in pairs)
    found = run_backward([y for y, _ in pairs], [g for _, g in pairs], True, taped, inputs, False)
    return [g if g is None else release(g) for g in found]


def push(outputs: Sequence[Tensor], inputs: Sequence[Tensor], tangents: Sequence[Tensor]) -> list[Tensor | None]:
    """The Jacobian-vector products: for each of `outputs` a tensor, or None if it does not depend on `inputs`."""
    return pusher(outputs, inputs)(tangents)


def pusher(outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Callable:
    """A function of tangents that computes `push`, for several sets of tangents."""
    tracked = [k for k, y in enumerate(outputs) if is_tracked(y)]
    dummies = [_dummy(outputs[k]) for k in tracked]
    before = mode.computing_jvp, mode.pushing
    try:
        mode.computing_jvp = mode.pushing = True
        products = run_backward([outputs[k] for k in tracked], dummies, True, True, inputs, False)
    finally:
        mode.computing_jvp, mode.pushing = before
    taped = [live(outputs[k]) for k in tracked]

    def of(tangents):
        pairs = [(w, t) for w, t in zip(products, tangents) if w is not None and w._requires_grad]
        outer = mode.grad_now and (any(taped) or any(is_tracked(t) for _, t in pairs))
        before = mode.pushing
        try:
            mode.pushing = True
            found = run_backward([w for w, _ in pairs], [t for _, t in pairs], True, outer, dummies, False)
        finally:
            mode.pushing = before
        results: list[Tensor | None] = [None] * len(outputs)
        for k, t in zip(tracked, found):
            results[k] = t if t is None else release(t)
        return results
    return of


_ENDED = Level()
_ENDED.alive = False


def _dummy(output):
    """A tracked tensor like `output`. Its values do not matter."""
    u: Any = wrap(np.zeros_like(output._array))
    u._requires_grad, u.level = True, _ENDED
    return u
