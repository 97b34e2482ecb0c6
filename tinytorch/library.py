"""torch.library: custom operators, with a gradient, under torch.ops."""
from __future__ import annotations

import functools
import inspect
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Union, get_args, get_origin

from . import _ops, dtypes as dt
from .autograd.function import Function
from .autograd.grad_mode import is_grad_enabled, unrecorded
from .autograd.places import count_write
from .device import device
from .tensor import Tensor

__all__ = ["CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl", "impl_abstract",
           "infer_schema", "opcheck", "register_autograd", "register_fake", "register_kernel",
           "register_torch_dispatch", "register_vmap", "triton_op", "wrap_triton"]

#: {"namespace::name": its CustomOpDef}, and shape functions that were given before their operators are defined.
_DEFINED: dict[str, CustomOpDef] = {}
_FAKES: dict[str, Callable] = {}
#: Implementations that `impl` was given before their operators are defined, as (kinds of devices, implementation).
_KERNELS: dict[str, list[tuple[list[str], Callable]]] = {}


# ------------------------------------------------------------------ schemas
_TYPES = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", dt.dtype: "ScalarType",
          device: "Device", complex: "Scalar", type(None): "()"}


def _schema_type(annotation, name):
    if annotation in _TYPES:
        return _TYPES[annotation]
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Union or type(annotation).__name__ == "UnionType":
        rest = [a for a in args if a is not type(None)]
        if len(rest) == 1 and len(args) == 2:
            return _schema_type(rest[0], name) + "?"
        if {*rest} <= {int, float, bool, complex}:
            return "Scalar"
    if origin in (list, Sequence) or getattr(origin, "__name__", "") == "Sequence":
        return _schema_type(args[0], name) + "[]"
    raise ValueError(f"infer_schema(func): Parameter {name} has unsupported type {annotation}. The valid types are: "
                     f"{list(_TYPES)[:-1]} and lists and optionals of them")


def _default(value):
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, dt.dtype):
        return "=" + f"{value}".rpartition(".")[2]
    return f'="{value}"' if isinstance(value, str) else f"={value}"


def infer_schema(prototype_function: Callable, /, *, mutates_args: Any, op_name: str | None = None) -> str:
    """The schema that follows from a function's annotations. ValueError for a missing or unknown annotation.

    >>> import tinytorch as torch
    >>> def scaled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor: ...
    >>> torch.library.infer_schema(scaled, mutates_args=())
    '(Tensor x, float by=2.0) -> Tensor'
    """
    signature = inspect.signature(prototype_function, eval_str=True)
    said, starred = [], False
    for i, p in enumerate(signature.parameters.values()):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise ValueError("infer_schema(func): Arguments must be positional-only, positional-or-keyword or "
                             "keyword-only")
        if p.annotation is p.empty:
            raise ValueError(f"infer_schema(func): Parameter {p.name} must have a type annotation.")
        if p.kind is p.KEYWORD_ONLY and not starred:
            said.append("*")
            starred = True
        kind = _schema_type(p.annotation, p.name)
        if mutates_args == "unknown" and kind.startswith("Tensor") or p.name in mutates_args != "unknown":
            kind = kind.replace("Tensor", f"Tensor(a{i}!)", 1)
        said.append(f"{kind} {p.name}{_default(p.default)}")
    wanted = signature.return_annotation
    if wanted is signature.empty:
        raise ValueError("infer_schema(func): No return type annotation was provided. Please add one.")
    if wanted is None:
        gives = "()"
    elif get_origin(wanted) is tuple:
        gives = "(" + ", ".join([_schema_type(a, "return") for a in get_args(wanted)]) + ")"
    else:
        gives = _schema_type(wanted, "return")
    return f"{op_name or ''}({', '.join(said)}) -> {gives}"


# ------------------------------------------------------------------ operators
class _Below(threading.local):
    """The number of `torch._C._AutoDispatchBelowAutograd` contexts around the running code."""

    depth = 0


below_autograd = _Below()


