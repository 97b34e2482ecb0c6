"""The functions of vmap that lower floors use. These get them as `late_bound.vmap`."""
import sys

from ..autograd import late_bound
from ..autograd.grad_mode import mode
from .batching import vmap
from .vmap_levels import is_batched


def over(function, tensors):
    """The outputs of function(*rows) for all rows of the tensors."""
    return vmap(function, randomness="different")(*tensors)


def differs(tensor):
    """Whether a tensor differs from sample to sample, and no transform within that vmap differentiates it."""
    return any([is_batched(tensor, level) and (level.grad_levels == mode.grad_levels or not tensor._requires_grad)
                for level in mode.vmap_levels])


def __getattr__(name):
    """The functions for new and random tensors under vmap, which the rules for batches define when they are loaded."""
    from .batch_rules import random
    return getattr(random, name)


late_bound.vmap = sys.modules[__name__]
