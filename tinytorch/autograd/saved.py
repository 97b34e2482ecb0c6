"""The values that a node has saved for backward: checks, attributes that show them, and packing.

A node keeps plain arrays beside the version that each tensor had. With `saved_tensors_hooks` it keeps
the results of the user's pack function instead.
"""
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..kernels.errstate import as_outside
from ..tensor import Tensor, wrap
from . import late_bound
from .grad_mode import mode, unrecorded, unwatch, watch
from .node import ANS, AUX, BITS, FREED, SELECT, Edge, Node, function_of, new_node
from .places import history, writer

FREED_ERROR = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if "
    "you need to access saved tensors after calling backward.")

#: The `versions` of a node whose saved arrays are packed: their versions cannot be compared. No version is None, so
#: the engine calls `checked`, which unpacks them.
PACKED = ([0], None)


def checked(node: Node) -> Sequence[Any]:
    """node.saved, unpacked. RuntimeError if the arrays were released, or have been written to since."""
    versions = node.versions
    if versions is FREED:
        raise RuntimeError(FREED_ERROR)
    if versions is PACKED:
        return [_unpacked(s) for s in node.saved]
    for i in range(0, len(versions), 2):
        now, then = versions[i][0], versions[i + 1]
        if now == then or not _matters(node, i // 2):
            continue
        if now.__class__ is not Detached or int(now) != then:
            raise modified(versions[i], then, *_what_and_who(node, i // 2), node)
        if _watched(node, i // 2)[0] - len(node.saved) != ANS:         # the node's own output may be detached
            raise RuntimeError("Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
                               "This is not supported, please use out-of-place `.detach()` instead")
    return node.saved


class Detached(int):
    """The version of a tensor since `detach_` took it out of the graph: it differs from the version saved before."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = int.__hash__


def _matters(node, number):
    """Whether a gradient that is passed on depends on the saved array with this number among the versions."""
    wanted = sum(1 << k for k, edge in enumerate(node.edges) if function_of(edge)[0] is not None)
    place, _ = _watched(node, number)
    return wanted and not node.op.kept(wanted).isdisjoint((place, place - len(node.saved)))


def modified(cell: list, version: int, array: np.ndarray, maker: str | None, node: Node | None = None) -> RuntimeError:
    """The error for a saved array that was written to. `maker`: the name of the node that computed it, or None;
    `node`: the node that saved it, by default the one that backward is running."""
    made = "" if maker is None else f", which is output 0 of {short_name(maker)},"
    if mode.anomaly:
        hint = ("the backtrace further above shows the operation that failed to compute its gradient. The variable in "
                "question was changed in there or anywhere later. Good luck!")
    else:
        hint = ("enable anomaly detection to find the operation that failed to compute its gradient, "
                "with torch.autograd.set_detect_anomaly(True, check_nan=False).")
    where = history(cell, node or mode.current_node)
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{_type_text(dt.of(array))} {list(array.shape)}]{made} is at version {cell[0]}; "
        f"expected version {version} instead. Hint: {hint}{where}")


def _type_text(d):
    wordy = d.numpy.kind in dt.BOOL + dt.WIDENED + dt.COMPLEX
    return f"CPU{d.type_name}Type" if wordy else f"torch.{d.tensor_type}"


def short_name(name: str) -> str:
    """The name of the operation that a node belongs to, with the number of an overload other than the first."""
    return re.sub(r"Backward0?(\d*)$", r"\1", name)


def _watched(node, number):
    """The place in `saved` of the array with this number among the versions, and that array."""
    saved, kept = node.saved, node.op.kept(-1)
    places = []
    for i, s in enumerate(saved[:AUX]):
        if i in kept or i == len(saved) + ANS:
            for array in s if s.__class__ is tuple else (s,):              # tuples: an index, or several outputs
                if isinstance(array, (np.ndarray, late_bound.sparse_array)):
                    places.append((i, array))
    return places[min(number, len(places) - 1)]


def _what_and_who(node, number) -> tuple[Any, str | None]:
    """The saved array with this number among the versions, and the name of the node that made it."""
    place, array = _watched(node, number)
    k = place - node.op.first
    if place == len(node.saved) + ANS:
        maker = node
    else:
        maker = node.edges[k] if 0 <= k < len(node.edges) else None
    if isinstance(maker, Node) and maker is not node and (maker.op.view or maker.op.name == "as_strided"):
        return array, maker.name() if maker.op.name in BITS else "AsStridedBackward0"      # the view's node now
    if maker is not node and (last := writer(node.versions[2 * number], None)) is not None:
        return array, last                     # the node of the last write
    if not isinstance(maker, Node):
        return array, None
    return array, (maker.edges[0] if maker.op is SELECT else maker).name()


# ------------------------------------------------------------------ saved values as tensors with their history
def saved_tensor(node: Node, i: int, s: Any) -> Any:
    """saved[i] of `node` (`s`, unpacked) as a Tensor with its history; other values than arrays unchanged."""
    count = len(node.saved)
    if i == count + AUX:
        return s if not isinstance(s, np.ndarray) else wrap(s)
    if i == count + ANS and node.op.multi and s is not None:
        return tuple([None if array is None else _saved_output(node, k, array) for k, array in enumerate(s)])
    if not isinstance(s, (np.ndarray, late_bound.sparse_array)):
        return s
    if i == count + ANS:
        return with_history(node, s)
    k = i - node.op.first
    edge = node.edges[k] if 0 <= k < len(node.edges) else None
    if isinstance(edge, Tensor) and (edge._array is s or node.versions is not PACKED):
        return edge
    return with_history(edge, s)                # an unpacked array has its own values, with the leaf's history


def with_history(edge: Edge, array: Any) -> Tensor:
    """A Tensor of the values in `array`, whose gradient goes along `edge`."""
    if isinstance(edge, Tensor):
        t = edge._alias()
        t._array = array
        return t
    t = array.tensor() if array.__class__ is late_bound.sparse_array else wrap(array)
    if edge is not None:
        t._node, t._requires_grad = edge, True
    return t


def _saved_output(node, k, array):
    """Output `k` of a many-output node as a Tensor with its history."""
    t = wrap(array)
    if array.dtype.kind in dt.DIFFERENTIABLE:
        t._node, t._requires_grad = new_node(SELECT, (node,), (k, None, None), (), array.shape), True
    return t


def look_up(node: Node, name: str) -> Any:
    """An attribute of a node that its class does not have: `_saved_...`, or an attribute of a Function's ctx."""
    op = node.op
    if op.function is not None and not name.startswith("__"):
        return getattr(node.saved[0], name)
    if name.startswith(("_saved_", "_raw_saved_")):
        if node.versions is FREED:
            raise RuntimeError(FREED_ERROR)
        names, raw = saved_names(node), name.startswith("_raw")
        name_of_it = name.removeprefix("_raw")
        place = names.get(name_of_it, names.get(name_of_it.replace("_saved_input", "_saved_self")))
        if place is not None and not raw:
            found = saved_tensor(node, place, checked(node)[place])
            return _shown_index(found) if found.__class__ is tuple else found
        if place is not None and isinstance(node.saved[place], (np.ndarray, Packed)):
            return SavedTensor(lambda pack, unpack: _pack_one(node, place, pack, unpack))
    raise AttributeError(f"'{node.name()}' object has no attribute '{name}'")


def _shown_index(index):
    """An index as torch shows it: per dimension a tensor, or None for a whole dimension. Other tuples unchanged."""
    def as_shown(x):
        return None if x == slice(None) else x
    return tuple([wrap(x) if isinstance(x, np.ndarray) else as_shown(x) for x in index])


def saved_names(node: Node) -> dict[str, int]:
    """{torch's name of an attribute: the place in node.saved that it shows}."""
    found, op = {}, node.op
    if op.function is None:
        for i, s in enumerate(node.saved or ()):
            own: str | None = op.params[i] if i < len(op.params) else None
            if i == len(node.saved) + ANS:
                own = "result"
            if s is not None and own is not None:
                found["_saved_" + op.called.get(own, "self" if own == "input" else own)] = i
    return found


# ------------------------------------------------------------------ packing
class Packed:
    """Stands for a saved array: the result of the pack function, and the function that unpacks it."""

    __slots__ = ("data", "unpack")

    def __init__(self, tensor: Tensor, pack: Callable, unpack: Callable) -> None:
        before = tensor._version_counter[0]
        with unrecorded():
            self.data = pack(tensor)
        self.unpack = unpack
        if tensor._version_counter[0] != before:
            raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
                               "pack hook cannot be modified by in-place operations as this can lead to unexpected "
                               "side-effects. Please open an issue if you need to perform in-place operations on the "
                               "input to a pack hook.")

    def restored(self) -> Tensor:
        with as_outside():
            tensor = self.unpack(self.data)
        if not isinstance(tensor, Tensor):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(tensor).__name__}")
        return tensor

    def keep_original(self, array: np.ndarray) -> None:
        """Keep a copy of the data if `array`, which is about to be overwritten, shares its memory."""
        if isinstance(self.data, Tensor) and np.may_share_memory(self.data._array, array):
            self.data = wrap(self.data._array.copy(order="K"))


class SavedTensor:
    """The value of `_raw_saved_self` and the like of a node: it stands for one saved tensor."""

    __slots__ = ("register_hooks",)

    def __init__(self, register_hooks: Callable[[Callable, Callable], None]) -> None:
        self.register_hooks = register_hooks   # register_hooks(pack, unpack) sets hooks for this tensor alone


def refuse_hooks(freed: bool, packed: bool) -> None:
    """RuntimeError for hooks on a saved tensor that was released, or that has hooks."""
    if freed:
        raise RuntimeError("Calling register_hooks on a saved tensor after it has been freed. Saved intermediate "
                           "values of the graph are freed when you call .backward() or autograd.grad(). Specify "
                           "retain_graph=True if you need to backward through the graph a second time or if you need "
                           "to access saved variables after calling backward.")
    if packed:
        raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
                           "pair of hooks is allowed at a time.")


def _pack_one(node, place, pack, unpack):
    """Pack saved[place]. The node's other saved arrays are packed unchanged; unpacking compares their versions."""
    refuse_hooks(node.versions is FREED, node.versions is not FREED and isinstance(node.saved[place], Packed))
    saved = list(node.saved)
    if node.versions is not PACKED:
        for number in range(len(node.versions) // 2):
            i, array = _watched(node, number)
            cell, version = node.versions[2 * number:2 * number + 2]
            guard = _unless_written(cell, version, array, _what_and_who(node, number)[1])
            guarded = Packed(wrap(array), lambda tensor: tensor, guard)
            if saved[i].__class__ is tuple:    # the outputs of an op of many
                saved[i] = tuple([guarded if s is array else s for s in saved[i]])
            else:
                saved[i] = guarded
    saved[place] = Packed(wrap(node.saved[place]), pack, unpack)
    node.saved, node.versions = saved, PACKED


def _unless_written(cell, version, array, maker):
    def unpack(tensor):
        if cell[0] != version:
            raise modified(cell, version, array, writer(cell, maker))      # `writer` gives the last write
        return tensor
    return unpack


def _unpacked(s):
    if s.__class__ is Packed:
        return s.restored()._array
    if s.__class__ is tuple or s.__class__ is list:
        return s.__class__([_unpacked(x) for x in s])
    if s.__class__ is dict:
        return {key: _unpacked(x) for key, x in s.items()}
    return s


def _pack_saved(node, result, args):
    """The recorder of new nodes while hooks are set: packs the arrays that a node has saved."""
    if mode.saved_tensors_hooks is None or not node.saved:
        return
    saved = [_packed(s, node.edges[i] if 0 <= i < len(node.edges) else None)
             for i, s in enumerate(node.saved, -node.op.first)]
    if any([s is not before for s, before in zip(saved, node.saved)]):
        node.saved, node.versions = saved, PACKED


def _packed(s, edge=None):
    """A saved value with the arrays in it packed; the same object if it holds no array."""
    if isinstance(s, np.ndarray):
        return Packed(_given(s, edge), *mode.saved_tensors_hooks)
    parts: Any = ()
    if s.__class__ is dict:
        parts = s.values()
    elif s.__class__ in (tuple, list):
        parts = s
    packed = [_packed(x) for x in parts]
    if all([x is before for x, before in zip(packed, parts)]):
        return s
    return dict(zip(s, packed)) if s.__class__ is dict else s.__class__(packed)


def _given(array, edge):
    """The tensor that a pack function receives. An argument has its history. An output has none, because it would
    keep its own node alive."""
    if edge is not None and not isinstance(edge, Node) and edge._array is array:
        return edge
    tensor = wrap(array)
    if isinstance(edge, Node):
        tensor._node, tensor._requires_grad = edge, True
    return tensor


class saved_tensors_hooks:
    """Context manager: tensors that operations save for backward go through `pack_hook` and come back, when
    they are needed, through `unpack_hook`, which must return a tensor of the same contents. Of nested
    contexts the innermost counts.

    >>> import tinytorch as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True), torch.from_numpy):
    ...     y = (x * x).sum()
    >>> torch.autograd.grad(y, x)
    (tensor([2., 4.]),)
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if mode.saved_tensors_hooks_disabled is not None:
            raise RuntimeError(mode.saved_tensors_hooks_disabled)
        self._before = mode.saved_tensors_hooks
        watch(_pack_saved)
        mode.saved_tensors_hooks = (self.pack_hook, self.unpack_hook)      # last: an interrupt before sets no hooks

    def __exit__(self, *exc_info: object) -> None:
        mode.saved_tensors_hooks = self._before
        if self._before is None:
            unwatch(_pack_saved)


class save_on_cpu(saved_tensors_hooks):
    """Context manager: saved tensors are kept on the CPU, as copies. All tensors are there already, so this only
    shields them from in-place writes. `pin_memory` and `device_type` have no effect."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor.detach().clone(), lambda packed: packed)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Context manager, or decorator: entering `saved_tensors_hooks` raises RuntimeError(error_message). Entering this
    context raises it too if such hooks are set."""
    if mode.saved_tensors_hooks is not None:
        raise RuntimeError(error_message)
    before, mode.saved_tensors_hooks_disabled = mode.saved_tensors_hooks_disabled, error_message
    try:
        yield
    finally:
        mode.saved_tensors_hooks_disabled = before


def _dir(node):
    return [*object.__dir__(node), *saved_names(node)]


Node.__getattr__ = look_up                     # type: ignore[attr-defined]
Node.__dir__ = _dir                            # type: ignore[method-assign]
