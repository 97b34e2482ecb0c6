"""Functions that the steps of a program call in place of eager's own forms, and helpers of recordings.

The helpers say which recording is open in this thread and where the stream of random numbers is, and they put ndarrays
back in place of Traced arrays when a recording ends.
"""
from __future__ import annotations

import gc
import threading

import numpy as np

from ..autograd.node import Node
from ..kinds.lazy import StandIn, address_of, root_of
from ..random import default_generator
from ..storage import memory_of
from ..tensor import Tensor
from .traced import Traced, has_traced, plain

__all__ = ["draw_again", "drawn", "here", "laid_out", "lock", "maker_of", "set_grad", "unwrap_held_by_others",
           "unwrap_tensor", "view_of"]


class _Here(threading.local):
    recording = None                           # the recording that is open in this thread
    running = 0                                # number of compiled calls that are recording or checking a replay


here = _Here()
#: The thread that records holds this lock.
lock = threading.Lock()


# ------------------------------------------------------------------ random numbers
def drawn():
    """The state of the stream of random numbers, as a value that can be compared."""
    stream = default_generator._stream
    key = stream._key
    if key is None:
        return stream.state().tobytes() if stream._engine is not None else stream.seed
    return key.tobytes(), stream._source.tobytes(), stream._idle


def draw_again(state):
    """Sets the stream of random numbers to a state that `drawn` returned."""
    stream = default_generator._stream
    if state.__class__ is tuple:
        stream._key[...] = np.frombuffer(state[0], stream._key.dtype)
        stream._source[...] = np.frombuffer(state[1])
        stream._idle = state[2]
    elif state.__class__ is bytes:
        stream.resume(np.frombuffer(state, np.uint8).copy())
    else:
        stream.restart(state)


# ------------------------------------------------------------------ functions of steps
def view_of(array: np.ndarray, shape: tuple, dtype: np.dtype, offset: int, strides: tuple) -> np.ndarray:
    """A view that starts `offset` bytes after the first element of `array`, in the memory of its root."""
    memory = root_of(array)
    if not memory.flags.forc:                  # dense in a permuted order: NumPy takes contiguous buffers alone
        memory = memory_of(array)
    return np.ndarray(shape, dtype, memory, offset + address_of(array) - address_of(memory), strides)


def laid_out(shape: tuple, dtype: np.dtype, strides: tuple) -> np.ndarray:
    """A new dense array whose dimensions lie in memory in the order of these strides."""
    order = sorted(range(len(shape)), key=lambda i: -strides[i])
    made = np.empty([shape[i] for i in order], dtype)
    return made.transpose(np.argsort(order)) if order else made


def set_grad(leaf: Tensor, value: None) -> None:
    """leaf.grad = None."""
    leaf._grad = None


class maker_of:
    """Wraps a public function: a call returns the array of the tensor that the function returns."""

    __slots__ = ("function",)

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)._array

    def __eq__(self, other):
        return type(other) is maker_of and other.function is self.function

    __hash__ = None


# ------------------------------------------------------------------ back to eager
def unwrap_tensor(tensor, seen):
    """Puts ndarrays back in place of Traced arrays in a tensor, its gradient, its base and the nodes of its graph."""
    stack = [tensor]
    while stack:
        x = stack.pop()
        if x is None or id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Node):
            saved = x.saved
            if saved is not None and has_traced(saved):
                x.saved = plain(saved)
            stack += x.edges
        elif isinstance(x, Tensor):
            if type(x._array) is Traced:
                x._array = x._array.value
            stack += (x._node, x._grad, x._view_info and x._view_info.base)


def unwrap_held_by_others(alive):
    """Puts ndarrays back for the Traced arrays `alive`, which objects hold that no public function passed on. The
    garbage collector finds these objects. It looks at every object of the process, so it is asked once for all."""
    known, tuples = {id(traced) for traced in alive}, []
    for holder in gc.get_referrers(*alive):
        if isinstance(holder, Tensor) and id(holder._array) in known:
            holder._array = holder._array.value
        elif isinstance(holder, Node) and holder.saved is not None:
            holder.saved = plain(holder.saved)
        elif type(holder) is list and holder is not alive:
            holder[:] = [x.value if id(x) in known else x for x in holder]
        elif type(holder) is dict:
            for key, x in list(holder.items()):
                if id(x) in known:
                    holder[key] = x.value
        elif type(holder) is tuple:
            tuples.append(holder)
        elif isinstance(holder, StandIn):      # a batch of vmap
            for name in type(holder).__slots__:
                x = getattr(holder, name, None)
                if id(x) in known:
                    setattr(holder, name, x.value)
    for node in gc.get_referrers(*tuples) if tuples else ():
        if isinstance(node, Node) and node.saved is not None:
            node.saved = plain(node.saved)
