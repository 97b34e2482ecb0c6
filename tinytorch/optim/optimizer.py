"""Optimizer: parameter groups, state and hooks, which all optimisers share."""
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias

from .. import dtypes as dt
from ..autograd.grad_mode import set_grad_enabled
from ..autograd.hooks import RemovableHandle
from ..errors import warn
from ..tensor import Tensor

_global_optimizer_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Callable] = OrderedDict()


#: The type of state_dict()'s result.
StateDict: TypeAlias = dict[str, Any]


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Kinds of devices on which torch's optimisers can be captured."""
    return ["cuda", "xpu", "hpu", "privateuseone"] + ["xla"] * supports_xla


class _Required:
    def __repr__(self):
        return "<required parameter>"


#: The default of an option that every parameter group must set.
required = _Required()

_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
          "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks",
          "_optimizer_load_state_dict_post_hooks")


def register_optimizer_step_pre_hook(hook):
    """Call hook(optimizer, args, kwargs) before every optimiser's step. Returns a removable handle."""
    return _register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Call hook(optimizer, args, kwargs) after every optimiser's step. Returns a removable handle."""
    return _register(_global_optimizer_post_hooks, hook)


def _register(hooks, hook, prepend=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


#: The parameters of an optimiser: tensors, groups, or named tensors.
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class Optimizer:
    """Base of all optimisers: `params` are Tensors, (name, Tensor) pairs or group dicts; `defaults` the
    options of groups that do not set them.

    A subclass defines `step(closure=None)`. TypeError or ValueError for parameters that cannot be
    optimised (not Tensors, not leaves, in two groups, none at all).

    >>> import tinytorch as torch
    >>> class SignDescent(torch.optim.Optimizer):
    ...     @torch.no_grad()
    ...     def step(self, closure=None):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p.sub_(p.grad.sign(), alpha=group["lr"])
    >>> p = torch.tensor([3., -2.], requires_grad=True)
    >>> p.square().sum().backward()
    >>> SignDescent([p], {"lr": 0.5}).step()
    >>> p
    tensor([ 2.5000, -1.5000], requires_grad=True)
    """

    OptimizerPreHook: TypeAlias = Callable[["Optimizer", tuple, dict], tuple[tuple, dict] | None]
    OptimizerPostHook: TypeAlias = Callable[["Optimizer", tuple, dict], None]

    _optimizer_step_pre_hooks: OrderedDict[int, Callable]
    _optimizer_step_post_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable]

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, "
                            f"but got {params.type()}")
        self.state: dict[Any, dict] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    def step(self, closure=None):
        """One update of the parameters. `closure` clears the gradients, computes the loss and returns it."""
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        """Forget the gradients of all parameters (or set them to zero)."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p._grad = None
                elif p._grad is not None:
                    grad = p._grad
                    grad.detach_() if grad.grad_fn is not None else grad.requires_grad_(False)
                    grad.zero_()

    def add_param_group(self, param_group):
        """Add a group of parameters with its own options (a dict with "params")."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params, names = _params_and_names(param_group["params"])
        if names:
            param_group["param_names"] = names
        param_group["params"] = params
        for p in params:
            if not isinstance(p, Tensor):
                kind = type(p)
                module = "" if kind.__module__ == "builtins" else kind.__module__ + "."
                raise TypeError("optimizer can only optimize Tensors, but one of the params is "
                                f"{module}{kind.__name__}")
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                 "an error; see github.com/pytorch/pytorch/issues/40967 for more information")
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                which = "with names" if "param_names" in param_group else "without names"
                raise ValueError("all optimizer param groups should be with/without names. "
                                 f"cannot add param group {which} to the optimizer")
            if not set(params).isdisjoint(group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    # -------------------------------------------------------------- state
    def state_dict(self):
        """The options of the groups and the state of the parameters, which are numbered in order."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        number, first = {}, 0
        groups = []
        for group in self.param_groups:        # a parameter that a group lists twice has its last number, as in torch
            number.update({id(p): i for i, p in enumerate(group["params"], first) if id(p) not in number})
            first += len(group["params"])
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [number[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {number[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, result)
            result = result if replaced is None else replaced
        return result

    def load_state_dict(self, state_dict, *, by_name=False, strict=True):
        """Take over a result of `state_dict()` of an optimiser with the same groups. State goes by the order of
        parameters.

        by_name   state goes by the names of parameters instead. Both optimisers must have names
                  (`model.named_parameters()`). The groups may be divided differently, as long as all parameters of a
                  group were saved with the same options
        strict    if False, a parameter whose state does not fit, or whose name is not found, begins without state, and
                  names that only the state dict has are ignored

        ValueError if the numbers of groups or parameters differ (by order), if names or options differ (by name), and
        for state of a wrong shape; the message names the parameter (a class with its own `step` may have any shapes).
        A warning if both have the same names in another order and state goes by order.

        >>> import tinytorch as torch
        >>> a, b = (torch.ones(n, requires_grad=True) for n in (2, 3))
        >>> (a.sum() + b.sum()).backward()
        >>> saved = torch.optim.SGD([("a", a), ("b", b)], momentum=0.9)
        >>> saved.step()
        >>> torch.optim.SGD([b, a]).load_state_dict(saved.state_dict())
        Traceback (most recent call last):
        ValueError: loaded state dict does not fit the parameters (with strict=False, these start with new state):
            parameter 0 of group 0, 'a', of shape [3]: 'momentum_buffer' has shape [2], and [3] is wanted
            parameter 1 of group 0, 'b', of shape [2]: 'momentum_buffer' has shape [3], and [2] is wanted
        >>> optimizer = torch.optim.SGD([("b", b), ("a", a)])
        >>> optimizer.load_state_dict(saved.state_dict(), by_name=True)
        >>> optimizer.state[b]["momentum_buffer"]
        tensor([1., 1., 1.])
        """
        from .loading import by_names, check_sizes, leave_out_misfits, warn_of_another_order  # few programs need it
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, state_dict)
            state_dict = state_dict if replaced is None else replaced
        groups = self.param_groups
        if by_name:
            state_dict = by_names(groups, state_dict, strict)
        saved = deepcopy(state_dict["param_groups"])
        check_sizes(groups, saved)
        if not by_name:
            warn_of_another_order(groups, saved)
        params = dict(zip(chain.from_iterable(s["params"] for s in saved),
                          chain.from_iterable(g["params"] for g in groups)))
        fitting = state_dict["state"]
        if type(self).step.__module__.startswith(__package__):   # a step written elsewhere may have state of any shape
            fitting = leave_out_misfits(self._shape_of_state, params, groups, saved, fitting, strict)
        state: dict[Any, dict] = defaultdict(dict)
        for key, value in fitting.items():
            if key in params:
                state[params[key]] = _cast(value, lambda tensor, name, key=key: (
                    Optimizer._process_value_according_to_param_policy(
                        params[key], tensor, key, state_dict["param_groups"], name)))
            else:
                state[key] = value
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _shape_of_state(self, p, key):
        """The shape of a part of the state of parameter `p`, a tensor or a list of tensors. None: any shape."""

    @staticmethod
    def _process_value_according_to_param_policy(param, value, param_id, param_groups, key=None):
        """A loaded tensor for the parameter with that number, in the parameter's dtype. Counts ("step") keep their
        dtype, except that fused updates have them in float32."""
        if key != "step":
            return value.to(param.dtype) if param.is_floating_point() else value
        group: dict = next((group for group in param_groups if param_id in group["params"]), {})
        return value.to(dt.float32) if group.get("fused") or group.get("capturable") else value

    # -------------------------------------------------------------- hooks
    def _patch_step_function(self):
        cls = type(self)
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{cls.__name__}.zero_grad"
        if not getattr(cls.step, "hooked", None):
            step = self.profile_hook_step(cls.step)
            step.hooked = True
            cls.step = step                    # type: ignore[method-assign]

    def _optimizer_step_code(self):
        """Called after every step, so that profilers see the optimiser."""

    @staticmethod
    def profile_hook_step(func) -> Any:
        """`func`, a step, with hooks around it. A class's step is wrapped when its first optimiser is made."""
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            self = args[0]
            if _global_optimizer_pre_hooks or self._optimizer_step_pre_hooks:
                for hook in chain(_global_optimizer_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
                    result = hook(self, args, kwargs)
                    if result is not None:
                        if not isinstance(result, tuple) or len(result) != 2:
                            raise RuntimeError(f"{func} must return None or a tuple of (new_args, new_kwargs), but got "
                                               f"{result}.")
                        args, kwargs = result
            loss = func(*args, **kwargs)
            self._optimizer_step_code()
            if self._optimizer_step_post_hooks or _global_optimizer_post_hooks:
                for hook in chain(self._optimizer_step_post_hooks.values(), _global_optimizer_post_hooks.values()):
                    hook(self, args, kwargs)
            return loss
        return wrapper

    def register_step_pre_hook(self, hook):
        """Call hook(optimizer, args, kwargs) before `step`; it may return new (args, kwargs)."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Call hook(optimizer, args, kwargs) after `step`."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Call hook(optimizer) before `state_dict`."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Call hook(optimizer, state_dict) after `state_dict`; it may return a new one."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Call hook(optimizer, state_dict) before loading; it may return a new state dict."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Call hook(optimizer) after loading."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _params_and_names(params):
    """(the list of tensors of a group's "params", the list of their names); no names if none are given."""
    if isinstance(params, Tensor):
        return [params], []
    if isinstance(params, set):
        raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of "
                        "tensors in sets will change between runs. Please use a list instead.")
    params = list(params)
    names = [p[0] for p in params if isinstance(p, tuple)]
    if names and len(names) != len(params):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    return [p[1] if isinstance(p, tuple) else p for p in params], names


def _cast(value, cast, key=None):
    """A copy of loaded state, with its tensors replaced by cast(tensor, key)."""
    if isinstance(value, Tensor):
        return cast(value, key)
    if isinstance(value, dict):
        return {k: _cast(v, cast, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, cast) for v in value)
    return value


# ------------------------------------------------------------------ for optimisers of other packages
def _use_grad_for_differentiable(step):
    """A step that autograd records if the optimiser's defaults have `differentiable` set, and does not otherwise."""
    @functools.wraps(step)
    def under_its_mode(self, *args, **kwargs):
        with set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)
    return under_its_mode


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(fused, foreach) for an optimiser that was given neither: on a CPU never foreach."""
    return use_fused and not differentiable and all(p is None or p.is_floating_point() for p in params), False
