"""Records a call as a graph of ATen's operators (`fx.Graph`).

A recorder is a handler of the seam, as a mode is (autograd/torch_function.py), and gets every public call as data. A
call that is a form of an operator (schema.py) becomes a node, and the calls inside it are not recorded. Of any other
call, the calls inside it are recorded. Factories and random draws are recorded like other calls. Tensors are identified
as objects: a node stands for the tensor that it returned. A write in place, also to a view, is a node that changes the
memory, as it does when the graph runs.

A recording does not see Python between calls. `reads` is called where a tensor becomes a Python value, and tensors that
no recorded call returned are constants. `twice.py` finds out whether either of them depends on the inputs.
"""
from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy as np

from .. import dtypes as dt
from .._ops import ops
from ..autograd.overridable import about, is_maker, place
from ..autograd.torch_function import note_modes, state
from ..fx.graph import Graph
from ..fx.node import Node
from ..random import default_generator
from ..tensor import Size, Tensor
from .rewritten import REWRITTEN
from .schema import Form, bind, forms_of

__all__ = ["Recorder", "TracedSize", "operators_of"]

#: The end of a slice without an end.
_END = sys.maxsize


class TracedSize(int):
    """A size of a tensor that was read during a recording that keeps sizes. Arithmetic with it is recorded."""

    def __new__(cls, value: int, recorder: Recorder, node: Node) -> TracedSize:
        made = int.__new__(cls, value)
        made.recorder, made.node = recorder, node
        return made

    def __repr__(self):
        return int.__repr__(self)

    def __reduce__(self):
        return int, (int(self),)

    def __hash__(self):
        return int.__hash__(self)

    def __int__(self):
        return int.__add__(self, 0)

    __index__ = __int__

    def __neg__(self):
        return self * -1 if self.recorder.open else int.__neg__(self)


def _arithmetic(function, reflected=False):
    plain = getattr(int, f"__{'r' if reflected else ''}{function.__name__}__")

    def compute(self, other):
        result = plain(self, other)
        if result is NotImplemented or type(other) not in (int, TracedSize) or not self.recorder.open:
            return result
        pair = (other, self) if reflected else (self, other)
        return TracedSize(result, self.recorder, self.recorder.node(function, pair))
    return compute


for _function in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod):
    setattr(TracedSize, f"__{_function.__name__}__", _arithmetic(_function))
    setattr(TracedSize, f"__r{_function.__name__}__", _arithmetic(_function, True))


def _comparison(function):
    plain = getattr(int, f"__{function.__name__}__")

    def compare(self, other):
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if self.recorder.open and caller.partition(".")[0] != _PACKAGE:
            self.recorder.reads("bool", None)
        return plain(self, other)
    return compare


_PACKAGE = __name__.partition(".")[0]
for _function in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
    setattr(TracedSize, f"__{_function.__name__}__", _comparison(_function))


class TracedShape(Size):
    """A shape of TracedSizes. Its slices are TracedShapes too."""

    __slots__ = ()

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return tuple.__new__(TracedShape, item) if isinstance(index, slice) else item

    def __add__(self, other):
        return tuple.__new__(TracedShape, tuple.__add__(self, other)) if isinstance(other, tuple) else Size.__add__(
            self, other)

    def __radd__(self, other):
        return tuple.__new__(TracedShape, tuple(other) + tuple(self))

    def __mul__(self, times):
        return tuple.__new__(TracedShape, tuple.__mul__(self, times))

    __rmul__ = __mul__

    def numel(self):
        n = 1
        for size in self:
            n = size * n
        return n


