"""Levels: what function transforms and dual numbers share.

A level differentiates with respect to stand-ins of some tensors: aliases in the same memory that
the tape tracks. Reverse mode is a backward to the stand-ins. Forward mode needs no rules of its
own: the vector-Jacobian product J^H u is linear in a dummy u, so *its* derivative with respect to
u, in the direction of the tangent, is J t (backward through a recorded backward). A level costs
nothing where it is not used: operations know nothing of it.
"""
import numpy as np

from ..tensor import Tensor, blank, wrap
from .engine import run_backward
from .grad_mode import mode
from .node import Node, Op
from .views import refresh


class Level:
    """A differentiation under way; `alive` until it ends. Afterwards nothing can be differentiated through it."""

    __slots__ = ("alive",)

    def __init__(self):
        self.alive = True

    def __enter__(self):
        self._before = mode.grad
        mode.grad = True                       # a transform records, whatever the mode outside
        return self

    def __exit__(self, *exc_info):
        self.alive = False
        mode.grad = self._before
        return False


def _alias(tensor, level):
    return tensor


#: A tensor as its stand-in in a level; saved[1] is the level.
STAND_IN = Op(_alias, rules={"tensor": lambda g: g})
