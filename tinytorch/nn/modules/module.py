"""Class Module: registers the parameters, buffers and modules that are assigned to it."""
from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...autograd import late_bound
from ...runtime import typename
from ...tensor import Tensor
from ..parameter import Buffer, Parameter
from . import hooks
from .convert import Convertible
from .hooks import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from .state import _EXTRA_STATE_KEY_SUFFIX, Stateful, _IncompatibleKeys, _WrappedHook  # noqa: F401  torch has them here

__all__ = ["Module", "register_module_backward_hook", "register_module_buffer_registration_hook",
           "register_module_forward_hook", "register_module_forward_pre_hook", "register_module_full_backward_hook",
           "register_module_full_backward_pre_hook", "register_module_module_registration_hook",
           "register_module_parameter_registration_hook"]

_REGISTRIES = ("_parameters", "_buffers", "_modules")
_CALL_HOOKS = ("_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_pre_hooks")
_HOOKS = ("_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs",
          "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")
#: All hook dicts in torch's order, in which they are pickled, each with the class of the dict.
_HOOKS_IN_ORDER = [(name, hooks.Hooks if name in _CALL_HOOKS else OrderedDict) for name in (
    "_forward_hooks", *_HOOKS[:2], "_forward_pre_hooks", *_HOOKS[2:])]


