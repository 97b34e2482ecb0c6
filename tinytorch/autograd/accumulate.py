"""Where a gradient ends: in the `.grad` of a leaf."""
from sys import getrefcount

import numpy as np

from ..tensor import Tensor, wrap
from .grad_mode import mode
from .hooks import through_node_hooks


#: What `_grad_dtype` of a leaf is whose gradient has the dtype of the leaf.
OWN = "own"


def accumulate_with_hooks(leaf, g, create_graph):
    extras = leaf._accumulating
    g, = through_node_hooks(extras.pre, (g,))
    accumulate_grad(leaf, g, create_graph, leaf._grad_dtype)
    for hook in list(extras.tensor_hooks.values()):
        result = hook(leaf)
        if result is not None and not isinstance(result, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    through_node_hooks(extras.post, (), (g,))


def accumulate_grad(leaf, g, create_graph=False, dtype=OWN):
    """Add `g` to leaf.grad: taken over if nobody else holds it, else copied; later ones in place. `dtype` is what
    leaf.grad is to have, None for that of `g`."""
    if not leaf.tracked:
        return                                 # taken out of the graph since
    array = g.array if isinstance(g, Tensor) else np.asarray(g)
    dtype = leaf.array.dtype if dtype is OWN else dtype or array.dtype
    if array.dtype != dtype:
        g = array = (array if dtype.kind == "c" else array.real).astype(dtype)
    grad = leaf._grad
    if create_graph:
        g = g if isinstance(g, Tensor) else wrap(array)
        leaf._grad = wrap(np.empty_like(leaf.array, dtype)).copy_(g) if grad is None else grad + g
    elif grad is None:
        # References: the caller's `g`, ours, `array`, the call itself. Any more, or a view: it is shared.
        if array.base is not None or getrefcount(array) > 4 or array.strides != leaf.array.strides and mode.layouts:
            fresh = np.empty_like(leaf.array, dtype)
            fresh[...] = array
            array = fresh
        leaf._grad = wrap(array)
    else:
        np.add(grad.array, array, out=grad.array)
        grad.version[0] += 1
