"""Stand-ins for values. Operations on a stand-in are added to a graph."""
import dataclasses
import dis
import operator
import sys
import traceback
from pathlib import Path

from ..nn import Parameter
from ..overrides import is_tensor_method_or_property
from ..seam import seam
from ..tensor import Tensor
from .graph import Graph
from .node import map_aggregate

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "TraceError", "TracerBase"]

_OPERATORS = """abs add and_ eq floordiv ge getitem gt invert le lshift lt matmul mod mul ne neg or_ pos pow rshift sub
    truediv xor""".split()
_REFLECTED = "add and_ floordiv lshift matmul mod mul or_ pow rshift sub truediv xor".split()


#: The attributes of stand-ins, and attributes that distinguish tensors from other values: functions that are not public
#: fail at once when they read these.
_NOT_ASKED = {"node", "tracer", *[name for kind in Tensor.__mro__ for name in getattr(kind, "__slots__", ())]}


#: The keys of `meta` that a node takes over from the node of another graph that it was made for.
_KEPT = ("stack_trace", "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "custom")


def _check_key(key):
    """RuntimeError for a stand-in in the key of a dict."""
    if isinstance(key, tuple):
        for part in key:
            _check_key(part)
    if isinstance(key, Proxy):
        raise RuntimeError("Keys for dictionaries used as an argument cannot contain a Node. Got key: "
                           f"{key.node}")


def _lines_of_the_program():
    """The lines of the running frames, without those of this package."""
    own = str(Path(__file__).parents[1])
    found = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(own)]
    return "".join(traceback.format_list(found)).strip()


class TraceError(ValueError):
    """A program does something with a stand-in that a graph cannot record."""


class TracerBase:
    """Adds nodes to `graph`."""

    graph: Graph
    #: (key, (name, class)) of the modules whose forward runs, the outermost first.
    module_stack: dict = {}
    #: The `meta` of the node that runs, while a graph runs.
    _current_meta = None
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """Adds a node to the graph. Subclasses may override it to see all nodes."""
        if kind == "call_function" and self.check_mutable_operations:
            from .operator_schemas import check_for_mutable_operation
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if self._current_meta is not None:
            node.meta.update({key: self._current_meta[key] for key in _KEPT if key in self._current_meta})
        else:
            if self.record_stack_traces:
                node.stack_trace = _lines_of_the_program()
            if self.module_stack:
                node.meta["nn_module_stack"] = dict(self.module_stack)
        return node

    def proxy(self, node):
        """The stand-in for the result of a node. Subclasses may override it to use another class."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """The stand-in for the result of a new node, whose arguments may hold stand-ins."""
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError("args must be a tuple and kwargs a dict")
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a):
        """A value as the argument of a node: stand-ins are replaced by their nodes."""
        return map_aggregate(a, self._argument, _check_key)

    def _argument(self, a):
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {field.name: self.create_arg(getattr(a, field.name)) for field in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        if isinstance(a, range):
            return range(*[self.create_arg(x) for x in (a.start, a.stop, a.step)])
        return a

    def to_bool(self, obj):
        """The truth of a stand-in in a condition: raises TraceError."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """The items of a stand-in in an iteration: `a, b = x` takes x[0] and x[1]. TraceError for other loops, whose
        number of items is not known."""
        frame = sys._getframe(2)                                   # of the program, below this frame and `__iter__`
        for instruction in dis.get_instructions(frame.f_code):
            if instruction.offset == frame.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
                return [obj[i] for i in range(instruction.argval)]
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what "
            "types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy "
            "iteration errors")

    def keys(self, obj):
        """The keys of a stand-in x in **x."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds nodes to an existing graph."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph


class Proxy:
    """The stand-in for the result of `node`. Operators, functions of torch and methods that get it are added to the
    node's graph, and return stand-ins again.

    >>> import tinytorch as torch
    >>> graph = torch.fx.Graph()
    >>> torch.relu(torch.fx.Proxy(graph.placeholder("x")) + 1)
    Proxy(relu)
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %add : [num_users=1] = call_function[target=operator.add](args = (%x, 1), kwargs = {})
        %relu : [num_users=0] = call_function[target=torch.relu](args = (%add,), kwargs = {})
    """

    def __init__(self, node, tracer=None):
        seam.watch_instance(self)                          # public functions ask the stand-in as long as it lives
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, name):
        if name in _NOT_ASKED or name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return Attribute(self, name)

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __bool__(self):
        return self.tracer.to_bool(self)

    def __iter__(self):
        return iter(self.tracer.iter(self))

    def keys(self):
        """The keys in **x."""
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be "
                           "recorded, please call torch.fx.wrap('len') at module scope")

    __hash__ = object.__hash__

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs = args or (), kwargs or {}
        tracers = {}

        def found(a):
            if isinstance(a, Proxy):
                tracers[id(a.tracer)] = a.tracer
            return a

        map_aggregate((args, kwargs), found)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers.values())} while trying to trace "
                               f"operations {orig_method}")
        kind, target = "call_function", orig_method
        if is_tensor_method_or_property(orig_method):
            kind, target = "call_method", orig_method.__name__
        return next(iter(tracers.values())).create_proxy(kind, target, args, kwargs)


def _operator(function):
    def method(*args):
        return next(x for x in args if isinstance(x, Proxy)).tracer.create_proxy("call_function", function, args, {})
    return method


def _reflected(function):
    def method(self, other):
        return self.tracer.create_proxy("call_function", function, (other, self), {})
    return method


for _name in _OPERATORS:
    setattr(Proxy, f"__{_name.rstrip('_')}__", _operator(getattr(operator, _name)))
for _name in _REFLECTED:
    setattr(Proxy, f"__r{_name.rstrip('_')}__", _reflected(getattr(operator, _name)))


class Attribute(Proxy):
    """The attribute `attr` of a stand-in. A call of it is one node, the call of a method; any other use adds a node
    that reads the attribute."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        """The node, which is made at the first use."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """The stand-in for a parameter, which knows the parameter's shape."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        if not isinstance(param, Parameter):
            raise AssertionError("param must be a Parameter")
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        """The parameter's shape."""
        return self.param.shape

    def size(self):
        """The parameter's shape."""
        return self.param.size()

    def dim(self):
        """The number of the parameter's dimensions."""
        return self.param.dim()

    @property
    def ndim(self):
        """The number of the parameter's dimensions."""
        return self.param.ndim

    def numel(self):
        """The number of the parameter's elements."""
        return self.param.numel()

    def nelement(self):
        """The number of the parameter's elements."""
        return self.param.nelement()
