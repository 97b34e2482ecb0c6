"""Public functions that look for overrides (`torch_function.py`) before they run.

They do not until there is one: nothing of this is on the way of a program that overrides nothing. `install` then puts
an `Overridable` in the place of every public function, wherever users and modules find it, and of every method,
operator and property of Tensor. It is called when a class of tensors is made that overrides, when a mode is entered,
and when a function meets an argument of a foreign class that overrides (`met`). The library's own functions go on
calling each other as they are: a function runs when nothing is left that could see what it calls.

A handler is given the function as its namespace shows it: `func is torch.add`. An `Overridable` equals the function
that it stands for, so that a table made before `install` finds it too.
"""
from __future__ import annotations

import functools
import importlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..errors import not_a_tensor
from ..missing import MissingMethod
from ..tensor import Size, Tensor, blank
from . import above
from .torch_function import (
    PLAIN,
    DisableTorchFunction,
    arguments,
    disabled,
    dispatch,
    overloaded,
    overrides,
    seen,
    state,
    without_subclasses,
)

_PACKAGE = __name__.partition(".")[0]

#: The public functions that the table of `public.py` holds, as they are called.
PUBLIC = set()


# ------------------------------------------------------------------ what stands for a function
class Overridable:
    """A public function that lets arguments that override it step in, called as it is called itself."""

    _signature = None

    def __init__(self, function: Callable, name: str, space: str, in_python: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.__name__, self.label, self.in_python = name, f"{space}.{name}", in_python
        self.run = function                    # or what casts its arguments first (casts.py)

    def __call__(self, *args, **kwargs):
        for x in args:
            if type(x) not in PLAIN:
                break
        else:
            if not (kwargs or state.modes):
                return self.run(*args)
        found = seen(args, kwargs)
        if found is None:
            return self.run(*args, **kwargs)
        if self.in_python:
            try:
                args, kwargs = self._spelled_out(args, kwargs)
            except TypeError:
                return self.run(*args, **kwargs)       # says what is wrong with the arguments
            found = overloaded(arguments(args, kwargs), True)
        return dispatch(self, found, args, kwargs, self.in_python)

    def _spelled_out(self, args, kwargs):
        """The arguments as functions in Python hand them on: by keyword those that have a default, all of them."""
        if self._signature is None:
            self._signature = inspect.signature(self.__wrapped__)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = [], {}
        for name, value in bound.arguments.items():
            parameter = self._signature.parameters[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                args += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                kwargs.update(value)
            elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY and (
                    not self.label.startswith("torch.nn.init")):
                args.append(value)
            elif self.__name__ != "dim_order":  # torch hands on no keyword of it
                kwargs[name] = value
        return tuple(args), kwargs

    def __eq__(self, other):
        return self is other or self.__wrapped__ is other

    def __hash__(self):
        return hash(self.__wrapped__)

    def __repr__(self):
        return f"<function {self.label}>"

    def __reduce__(self):
        if _stands_in():                       # pickles name it as they name torch's
            space, name = next(place for place, made in _MADE[self.__wrapped__].items() if made is self)
            self.__module__ = f"torch.{space}".rstrip(".")
            return name
        return _named, (self.label,)


class _OfNoTensor(Overridable):
    """The same of a function that makes tensors of any data, tensors among it: modes see it, not classes."""

    def __call__(self, *args, **kwargs):
        if not state.modes or state.disabled > 1 or seen((), {}) is None:
            return without_subclasses(self.run, *args, **kwargs)
        return dispatch(self, [], args, kwargs)


def _named(label):
    """The function that is called torch.add, torch.nn.functional.relu ..."""
    install()
    return next(x for made in _MADE.values() for x in made.values() if x.label == label)


class _Method(Overridable):
    """The same of a method of Tensor."""

    def __get__(self, tensor, owner=None):
        return self if tensor is None else MethodType(self, tensor)

    def __reduce__(self):
        return getattr, (Tensor, self.__name__)


class _Operator(_Method):
    """The same of an operator: handlers see the method that it stands for, and a TypeError leaves the other operand
    to answer. Some are made of a method whose name they have kept."""

    def __init__(self, function, name, *known):
        super().__init__(function, _NAMED.get(name, name), *known)
        self.name = name

    def __call__(self, *args):
        if type(args[0]) is Tensor and type(args[-1]) in PLAIN and not state.modes:
            return self.run(*args)
        found = seen(args[:1] if self.name == "__eq__" else args, {})      # which looks at its tensor alone
        if found is None or not (self.in_python or self.name == "__eq__" or overrides(args[-1])
                                 or isinstance(args[-1], (Tensor, *NUMBERS))):
            return self.run(*args)
        func = vars(Tensor)[_SHOWN[self.name]] if self.name in _SHOWN else self
        try:
            return dispatch(func, found, args, {}, self.in_python)
        except TypeError:
            return NotImplemented


#: What may stand beside a tensor in arithmetic.
NUMBERS = (bool, int, float, complex, np.generic)
#: The method that handlers are told of where an operator is used, if it is another.
_SHOWN = {"__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_",
          "__mul__": "mul", "__rmul__": "mul", "__imul__": "mul_", "__div__": "div", "__truediv__": "div",
          "__itruediv__": "div_", "__ifloordiv__": "floor_divide_", "__mod__": "remainder", "__imod__": "remainder_",
          "__matmul__": "matmul", "__imatmul__": "matmul", "__ge__": "ge", "__gt__": "gt", "__le__": "le",
          "__lt__": "lt", "__ne__": "ne", "__rand__": "bitwise_and", "__ror__": "bitwise_or",
          "__rxor__": "bitwise_xor", "__neg__": "neg", "__pos__": "positive", "__abs__": "abs"}
#: Operators that are seen as what they are, but have kept another name.
_NAMED = {"__pow__": "pow", "__ipow__": "pow_", "__rtruediv__": "__rdiv__"}
_OPERATORS = {*_SHOWN, *_NAMED, *"""__and__ __eq__ __floordiv__ __iand__ __ilshift__ __invert__ __ior__ __irshift__
    __ixor__ __lshift__ __or__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rpow__ __rrshift__ __rshift__ __rsub__
    __xor__""".split()}


# ------------------------------------------------------------------ what tensors do by themselves
def _convert(result, cls):
    """A result, or those in a tuple or list, as tensors of a class."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)) and not isinstance(result, Size):
        values = [_convert(x, cls) for x in result]
        return type(result)(*values) if hasattr(result, "_fields") else type(result)(values)
    return result


def nowrap_functions() -> set[Callable]:
    """The functions whose results keep their class: `Tensor._base`, `Tensor.grad`."""
    return {Tensor._base.__get__, Tensor.grad.__get__}


def _stands_in():
    """Whether this package is what `import torch` gives, so that a function of "torch" is its own."""
    return sys.modules.get("torch") is sys.modules[__name__.partition(".")[0]]


def _torch_function(cls, func, types, args=(), kwargs=None):
    """Runs `func` and makes tensors that it returns tensors of this class; for a subclass that overrides to end in."""
    if not all([issubclass(cls, kind) for kind in types]):
        return NotImplemented
    if (getattr(func, "__module__", None) or "").partition(".")[0] == "torch" and not _stands_in():
        return NotImplemented                  # PyTorch's own function, which would ask again without end

    def compute():
        result = func(*args, **(kwargs or {}))
        return result if func in nowrap_functions() else _convert(result, cls)
    return without_subclasses(compute)


def _of(cls, tensor):
    """A tensor of class `cls` that is in everything else the one given."""
    if not issubclass(cls, Tensor):
        raise TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
                        "Make sure your class inherits from Tensor.")
    result = blank(cls)
    for name in ("_array", "_node", "_requires_grad", "_version_counter", "_view_info"):
        setattr(result, name, getattr(tensor, name))
    return result


def _as_subclass(self: Tensor, cls: type) -> Tensor:
    """A tensor of class `cls` on the same memory, in the same graph. TypeError if that is no class of tensors.

    >>> import tinytorch as torch
    >>> class Marked(torch.Tensor):
    ...     pass
    >>> torch.ones(2).as_subclass(Marked) + 1
    Marked([2., 2.])
    """
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    return _of(cls, Tensor.alias(self))


def _make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Tensor:
    """A leaf of class `cls` on the memory of `data`."""
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}")
    with DisableTorchFunction():
        return _of(cls, data.detach()).requires_grad_(require_grad)


def _make_wrapper_subclass(cls: type, size: tuple[int, ...], *args: Any, **kwargs: Any) -> Tensor:
    """Not supported: a tensor without memory, all of whose operations `__torch_dispatch__` would answer."""
    if not hasattr(cls, "__torch_dispatch__"):
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    raise NotImplementedError("__torch_dispatch__ and with it tensors that wrap others are not supported; "
                              "__torch_function__ is")


def _init_subclass(cls, **kwargs):
    super(Tensor, cls).__init_subclass__(**kwargs)
    if cls.__torch_function__ is not disabled:
        install()


Tensor.__torch_function__ = classmethod(_torch_function)
Tensor.__init_subclass__ = classmethod(_init_subclass)
Tensor.as_subclass = _as_subclass
Tensor._make_subclass = staticmethod(_make_subclass)
Tensor._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)


# ------------------------------------------------------------------ installation
#: Where public functions are found, and what torch's messages call the place: of functions in C++, and what their names
#: begin with, and of those in Python.
_SPACES = {"": ("torch", "", "torch.functional"), "functional": ("torch", "", "torch.functional"),
           "nn.functional": ("torch.nn", "", "torch.nn.functional"), "nn.init": ("", "", "torch.nn.init"),
           "autograd": ("", "", "torch.autograd"), "linalg": ("torch.linalg", "linalg_", ""),
           "fft": ("torch.fft", "fft_", ""), "special": ("torch.special", "special_", "")}
#: Functions that torch has in Python: of `torch`, and of torch.nn.functional those that it does not have so.
_FUNCTIONAL = set("""atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul
    einsum lobpcg lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive
    unravel_index""".split())
_NOT_PYTHON = set("""adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear celu_ channel_shuffle conv1d conv2d
    conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity elu_ gelu hardshrink
    hardtanh_ leaky_relu_ linear logsigmoid native_channel_shuffle one_hot pairwise_distance pdist pixel_shuffle
    pixel_unshuffle prelu relu_ rrelu_ scaled_dot_product_attention selu_ softplus softshrink threshold_""".split())
#: Functions that nobody sees, and those that modes alone see; public ones that the table does not hold.
_UNSEEN = {"": {"broadcast_shapes", "from_dlpack", "from_numpy", "frombuffer", "is_storage", "is_tensor", "range",
                "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor"},
           "functional": {"broadcast_shapes"}, "nn.functional": {"sigmoid", "tanh"}}
_OF_NO_TENSOR = {"tensor", "as_tensor"}
_MORE = {"": {"can_cast", "is_inference", "promote_types", "result_type"}, "autograd": {"backward", "grad"},
         "nn.init": {"uniform_", "normal_", "constant_", "kaiming_uniform_"}}

#: {function: {(room, name): Overridable}}; empty before `install`.
_MADE = {}


class _Installation:
    done, lock = False, threading.RLock()


_installation = _Installation()


def overridable(function: Callable, space: str | None = None, name: str | None = None) -> Overridable:
    """What stands for a public function or a method: for one of its names in a room, or in the first of them where it
    has that name (torch.nn.functional before torch), or any."""
    install()
    return _found(function, space, name)


def _found(function, space, name):
    made = _MADE.get(function) or {"": vars(Tensor)[function.__name__]}    # an in-place form may have several makers
    for key in (name, function.__name__):
        for room in (space, "nn.functional", "linalg", ""):
            if (room, key) in made:
                return made[room, key]
    return next(iter(made.values()))


def install() -> None:
    """Lets overrides step in wherever public functions are called, from now on. A second call does nothing."""
    if _installation.done:
        return
    with _installation.lock:
        if not _installation.done:
            root = sys.modules[_PACKAGE]
            for name, part in vars(root)["_OF"].items():       # functions that are loaded when they are asked for
                if part == "_rare" or part.startswith("ops."):
                    getattr(root, name)
            for space in _SPACES:
                _make(space, importlib.import_module(f"{_PACKAGE}.{space}".rstrip(".")))
            _enter(list(sys.modules))
            _install_methods()
            _installation.done = True


def enter(package: str) -> None:
    """The same for a package of the library that may be loaded after it was done."""
    if _installation.done:
        _enter([name for name in sys.modules if name == package or name.startswith(package + ".")])


def _make(space, module):
    home, prefix, python_home = _SPACES[space]
    for key, function in list(vars(module).items()):
        if type(function) is not FunctionType or key[0] == "_" or not _is_public(space, key, function):
            continue
        made, in_python = _MADE.setdefault(function, {}), _is_in_python(space, key)
        if ("", key) in made and (space == "functional" or space == "nn.functional" and not in_python):
            made[space, key] = made["", key]   # torch has one, too
        elif in_python:
            made[space, key] = Overridable(function, key, python_home, True)
        else:
            made[space, key] = (_OfNoTensor if key in _OF_NO_TENSOR else Overridable)(function, prefix + key, home)


def _is_in_python(space, key):
    if space == "nn.functional":
        return key not in _NOT_PYTHON
    return key in _FUNCTIONAL if space in ("", "functional") else space in ("nn.init", "autograd")


def _is_public(space, key, function):
    if key in _UNSEEN.get(space, ()):
        return False
    is_in_place = space in ("", "nn.functional") and key[-1] == "_"
    return function in PUBLIC or key in _MORE.get(space, ()) or is_in_place


def installed() -> dict[Callable, dict]:
    """{function: {(room, name): what stands for it}}, everything installed."""
    install()
    return _MADE


def spaces() -> list[tuple[str, Any]]:
    """Where overridable functions are, by torch's names."""
    install()
    found = [(f"torch.{space}".rstrip("."), sys.modules[f"{_PACKAGE}.{space}".rstrip(".")]) for space in _SPACES]
    return [*found[:4], ("torch.Tensor", Tensor), *found[4:]]


def _is_below(name, *rooms):
    return any([name == f"{_PACKAGE}.{room}" or name.startswith(f"{_PACKAGE}.{room}.") for room in rooms])


def _enter(names):
    """Puts what stands for the public functions in the place of their names in modules, and in the classes of layers:
    not in the modules that they are made of."""
    for name in names:
        module = sys.modules.get(name)
        inner = name not in (f"{_PACKAGE}.autograd", f"{_PACKAGE}.sparse") and _is_below(
            name, "ops", "autograd", "kernels", "sparse")
        if inner or not isinstance(module, ModuleType):
            continue
        names = vars(module)
        space = name.removeprefix(_PACKAGE).removeprefix(".") if name.startswith(_PACKAGE) else None
        for key, value in list(names.items()):
            if type(value) is FunctionType and value in _MADE and not (key[0] == "_" and _is_below(name, "nn")):
                names[key] = _found(value, space, key)
            elif type(value) is type and issubclass(value, above.module) and _is_below(name, "nn"):
                for own, held in list(vars(value).items()):        # the function that a layer applies
                    if type(held) is staticmethod and held.__func__ in _MADE:
                        setattr(value, own, staticmethod(_found(held.__func__, "nn.functional", None)))


#: Attributes of Tensor that nobody overrides.
_OWN = {"__new__", "__init__", "__init_subclass__", "__torch_function__", "__hash__", "__delitem__", "as_subclass",
        "_make_subclass", "_make_wrapper_subclass", "alias", "__iter__", "__getattr__",
        "__getattribute__", "__setattr__", "__class_getitem__"}
#: Methods that torch has in Python.
_IN_PYTHON = set("""__array__ __array_wrap__ __contains__ __deepcopy__ __dir__ __dlpack__ __dlpack_device__
    __floordiv__ __format__ __ipow__ __len__ __pow__ __rdiv__ __reduce_ex__ __repr__ __reversed__ __rfloordiv__
    __rlshift__ __rmatmul__ __rmod__ __rpow__ __rrshift__ __rsub__ __rtruediv__ __setstate__ backward dim_order eig
    index is_shared istft lstsq lu module_load norm register_hook register_post_accumulate_grad_hook reinforce resize
    resize_as share_memory_ solve split stft storage storage_type symeig unflatten unique unique_consecutive""".split())
#: Attributes below the public names that torch's tensors have too.
_PRIVATE = {"_base", "_version", "_is_view", "_backward_hooks", "_post_accumulate_grad_hooks", "_conj", "_neg_view",
            "_dimI", "_dimV", "_indices", "_nnz", "_values"}


def _install_methods():
    for name, value in list(vars(Tensor).items()):
        private = name[0] == "_" and name[-2:] != "__"
        if name in _OWN or private and name not in _PRIVATE or type(value) is MissingMethod:
            continue
        if type(value) is FunctionType:
            kind = _Operator if name in _OPERATORS else _Method
            in_python = name in _IN_PYTHON
            made = kind(value, name, "torch._tensor" if in_python else "torch.Tensor", in_python)
            setattr(Tensor, name, made)
            _MADE.setdefault(value, {})["Tensor", name] = made
        elif isinstance(value, property):
            setattr(Tensor, name, _property(name, value.fget, value.fset, value.fdel))
        elif name[0] != "_":                   # the same of every tensor, unless one has its own
            setattr(Tensor, name, _property(name, _own_or(name, value), _setter_of_own(name)))
    Tensor.__rdiv__, Tensor.ndimension, Tensor.nelement = Tensor.__rtruediv__, Tensor.dim, Tensor.numel


def _own_or(name, value):
    return lambda self: self.__dict__.get(name, value)


def _setter_of_own(name):
    def assign(self, value):
        self.__dict__[name] = value
    return assign


def _property(name, read, write=None, delete=None):
    """A property of Tensor that lets the tensor's class step in: handlers see `Tensor.name.__get__` and `__set__`."""
    def seen_as(form, plain):
        def call(self, *value):
            if type(self) is Tensor and not state.modes or (found := seen((self, *value), {})) is None:
                return plain(self, *value)
            return dispatch(getattr(vars(Tensor)[name], form), found or [self], (self, *value), {})
        call.__name__, call.__doc__ = name, plain.__doc__
        return call
    return property(seen_as("__get__", read), write and seen_as("__set__", write),
                    delete and seen_as("__delete__", delete))


# ------------------------------------------------------------------ before anything is installed
def met(function: Callable | None, args: Iterable[Any], kwargs: dict[str, Any] | None = None) -> bool:
    """Whether an argument of a plain function overrides it: then `overridable(function)` is to be called instead.

    Not if its caller is a function of the library: that is the one to be overridden. (None: whoever called it.)
    """
    if state.disabled or state.skips or not overloaded(arguments(args, kwargs or {})):
        return False
    if function is None:
        return True
    frame = sys._getframe(1)
    while frame.f_code is not function.__code__:
        frame = frame.f_back
    caller = frame.f_back.f_globals["__name__"]
    return not _is_below(caller, "ops", "autograd", "nn.functional", "special", "linalg", "fft", "sparse")


def not_an_operand(o: Any, position: int, *operands: Any) -> Any:
    """What an operand that is no tensor makes of a public op if it overrides it; TypeError for the one at `position`
    if none does."""
    function = next((f for f in PUBLIC if getattr(f, "op", None) is o), None)
    if function is not None and met(function, operands):
        return overridable(function)(*operands)
    raise not_a_tensor(o.name.removesuffix("_cpu"), o.params[position - 1], position, operands[position - 1])


def called_from_here(level: int, name: str) -> bool:
    """Whether the function `level` frames above this one is part of the package: neither the public one of that name
    nor what stands for it."""
    frame = sys._getframe(level)
    while frame.f_code.co_name == name or frame.f_globals.get("__name__") in _BETWEEN:
        frame = frame.f_back
    return frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE


_BETWEEN = {__name__, dispatch.__module__}


def plain(function: Callable) -> Callable:
    """A public function as it is without overrides."""
    return function.__wrapped__ if isinstance(function, Overridable) else function


def without_defaults(function: Callable, args: tuple, kwargs: dict[str, Any]) -> tuple[list, dict[str, Any]]:
    """The arguments without those that have their default value, as the call presumably was."""
    parameters = inspect.signature(function).parameters
    args, defaults = list(args), [p.default for p in parameters.values()]
    while args and args[-1] is defaults[len(args) - 1]:
        args.pop()
    return args, {name: value for name, value in kwargs.items() if value is not parameters[name].default}
