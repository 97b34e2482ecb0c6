"""What the floors below ask of vmap, which they are given as `above.vmap`."""
import sys

from ..autograd import above
from .batch_rules.random import beside, refill, room, varied
from .batching import vmap


def over(function, tensors):
    """The outputs of function(*rows) for all rows of the tensors."""
    return vmap(function, randomness="different")(*tensors)


__all__ = ["beside", "over", "refill", "room", "varied"]
above.vmap = sys.modules[__name__]
