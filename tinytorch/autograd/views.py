"""Views and in-place writes.

A view shares its base's memory and version cell, and remembers the steps that led to it from the
base. Writing in place through a view gives the *base* one copy-slice node; every view then derives
its own history anew, by replaying its steps, the next time it is used.
"""
import functools

import numpy as np

from .. import dtype as dt
from ..tensor import Tensor
from .grad_mode import mode
from .node import ANS, Node, Op


class View:
    """How a view came from its base: `steps` replayed on `base` when its history was `seen`."""

    __slots__ = ("base", "steps", "seen")

    def __init__(self, base, steps, seen):
        self.base, self.steps, self.seen = base, steps, seen


def track_view(output, call, args, first, index):
    """Make `output` a view: what call(*args) (its output number `index`) gives of args[first]."""
    source = args[first]
    step = (call, args[:first], args[first + 1:], index)
    if source.view is None:
        output.view = View(source, (step,), source.node)
    else:
        base = source.view.base
        output.view = View(base, source.view.steps + (step,), base.node)
    output.version = source.version


def replay(base, steps):
    """The view that `steps` make of `base` (a Tensor, or an ndarray in plain backward)."""
    for call, before, after, index in steps:
        base = call(*before, base, *after)
        if index is not None:
            base = base[index]
    return base


def refresh(tensor):
    """Bring a view's history up to date after writes to its base."""
    view = tensor.view
    if view is None or view.base.node is view.seen:
        return
    before, mode.grad = mode.grad, True
    try:
        fresh = replay(view.base, view.steps)
    finally:
        mode.grad = before
    tensor.node, tensor.tracked = fresh.node, fresh.tracked
    view.seen = view.base.node


def _copy_slice(base, source, steps):
    return base


def _without_slice(g, steps):
    """g with zeros where the view of `steps` lies."""
    if isinstance(g, Tensor):
        g = g.clone()
        replay(g, steps).zero_()
    else:
        g = g.copy()
        replay(g, steps)[...] = 0
    return g


#: base with the view of `steps` replaced by source. The write itself has been done already.
COPY_SLICE = Op(_copy_slice, name="copy_slices", rules={
    "base": _without_slice,
    "source": lambda g, steps: replay(g, steps)})
COPY_SLICE.backward_name = "CopySlices"


def check_in_place(self):
    """RuntimeError where torch refuses an in-place write."""
    if not mode.grad:
        return
    if self.view is not None:
        refresh(self)
        base = self.view.base
        if base.tracked and base.node is None:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    elif self.tracked and self.node is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def assign(self, result):
    """Write `result` into `self` and make its history that of `self`. Nothing is written if the
    shapes or dtypes do not fit."""
    target, array = self.array, result.array
    if array.shape != target.shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(array.shape)}")
    if array.dtype != target.dtype:
        have, want = dt.of(array), dt.of(target)
        if not dt.can_cast(have, want):
            raise RuntimeError(f"result type {have.tensor_type[:-6]} can't be cast to the desired output type {want.tensor_type[:-6]}")
        result = result.to(want)
        array = result.array
    if 0 in target.strides and any(s == 0 and n > 1 for s, n in zip(target.strides, target.shape)):
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single "
                           "memory location. Please clone() the tensor before performing the operation.")
    np.copyto(target, array)
    self.version[0] += 1
    rebase(self, result)
    return self


def rebase(self, result):
    """Give `self`, just overwritten with `result`, the history of `result`."""
    if not mode.grad or not (result.tracked or self.tracked):
        return
    node = result.node
    if node is not None and node.saved and node.saved[ANS] is result.array:
        # The op saved its output, which is now this tensor: watch this one for later writes.
        saved = list(node.saved)
        saved[ANS] = self.array
        node.saved, node.versions = saved, node.versions[:-2] + (self.version, self.version[0])
    if self.view is None:
        self.node, self.tracked = node, result.tracked
        return
    base, steps = self.view.base, self.view.steps
    edges = (base.node, node)
    base.node = Node(COPY_SLICE, edges, (None, None, steps, None, None), (), base.array.shape)
    base.tracked = True


def in_place(function):
    """The method `f_` of a function `f`: computes, then writes the result into its first argument."""
    @functools.wraps(function)
    def method(self, *args, **kwargs):
        check_in_place(self)
        return assign(self, function(self, *args, **kwargs))
    method.__name__ = method.__qualname__ = function.__name__ + "_"
    method.__doc__ = f"In-place form of `{function.__name__}`: writes the result into `self` and returns it."
    return method
