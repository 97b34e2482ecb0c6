"""What the floors below ask of vmap, which they are given as `above.vmap`."""
import sys

from ..autograd import above
from .batching import vmap


def over(function, tensors):
    """The outputs of function(*rows) for all rows of the tensors."""
    return vmap(function, randomness="different")(*tensors)


def __getattr__(name):
    """New and random tensors under vmap: asked for when its rules have been loaded."""
    from .batch_rules import random
    return getattr(random, name)


above.vmap = sys.modules[__name__]
