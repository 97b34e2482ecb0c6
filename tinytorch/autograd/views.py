"""Views and in-place writes.

A view shares its base's memory and version cell, and remembers the steps that led to it from the
base. Writing in place through a view gives the *base* one copy-slice node; every view then derives
its own history anew, by replaying its steps, the next time it is used.
"""
import functools

import numpy as np

from .. import dtypes as dt
from ..tensor import Tensor, wrap
from .anomaly import note_write
from .grad_mode import INFERENCE_WRITE, mode
from .node import ANS, SELECT, Node, Op
from .saved import PACKED, Packed, short_name


#: How a view was made, if in a way that forbids writes: with others by one operation, outside grad mode, in a Function.
MULTI, NO_GRAD, INFERENCE, FUNCTION = "multi", "no_grad", "inference", "function"


class View:
    """How a view came from its base.

    steps    replayed on `base`, give the view
    seen     the version at which they were last replayed
    made     MULTI, NO_GRAD, INFERENCE, FUNCTION, or None: nothing against writing to it
    """

    __slots__ = ("base", "steps", "seen", "made")
    to_user = True                             # what `_is_view()` says

    def __init__(self, base, steps, seen, made=None):
        self.base, self.steps, self.seen = base, steps, seen
        if not mode.grad:
            made = INFERENCE if mode.inference else NO_GRAD
        elif steps[-1][3] is not None:
            made = MULTI
        self.made = made


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
        self.origin = Reshaped(base, steps, self.version[0])
        self.origin.made = None
    self.array = result.array
    self.version[0] += 1
    if mode.grad:
        self.node, self.tracked = result.node, result.tracked
        if self.origin is not None:
            self.origin.seen = self.version[0]
    return self


def track_view(output, source, step):
    """Make `output` a view: what `step` (function, arguments before and after, output number) makes of `source`."""
    origin, version = source.origin, source.version
    if version.__class__ is not list:          # an inference tensor: there is no history to follow
        output.origin, output.version = None, version
        return
    if origin is None:
        output.origin = View(source, (step,), version[0])
    else:
        output.origin = View(origin.base, origin.steps + (step,), version[0], origin.made)
    output.version = version


def replay(base, steps):
    """The view that `steps` make of `base` (a Tensor, or an ndarray in plain backward)."""
    for call, before, after, _ in steps:       # each gives one output: writes to the others are refused
        base = call(*before, base, *after)
    return base


def _check_view(view, what="is being"):
    """RuntimeError for a view that torch refuses writes to: made with others by one operation, or outside grad mode."""
    made, node = view.origin.made, view.node
    if made is None:
        return
    if node is None:
        text = "A view was created in"
    else:
        index, node = (node.saved[0], node.edges[0]) if node.op is SELECT else (0, node)
        text = f"Output {index} of {short_name(node.name())} is a view"
        if made in (MULTI, FUNCTION):
            raise RuntimeError(f"{text} and {what} modified inplace.{_REASONS[made]}")
        text += " of a view which was created in"
    where = "inference" if made is INFERENCE else "no_grad"
    raise RuntimeError(f"{text} {where} mode and {what} modified inplace with grad mode enabled.{_REASONS[made]}")


_REASONS = {
    FUNCTION: " This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
              "logic to handle view+inplace would override the custom backward associated with the custom Function, leading "
              "to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
              "Function.",
    MULTI: " This view is the output of a function that returns multiple views. Such functions do not allow the output "
           "views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    NO_GRAD: " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
             "both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
             "tracked) or both outside (if you want the inplace to be tracked).",
    INFERENCE: " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
               "moving both the view and the inplace either both inside the inference_mode block (if you don't want the "
               "inplace to be tracked) or both outside (if you want the inplace to be tracked)."}


def refresh(tensor, always=False):
    """Bring a view's history up to date after writes to its memory. Only needed in grad mode, unless it is `always`."""
    view = tensor.origin
    if view is None or view.seen == tensor.version[0] or not (mode.grad or always):
        return
    if view.base.origin is not None:           # the base has changed its own shape since
        view.base = view.base.origin.base
    if tensor.node is None and not view.base.tracked:
        return
    _check_view(tensor, "its base or another view of its base has been")
    before, mode.grad = mode.grad, True
    try:
        fresh = replay(view.base, view.steps)
    finally:
        mode.grad = before
    tensor.node, tensor.tracked = fresh.node, fresh.tracked
    view.seen = tensor.version[0]


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
    return np.array(g).transpose(order).copy("C").transpose(back)      # g may be a NumPy scalar


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
COPY_SLICE.backward_name = "torch::autograd::CopySlices"


