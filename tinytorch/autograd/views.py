"""Views and in-place writes.

A view shares its base's memory and version cell, and remembers the steps that led to it from the
base. Writing in place through a view gives the *base* one copy-slice node; every view then derives
its own history anew, by replaying its steps, the next time it is used.
"""
import functools

import numpy as np

from .. import dtypes as dt
from ..tensor import Tensor, wrap
from .grad_mode import mode
from .node import ANS, Node, Op


class View:
    """How a view came from its base: `steps` replayed on `base` when its history was `seen`; whether in grad mode."""

    __slots__ = ("base", "steps", "seen", "taped")
    to_user = True                             # what `_is_view()` says

    def __init__(self, base, steps, seen):
        self.base, self.steps, self.seen, self.taped = base, steps, seen, mode.grad


class Reshaped(View):
    """How a tensor that changed its own shape (`unsqueeze_`) came from what it was: a view, but not to its user."""

    __slots__ = ()
    to_user = False


def become(self, result):
    """Make `self` the tensor `result`, a view of it: what `unsqueeze_` and its like do.

    What `self` was stays behind as the base of its views, old and new: their steps begin at its shape.
    """
    steps = result.origin.steps
    if self.origin is not None:
        self.origin.steps = steps
    elif self.node is not None or not self.tracked:
        base = wrap(self.array)
        base.node, base.tracked, base.version = self.node, self.tracked, self.version
        self.origin = Reshaped(base, steps, base.node)
        self.origin.taped = True
    self.array = result.array
    if mode.grad:
        self.node, self.tracked = result.node, result.tracked
    elif self.node is not None:
        self.origin.seen = None                # its history goes on: to be replayed
    self.version[0] += 1
    return self


def track_view(output, source, step):
    """Make `output` a view: what `step` (function, arguments before and after, output number) makes of `source`."""
    origin = source.origin
    if origin is None:
        output.origin = View(source, (step,), source.node)
    else:
        output.origin = View(origin.base, origin.steps + (step,), origin.base.node)
    output.version = source.version


def replay(base, steps):
    """The view that `steps` make of `base` (a Tensor, or an ndarray in plain backward)."""
    for call, before, after, _ in steps:       # each gives one output: writes to the others are refused
        base = call(*before, base, *after)
    return base


def _check_view(view, what="is being"):
    """RuntimeError for a view that torch refuses writes to: made with others by one operation, or outside grad mode."""
    for call, *_, index in view.origin.steps:
        if index is not None:
            raise RuntimeError(
                f"Output {index} of {call.op.backward_name[:-9]} is a view and {what} modified inplace. This view is "
                "the output of a function that returns multiple views. Such functions do not allow the output views to "
                "be modified inplace. You should replace the inplace operation by an out-of-place one.")
    if what == "is being" and not view.origin.taped:
        raise RuntimeError(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this "
            "use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view "
            "and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or "
            "both outside (if you want the inplace to be tracked).")


def refresh(tensor):
    """Bring a view's history up to date after writes to its base."""
    view = tensor.origin
    if view is None:
        return
    if view.base.origin is not None:           # the base has changed its own shape since
        view.base = view.base.origin.base
    if view.base.node is view.seen:
        return
    _check_view(tensor, "its base or another view of its base has been")
    before, mode.grad = mode.grad, True
    try:
        fresh = replay(view.base, view.steps)
    finally:
        mode.grad = before
    tensor.node, tensor.tracked = fresh.node, fresh.tracked
    view.seen = view.base.node


def _copy_slice(base, source, steps, order):
    return base


def _memory_order(array):
    """The dimensions of an array from the slowest to the fastest in memory."""
    return tuple(sorted(range(array.ndim), key=lambda d: -array.strides[d]))


def _laid_out(g, order):
    """A copy of g with its dimensions in memory in that order, so that the base's views are views of it too."""
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    if isinstance(g, Tensor):
        return g.permute(order).contiguous().clone().permute(back)
    return g.transpose(order).copy("C").transpose(back)


def _without_slice(g, steps, order):
    """g with zeros where the view of `steps` lies."""
    g = _laid_out(g, order)
    if isinstance(g, Tensor):
        replay(g, steps).zero_()
    else:
        replay(g, steps)[...] = 0
    return g


def _slice_of(g, steps, order):
    """The view of `steps` in g."""
    if any(call.op.name == "as_strided" for call, *_ in steps):
        g = _laid_out(g, order)                # the one view that depends on the layout
    return replay(g, steps)


#: base with the view of `steps` replaced by source. The write itself has been done already.
COPY_SLICE = Op(_copy_slice, name="copy_slices", rules={"base": _without_slice, "source": _slice_of})
COPY_SLICE.backward_name = "CopySlices"


def check_in_place(self):
    """RuntimeError where torch refuses an in-place write."""
    if not mode.grad:
        return
    if self.origin is not None:
        refresh(self)
        base = self.origin.base
        if self.tracked:
            _check_view(self)
        if base.tracked and base.node is None:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    elif self.tracked and self.node is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def check_written(array):
    """RuntimeError if elements of an array that is to be written to lie at the same place (it was expanded)."""
    if 0 in array.strides and array.size and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape)):
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single "
                           "memory location. Please clone() the tensor before performing the operation.")


def assign(self, result):
    """Write `result` into `self` and make its history that of `self`. Nothing is written if the
    shapes or dtypes do not fit."""
    target, array = self.array, result.array
    if array.shape != target.shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape "
                           f"{list(array.shape)}")
    if array.dtype != target.dtype:
        have, want = dt.of(array), dt.of(target)
        if not dt.can_cast(have, want):
            raise RuntimeError(f"result type {have.tensor_type[:-6]} can't be cast to the desired output type "
                               f"{want.tensor_type[:-6]}")
        result = result.to(want)
        array = result.array
    check_written(target)
    if result.tracked and self.origin is not None and mode.grad:
        _check_view(self)
    if result.node is not None and result.node.saved:
        _keep_original(result.node, self)
    np.copyto(target, array)
    self.version[0] += 1
    rebase(self, result)
    return self


def _keep_original(node, tensor):
    """If backward of `node` reads `tensor`, about to be overwritten, let it have a copy."""
    target = tensor.array
    if not any(s is target for s in node.saved[:ANS]):
        return
    saved, versions = list(node.saved), list(node.versions)
    for i, s in enumerate(saved[:ANS]):
        if s is target:
            saved[i] = target.copy(order="K")
            k = next(k for k in range(0, len(versions), 2) if versions[k] is tensor.version)
            versions[k:k + 2] = [0], 0
    node.saved, node.versions = saved, tuple(versions)


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
    if self.origin is None:
        self.node, self.tracked = node, result.tracked
        return
    base, steps = self.origin.base, self.origin.steps
    edges = (base.node, node)
    base.node = Node(COPY_SLICE, edges, (None, None, steps, _memory_order(base.array), None, None), (), base.array.shape)
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
