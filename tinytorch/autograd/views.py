"""Views and in-place writes.

A view shares its base's memory and version cell. Its gradient depends only on where its elements lie
in that memory, so an in-place write through a view gives the *base* one copy-slice node, and every
view derives its own history again from that of the base when it is next used.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..device import META
from ..errors import warn
from ..kernels import layout
from ..kernels.memory import READ_ONLY, empty, is_given, refusal, unset
from ..kinds.lazy import address_of, bits_of, device_of, is_lazy, raw, root_of, seen
from ..tensor import Tensor, wrap
from . import late_bound
from .grad_mode import INFERENCE_WRITE, InferenceCell, OwnCell, all_threads, differentiates, for_tangents, mode
from .hooks import Gradient
from .node import ANS, AUX, BITS, NOWHERE, OUTGROWN, SELECT, UNWATCHED, Node, Op, new_node, next_sequence_nr
from .places import count_write, note_place, note_write
from .saved import PACKED, Detached, Packed, short_name

#: Ways of making a view that forbid writes to it: one operation made several views, grad mode was off, inference mode
#: was on, or a Function returned it.
MULTI, NO_GRAD, INFERENCE, FUNCTION = "multi", "no_grad", "inference", "function"


#: The `seen` of a view that never had a history.
NEVER = -1


class View:
    """The base of a view, and how the view was made.

    base   a tensor that is itself no view
    born   the version at which the view was made
    seen   the version at which its history was last brought up to date, or NEVER: it has no history
    made   MULTI, NO_GRAD, INFERENCE, FUNCTION, or None: writes to it are allowed
    """

    __slots__ = ("base", "born", "seen", "made")

    def __init__(self, source: Tensor, version: int, made: str | None = None) -> None:
        origin = source._view_info
        if origin is None:
            self.base = source
        else:
            self.base = origin.base
            if made is None:
                made = origin.made
        self.born, self.seen = version, NEVER
        if all_threads.in_special_mode and not mode.grad_now:
            made = INFERENCE if mode.inference else NO_GRAD
        elif source._requires_grad:
            self.seen = version
        self.made = made


def track_view(output: Tensor, source: Tensor, made: str | None = None) -> None:
    """Make `output`, which shares the memory of `source`, a view of it."""
    version = source._version_counter
    output._version_counter = version
    if version.__class__ is list:
        output._view_info = View(source, version[0], made)
    else:                                      # an inference tensor has no history to follow
        output._view_info = None
        if version.__class__ is OwnCell:
            output._version_counter = InferenceCell([0])


def become(self: Tensor, result: Tensor) -> Tensor:
    """Make `self` the tensor `result`, a view of `self`, as `unsqueeze_` and the like do."""
    self._array = result._array
    count_write(self)
    if mode.grad_now and result._requires_grad:
        self._node, self._requires_grad = result._node, True
        self._node.op = _in_itself(self._node.op)
        if self._view_info is not None:
            self._view_info.seen = self._version_counter[0]
    else:
        _outgrow(self)
    return self


def give(self: Tensor, array: np.ndarray) -> None:
    """Make `array`, of any shape, the elements of `self`. The history of `self` stays that of its old elements."""
    self._array = array
    _outgrow(self)


def _outgrow(self):
    """Let a tensor that was given other elements accept gradients of their shape."""
    node, shape = self._node, self._array.shape
    if node is not None and self._view_info is None:
        if node.op is OUTGROWN:
            node, = node.edges
        self._node = node if node.shape == shape else new_node(OUTGROWN, (node,), (None, None, None), (), shape)


@functools.cache
def _in_itself(op):
    """The op of a view under the name that it has where a tensor becomes that view in place: torch numbers these forms
    after the forms that return a new tensor."""
    forms = 3 if op.name == "squeeze" else 1
    return op.renamed(f"{op.name}.{int(op.backward_name.rpartition('Backward')[2]) + forms}")


def _check_view(view, what="is being"):
    """RuntimeError for a view to which torch refuses writes because of how it was made."""
    made, node = view._view_info.made, view._node
    if made is None:
        return
    if node is None or node.op is NOWHERE:
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
    FUNCTION: " This view was created inside a custom Function (or because an input was returned as-is) and the "
              "autograd logic to handle view+inplace would override the custom backward associated with the custom "
              "Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the "
              "output of the custom Function.",
    MULTI: " This view is the output of a function that returns multiple views. Such functions do not allow the output "
           "views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    NO_GRAD: " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
             "moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace "
             "to be tracked) or both outside (if you want the inplace to be tracked).",
    INFERENCE: " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
               "moving both the view and the inplace either both inside the inference_mode block (if you don't want "
               "the inplace to be tracked) or both outside (if you want the inplace to be tracked)."}


def refresh(tensor: Tensor, always: bool = False) -> None:
    """Bring a view's history up to date after writes to its memory. This is only needed in grad mode, unless `always`.

    The cases, in order: the history is up to date, or none is needed; only `detach_` of the base has changed it; the
    view leads NOWHERE; the view never had a history; the base requires grad (a new node); the base was detached.
    """
    view = tensor._view_info
    if view is None or view.seen == tensor._version_counter[0]:
        return
    base, node = view.base, tensor._node
    if node is None and not base._requires_grad or not (mode.grad_now or always):
        return
    if tensor._version_counter[0].__class__ is Detached and view.seen == int(tensor._version_counter[0]):
        return                                 # nothing was written: only the base has left the graph
    if node is not None and node.op is NOWHERE:
        tensor._node, tensor._requires_grad = None, False                  # decided again below
        if not base._requires_grad:
            return
    if view.seen == NEVER and view.born == tensor._version_counter[0]:
        # The view was made outside grad mode, or before its base required gradients: results computed from it require
        # gradients too, though they lead nowhere.
        if not (always or tensor._requires_grad):
            tensor._node, tensor._requires_grad = new_node(NOWHERE, (), (), (), tensor._array.shape), True
        return
    _check_view(tensor, "its base or another view of its base has been")
    if base._requires_grad or base._array.dtype == tensor._array.dtype:
        fresh = _view_node(base, *layouts(tensor._array, base._array), node)
        if mode.grad_now is not for_tangents:      # here the base's history decides what is recorded
            _notify(fresh, tensor._array)
        if tensor.retains_grad and node is not None:
            move_retained(tensor, fresh)
        tensor._node, tensor._requires_grad = fresh, True
    else:                                      # the base has been detached; torch keeps only views of its own dtype
        tensor._node, tensor._requires_grad = None, False
    view.seen = tensor._version_counter[0]


def _view_node(base, part, whole, before=None):
    """A new history for the view with the layout `part`, which had the node `before`."""
    edge = (base._node or base) if base._requires_grad else None
    change = None if before is None else BITS.get(before.op.name)
    if change is not None:                     # strides do not show a conjugation or negation, so its node is kept
        inner = (*part[:4], tuple([bit != changes for bit, changes in zip(part[4], change)]))
        if inner != whole:
            edge = new_node(AS_STRIDED, (edge,), (None, inner, whole, None, None), (), part[0])
        return new_node(before.op, (edge,), (None, None, None), (), part[0])
    return new_node(AS_STRIDED, (edge,), (None, part, whole, None, None), (), part[0])


# ------------------------------------------------------------------ gradients by place in memory
def layouts(array: np.ndarray, base: np.ndarray) -> tuple[tuple, tuple]:
    """The layouts (see kernels/layout.py) of an array and of the base that it is a view of."""
    root, own = root_of(base), root_of(array)
    start = address_of(root)
    where = 0 if base is root or not base.size else address_of(base) - start
    # They lie in the same memory, unless the base has been given other memory since (`set_`, `.data =`).
    place = 0
    if array.size:
        place = address_of(array) - (start if own is root else address_of(own))
    return ((array.shape, array.strides, place, array.dtype, bits_of(array)),
            (base.shape, base.strides, where, base.dtype, bits_of(base)))


def to_base(g: Gradient, part: tuple, whole: tuple) -> Gradient:
    """The gradient of a base with the layout `whole`, from the gradient of its view with the layout `part`."""
    if isinstance(g, Tensor):
        g = late_bound.relaid(g, part, whole)
    else:
        g = layout.relaid(g, part, whole)
    if not layout.overlaps(whole):
        return g
    if isinstance(g, Tensor):
        return g / wrap(layout.sharers(whole)).to(g.dtype)
    if g.dtype == dt.BFLOAT16:
        return dt.to_bfloat16(dt.from_bfloat16(g) / layout.sharers(whole))
    return g / layout.sharers(whole)


#: The op of a view that has been given a new history.
AS_STRIDED = Op(lambda base, part, whole: base, name="as_strided", rules={"base": to_base})


def _split_gradient(g, wanted, part, whole):
    """The gradients of a base (zero in the overwritten part), and of the values that were written there."""
    _check_layouts(part, whole)
    if isinstance(g, Tensor):
        return late_bound.without_part(g, part, whole), late_bound.relaid(g, whole, part)
    return layout.split_off(g, part, whole)


def _check_layouts(part, whole):
    """RuntimeError for a part that reaches past its base (as_strided can), and for elements that share their place."""
    _check_places(*whole[:2])
    _check_places(*part[:2])
    itemsize = part[3].itemsize
    layout.check_bounds(part[0], [s // itemsize for s in part[1]], (part[2] - whole[2]) // itemsize,
                        layout.end_of(whole) - whole[2], itemsize)


#: The op of a base after a write of `source` into a part of it. The write itself has been done already.
COPY_SLICE = Op(lambda base, source, part, whole: base, name="copy_slices", joint=_split_gradient,
                backward_name="torch::autograd::CopySlices")


def check_in_place(self: Tensor, *others: Any) -> None:
    """RuntimeError where torch refuses an in-place write of a result computed from `others`.

    The cases, in order: an inference tensor; outside grad mode nothing more; a view made in a way that forbids writes;
    a leaf that requires grad, or a view of such a leaf.
    """
    if self._version_counter.__class__ is not list:
        check_inference(self)
    if not differentiates():
        return
    view = self._view_info
    tracked = self._requires_grad
    if view is not None:
        tracked = view.base._requires_grad or tracked and (self._node is None or self._node.op is not NOWHERE)
    if view is not None and view.made is not None:
        if tracked or any([isinstance(x, Tensor) and x.requires_grad for x in others]):
            _check_view(self)
    if tracked:
        node, base = self._node, None if view is None else view.base
        if node is None or node.op.enters or base is not None and (base._node is None or base._node.op.enters):
            # A view whose history was not brought up to date since its base got one may be refused too, as in torch.
            if what := base is not None and leaf_called(base._node, True) or leaf_called(node):
                raise RuntimeError(f"{what} that requires grad is being used in an in-place operation.")


def leaf_called(node: Node | None, seen: bool = False) -> str | None:
    """What messages call a tensor that requires grad and has this node, if it is a leaf; None for other tensors.
    `seen`: the tensor is a view of the one with that node. A tensor that was taken into a transform may be a leaf
    outside of it."""
    if node is None:
        return "a view of a leaf Variable" if seen else "a leaf Variable"
    if node.op.enters and (what := node.saved[AUX]):
        return "a view of a leaf Variable" if seen else what
    return None


def is_apart(tensor: Tensor) -> bool:
    """Whether a write to `tensor` changes only its array, an ndarray, and its version: nearly always so if it requires
    no gradient."""
    return (not tensor._requires_grad and tensor._view_info is None and tensor._version_counter.__class__ is list
            and tensor._node is None and type(tensor._array) is np.ndarray and not all_threads.noting_writes)


def check_inference(tensor: Tensor) -> None:
    """RuntimeError if `tensor`, about to be written to, is an inference tensor and inference mode is over."""
    if tensor._version_counter.__class__ is InferenceCell and not mode.inference:
        raise RuntimeError(INFERENCE_WRITE)


def has_history(tensor: Tensor) -> bool:
    """Whether a write from or to `tensor` is recorded in grad mode: it requires gradients, or carries tangents."""
    return tensor._requires_grad or tensor._view_info is not None and tensor._view_info.base._requires_grad


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether an array that was not expanded has more elements than the memory that it spans, as `unfold` makes."""
    if type(array) is not np.ndarray or array.flags.forc or is_expanded(array):
        return False
    last = sum([(n - 1) * abs(stride) for n, stride in zip(array.shape, array.strides)])
    return array.size > 0 and last + array.itemsize < array.nbytes