class Module(Stateful, Convertible, hooks.Hooked):
    """Base class of layers and models. A subclass defines `__init__`, which calls super().__init__() first, and
    `forward`.

    Parameters, Buffers and Modules assigned to attributes are registered: `parameters()`, `state_dict()`, `to()` and
    similar methods find them. A call of the module runs `forward` and its hooks.

    >>> import tinytorch as torch
    >>> class Twice(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = torch.nn.Parameter(torch.tensor(2.))
    ...     def forward(self, x):
    ...         return self.weight * x
    >>> Twice()(torch.tensor(3.)).item(), [name for name, _ in Twice().named_parameters()]
    (6.0, ['weight'])
    """

    # The annotations that typing.get_type_hints finds on torch's Module.
    dump_patches: bool
    _version: int
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _backward_pre_hooks: dict[int, Callable]
    _backward_hooks: dict[int, Callable]
    _is_full_backward_hook: bool | None
    _forward_hooks: dict[int, Callable]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _forward_pre_hooks: dict[int, Callable]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _state_dict_hooks: dict[int, Callable]
    _load_state_dict_pre_hooks: dict[int, Callable]
    _state_dict_pre_hooks: dict[int, Callable]
    _load_state_dict_post_hooks: dict[int, Callable]
    _modules: dict[str, Module | None]
    call_super_init: bool
    _compiled_call_impl: Callable | None = None
    forward: Callable[..., Any]
    __call__: Callable[..., Any]

    dump_patches, call_super_init, _version = False, False, 1
    # Whether a call may have hooks to run. It is set on an instance, or on this class when there are global hooks or
    # when code outside this package has written into a module's `_forward_hooks` or a similar dict.
    _hooked = False

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                                f"'{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} "
                                "were given")
        state = self.__dict__
        state["training"] = True
        state["_parameters"], state["_buffers"] = {}, {}
        state["_non_persistent_buffers_set"] = set()
        state["_backward_pre_hooks"], state["_backward_hooks"] = hooks.Hooks(), hooks.Hooks()
        state["_is_full_backward_hook"] = None
        for name, make in _HOOKS_IN_ORDER:
            state[name] = make()
        state["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input):                 # type: ignore[no-redef]
        """Compute the result of a call. Subclasses override it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args, **kwargs):       # type: ignore[no-redef]
        if self._hooked:
            return hooks.call(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def compile(self, *args, **kwargs):
        """Let calls of this module run `torch.compile(module, *args, **kwargs)` from now on."""
        def call_impl(*args, **kwargs):
            return hooks.call_as_written(self, args, kwargs)
        compile = sys.modules[__name__.partition(".")[0]].compile
        self.__dict__["_compiled_call_impl"] = compile(call_impl, *args, **kwargs)
        self.__dict__["_hooked"] = True        # so that `__call__` goes through hooks.call

    # -------------------------------------------------------------- attributes
    def __getattr__(self, name):
        state = self.__dict__
        for registry in _REGISTRIES:
            if registry in state and name in state[registry]:
                return state[registry][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _weight_and_bias(self):
        """(self.weight, self.bias). It looks into `_parameters` first, which saves `__getattr__`: Python calls that
        only after all other places have been searched."""
        own = self._parameters
        try:
            return own["weight"], own["bias"]
        except KeyError:                       # parametrized: computed from other parameters
            return self.weight, self.bias

    def __setattr__(self, name, value):
        hooks.changes[0] += 1
        state = self.__dict__
        parameters, modules, buffers = state.get("_parameters"), state.get("_modules"), state.get("_buffers")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' "
                                "(torch.nn.Parameter or None expected)")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_parameters", "_buffers")
            modules[name] = hooks.registered(hooks.module_registration, self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' "
                                "(torch.nn.Module or None expected)")
            modules[name] = hooks.registered(hooks.module_registration, self, name, None)
        elif isinstance(value, Buffer) or buffers is not None and name in buffers:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{typename(value)}' as buffer '{name}' "
                                "(torch.nn.Buffer, torch.Tensor or None expected)")
            persistent = (value.persistent if isinstance(value, Buffer)
                          else name not in self._non_persistent_buffers_set)
            self.register_buffer(name, value, persistent)
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name, *registries):
        """Remove `name` from the instance and from `registries`, before it is registered elsewhere."""
        self.__dict__.pop(name, None)
        for registry in registries:
            self.__dict__[registry].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name):
        hooks.changes[0] += 1
        for registry in _REGISTRIES:
            if name in self.__dict__[registry]:
                del self.__dict__[registry][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = dir(type(self)) + list(self.__dict__)
        for registry in _REGISTRIES:
            names += self.__dict__[registry]
        return sorted(name for name in names if not name[0].isdigit())

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_hooked", None)             # __setstate__ determines it
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)
        for name in _CALL_HOOKS:
            self.__dict__.setdefault(name, hooks.Hooks())
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__["_hooked"] = any(self.__dict__[name] for name in _CALL_HOOKS)

    # -------------------------------------------------------------- registering
    def _check_name(self, kind, name, registry):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name, param):
        """Register `param` (a Parameter or None) as parameter `name`. KeyError for a bad or taken name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' "
                                "(torch.nn.Parameter or None required)")
            if param.grad_fn is not None:
                raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                                 f"created explicitly. To express '{name}' as a function of another Tensor, compute "
                                 "the value in the forward() method.")
            param = hooks.registered(hooks.parameter_registration, self, name, param)
        hooks.changes[0] += 1
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Register `tensor` (or None) as buffer `name`: state that is not learned. The state_dict contains it if
        `persistent`. KeyError for a bad or taken name."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        hooks.changes[0] += 1
        self._buffers[name] = hooks.registered(hooks.buffer_registration, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Register `module` (or None) as submodule `name`. KeyError for a bad or taken name."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        hooks.changes[0] += 1
        self._modules[name] = hooks.registered(hooks.module_registration, self, name, module)

    def register_module(self, name, module):
        """Same as `add_module`."""
        self.add_module(name, module)

    # -------------------------------------------------------------- finding by dotted name
    def get_submodule(self, target):
        """The submodule with the dotted name `target` ("" is the module itself). AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            module = module._member(name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def _member(self, name):
        if not hasattr(self, name):
            raise AttributeError(f"{self._get_name()} has no attribute `{name}`")
        return getattr(self, name)

    def set_submodule(self, target, module, strict=False):
        """Put `module` at the dotted name `target`. With `strict`, a module must be there already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(parent._member(name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target):
        """The parameter with the dotted name `target`. AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        param = self.get_submodule(path)._member(name)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return param

    def get_buffer(self, target):
        """The buffer with the dotted name `target`. AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer = module._member(name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    # -------------------------------------------------------------- iterating
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(dotted name, module) of this module and all below it, each once unless `remove_duplicate` is off."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate=True):
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self):
        """(name, module) of the direct submodules, each module once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def _named_members(self, members_of, prefix="", recurse=True, remove_duplicate=True):
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        seen = set()
        for path, module in modules:
            for name, member in members_of(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield f"{path}.{name}" if path else name, member

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(dotted name, parameter) of this module and, with `recurse`, of all below it."""
        return self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """The parameters of this module and, with `recurse`, of all below it: the argument of optimizers."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(dotted name, buffer) of this module and, with `recurse`, of all below it."""
        return self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """The buffers of this module and, with `recurse`, of all below it."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def apply(self, fn):
        """Call fn(module) on every module below this one and then on it; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _replicate_for_data_parallel(self):
        """A copy of the module with the same submodules and buffers, but without its parameters."""
        replica = type(self).__new__(type(self))
        replica.__dict__.update(self.__dict__, _parameters={}, _buffers=self._buffers.copy(),
                                _modules=self._modules.copy(), _is_replica=True)
        return replica

    # -------------------------------------------------------------- modes and gradients
    def train(self, mode=True):
        """Put this module and all below it in training mode (`mode=False`: evaluation). Returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """`train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Set `requires_grad` of all parameters. Returns self."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Set the gradients of all parameters to None or, with `set_to_none=False`, to zeros."""
        for param in self.parameters():
            grad = param.grad
            if grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                grad.detach_() if grad.grad_fn is not None else grad.requires_grad_(False)
                grad.zero_()

    # -------------------------------------------------------------- text
    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """The module's settings, as text for repr. Subclasses override it."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        if not self._modules and "\n" not in extra:
            return f"{self._get_name()}({extra})"
        lines = extra.split("\n") if extra else []
        lines += [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


def _addindent(text, numSpaces):
    """`text` with all lines except the first indented by `numSpaces`."""
    first, *rest = text.split("\n")
    return "\n".join([first] + [" " * numSpaces + line if line.strip() else "" for line in rest])


# ------------------------------------------------------------------ hooks of all modules
def _look_for_hooks(*_):
    Module._hooked = True


hooks.Hooks.note_write = _look_for_hooks
late_bound.module = Module

#: The dicts of global hooks (handle number: hook), under torch's names.
_global_forward_hooks, _global_forward_pre_hooks = hooks.forward, hooks.forward_pre
_global_forward_hooks_always_called, _global_forward_hooks_with_kwargs = (
    hooks.forward_always, hooks.forward_with_kwargs)
_global_backward_pre_hooks = hooks.backward_pre
_global_buffer_registration_hooks = hooks.buffer_registration
_global_module_registration_hooks = hooks.module_registration
_global_parameter_registration_hooks = hooks.parameter_registration


def _add_global_hook(registry, hook, *marks):
    _look_for_hooks()
    return hooks.add(registry, hook, *marks)


def register_module_forward_pre_hook(hook):
    """Call hook(module, args) before the forward of every module (see Module.register_forward_pre_hook)."""
    return _add_global_hook(hooks.forward_pre, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call hook(module, args, output) after the forward of every module (see Module.register_forward_hook)."""
    return _add_global_hook(hooks.forward, hook, (hooks.forward_with_kwargs, with_kwargs),
                            (hooks.forward_always, always_call))


def register_module_full_backward_pre_hook(hook):
    """Call hook(module, grad_output) in the backward of every module."""
    return _add_global_hook(hooks.backward_pre, hook)


def register_module_full_backward_hook(hook):
    """Call hook(module, grad_input, grad_output) after the backward of every module."""
    hooks.want_backward_hooks(True)
    return _add_global_hook(hooks.backward, hook)


def register_module_backward_hook(hook):
    """Deprecated: does for every module what Module.register_backward_hook does for one."""
    hooks.want_backward_hooks(False)
    return _add_global_hook(hooks.backward_not_full, hook)
