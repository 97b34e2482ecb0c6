"""Where a gradient ends: in the `.grad` of a leaf."""
from __future__ import annotations

import os
from sys import getrefcount
from threading import RLock
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..kernels.copies import in_rows
from ..kernels.errstate import as_outside
from ..kernels.layout import operand_order
from ..kernels.memory import refusal
from ..kinds.lazy import bits_of, seen
from ..tensor import Tensor, wrap
from . import late_bound
from .grad_mode import mode
from .hooks import Gradient, through_node_hooks
from .node import AccumulateGrad

#: The `_grad_dtype` of a leaf whose gradient has the dtype of the leaf.
OWN = "own"


#: Callers of accumulate_grad hold this lock, so that no gradient of several threads is lost. They release it while
#: hooks run. A backward takes it once for all leaves, because taking it costs a fifth of the time of accumulating.
lock = RLock()


def _unlock():
    """Make a new lock in a forked process: a thread that does not exist there may have held the old one."""
    global lock
    lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def is_widened(g: Gradient | None) -> bool:
    """Whether a gradient is stored as records (bfloat16 and the like), with which NumPy cannot compute."""
    return g is not None and (g._array if isinstance(g, Tensor) else g).dtype.kind == dt.WIDENED


def plus(a: Gradient, b: Gradient) -> Gradient:
    """The sum of two gradients."""
    if isinstance(a, Tensor) or isinstance(b, Tensor) or not is_widened(a) or late_bound.sparse_array in (
            a.__class__, b.__class__):
        total = a + b
        if isinstance(total, Tensor) and total._array.strides != a._array.strides:
            total._array = operand_order(total._array, a._array, b._array)         # torch takes the first one's order
        return total
    if a.dtype != dt.BFLOAT16:
        return (wrap(a) + wrap(b))._array
    return dt.to_bfloat16(dt.from_bfloat16(a) + dt.from_bfloat16(b))


def accumulate_with_hooks(leaf: Tensor, g: Gradient, create_graph: bool) -> None:
    extras = leaf._accumulating
    g, = through_node_hooks(extras.pre, (g,))
    with lock:
        accumulate_grad(leaf, g, create_graph, leaf._grad_dtype)
    returned = None
    for hook in list(extras.tensor_hooks.values()):
        with as_outside():
            result = hook(leaf)
        if result is not None and not isinstance(result, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
        returned = returned or result is not None
    if returned:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")
    through_node_hooks(extras.post, (), (g,))


def accumulate_grad(leaf: Tensor, g: Gradient, create_graph: bool = False, dtype: Any = OWN) -> None:
    """Add `g` to leaf.grad. `dtype` is the dtype of leaf.grad, None for that of `g`.

    The first gradient becomes leaf.grad itself if nobody else holds its array, and is copied otherwise; later gradients
    are added in place. With `create_graph` leaf.grad is a new, recorded tensor. Sparse gradients have their own
    function. All of this is one function, because it runs once for each parameter in every backward.
    """
    if not leaf._requires_grad:
        return                                 # it was taken out of the graph since
    array: Any
    if g.__class__ is np.ndarray:
        array = g
    else:
        if isinstance(g, Tensor):
            array = g._array
        else:
            array = g if g.__class__ is late_bound.sparse_array else np.asarray(g)
        if array.__class__ is late_bound.sparse_array:
            return _accumulate_sparse(leaf, g if isinstance(g, Tensor) and create_graph else array.tensor(),
                                      create_graph)
    dtype = leaf._array.dtype if dtype is OWN else dtype or array.dtype
    if array.dtype != dtype:
        g = array = dt.cast(array, dtype)
    grad = leaf._grad
    if create_graph:
        g = g if isinstance(g, Tensor) else wrap(array)
        leaf._grad = wrap(np.empty_like(leaf._array, dtype)).copy_(g) if grad is None else grad + g
    elif grad is None:
        # These hold references: the caller's `g`, our `g`, `array`, and the call. If there are more, or the array is a
        # view or a tensor's array, then it is shared.
        if array is not g or array.base is not None or getrefcount(array) > _alone \
                or array.strides != leaf._array.strides and mode.enforce_grad_layout:
            if type(array) is type(leaf._array) is np.ndarray and leaf._array.flags.c_contiguous:
                leaf._grad = wrap(in_rows(array))
                return
            fresh = np.empty_like(leaf._array, dtype)
            if type(array) is not np.ndarray and array.strides == fresh.strides:
                fresh = seen(fresh, *bits_of(array))           # a lazy conjugate stays one
            fresh[...] = array
            array = fresh
        leaf._grad = wrap(array)
    else:
        if grad._array.__class__ is late_bound.sparse_array:         # a dense sum replaces the sparse gradient
            leaf._grad = wrap(array) + grad
            return
        try:
            if dtype.kind == dt.WIDENED:
                grad._array[...] = plus(grad._array, array)
            else:
                np.add(grad._array, array, out=grad._array)
        except ValueError as error:
            raise refusal(error) from None
        grad._version_counter[0] += 1


def _accumulate_sparse(leaf, g, create_graph):
    """Add a sparse gradient to leaf.grad: in place, whether that is sparse or dense."""
    grad = leaf._grad
    if grad is None:
        leaf._grad = g if create_graph else g._array.taken_over().tensor()
    elif create_graph:
        leaf._grad = grad + g
    elif grad._array.__class__ is late_bound.sparse_array:
        grad._array = g._array + grad._array      # SparseArray adds in the reverse order
        grad._version_counter[0] += 1
    else:
        g._array.added_to(grad._array)
        grad._version_counter[0] += 1


def _accumulate(node, grad):
    """Add a gradient to `.grad`."""
    with lock:
        accumulate_grad(node.variable, grad)
    return ()


AccumulateGrad.__call__ = _accumulate          # type: ignore[method-assign]


# ------------------------------------------------------------------ whether a gradient is held by somebody else
class _Leaf:
    """The attributes of a leaf that accumulate_grad reads."""

    def __init__(self):
        self._array, self._requires_grad, self._grad = np.zeros(1), True, None


def _taken_over(shared):
    """Whether leaf.grad takes a gradient's array over when it is passed as the engine passes it. `shared`: another
    variable holds the array too."""
    leaf: Any = _Leaf()
    pending = {0: np.ones(1)}
    address = id(pending[0])
    keep = pending[0] if shared else None      # noqa: F841
    g = pending.pop(0)
    accumulate_grad(leaf, g, False)
    return id(leaf._grad._array) == address


def _references_alone():
    """The number of references that accumulate_grad counts to a gradient that nobody else holds. It is about 4, and
    differs between versions of Python, because some do not count the references of a call. It is 0, so that every
    gradient is copied, where the count does not tell."""
    global _alone
    for _alone in range(1, 9):                 # noqa: F824
        if _taken_over(False):
            break
    # This runs often enough for the interpreter to specialise its instructions, which may change the count.
    return _alone if all([_taken_over(False) and not _taken_over(True) for _ in range(32)]) else 0


_alone = 0
_alone = _references_alone()
