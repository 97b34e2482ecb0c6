"""Where a gradient ends: in the `.grad` of a leaf."""
from sys import getrefcount

import numpy as np

from ..tensor import Tensor, wrap
from .hooks import through_node_hooks


def accumulate_with_hooks(leaf, g, create_graph):
    extras = leaf._accumulating
    g, = through_node_hooks(extras.pre, (g,))
    accumulate_grad(leaf, g, create_graph)
    for hook in list(extras.tensor_hooks.values()):
        hook(leaf)
    through_node_hooks(extras.post, (), (g,))


def accumulate_grad(leaf, g, create_graph=False):
    """Add `g` to leaf.grad: taken over if nobody else holds it, else copied; later ones in place."""
    if not leaf.tracked:
        return                                 # taken out of the graph since
    array = g.array if isinstance(g, Tensor) else np.asarray(g)
    if array.dtype != leaf.array.dtype:
        g = array = (array if leaf.array.dtype.kind == "c" else array.real).astype(leaf.array.dtype)
    grad = leaf._grad
    if create_graph:
        g = g if isinstance(g, Tensor) else wrap(array)
        leaf._grad = g.clone() if grad is None else grad + g
    elif grad is None:
        # References: the caller's `g`, ours, `array`, the call itself. Any more, or a view: it is shared.
        if array.base is not None or getrefcount(array) > 4 or array.strides != leaf.array.strides:
            fresh = np.empty_like(leaf.array)
            fresh[...] = array
            array = fresh
        leaf._grad = wrap(array)
    else:
        np.add(grad.array, array, out=grad.array)
        grad.version[0] += 1