class Recorder:
    """Records the calls in a `with` block into `graph`.

    attributes  {id of a tensor: its path}, the parameters and buffers that get_attr nodes name
    sizes       whether reads of sizes become nodes too, so that the graph is right for other shapes
    reads       reads(what, tensor) is called where a tensor becomes a value: "bool", "int", "float", "index", "number",
                "list", "numpy", "len" or "iter"; "constant tensor" where torch.tensor made a tensor of values
    constants   the tensors that no recorded call returned: {name of the get_attr node: tensor}
    """

    sees_all = True                            # also calls inside this library

    def __init__(self, attributes: dict[int, str] | None = None, sizes: bool = False,
                 reads: Callable[[str, Tensor | None], None] = lambda what, tensor: None) -> None:
        self.graph, self.sizes, self.reads = Graph(), sizes, reads
        self.attributes, self.constants, self.open = attributes or {}, {}, 0
        self._known, self._arrays, self._held = {}, {}, []
        self._paths, self._inside = {}, []

    # ------------------------------------------------------------- the handler of the seam
    def __enter__(self) -> Recorder:
        self.open += 1
        state.modes.append(self)
        note_modes()
        return self

    def __exit__(self, *error: Any) -> None:
        state.modes.remove(self)
        note_modes()
        self.open -= 1

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        owner = getattr(func, "__self__", None)
        if isinstance(owner, property):
            return self._property(func, owner.fget.__name__, args)
        space, name = _place(func)
        special = _SPECIAL.get(name) if space == "Tensor" else None
        if special is not None:
            return special(self, func, *args, **kwargs)
        if name in _READS and (space == "Tensor" or name in ("equal", "allclose", "is_nonzero")):
            return self._read(_READS[name], func, args, kwargs)
        if space == "" and (name in _MAKERS or is_maker(func)):
            return self._made(func, args, kwargs)
        if name in _REFUSED:
            raise NotImplementedError(f"a call of {name} cannot be recorded: no recording sees the computation of "
                                      "derivatives")
        return self._call(func, space, name, args, kwargs)

    def _read(self, what, func, args, kwargs):
        tensor = args[0] if args and isinstance(args[0], Tensor) else None
        if what is not None and any([isinstance(x, Tensor) and self.is_known(x) for x in args]):
            self.reads(what, tensor)
        return func(*args, **kwargs)

    # ------------------------------------------------------------- nodes
    def is_known(self, tensor: Tensor) -> bool:
        """Whether a recorded call returned the tensor."""
        return id(tensor) in self._known or id(tensor._array) in self._arrays

    def name(self, tensor: Tensor, node: Node) -> None:
        """Makes the node stand for the tensor from now on."""
        self._held.append((tensor, tensor._array))             # the reference keeps the id from being reused
        self._known[id(tensor)] = self._arrays[id(tensor._array)] = node
        node.meta.setdefault("val", _shape_and_dtype(tensor))

    def node_of(self, tensor: Tensor) -> Node:
        """The node that stands for a tensor; the node of a constant if no recorded call returned the tensor."""
        found = self._known.get(id(tensor)) or self._arrays.get(id(tensor._array))
        if found is not None:
            return found
        path = self.attributes.get(id(tensor))
        if path is None:
            if type(tensor._array) is not np.ndarray:
                raise NotImplementedError(f"a tensor of another kind ({type(tensor._array).__name__}) cannot be "
                                          "recorded: no recording sees computations with vmap, sparse and nested "
                                          "tensors")
            if tensor._node is not None:
                raise RuntimeError("Cannot insert a Tensor that requires grad as a constant. Consider making it a "
                                   "parameter or input, or detaching the gradient")
            return self._constant(tensor)
        if path not in self._paths:
            self._paths[path] = self.graph.get_attr(path)
        self.name(tensor, self._paths[path])
        return self._paths[path]

    def _constant(self, tensor, of_values=False):
        """A node for a tensor that no recorded call returned. Inside a call of this library that is not an operator,
        such a tensor comes from a computation that was not recorded, unless it is an argument or was made of Python
        numbers (`of_values`)."""
        if self._inside and not of_values and not any([id(tensor) in given for _, given in self._inside]):
            raise self._out_of_sight(self._inside[-1][0])
        kind = "param" if tensor.requires_grad else "tensor"
        path = f"_{kind}_constant{sum([x.startswith('_' + kind) for x in self.constants])}"
        self.constants[path] = tensor
        node = self.graph.get_attr(path)
        self.name(tensor, node)
        return node

    def value(self, x: Any) -> Any:
        """The argument of a node for an argument of a call: nodes replace tensors and known sizes."""
        if isinstance(x, Tensor):
            return self.node_of(x)
        if type(x) is TracedSize:
            return x.node if x.recorder is self else int(x)
        if isinstance(x, (list, tuple)) and not isinstance(x, Size):
            made = [self.value(y) for y in x]
            return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
        if isinstance(x, Size):
            return [self.value(y) for y in x]
        if isinstance(x, dict):
            return {key: self.value(y) for key, y in x.items()}
        return x

    def node(self, target: Callable, args: Iterable[Any], kwargs: dict[str, Any] | None = None) -> Node:
        """A new node that calls `target`."""
        args = tuple([self.value(x) for x in args])
        kwargs = {key: self.value(x) for key, x in (kwargs or {}).items()}
        packet = getattr(target, "overloadpacket", None)
        return self.graph.call_function(target, args, kwargs, name=packet and packet.__name__)

    def operator(self, form: Form, values: Iterable[Any]) -> Node:
        """A new node that calls a form of an operator, without the arguments that have their defaults."""
        args, kwargs, last = [], {}, 0
        for argument, value in zip(form.arguments, values):
            usual = argument.default is not ... and (value is argument.default or type(value) is type(
                argument.default) and not isinstance(value, Tensor) and value == argument.default) or (
                    value is None and argument.default is None)
            if not argument.by_name:
                args.append(value)
                last = last if usual else len(args)
            elif not usual and not (argument.default is ... and value is None):
                kwargs[argument.name] = value
        return self.node(target_of(form), args[:last], kwargs)

    def aten(self, name: str, *args: Any, form: str = "", **kwargs: Any) -> Node:
        """A new node that calls the form `form` of an operator with these arguments."""
        return self.node(target_of(next(f for f in forms_of(name) if f.form == form)), args, kwargs)

    # ------------------------------------------------------------- calls
    def _call(self, func, space, name, args, kwargs):
        if kwargs.get("out") is not None:
            return self._with_out(func, space, name, args, kwargs)
        kwargs = {key: value for key, value in kwargs.items() if key != "out"}
        rewrite = REWRITTEN.get(name) if space in ("nn.functional", "functional", "") else None
        if rewrite is not None and _is_of_functional(func):
            return self._rewritten(func, rewrite, args, kwargs)
        found = None
        for operator_name in operators_of(space, name, args, kwargs):
            inplace = operator_name.endswith("_") and kwargs.get("inplace") is True
            keywords = {key: x for key, x in kwargs.items() if key != "inplace"} if inplace else kwargs
            found = bind(operator_name, func, args, keywords)
            if found is not None:
                break
        if found is None:
            return self._through(func, args, kwargs)
        form, values = found
        if not any(["Tensor" in kind for kind in form.results]):
            return func(*args, **kwargs)
        parts = self.parts_of(form, func, args, kwargs)
        if parts is not NotImplemented:
            return parts
        given = [self.value(x) for x in values]    # before the call, because it may write to them
        result = func(*_plain(args), **_plain(kwargs))
        self._add_dtype(form, given, result)
        self.named(result, self.operator(form, given), form)
        return result

    def parts_of(self, form: Form, func: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of a call of an operator that is recorded as the operators that it calls. NotImplemented, which is
        the result for every operator here, makes the call one node. Subclasses may override it."""
        return NotImplemented

    def _rewritten(self, func, rewrite, args, kwargs):
        state.modes.append(self)               # reads of a tensor's attributes are recorded too
        try:
            found = rewrite(*args, **kwargs)
        finally:
            state.modes.remove(self)
        if found is None:
            return self._through(func, args, kwargs)
        operator_name, form, values = found
        form = next(f for f in forms_of(operator_name) if f.form == form)
        given = [self.value(x) for x in values]
        result = func(*_plain(args), **_plain(kwargs))
        self.named(result, self.operator(form, given), form)
        return result

    def _add_dtype(self, form, given, result):
        """Adds the dtype to a factory's node if it is not the dtype without a change of the default dtype."""
        for i, argument in enumerate(form.arguments):
            if argument.name == "dtype" and given[i] is None and isinstance(result, Tensor) and not any(
                    ["Tensor" in a.kind for a in form.arguments]) and result.dtype not in (dt.float32, dt.int64):
                given[i] = result.dtype

    def named(self, result: Any, node: Node, form: Form | None = None) -> None:
        """Makes nodes stand for the tensors of a result."""
        if isinstance(result, Tensor):
            if form is not None and len(form.results) > 1:             # the function here returns the first one
                node = self.node(operator.getitem, (node, 0))
            self.name(result, node)
            return
        if isinstance(result, (tuple, list)):
            if form is not None and form.tuple and len(result) != len(form.results):
                raise NotImplementedError(f"aten::{form.name} has {len(form.results)} results, and the function "
                                          f"returns {len(result)} of them: this call cannot be recorded")
            node.meta["count"] = len(result)
        for i, x in enumerate(result if isinstance(result, (tuple, list)) else ()):
            if isinstance(x, Tensor):
                self.name(x, self.node(operator.getitem, (node, i)))

    def _with_out(self, func, space, name, args, kwargs):
        out = kwargs["out"]
        if not isinstance(out, Tensor):
            raise NotImplementedError(f"{name} with several tensors as out= cannot be recorded")
        node = self.node_of(out)
        before = out.shape
        result = self._call(func, space, name, args, {key: x for key, x in kwargs.items() if key != "out"})
        computed = self.node_of(result)
        func(*_plain(args), **_plain(kwargs))
        if out.shape != before:
            raise NotImplementedError(f"{name}: out= whose shape changes cannot be recorded")
        self.name(out, self.aten("copy_", node, computed))
        return out

    def _through(self, func, args, kwargs):
        """A call that is not an operator: the calls inside it are recorded."""
        before, given = len(self.graph.nodes), [x for x in _tensors((args, kwargs)) if self.is_known(x)]
        versions, drawn = [x._version_counter[0] for x in given], default_generator.get_state()
        self._inside.append((func, {id(x) for x in _tensors((args, kwargs))}))
        state.modes.append(self)
        state.skips = True
        try:
            result = func(*args, **kwargs)
        finally:
            state.skips = False
            state.modes.remove(self)
            self._inside.pop()
        unseen = len(self.graph.nodes) == before
        lost = [x for x in _tensors(result) if not self.is_known(x) and id(x) not in self.attributes]
        writes = versions != [x._version_counter[0] for x in given]
        drew = not np.array_equal(drawn._array, default_generator.get_state()._array)
        hidden = writes and not any([_mutates(node) for node in list(self.graph.nodes)[before:]])
        if lost and (given or not unseen) or unseen and drew or hidden:
            raise self._out_of_sight(func)
        return result

    @staticmethod
    def cannot_record(name: str, why: str) -> None:
        """Raises NotImplementedError for a function of this library that has no operator."""
        raise NotImplementedError(f"a call of {name} cannot be recorded: {why}")

    @staticmethod
    def _out_of_sight(func):
        return NotImplementedError(f"a call of {_label(func)} cannot be recorded: with these arguments it is not an "
                                   "ATen operator, and no recording sees its computation")

    def _made(self, func, args, kwargs):
        """A tensor made of Python values: a constant, which each run copies."""
        if any([self.is_known(x) for x in _tensors((args, kwargs))]) and not isinstance(args[0], Tensor):
            self.reads("number", None)
        if not isinstance(args[0], Tensor):
            self.reads(f"constant {func.__name__}", None)
        result = func(*_plain(args), **_plain(kwargs))
        if not self.is_known(result):
            kept = result.detach().clone() if isinstance(args[0], Tensor) or not result.requires_grad else result
            node = self._constant(result, _is_of_numbers(args[0]))
            self.constants[node.target] = kept             # the program may write to the tensor
            self.name(result, self.aten("lift_fresh_copy", node))
        elif isinstance(args[0], Tensor) and result is not args[0]:
            self.name(result, self.aten("clone", args[0]))
        return result

    # ------------------------------------------------------------- properties
    def _property(self, func, name, args):
        tensor = args[0]
        if func.__name__ != "__get__":
            if name in ("data", "grad") or not isinstance(tensor, Tensor):
                raise NotImplementedError(f"assigning to {name} of a tensor cannot be recorded")
            return func(*args)
        result = func(*args)
        if name == "shape":
            return self.sizes_of(tensor, result)
        if name in _PROPERTIES and isinstance(result, Tensor):
            if result is not tensor:
                operator_name = _PROPERTIES[name]
                self.name(result, self.aten(operator_name, tensor))
        elif isinstance(result, Tensor) and not self.is_known(result):
            raise NotImplementedError(f"the attribute {name} of a tensor cannot be recorded")
        return result

    def sizes_of(self, tensor: Tensor, shape: Size) -> Size:
        """A shape whose sizes have nodes, if the recorder keeps sizes and knows the tensor."""
        if not self.sizes or not self.is_known(tensor):
            return shape
        return tuple.__new__(TracedShape, [self._size(tensor, i, n) for i, n in enumerate(shape)])

    def _size(self, tensor, dim, n):
        node = self.aten("size", tensor, dim, form="int")
        return TracedSize(n, self, node)


# ------------------------------------------------------------------ calls with special rules
def _size(self, func, tensor, dim=None):
    result = func(tensor) if dim is None else func(tensor, dim)
    if not self.sizes or not self.is_known(tensor):
        return result
    return self.sizes_of(tensor, result) if dim is None else self._size(tensor, dim, result)


def _numel(self, func, tensor):
    result = func(tensor)
    if not self.sizes or not self.is_known(tensor):
        return result
    for i, n in enumerate(self.sizes_of(tensor, tensor.shape)):
        result = n if not i else result * n
    return result


def _items(index):
    return list(index) if isinstance(index, tuple) else [index]


def _dims_of_index(x):
    """The number of dimensions that one part of an index takes."""
    if isinstance(x, Tensor):
        return x.dim() if x.dtype in (dt.bool, dt.uint8) else 1
    return int(isinstance(x, (int, slice, list, np.ndarray)) and not isinstance(x, bool))


def _sliced(self, node, dim, part):
    """The node of a slice of a dimension; the node itself for a slice of the whole dimension."""
    if (part.start, part.stop, part.step) == (None, None, None):
        return node
    start = 0 if part.start is None else part.start
    stop = _END if part.stop is None else part.stop
    step = [] if part.step in (None, 1) else [part.step]
    return self.aten("slice", node, dim, *[_sized(self, e) for e in (start, stop, *step)], form="Tensor")


def _viewed(self, tensor, index):
    """(node of the view in tensor[index], indices that are tensors, with None for each dimension without one)."""
    node, dim, indices = self.node_of(tensor), 0, []
    items = _items(index)
    used = sum([_dims_of_index(x) for x in items])
    for x in items:
        if isinstance(x, np.generic):
            x = x.item()
        if isinstance(x, (list, range, np.ndarray)):
            from ..ops.creation.factories import tensor as make
            x = make(x if not isinstance(x, range) else list(x))
        if x is None:
            node = self.aten("unsqueeze", node, dim)
            dim += 1
        elif x is Ellipsis:
            dim += tensor.dim() - used
        elif isinstance(x, bool):
            raise NotImplementedError("indexing by True or False cannot be recorded")
        elif isinstance(x, int):
            node = self.aten("select", node, dim, x, form="int")
        elif isinstance(x, slice):
            node = _sliced(self, node, dim, x)
            dim += 1
        elif isinstance(x, Tensor):
            indices += [None] * (dim - len(indices)) + [x]
            dim += 1
        else:
            raise NotImplementedError(f"indexing by {type(x).__name__} cannot be recorded")
    return node, indices


def _sized(self, x):
    if isinstance(x, Tensor):
        self.reads("index", x)
        return int(x)
    return x


def _getitem(self, func, tensor, index):
    if not isinstance(tensor, Tensor):
        return func(tensor, index)
    node, indices = _viewed(self, tensor, index)
    if indices:
        node = self.aten("index", node, indices, form="Tensor")
    elif node is self.node_of(tensor):
        node = self.aten("alias", node)
    result = func(tensor, _plain(index))
    self.name(result, node)
    return result


def _setitem(self, func, tensor, index, value):
    node, indices = _viewed(self, tensor, index)
    plain = _plain(index)
    target = tensor[plain]
    if isinstance(value, Tensor):
        given = self.node_of(value)
        if value.dim() > target.dim():
            given = self.aten("reshape", given, list(value.shape[value.dim() - target.dim():]))
    elif isinstance(value, np.ndarray):
        from ..ops.creation.factories import tensor as make
        given = self.node_of(make(value))
    else:
        given = value
    func(tensor, plain, value)
    if indices:
        if not isinstance(given, Node):
            given = self.aten("full", [], given, dtype=tensor.dtype)
        self.aten("index_put_", node, indices, given)
    elif isinstance(given, Node):
        self.aten("copy_", node, given)
    else:
        self.aten("fill_", node, given, form="Scalar")


def _cast(self, func, tensor, *args, **kwargs):
    """to(), float() and similar methods: a conversion to the dtype of the result."""
    result = func(tensor, *args, **kwargs)
    if not isinstance(result, Tensor):
        return result
    if result is not tensor:
        node = self.node_of(tensor)
        copied = kwargs.get("copy") is True or result.dtype is tensor.dtype
        if result.device != tensor.device:
            raise NotImplementedError("moving a tensor to another device cannot be recorded")
        self.name(result, self.aten("to", node, result.dtype, *([False, True] if copied else []), form="dtype"))
    return result


def _reflected(name):
    def record(self, func, tensor, other):
        node, result = self.node_of(tensor), func(tensor, other)
        if not isinstance(result, Tensor):
            return result
        if name == "rdiv":
            node = self.aten("mul", self.aten("reciprocal", node), other, form="Tensor")
        elif name == "rpow":
            node = self.aten("pow", other, node, form="Tensor_Tensor" if isinstance(other, Tensor) else "Scalar")
        elif name == "rsub":
            node = self.aten("rsub", node, other, form="Tensor" if isinstance(other, Tensor) else "Scalar")
        elif name == "rfloordiv":
            node = self.aten("mul", self.aten("reciprocal", node), other, form="Tensor")
            node = self.aten("floor", node)
        self.name(result, node)
        return result
    return record


def _pass(self, func, *args, **kwargs):
    return func(*args, **kwargs)


_CASTS = "to float double half bfloat16 int long short char byte bool type cpu cfloat cdouble chalf".split()
_SPECIAL = {"__getitem__": _getitem, "__setitem__": _setitem, "size": _size, "numel": _numel, "nelement": _numel,
            **dict.fromkeys(_CASTS, _cast),
            "__rdiv__": _reflected("rdiv"), "__rpow__": _reflected("rpow"), "__rsub__": _reflected("rsub"),
            "__rfloordiv__": _reflected("rfloordiv"), "requires_grad_": _pass, "register_hook": _pass,
            "retain_grad": _pass, "__repr__": _pass, "__format__": _pass, "data_ptr": _pass, "__hash__": _pass}
#: Functions that make a Python value of a tensor: {function: kind of the value}.
_READS = {"__bool__": "bool", "__int__": "int", "__float__": "float", "__index__": "index", "__complex__": "number",
          "item": "number", "tolist": "list", "numpy": "numpy", "__array__": "numpy", "__len__": "len",
          "__contains__": "bool", "is_nonzero": "bool", "equal": "bool", "allclose": "bool"}
#: Functions that make a tensor of another library's memory. Functions that make a tensor of values are those that
#: handlers see as makers.
_MAKERS = {"from_numpy", "asarray", "frombuffer", "from_dlpack"}
_REFUSED = {"backward", "grad"}
_PROPERTIES = {"T": "numpy_T", "mT": "mT", "mH": "mH", "H": "matrix_H", "real": "real", "imag": "imag",
               "data": "detach"}
_PREFIX = {"special": "special_", "linalg": "linalg_", "fft": "fft_"}
#: Functions whose operators have other names.
_CALLED = {"cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd", "grid_sample": "grid_sampler",
           "__invert__": "bitwise_not", "ndimension": "dim", "__matmul__": "matmul", "__rmatmul__": None}


def operators_of(space: str | None, name: str, args: tuple, kwargs: dict[str, Any]) -> list[str]:
    """The names of the operators that a call of a function may be, the likeliest first."""
    if space is None:
        return []
    if space == "nn.functional":
        if name in ("max_pool1d", "max_pool2d", "max_pool3d") and kwargs.get("return_indices"):
            return [f"{name}_with_indices"]
        if name in ("unfold", "fold"):
            return [{"unfold": "im2col", "fold": "col2im"}[name]]
        if kwargs.get("inplace") is True:
            return [f"{name}_"]
        if name.startswith("_"):
            return []
    if name.startswith("__") and name.endswith("__") and name not in _CALLED:
        inner = name.strip("_")
        inner = inner[1:] + "_" if inner[0] == "i" and inner not in ("invert",) else inner
        inner = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "and_": "bitwise_and_",
                 "or_": "bitwise_or_", "xor_": "bitwise_xor_", "floordiv": "floor_divide",
                 "truediv": "div", "lshift": "__lshift__", "rshift": "__rshift__",
                 "floordiv_": "floor_divide_"}.get(inner, inner)
        return [inner]
    name = _CALLED.get(name, name)
    return [] if name is None else [_PREFIX.get(space, "") + name]