def _tensors(values: Iterable[Any]) -> list[Tensor]:
    found = []
    for x in values:
        if isinstance(x, Tensor):
            found.append(x)
        elif isinstance(x, (tuple, list)):
            found += _tensors(x)
    return found


class CustomOpDef:
    """An operator: a function of tensors that has no derivative until `register_autograd` gives it one."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable | None) -> None:
        self._namespace, self._name, self._schema, self._init_fn = namespace, name, schema, fn
        self._kernel, self._backward, self._setup_context, self._vmap, self._function = fn, None, None, None, None
        arguments = re.findall(r"\w(\(\w+!\))?[\[\]\d?]* (\w+)", schema.partition("->")[0])
        self._written = {key for i, (mark, word) in enumerate(arguments) if mark and fn for key in (i, word)}
        self._recorded = None                  # the implementation for "Autograd", which runs instead of the kernel
        self._fake = _FAKES.get(self._qualname)
        _DEFINED[self._qualname] = self
        _ops.CUSTOM[self._qualname] = self
        vars(getattr(_ops.ops, namespace)).pop(name, None)
        for kinds, kernel in _KERNELS.pop(self._qualname, ()):
            self.register_kernel(kinds, kernel)

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    @property
    def _opoverload(self) -> _ops.OpOverload:
        return getattr(getattr(_ops.ops, self._namespace), self._name).default

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._recorded is not None and not below_autograd.depth:
            return self._recorded(*args, **kwargs)
        tensors = _tensors([*args, *kwargs.values()])
        if self._kernel is None:
            raise NotImplementedError(f"Could not run '{self._qualname}' with arguments from the 'CPU' backend: it has "
                                      "no implementation")
        if not (is_grad_enabled() and any([t.requires_grad for t in tensors])):
            return self._run(tensors, args, kwargs)
        if self._function is None:
            self._function = _differentiable(self)
        return self._function.apply(tensors, kwargs, *args, *[kwargs[k] for k in sorted(kwargs)])

    def _run(self, tensors, args, kwargs):
        with unrecorded():
            result = self._kernel(*args, **kwargs)
        for t in _tensors([x for key, x in (*enumerate(args), *kwargs.items()) if key in self._written]):
            count_write(t)                     # the kernel may have written through NumPy, which counts no versions
        for t in _tensors([result]):
            if any([t is x or t.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() and t.numel()
                    for x in tensors]):
                raise RuntimeError(
                    f"{self._qualname} (with implementation in {self._kernel.__module__}): The output of this custom "
                    "operator (1) must not also be an input to this custom operator and (2) may not alias any inputs "
                    "to this custom operator or other returns. The most common way to trigger this error is if we have "
                    "y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending "
                    "output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y.")
        return result

    def register_kernel(self, device_types: Any, fn: Callable | None = None, /) -> Callable:
        """The implementation for kinds of devices. The one for the CPU is used, others are ignored."""
        def register(fn):
            kinds = [device_types] if isinstance(device_types, str) else device_types
            if kinds is None or "cpu" in kinds:
                self._kernel = fn
            return fn
        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable, /) -> Callable:
        """The function that computes the shapes of results for tensors without memory. It is kept and not called."""
        self._fake = fn
        return fn

    def register_vmap(self, func: Callable | None = None) -> Callable:
        """The rule under vmap."""
        def register(fn):
            self._vmap, self._function = fn, None
            return fn
        return register if func is None else register(func)

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Callable | None = None, /) -> Callable:
        """NotImplementedError: there is no `__torch_dispatch__`."""
        raise NotImplementedError("register_torch_dispatch is not supported: there is no __torch_dispatch__")

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """The derivative: backward(ctx, *gradients of results) returns one gradient for each argument, and
        setup_context(ctx, inputs, output) saves the values that backward needs."""
        if "!" in self._schema:
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator {self} with schema "
                               f"{self._qualname}{self._schema}. Please create a functional operator and register an "
                               "autograd formula for that.")
        self._backward, self._setup_context, self._function = backward, setup_context, None

    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Any:
        """NotImplementedError: there is one kind of device."""
        raise NotImplementedError("set_kernel_enabled is not supported: there is one kind of device")


def _differentiable(definition):
    """An autograd.Function that runs the operator. Its backward is the registered one."""
    class Operator:
        @staticmethod
        def forward(ctx, tensors, kwargs, *flat):
            args = flat[:len(flat) - len(kwargs)]
            result = definition._run(tensors, args, kwargs)
            if definition._setup_context is not None:
                more = {"keyword_only_inputs": dict(kwargs)} if kwargs else {}
                definition._setup_context(ctx, inputs=args, output=result, **more)
            ctx.passed = 2, len(flat)
            return result

        @staticmethod
        def backward(ctx, *gradients):
            if definition._backward is None:
                raise RuntimeError(f"Trying to backward through {definition._qualname}.default but no autograd formula "
                                   "was registered. Please use register_autograd to add one.")
            given = definition._backward(ctx, *gradients)
            given = given if isinstance(given, tuple) else (given,)
            before, count = ctx.passed
            return (None,) * before + given + (None,) * (count - len(given))

    name = f"GeneratedBackwardFor_{definition._namespace}_{definition._name}_default"
    return type(name, (Operator, Function), {})


def custom_op(name: str, fn: Callable | None = None, /, *, mutates_args: Any, device_types: Any = None,
              schema: str | None = None, tags: Any = None) -> Any:
    """A decorator that makes a function the operator "namespace::name". ValueError for a name of any other form.

    >>> import tinytorch as torch
    >>> @torch.library.custom_op("doctest::square", mutates_args=())
    ... def square(x: torch.Tensor) -> torch.Tensor:
    ...     return x * x
    >>> square.register_autograd(lambda ctx, g: g * 2 * ctx.saved_tensors[0],
    ...                          setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    >>> x = torch.tensor(3., requires_grad=True)
    >>> torch.ops.doctest.square(x).backward(); x.grad
    tensor(6.)
    """
    def define_it(fn):
        said = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        definition = CustomOpDef(*_split(name), said, fn)
        if device_types is not None:
            definition._kernel = None
            definition.register_kernel(device_types, fn)
        return functools.update_wrapper(definition, fn)
    return define_it if fn is None else define_it(fn)


def _split(name):
    parts = name.split("::")
    if len(parts) != 2:
        raise ValueError(f"Expected name to be of the form `namespace::name`, got {name}")
    return parts[0], parts[1].partition(".")[0]


def _definition(op: Any) -> CustomOpDef:
    """The definition of an operator, given as that, as an overload, a packet or a name."""
    if isinstance(op, CustomOpDef):
        return op
    if isinstance(op, _ops.OpOverload):
        op = op.overloadpacket
    name = "::".join(_split(op if isinstance(op, str) else op._qualified_op_name))
    if name not in _DEFINED:
        raise RuntimeError(f"There was no operator with name {name}")
    return _DEFINED[name]


# ------------------------------------------------------------------ by name
def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Define an operator without an implementation; `impl` adds one."""
    CustomOpDef(*_split(qualname), schema, None)


def impl(qualname: Any, types: Any, func: Callable | None = None, *, lib: Any = None) -> Callable:
    """Add the implementation of an operator, for kinds of devices or "default"."""
    def register(fn):
        kinds = [{"default": "cpu", "CPU": "cpu"}.get(k, k) for k in ([types] if isinstance(types, str) else types)]
        name = "::".join(_split(qualname)) if isinstance(qualname, str) else None
        if name is not None and name not in _DEFINED:
            _KERNELS.setdefault(name, []).append((kinds, fn))
            return fn
        return _definition(qualname).register_kernel(kinds, fn)
    return register if func is None else register(func)


def register_kernel(op: Any, device_types: Any, func: Callable | None = None, /, *, lib: Any = None) -> Callable:
    """`CustomOpDef.register_kernel` of an operator, or a decorator."""
    return _definition(op).register_kernel(device_types, func)


def register_fake(op: Any, func: Callable | None = None, /, *, lib: Any = None, _stacklevel: int = 1,
                  allow_override: bool = False) -> Callable:
    """`CustomOpDef.register_fake` of an operator, or a decorator."""
    def register(fn):
        if isinstance(op, str) and op not in _DEFINED:         # libraries whose compiled operators were not loaded
            _FAKES["::".join(_split(op))] = fn
            return fn
        return _definition(op).register_fake(fn)
    return register if func is None else register(func)


def impl_abstract(qualname: Any, func: Callable | None = None, *, lib: Any = None, _stacklevel: int = 1) -> Callable:
    """The old name of `register_fake`."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(op: Any, backward: Callable, /, *, setup_context: Callable | None = None,
                      lib: Any = None) -> None:
    """`CustomOpDef.register_autograd` of an operator."""
    _definition(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op: Any, func: Callable | None = None, /, *, lib: Any = None) -> Callable:
    """`CustomOpDef.register_vmap` of an operator, or a decorator."""
    return _definition(op).register_vmap(func)


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Callable | None = None, /, *,
                            lib: Any = None) -> Callable:
    """NotImplementedError: there is no `__torch_dispatch__`."""
    return _definition(op).register_torch_dispatch(torch_dispatch_class, func)


class Library:
    """Operators of a namespace: `define` declares them by schema, `impl` adds implementations."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operator by its schema, "name(Tensor x) -> Tensor". Returns its name."""
        name, bracket, rest = schema.partition("(")
        CustomOpDef(self.ns, name.strip().partition(".")[0], bracket + rest, None)
        return name.strip()

    def impl(self, op_name: Any, fn: Callable, dispatch_key: str = "", *, with_keyset: bool = False,
             allow_override: bool = False) -> None:
        """Add the implementation of an operator: for "CPU" or any device; those for other devices are ignored. For
        "Autograd": the function is called in place of the operator, and handles gradients itself; it calls the
        operator's other implementation within `torch._C._AutoDispatchBelowAutograd()`."""
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        name = op_name if isinstance(op_name, str) else op_name.name()
        definition = _definition(name if "::" in name else f"{self.ns}::{name}")
        if key in ("CPU", "CompositeExplicitAutograd"):
            definition._kernel = fn
        elif key in ("Autograd", "AutogradCPU"):
            definition._recorded = fn
        elif key == "CompositeImplicitAutograd":
            _ops.CUSTOM[definition._qualname] = fn          # its own operations have derivatives
        elif key == "Meta":
            definition._fake = fn

    def _destroy(self) -> None:
        for name in [name for name in _DEFINED if name.startswith(f"{self.ns}::")]:
            del _DEFINED[name], _ops.CUSTOM[name]
            vars(getattr(_ops.ops, self.ns)).pop(name.partition("::")[2], None)


def fallthrough_kernel() -> None:
    """NotImplementedError, if it is called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def get_ctx() -> Any:
    """RuntimeError: it is for shape functions of tensors without memory, and they are not called here."""
    raise RuntimeError("get_ctx() should only be called within a fake impl, which tinytorch never runs")


def opcheck(op: Any, args: tuple, kwargs: Any = None, *, test_utils: Any = None, raise_exception: bool = True,
            atol: Any = None, rtol: Any = None) -> dict[str, str]:
    """NotImplementedError: the checks are those of torch's compiler."""
    raise NotImplementedError("torch.library.opcheck is not supported: use torch.autograd.gradcheck")


def triton_op(name: str, fn: Callable | None = None, /, *, mutates_args: Any, schema: str | None = None) -> Any:
    """`custom_op` whose function also computes the shapes of its results. The function may choose what it runs, but a
    Triton kernel raises (`wrap_triton`)."""
    def decorate(fn):
        made = custom_op(name, fn, mutates_args=mutates_args, schema=schema)
        made.register_fake(fn)
        return made
    return decorate if fn is None else decorate(fn)


def wrap_triton(triton_kernel: Callable, /) -> Any:
    """NotImplementedError: there is no Triton."""
    raise NotImplementedError("torch.library.wrap_triton is not supported")