def check_in_place(self):
    """RuntimeError where torch refuses an in-place write."""
    if self.version.__class__ is not list:
        check_inference(self)
    if not mode.grad:
        return
    if self.origin is not None:
        refresh(self)
        base = self.origin.base
        if self.tracked or base.tracked:
            _check_view(self)
        if base.tracked and base.node is None:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    elif self.tracked and self.node is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def check_inference(tensor):
    """RuntimeError if `tensor`, about to be written to, is an inference tensor and inference mode is over."""
    if tensor.is_inference() and not mode.inference:
        raise RuntimeError(INFERENCE_WRITE)


def check_written(array):
    """RuntimeError if elements of an array that is to be written to lie at the same place (it was expanded)."""
    if 0 in array.strides and array.size and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape)):
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single "
                           "memory location. Please clone() the tensor before performing the operation.")


def check_overlap(out, input, apart=False):
    """RuntimeError if `out` shares memory with `input`; the very same elements in place are fine unless `apart`."""
    a, b = out.array, input.array
    if out is not input:
        if not np.may_share_memory(a, b) or not (_dense(a) and _dense(b)):
            return                             # torch too leaves those with gaps alone: too hard to tell
        same = a.shape == b.shape and _steps(a) == _steps(b) and out.data_ptr() == input.data_ptr()
        if same and not apart:
            return
    raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer "
                       "to a single memory location. Please clone() the tensor before performing the operation.")


def _steps(array):
    return [s for s, n in zip(array.strides, array.shape) if n != 1]


def _dense(array):
    """Whether the elements fill their stretch of memory, in whatever order of dimensions."""
    step = array.itemsize
    for stride, n in sorted((s, n) for s, n in zip(array.strides, array.shape) if n != 1):
        if stride != step:
            return False
        step *= n
    return True


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
    """If backward of `node` reads `tensor`, its first argument, about to be overwritten, let it have a copy."""
    first = node.op.first
    if node.versions is PACKED:
        for s in node.saved:
            if s.__class__ is Packed:
                s.keep_original(tensor.array)
    elif node.saved[first] is tensor.array and node.versions and node.versions[0] is tensor.version:
        saved = list(node.saved)
        saved[first] = tensor.array.copy(order="K")
        node.saved, node.versions = saved, ([0], 0) + tuple(node.versions[2:])


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
        if self.retains_grad and self.node is not None:
            move_retained(self, node)
        self.node, self.tracked = node, result.tracked
        if node is not None:
            note_write(self.version, node.name())
        return
    base, steps = self.origin.base, self.origin.steps
    edges = (base.node, node)
    base.node = Node(COPY_SLICE, edges, (None, None, steps, _memory_order(base.array), None, None), (), base.array.shape)
    base.tracked = True
    note_write(self.version, base.node.name())


def move_retained(tensor, node):
    """`retain_grad` of a tensor that is given a new history keeps the gradient of its new value."""
    kept = tensor.node.extras().kept
    for reference in [r for r in kept if r() is tensor]:
        kept.remove(reference)
        if node is not None:
            node.extras().kept.append(reference)


def in_place(function):
    """The method `f_` of a function `f`: computes, then writes the result into its first argument."""
    @functools.wraps(function)
    def method(self, *args, **kwargs):
        check_in_place(self)
        if self.origin is not None and mode.grad and any([isinstance(x, Tensor) and x.tracked for x in args]):
            _check_view(self)
        for x in args:
            if isinstance(x, Tensor) and x.version is self.version and x is not self:
                check_overlap(self, x)
        return assign(self, function(self, *args, **kwargs))
    method.__name__ = method.__qualname__ = function.__name__ + "_"
    method.__doc__ = f"In-place form of `{function.__name__}`: writes the result into `self` and returns it."
    return method