def _is_of_functional(func):
    """Whether a function belongs to nn.functional and torch has a function of the same name with other arguments
    (torch.dropout)."""
    parameters = list(inspect.signature(func).parameters)
    return parameters[1:2] != ["p"] or "training" in parameters


def _place(func):
    """(namespace, name) of a function. An internal function of this library is in no namespace; it counts as torch's if
    it belongs to an operation. (None, name) for other functions, whose names may be those of operators
    (torch.masked.argmax)."""
    if not isinstance(func, FunctionType):
        return None, getattr(func, "__name__", "")
    space, name = place(func)
    if space is None and func.__module__.startswith(f"{_PACKAGE}.ops."):
        space = ""
    return space, name or func.__name__


def target_of(form: Form) -> Callable:
    """torch.ops.aten.name.form."""
    return getattr(getattr(ops.aten, form.name), form.form or "default")


def _mutates(node):
    form = getattr(node.target, "_schema", None)
    return form is not None and form.mutates


def _label(func):
    how = about(func) if isinstance(func, FunctionType) else None
    return how.label if how is not None and how.label else getattr(func, "__name__", str(func))


def _plain(x):
    """Replaces TracedSizes in nested arguments by numbers, which are not recorded."""
    if type(x) is TracedSize:
        return int(x)
    if isinstance(x, (list, tuple)):
        if not any([type(y) is TracedSize or isinstance(y, (list, tuple, slice)) for y in x]):
            return x
        made = [_plain(y) for y in x]
        return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
    if isinstance(x, dict):
        return {key: _plain(y) for key, y in x.items()}
    if isinstance(x, slice):
        return slice(_plain(x.start), _plain(x.stop), _plain(x.step))
    return x


def _is_of_numbers(x):
    """Whether a value is a Python number, or nested lists of Python numbers."""
    if isinstance(x, (list, tuple)):
        return all([_is_of_numbers(y) for y in x])
    return isinstance(x, (bool, int, float, complex))


def _tensors(x):
    if isinstance(x, Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from _tensors(y)
    elif isinstance(x, dict):
        for y in x.values():
            yield from _tensors(y)


def _shape_and_dtype(tensor):
    """The shape and dtype of a tensor, for the `meta` of its node."""
    return tuple([int(n) for n in tensor._array.shape]), dt.of(tensor._array)
