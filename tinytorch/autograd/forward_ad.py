"""torch.autograd.forward_ad: dual numbers.

Inside a dual level a tensor may carry a tangent, and results computed from it carry the tangent that the
chain rule gives. `unpack_dual` computes the tangent when it is asked for, from the tape that the
operations leave (see transform_levels.py), so every differentiable operation has a forward mode. Because
the tape carries the tangent, a dual tensor requires grad. `no_grad` does not stop tangents, `inference_mode`
does.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import printing
from ..tensor import Tensor, wrap
from .grad_mode import _GradContext, mode
from .node import Node
from .paths import edge_of
from .transform_levels import Level, handle, push, release, stand_in

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class _DualLevel(Level):
    """The level of dual numbers: the duals made in it, and their tangents."""

    __slots__ = ("duals", "tangents")

    def __init__(self):
        super().__init__(forward=True)
        self.duals, self.tangents = [], []

    def __enter__(self):
        super().__enter__()
        if not self.before:                    # there is a `no_grad` outside
            mode.grad = mode.off
        if mode.inference:
            mode.grad = False
        return self


def _check_level(level, function):
    if level is not None and level != 0 or mode.dual_level is None:
        raise RuntimeError(f"Invalid level given to {function}")


def enter_dual_level() -> int:
    """Enter a dual level and return its number, 0: only one can be open. RuntimeError if one is open already."""
    if mode.dual_level is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    mode.dual_level = _DualLevel()
    mode.dual_level.__enter__()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the dual level: tensors lose their tangents. RuntimeError if no level is open."""
    if level is not None and level != (-1 if mode.dual_level is None else 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. "
                           "This is not supported.")
    if mode.dual_level is None:
        raise RuntimeError("Dual level must be a positive number.")
    mode.dual_level.__exit__()
    mode.dual_level.duals.clear()                    # they refer to the level, so this avoids reference cycles
    mode.dual_level.tangents.clear()
    mode.dual_level = None


class dual_level(_GradContext):
    """Context manager, or decorator, for a dual level.

    >>> import tinytorch as torch
    >>> import tinytorch.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor([1., 2.]), torch.tensor([1., 0.]))
    ...     fwAD.unpack_dual(x * x).tangent
    tensor([2., 0.])
    """

    __slots__ = ()

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc_info: object) -> None:
        exit_dual_level()


def check_size(shape: tuple[int, ...], tangent: Tensor) -> None:
    """RuntimeError for a tangent whose shape is not that of its tensor."""
    if tangent.shape != shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original "
                           f"Tensor, this is not supported. Tensor is of size {list(shape)} while the given "
                           f"forward gradient is of size {list(tangent.shape)}.")


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor in the memory of `tensor` that carries `tangent`.

    RuntimeError outside a dual level, for a tangent of another shape, and if either carries a tangent
    already; ValueError for a dtype that is neither floating nor complex.

    >>> import tinytorch as torch
    >>> import tinytorch.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     fwAD.unpack_dual(fwAD.make_dual(torch.ones(1), torch.ones(1)).exp()).tangent
    tensor([2.7183])
    """
    if level is None and mode.dual_level is None or level is not None and level < 0:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to "
                           "enter_dual_level() first.")
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
    _check_level(level, "_make_dual")
    if _tangent_of(tensor) is not None:
        raise RuntimeError("Making a dual Tensor based on a Tensor that already has a forward gradient at the same "
                           "level 0 is not supported.")
    if _tangent_of(tangent) is not None:
        raise RuntimeError("Setting a forward grad that itself has a forward gradient at the same level0 is not "
                           "supported.")
    check_size(tensor.shape, tangent)
    dual = stand_in(tensor, mode.dual_level)
    mode.dual_level.duals.append(handle(dual))
    mode.dual_level.tangents.append(tangent)
    return dual


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns: the plain tensor, and its tangent or None."""

    primal: Tensor
    tangent: Tensor | None


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The plain tensor and its tangent (None where it has none).

    >>> import tinytorch as torch
    >>> torch.autograd.forward_ad.unpack_dual(torch.ones(1))
    UnpackedDualTensor(primal=tensor([1.]), tangent=None)
    """
    if mode.dual_level is None and level is None or level is not None and level < 0:
        return UnpackedDualTensor(release(tensor), None)
    _check_level(level, "_fw_primal")
    tangent = _tangent_of(tensor)
    return UnpackedDualTensor(_without_level(release, tensor), tangent)


printing.dual.unpacked = lambda tensor: (tensor, None) if mode.dual_level is None else unpack_dual(tensor)


def _tangent_of(tensor):
    if not mode.dual_level.duals:
        return None
    tangent = _without_level(lambda t: push([t], mode.dual_level.duals, mode.dual_level.tangents)[0], tensor)
    if tangent is None and _made_of_duals(tensor):
        tangent = wrap(np.zeros_like(tensor._array))        # computed from duals, with a derivative of zero
    return tangent


def _made_of_duals(tensor):
    """Whether a tensor was computed from a dual one. Operands whose tangents are dropped do not count."""
    duals, seen = {edge_of(dual) for dual in mode.dual_level.duals}, set()
    stack = [edge_of(tensor)]
    while stack:
        node = stack.pop()
        if node in duals:
            return True
        if node not in seen and isinstance(node, Node):
            seen.add(node)
            stack.extend([edge for k, edge in enumerate(node.edges) if edge is not None and node.op.takes_tangent(k)])
    return False


def has_tangent(tensor: Tensor) -> bool:
    """Whether a tensor carries a tangent of the open dual level."""
    return _tangent_of(tensor) is not None


def _without_level(function, tensor):
    """function(tensor) as if the dual level had ended, in the grad mode outside of it."""
    level, before = mode.dual_level, mode.grad_now
    level.alive, mode.grad = False, level.before
    try:
        return function(tensor)
    finally:
        level.alive, mode.grad = True, before


def _is_fwd_grad_enabled():
    return mode.fwd_grad_enabled


class _set_fwd_grad_enabled(_GradContext):
    """Switches the tangents of dual tensors on or off at once; as a context manager it restores the former setting.

    While they are off, nothing is recorded inside a dual level, so backward does not see these operations either.
    """

    __slots__ = ("enabled",)

    def __init__(self, enabled):
        self.enabled = bool(enabled)
        self._before = mode.fwd_grad_enabled, mode.grad_now
        self._switch()

    def _switch(self):
        mode.fwd_grad_enabled = self.enabled
        if mode.dual_level is not None:
            mode.grad = self.enabled

    def clone(self):
        return _set_fwd_grad_enabled(self.enabled)

    def __enter__(self):
        self._switch()

    def __exit__(self, *exc_info):
        mode.fwd_grad_enabled, mode.grad = self._before
        return False