def check_written(array: np.ndarray) -> None:
    """RuntimeError if elements of an array that is to be written to lie at the same place (it was expanded), or if its
    memory is read-only."""
    _check_places(array.shape, array.strides)
    if type(array) is np.ndarray and not array.flags.writeable:    # a stand-in checks its memory itself
        raise RuntimeError(READ_ONLY)


def is_expanded(array: np.ndarray) -> bool:
    """Whether elements lie at the same place because a dimension was expanded."""
    return 0 in array.strides and _has_expanded(array.shape, array.strides)


def _has_expanded(shape, strides):
    return 0 in strides and 0 not in shape and any(s == 0 and n > 1 for s, n in zip(strides, shape))


def _check_places(shape, strides):
    if _has_expanded(shape, strides):
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single "
                           "memory location. Please clone() the tensor before performing the operation.")


def warn_expanded(name: str, example: str) -> None:
    """Warn of a write to expanded memory that torch will refuse one day."""
    warn(f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this "
         f"operation. This also applies to advanced indexing e.g. {example}")


def may_share(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays may lie in the same memory."""
    return (a is b or a.base is not None or b.base is not None) and np.may_share_memory(a, b)


def check_overlap(out: Tensor, input: Tensor, apart: bool | str = False, copying: bool = False,
                  aligned: bool = False) -> None:
    """RuntimeError if `out` shares memory with `input`. The very same elements in place are allowed unless `apart`.
    Lazy conjugates and negatives may share memory, except in copies (`copying`): their values are computed first.
    `aligned`: a sample of a vmap first gets as many dimensions as `out` has, as torch does in copies and with two
    operands."""
    a, b = out._array, input._array
    if not copying and (is_lazy(a) or is_lazy(b)):
        return
    refresh(input)                             # errors of its history come first
    if out is not input:
        if not (layout.is_dense(a) and layout.is_dense(b)):
            return                             # torch too accepts tensors with gaps: a check would cost too much
        # torch compares the strides in elements, not the shapes: the same memory read as another dtype may be accepted.
        alike = a.ndim == b.ndim or aligned and a.ndim > b.ndim and hasattr(b, "level")
        same = alike and a.nbytes == b.nbytes and _steps(a) == _steps(b) and out.data_ptr() == input.data_ptr()
        if same and not apart:
            return
    raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer "
                       "to a single memory location. Please clone() the tensor before performing the operation.")


def resized(array: Any, like: np.ndarray) -> np.ndarray:
    """The memory of `array`, from its first element on, in the shape of `like`, and in its order if that is dense.
    If that memory is too small: new memory, with the old elements first and undefined elements after them."""
    if device_of(array) is META:
        return array.resized(like)
    if True in bits_of(array):
        return seen(resized(raw(array), np.asarray(like, order="C")), *bits_of(array))       # torch drops the order
    root, count = root_of(array), like.size
    if layout.is_dense(root):
        flat = root.transpose(np.argsort(root.strides)[::-1]).reshape(-1)
        memory = flat.view(np.uint8)[address_of(array) - address_of(root):]
        memory = memory[:memory.size // array.itemsize * array.itemsize].view(array.dtype)
    else:
        memory = array.reshape(-1)
    if memory.size < count:
        if is_given(array):
            raise RuntimeError("Trying to resize storage that is not resizable")
        larger = unset(empty(count, array.dtype))
        larger[:memory.size] = memory
        memory = larger
    strides = None
    if count and layout.is_dense(like):
        strides = [s // like.itemsize * array.itemsize for s in like.strides]
    return np.ndarray(like.shape, array.dtype, memory, 0, strides)


def _steps(array):
    return [s // array.itemsize for s, n in zip(array.strides, array.shape) if n != 1]


def check_fits(target: np.ndarray, shape: tuple[int, ...], dtype: dt.dtype) -> None:
    """RuntimeError if a result of this shape and dtype cannot be written into the array `target`."""
    if shape != target.shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(shape)}")
    want = dt.of(target)
    if not dt.can_cast(dtype, want):
        raise RuntimeError(f"result type {dtype.type_name} can't be cast to the desired output type "
                           f"{want.type_name}")


def assign(self: Tensor, result: Tensor, expanded: Callable | None = None) -> Tensor:
    """Write `result` into `self` and make its history that of `self`. Nothing is written if the shapes or dtypes do
    not fit. A write to elements that lie at the same place is refused, unless `expanded(memory, values)` does it."""
    target, array, node = self._array, result._array, result._node
    if array.shape != target.shape or array.dtype != target.dtype:
        check_fits(target, array.shape, dt.of(array))
        result = result.to(self.dtype)
        array = result._array
    write: Any = np.copyto
    if 0 in target.strides and is_expanded(target):
        if expanded is None or is_lazy(target):
            check_written(target)
        write = expanded
    if result._requires_grad and self._view_info is not None and differentiates():
        _check_view(self)
    if node is not None and node.saved:
        _keep_original(node, self)
    try:
        if self._view_info is not None and write is np.copyto and overlaps_itself(target):
            np.copyto(target, array, where=array != target)    # an unchanged element must not overwrite a changed one
        else:
            write(target, array)
    except ValueError as error:
        raise refusal(error) from None
    self._version_counter[0] += 1
    if all_threads.noting_writes:
        note_place(self._version_counter)
    if result._requires_grad or self._requires_grad:
        rebase(self, result)
    return self


def _keep_original(node, tensor):
    """If backward of `node` reads `tensor`, its first argument, which is about to be overwritten, keep a copy in it."""
    first = node.op.first
    if node.versions is PACKED:
        for s in node.saved:
            if s.__class__ is Packed:
                s.keep_original(tensor._array)
    elif node.saved[first] is not None and node.versions and node.versions[0] is tensor._version_counter:
        saved = list(node.saved)
        if saved[first] is tensor._array:       # otherwise the saved array is a converted copy
            saved[first] = tensor._array.copy(order="K")
        node.saved, node.versions = saved, ([0], 0) + tuple(node.versions[2:])


def rebase(self: Tensor, result: Tensor) -> None:
    """Give `self`, which was just overwritten with `result`, the history of `result`."""
    if not (result._requires_grad or self._requires_grad) or all_threads.in_special_mode and not mode.grad_now:
        return
    owner = self if self._view_info is None else self._view_info.base
    if mode.grad_now is for_tangents and owner._requires_grad and owner._node is None:
        return                                 # a leaf that requires gradients stays a leaf
    node = result._node
    if node is not None and node.saved and node.saved[ANS] is result._array:
        # The op saved its output, which is now this tensor: this one's version counts from now on.
        saved = list(node.saved)
        saved[ANS] = self._array
        node.saved, node.versions = saved, (*node.versions[:-2], self._version_counter, self._version_counter[0])
    if self._view_info is not None:
        _rebase_base(self, node)
        return
    if self.retains_grad and self._node is not None:
        move_retained(self, node)
    self._node = _apart(self, node)
    self._requires_grad = result._requires_grad or self._node is not node
    if node is not None:
        note_write(self._version_counter, node.name())


def _rebase_base(self, node):
    """Give the base of the view `self` the history of a write to that part of it, made by `node`."""
    base, before = self._view_info.base, self._node
    part, whole = layouts(self._array, base._array)
    if before is not None and node is not None and node.edges[0] is before and (
            before.edges[0] is not (base._node or base) or before.op.name == "as_strided" or before.hooks is not None
            or not base._array.flags.c_contiguous):
        # The gradient of the view's old value goes to the base by place in memory, through whichever `as_strided` the
        # view came, in the base's strides. Hooks on the old node are for the old value.
        node.edges = (_view_node(base, part, whole), *node.edges[1:])
        node.sequence_nr = next_sequence_nr()  # a node is younger than those that its edges lead to
    fresh = new_node(COPY_SLICE, (base._node, node), (None, None, part, whole, None, None), UNWATCHED,
                     base._array.shape)
    _notify(fresh, base._array)
    fresh = _apart(base, fresh)
    if base.retains_grad and base._node is not None:
        move_retained(base, fresh)
    base._node, base._requires_grad = fresh, True
    note_write(self._version_counter, base._node.name())
    if before is None:
        refresh(self, always=True)             # the next write through this view continues from here


#: Zeros with the history of `input`: the tangent of a tensor that was overwritten keeps only its history, as in torch.
HISTORY = Op(lambda input: np.zeros_like(input), name="history", rules={
    "input": lambda g: _history_of(g) if mode.pushing else g})


def _history_of(g):
    if not isinstance(g, Tensor):
        return HISTORY.forward(g)
    zeros = wrap(HISTORY.forward(g._array))
    if mode.grad_now and g._requires_grad:
        zeros._node, zeros._requires_grad = new_node(HISTORY, (g._node or g,), (None, None, None), (), g.shape), True
    return zeros


#: A tensor written to without grad mode inside a level of forward mode: its gradient goes to the history before the
#: write, its tangent comes from the written value.
WRITTEN_APART = Op(lambda before, after: after, name="written_apart", joint=lambda g, wanted: (
    (_history_of(g), g) if mode.pushing else (g, None)))


def _apart(tensor, node):
    """The node of `tensor` after a write that made `node`."""
    if mode.grad_now is not for_tangents or tensor._node is None:
        return node
    return new_node(WRITTEN_APART, (tensor._node, node), (None, None, None, None), (), tensor._array.shape)


def _notify(node, array):
    """Notify the recorder, if there is one, of a new node."""
    recorder = mode.grad_now
    if recorder and recorder is not True:
        recorder(node, array, ())


def move_retained(tensor: Tensor, node: Node | None) -> None:
    """`retain_grad` of a tensor that is given a new history keeps the gradient of its new value."""
    kept = tensor._node.extras().kept
    for reference in [r for r in kept if r() is tensor]:
        kept.remove(reference)
        if node is not None:
            node.extras().kept.append(reference)
