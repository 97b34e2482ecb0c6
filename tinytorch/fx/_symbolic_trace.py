"""Runs a program once on stand-ins and records its calls."""
import copy
import inspect
import math
import sys
import threading
from itertools import count
from types import BuiltinFunctionType, FunctionType, MethodType

from ..errors import warn
from ..nn import Module, Parameter, Sequential
from ..tensor import Tensor
from ..utils import _pytree as pytree
from .code import _PyTreeCodeGen, _PyTreeInfo
from .graph import Graph
from .graph_module import GraphModule
from .names import WRAPPED_IN_CODE, is_own
from .node import map_aggregate
from .proxy import ParameterProxy, Proxy, TracerBase

__all__ = ["PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]

#: (the globals of a module, a name in it): functions whose calls are recorded; their bodies are not traced.
_WRAPPED: dict[tuple[int, str], dict] = {}
#: (a class, the name of a method): methods whose calls on stand-ins are recorded.
_wrapped_methods_to_patch: list[tuple[type, str]] = []
_AT_WORK = threading.local()


def wrap(fn_or_name):
    """Registers a function of the calling module, or a built-in function such as "len": when a program is traced, its
    calls are recorded and its body is not traced. Used as a decorator, or with a name, at the top level of a module.

    >>> import tinytorch as torch
    >>> _ = torch.fx.wrap("len")
    >>> print(torch.fx.symbolic_trace(lambda x: len(x)).code.strip().splitlines()[-2].strip())
    len_1 = len(x);  x = None
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _WRAPPED[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


class ProxyableClassMeta(type):
    """The metaclass of classes whose construction from stand-ins is recorded as a call.

    >>> import tinytorch as torch
    >>> class Pair(metaclass=torch.fx.ProxyableClassMeta):
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    >>> [node.name for node in torch.fx.symbolic_trace(lambda x: Pair(x, x)).graph.nodes]
    ['x', 'pair', 'output']
    """

    def __call__(cls, *args, **kwargs):
        made, found = cls.__new__(cls), []
        if is_fx_tracing():
            map_aggregate((args, kwargs), lambda x: found.append(x) if isinstance(x, Proxy) else None)
        if found:
            return found[0].tracer.create_proxy("call_function", cls, args, kwargs)
        made.__init__(*args, **kwargs)
        return made


def is_fx_tracing():
    """Whether a program is being traced in this thread."""
    return getattr(_AT_WORK, "depth", 0) > 0


class PHBase:
    """Marks a value in `concrete_args` that becomes an argument of the program. The attributes of objects other than PH
    become attributes of the node."""

    def __repr__(self):
        return "PH"


class PHWithMeta(PHBase):
    """A PHBase whose attribute `ph_key` becomes an attribute of the node."""

    def __init__(self, ph_key=None):
        self.ph_key = ph_key


PH = PHBase()


def _tell(given, node):
    """Gives a node the attributes of its placeholder in `concrete_args`."""
    for name in dir(given) if given is not PH else ():
        value = getattr(given, name)
        if not callable(value) and not name.startswith("__") and not hasattr(node, name):
            setattr(node, name, value)


class _Wrapped:
    """Records calls with stand-ins while a program is traced: calls of the functions of `wrap`, and of a tracer's
    functions in the modules that it wraps and in the namespaces of the program."""

    def __init__(self, tracer, namespaces):
        self.namespaces = namespaces
        own = [vars(module) for module in tracer.autowrap_modules]
        functions = [f for scope in own for name, f in scope.items() if _is_function(f) and name[0] != "_"]
        known = {id(f) for f in (*functions, *tracer.autowrap_functions)}
        self.found = [(scope, name) for scope in (*own, *namespaces) for name, f in scope.items() if id(f) in known]

    def __enter__(self):
        builtins = sys.modules["builtins"]
        self.before = []
        for (_, name), scope in list(_WRAPPED.items()):
            original = scope.get(name, getattr(builtins, name, None))
            if original is not None:
                self._replace(scope, name, original)
        for scope in self.namespaces:
            self.found += [(scope, name) for name in scope.get(WRAPPED_IN_CODE, ())]
        for scope, name in self.found:
            self._replace(scope, name, scope[name])
        self.methods = [(owner, name, vars(owner).get(name)) for owner, name in _wrapped_methods_to_patch]
        for owner, name, _ in self.methods:
            setattr(owner, name, _recording_method(getattr(owner, name), name))
        _AT_WORK.depth = getattr(_AT_WORK, "depth", 0) + 1

    def _replace(self, scope, name, original):
        if not hasattr(original, "_fx_original"):
            self.before.append((scope, name, original, name in scope))
            scope[name] = _recording(original)

    def __exit__(self, *error):
        _AT_WORK.depth -= 1
        for owner, name, original in self.methods:
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        for scope, name, original, there in self.before:
            if there:
                scope[name] = original
            else:
                del scope[name]


def _is_function(f):
    return isinstance(f, (FunctionType, BuiltinFunctionType))


def _recording(original):
    def call(*args, **kwargs):
        for x in (*args, *kwargs.values()):
            for y in x if isinstance(x, (tuple, list)) else (x,):
                if isinstance(y, Proxy):
                    made = y.tracer.create_proxy("call_function", original, args, kwargs)
                    made.node.meta["is_wrapped"] = True
                    return made
        return original(*args, **kwargs)
    call._fx_original = original
    return call


def _recording_method(original, name):
    def call(*args, **kwargs):
        found = []
        map_aggregate((args, kwargs), lambda x: found.append(x) if isinstance(x, Proxy) else None)
        return found[0].tracer.create_proxy("call_method", name, args, kwargs) if found else original(*args, **kwargs)
    return call


def _assert_is_none(value, message):
    if value is not None:
        raise AssertionError(message)


class _StandIns:
    """The modules below a root as the traced program sees them: copies whose classes give stand-ins for parameters and
    pass calls to the tracer. The modules themselves stay as they are, except that tensors which the program makes
    become attributes of the root."""

    def __init__(self, tracer):
        self.tracer, self.of, self.made, self.classes = tracer, {}, {}, {}

    def original(self, module):
        """The module of a copy."""
        return self.of.get(id(module), module)

    def stand_in(self, module):
        """The copy of a module; each module has one copy."""
        if id(module) in self.made or id(module) in self.of:
            return self.made.get(id(module), module)
        made = object.__new__(self._class(type(module)))
        self.made[id(module)], self.of[id(made)] = made, module
        made.__dict__.update({name: self._seen(x, module, made) for name, x in vars(module).items()})
        made.__dict__["_modules"] = {
            name: self._seen(x, module, made) for name, x in module._modules.items()}
        return made

    def _seen(self, x, module, made):
        """The value of an attribute in the copy. Modules are replaced by their copies, also in lists and as owners of
        methods."""
        if isinstance(x, Module):
            return self.stand_in(x)
        if type(x) in (list, tuple) and any([isinstance(y, Module) for y in x]):
            return type(x)([self._seen(y, module, made) for y in x])
        if isinstance(x, MethodType) and x.__self__ is module:
            return MethodType(x.__func__, made)
        return x

    def _class(self, base):
        if base not in self.classes:
            stand_ins = self

            def call(self, *args, **kwargs):
                return stand_ins.tracer.call_module(
                    stand_ins.original(self), lambda *a, **k: base.__call__(self, *a, **k), args, kwargs)

            def ask(self, name):
                return stand_ins.tracer._attribute(name, base.__getattr__(self, name))

            self.classes[base] = type(base)(base.__name__, (base,), {
                "__call__": call, "__getattr__": ask, "__module__": base.__module__, "__doc__": base.__doc__})
        return self.classes[base]


class Tracer(TracerBase):
    """Records the calls of a program. Subclasses may override which modules are traced (`is_leaf_module`), and how
    calls are recorded (`call_module`, `create_node`, `create_arg`, `proxy`).

    >>> import tinytorch as torch
    >>> class Whole(torch.fx.Tracer):
    ...     def is_leaf_module(self, m, module_qualified_name):
    ...         return True
    >>> print(Whole().trace(torch.nn.Sequential(torch.nn.Sequential())))
    graph():
        %input_1 : [num_users=1] = placeholder[target=input]
        %_0 : [num_users=1] = call_module[target=0](args = (%input_1,), kwargs = {})
        return _0
    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        super().__init__()
        self.autowrap_modules, self.autowrap_functions = autowrap_modules, autowrap_functions
        self.param_shapes_constant = param_shapes_constant
        self.root, self.traced_func_name = None, "forward"
        self.module_stack, self._calls = {}, {}

    def __deepcopy__(self, memo):
        made = memo[id(self)] = object.__new__(type(self))
        for name, value in vars(self).items():
            made.__dict__[name] = value if name == "autowrap_modules" else copy.deepcopy(value, memo)
        return made

    # ------------------------------------------------------------- methods that subclasses override
    def is_leaf_module(self, m, module_qualified_name):
        """Whether a call of the module m is one node. This is so for the modules of torch.nn except Sequential."""
        return is_own(m.__module__) and m.__module__.split(".")[1:2] == ["nn"] and not isinstance(m, Sequential)

    def call_module(self, m, forward, args, kwargs):
        """The result of a call of the module m: the stand-in of a node if it is a leaf, otherwise the result of
        `forward`."""
        name = self.path_of_module(m)
        number = self._calls[name] = self._calls.get(name, -1) + 1
        key = f"{name}@{number}" if number else name
        self.module_stack[key] = name, type(self._stand_ins.original(m))
        try:
            if not self.is_leaf_module(m, name):
                return forward(*args, **kwargs)
            return self.create_proxy("call_module", name, args, kwargs)
        finally:
            del self.module_stack[key]

    def path_of_module(self, mod):
        """The name of a module of the root."""
        mod = self._stand_ins.original(mod)
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """The attribute of a module that the program sees: a stand-in for a parameter, else the value itself."""
        if not isinstance(attr_val, Parameter) and not (self.proxy_buffer_attributes and isinstance(attr_val, Tensor)):
            return attr_val
        known = self.root.named_parameters() if isinstance(attr_val, Parameter) else self.root.named_buffers()
        for name, value in known:
            if value is attr_val:
                if name not in parameter_proxy_cache:
                    how = {}                               # tracers override create_proxy without the last keyword
                    if self.param_shapes_constant and isinstance(attr_val, Parameter):
                        how["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, name, attr_val)
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **how)
                return parameter_proxy_cache[name]
        return attr_val

    def _attribute(self, name, value):
        return self.getattr(name, value, self._parameters_seen)

    def get_fresh_qualname(self, prefix):
        """The first of prefix0, prefix1 ... that is not an attribute of the root."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def create_arg(self, a):
        """A value as the argument of a node. Parameters and buffers are attributes of the root; other tensors, and
        modules without a name, become attributes of the root."""
        return super().create_arg(a)

    def _argument(self, a):
        if isinstance(a, Parameter):                   # Python read it without asking the copy
            found = self.getattr("", a, self._parameters_seen)
            return found.node if isinstance(found, Proxy) else self._tensor(a)
        if isinstance(a, Tensor):
            return self._tensor(a)
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super()._argument(a)

    def _tensor(self, a):
        for known in (self.root.named_parameters(), self.root.named_buffers(), self._constants.items()):
            for name, value in known:
                if value is a:
                    return self.create_node("get_attr", name, (), {})
        name = self.get_fresh_qualname("_tensor_constant")
        self._constants[name] = a
        setattr(self.root, name, a)
        return self.create_node("get_attr", name, (), {})

    # ------------------------------------------------------------- tracing
    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """(function, arguments): a stand-in for each argument that has no value in `concrete_args`."""
        code = inspect.unwrap(root_fn).__code__
        names = list(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])
        parameters = inspect.signature(inspect.unwrap(root_fn)).parameters
        args, kwargs = [self._root] if is_module else [], {}
        free = names[1:] if is_module else names
        if is_module and not names:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        if isinstance(concrete_args, tuple):
            if concrete_args and len(names) == 1 and code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
                for i, value in enumerate(concrete_args):
                    args.append(self.create_proxy("placeholder", f"input_{i}", (), {}))
                    if isinstance(value, PHBase):
                        _tell(value, args[-1].node)
                return root_fn, [*args, {}]
            if len(concrete_args) != len(free):
                raise RuntimeError(f"Tracing expected {len(free)} arguments but got {len(concrete_args)} concrete "
                                   "arguments")
            concrete_args = dict(zip(free, concrete_args))
        for name in free:
            made = self._given(name, parameters[name], (concrete_args or {}).get(name, ...))
            if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
                kwargs[name] = made
            else:
                args.append(made)
        for parameter in parameters.values():
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                args.append(self.create_proxy("placeholder", f"*{parameter.name}", (), {}))
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                args.append(self.create_proxy("placeholder", f"**{parameter.name}", (), {}))
        if any([p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values()]):
            root_fn = _with_plain_arguments(root_fn)
        return self._taken_apart(root_fn, names, args, kwargs)

    def _taken_apart(self, function, names, args, kwargs):
        """(function, arguments). If some arguments are nested, a function of their leaves, and the leaves; the program
        then takes its arguments apart."""
        flat, spec = pytree.tree_flatten((*args, *kwargs.values()))
        if all([child.is_leaf() for child in spec.children()]):
            return function, [*args, kwargs]
        codegen = self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(names, spec, None))

        def of_leaves(*leaves):
            given = pytree.tree_unflatten(list(leaves), spec)
            result = function(*given[:len(args)], **dict(zip(kwargs, given[len(args):])))
            leaves, out_spec = pytree.tree_flatten(result)
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return leaves
        return of_leaves, [*flat, {}]

    def _given(self, name, parameter, value):
        default = () if parameter.default is parameter.empty else (parameter.default,)
        kind = None if parameter.annotation is parameter.empty else parameter.annotation
        if value is ...:
            return self.create_proxy("placeholder", name, default, {}, type_expr=kind)
        numbers = count(1)
        return pytree.tree_map(lambda x: self._specialized(f"{name}_{next(numbers)}", name, default, x), value)

    def _specialized(self, node_name, name, default, value):
        """A value of `concrete_args`, which the program checks; a stand-in for PH."""
        made = self.create_proxy("placeholder", node_name, default, {})
        if isinstance(value, PHBase):
            _tell(value, made.node)
            return made
        if value is None:
            self.create_proxy("call_function", _assert_is_none,
                              (made, f"{name} has been specialized to have value None but got another value"), {})
        elif isinstance(value, (bool, int, float, str)):
            _assert_value(self, made, name, value)
        else:
            warn(f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up "
                 "to the user to make sure that your inputs match the inputs you specialized the function with.")
        return value

    def _namespaces(self, root, function):
        """The globals of the traced functions, without repetition."""
        functions = [function, *[type(m).forward for m in root.modules()]] if isinstance(root, Module) else [function]
        found = [getattr(inspect.unwrap(f), "__globals__", {}) for f in functions]
        return list({id(scope): scope for scope in found}.values())

    def trace(self, root, concrete_args=None):
        """The graph of the calls of a module or a function. concrete_args: {name of an argument: its value in the
        graph}."""
        is_module = isinstance(root, Module)
        self._stand_ins, self._parameters_seen, self._constants = _StandIns(self), {}, {}
        if is_module:
            self.root = root
            self._root = self._stand_ins.stand_in(root)
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in "
                                     f"{type(root).__name__}")
            function = getattr(type(root), self.traced_func_name)
            found = vars(root).get(self.traced_func_name)
            if isinstance(found, FunctionType):                    # an attribute of the instance
                def function(self, *args, **kwargs):
                    return found(*args, **kwargs)
        else:
            self.root, function = Module(), root
            self._root = self._stand_ins.stand_in(self.root)
        for name, value in vars(self.root).items():
            if isinstance(value, Tensor):
                self._constants[name] = value
        self.module_stack, self._calls = {}, {}
        self.graph = Graph(tracer_cls=type(self))
        code = getattr(inspect.unwrap(function), "__code__", None)
        if code is not None:
            self.graph._co_fields = {"co_name": code.co_name, "co_filename": code.co_filename,
                                     "co_firstlineno": code.co_firstlineno}
        with _Wrapped(self, self._namespaces(root, function)):
            function, args = self.create_args_for_root(function, is_module, concrete_args)
            *args, kwargs = args
            result = function(*args, **kwargs)
            annotation = getattr(inspect.unwrap(function), "__annotations__", {}).get("return")
            self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=annotation)
        return self.graph


def _assert_value(tracer, made, name, value):
    """Nodes that check that an argument has the value that it was traced with."""
    torch = sys.modules[__package__.partition(".")[0]]
    tracer.create_proxy("call_function", torch._assert, (
        made == value, f"{name} has been specialized to have value {value} but got another value"), {})


def _with_plain_arguments(function):
    """The function with plain arguments, which are stand-ins, in place of *args and **kwargs."""
    inner = inspect.unwrap(function)
    code = inner.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    extra = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    plain = code.replace(co_argcount=count + extra, co_kwonlyargcount=0, co_flags=flags)
    made = FunctionType(plain, inner.__globals__, inner.__name__, None, inner.__closure__)

    def call(*args, **kwargs):
        names = plain.co_varnames[:count + extra]
        positional = iter(args)
        return made(*[kwargs[name] if name in kwargs else next(positional) for name in names])

    call.__wrapped__ = made
    return call


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that computes the same as the module or function, with its graph (`.graph`) and text (`.code`).

    The program runs once on stand-ins for its arguments, so a condition on their values, or a loop over them, raises
    TraceError. `concrete_args`: {name of an argument: its value in the graph}.

    >>> import tinytorch as torch
    >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> print(traced.graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        %add : [num_users=1] = call_function[target=operator.add](args = (%relu, 1), kwargs = {})
        return add
    >>> traced(torch.tensor([-1., 2.]))
    tensor([1., 3.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
