"""Optimizer: parameter groups, state, hooks; what every optimiser has in common."""
import functools
import warnings
from collections import OrderedDict, defaultdict
from copy import deepcopy
from itertools import chain
from operator import is_

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import enable_grad, usual
from ..autograd.hooks import RemovableHandle
from ..autograd.places import note_place
from ..autograd.promotion import check_broadcast
from ..lazy import UNRESOLVED, bits_of
from ..tensor import Tensor, wrap
from .bundle import bundled

_global_pre_hooks = OrderedDict()
_global_post_hooks = OrderedDict()


class _Required:
    def __repr__(self):
        return "<required parameter>"


#: Default of an option that every parameter group must give.
required = _Required()

_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
          "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks",
          "_optimizer_load_state_dict_post_hooks")


def register_optimizer_step_pre_hook(hook):
    """Call hook(optimizer, args, kwargs) before every optimiser's step. Returns a removable handle."""
    return _register(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Call hook(optimizer, args, kwargs) after every optimiser's step. Returns a removable handle."""
    return _register(_global_post_hooks, hook)


def _register(hooks, hook, prepend=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Optimizer:
    """Base of all optimisers: `params` are Tensors, (name, Tensor) pairs or group dicts; `defaults` the
    options of groups that do not set them.

    A subclass defines `step(closure=None)`. TypeError or ValueError for parameters that cannot be
    optimised (not Tensors, not leaves, in two groups, none at all).
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        _with_hooks(type(self))
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, "
                            f"but got {params.type()}")
        self.state = defaultdict(dict)
        self.param_groups = []
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
        _with_hooks(type(self))
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
        """Add a group of parameters with options of its own (dict with "params")."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of "
                            "tensors in sets will change between runs. Please use a list instead.")
        params = list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
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
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                          "an error; see github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3)
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
        number = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                number.setdefault(id(p), len(number))
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [number[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {number[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, result)
            result = result if replaced is None else replaced
        return result

    def load_state_dict(self, state_dict):
        """Take over what `state_dict()` of an optimiser of the same groups gave. ValueError if they differ."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, state_dict)
            state_dict = state_dict if replaced is None else replaced
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of "
                             "optimizer's group")
        params = dict(zip(chain.from_iterable(s["params"] for s in saved),
                          chain.from_iterable(g["params"] for g in groups)))
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = _cast_state(params[key], value)
            else:
                state[key] = value
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # -------------------------------------------------------------- hooks
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


def _with_hooks(cls):
    """Wrap the class's `step`, once, so that it runs the hooks around it."""
    step = cls.step
    if getattr(step, "hooked", False):
        return

    @functools.wraps(step)
    def hooked(self, *args, **kwargs):
        for hook in chain(_global_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
            result = hook(self, (self, *args), kwargs)
            if result is not None:
                if not isinstance(result, tuple) or len(result) != 2:
                    raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                                       f"{result}.")
                (_, *args), kwargs = result
        loss = step(self, *args, **kwargs)
        for hook in chain(self._optimizer_step_post_hooks.values(), _global_post_hooks.values()):
            hook(self, (self, *args), kwargs)
        return loss
    hooked.hooked = True
    cls.step = hooked


def _cast_state(param, value, key=None):
    """A deep copy of loaded state, its tensors (but for the step count) in the parameter's dtype."""
    if isinstance(value, Tensor):
        if key != "step" and param.is_floating_point():
            return value.to(param.dtype)
        return value
    if isinstance(value, dict):
        return {k: _cast_state(param, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast_state(param, v) for v in value)
    return value


_NO_BUNDLE = (), None, ()


class ArrayOptimizer(Optimizer):
    """An optimiser whose step is one in-place update per parameter: `_update(group, lr, p, g, state)`
    on ndarrays (complex ones are seen as pairs of reals: `real`)."""

    def __init__(self, params, defaults):
        lr = defaults["lr"]
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        for name, shown in (("eps", "epsilon"), ("momentum", "momentum"), ("weight_decay", "weight_decay")):
            if name in defaults and not defaults[name] >= 0.0:
                raise ValueError(f"Invalid {shown} value: {defaults[name]}")
        super().__init__(params, defaults)
        if defaults.get("fused"):
            if defaults["differentiable"]:
                raise RuntimeError("`fused` does not support `differentiable`")
            if defaults["foreach"]:
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        if defaults["differentiable"]:
            raise NotImplementedError(f"{type(self).__name__}: differentiable=True is not supported")

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self._OPTIONS.items():
                group.setdefault(name, default)
            for p in group["params"]:
                count = self.state.get(p, {}).get("step")
                if count is not None and not isinstance(count, Tensor):
                    self.state[p]["step"] = wrap(np.array(float(count), np.float32))

    #: (parameters, bundle, parameters outside it) by a group's id, and how often bundling was tried.
    _bundles, _tries = {}, 0

    #: Options that older state dicts may lack.
    _OPTIONS = {"maximize": False, "foreach": None, "differentiable": False}

    def step(self, closure=None):
        """One update of every parameter that has a gradient. Returns what `closure` returned, if given."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            if group.get("capturable"):
                raise AssertionError("If capturable=True, params and state_steps must be on supported devices: "
                                     "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla'].")
            if group.get("fused"):
                check_fused([p for p in group["params"] if p._grad is not None])
            lr = group["lr"]
            if isinstance(lr, Tensor):         # torch computes with it in its dtype
                lr = lr.array.reshape(())[()] if lr.array.dtype.kind in dt.NATIVE else lr.item()
            bundle, others = self._parts_of(group)
            if bundle is not None:
                self._update(group, lr, *bundle.gather(), bundle.state)
                bundle.put_back()
            for p in others:
                grad = p._grad
                if grad is not None:
                    if grad.is_sparse:
                        self._update_sparse(group, lr, p, grad)
                    else:
                        state = self._state_of(p, group)
                        check_shapes(p.array, grad.array, state)
                        self._update(group, lr, p.array, grad.array, state)
                    p.version[0] += 1
            if usual.noting:
                for p in group["params"]:
                    if p._grad is not None:
                        note_place(p.version)
            if bundle is None and self.state:
                self._bundle(group)
        return loss

    def _parts_of(self, group):
        """The bundle of a group's small parameters, if there is one that holds, and the other parameters."""
        params = group["params"]
        before, bundle, others = self._bundles.get(id(group), _NO_BUNDLE)
        if bundle is None or len(before) != len(params) or not all(map(is_, before, params)) or not bundle.holds():
            return None, params
        return bundle, others

    def _bundle(self, group):
        """Have the next step update the small parameters of `group` together."""
        if self._tries < 10:                   # where gradients come and go, bundles do not pay
            self._tries += 1
            bundle = bundled(group["params"], self.state)
            if bundle is not None:
                inside = set(map(id, bundle.params))
                others = [p for p in group["params"] if id(p) not in inside]
                self._bundles = {**self._bundles, id(group): (list(group["params"]), bundle, others)}

    def _state_of(self, p, group):
        state = self.state[p]
        if not state:
            state.update(self._new_state(group, p.array))
        return state

    def _new_state(self, group, p):
        """The state of array `p` before its first update: a dict of tensors."""
        raise NotImplementedError

    def _update(self, group, lr, p, g, state):
        """Update array `p` in place from gradient `g`, and `state` with it."""
        raise NotImplementedError

    def _update_sparse(self, group, lr, p, g):
        """Update parameter `p` in place from its sparse gradient `g`."""
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")


def check_fused(params):
    """RuntimeError unless fused kernels can update `params`."""
    for p in params:
        if p.array.dtype.kind not in dt.FLOATING:
            raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of supported "
                               "devices: ['mps', 'cuda', 'xpu', 'hpu', 'cpu', 'mtia', 'privateuseone'] but "
                               f"{p.dtype} and cpu")


def check_shapes(p, g, state):
    """RuntimeError, as the first sum of the update would raise it, unless the gradient and the state of array `p` have
    its shape: a state dict may come from another model, and kernels go by the shape of `p` alone."""
    shape = p.shape
    if g.shape != shape:
        _refuse_sum(shape, g.shape)
    for name, value in state.items():
        if name != "step" and isinstance(value, Tensor) and value.array.shape != shape:
            _refuse_sum(value.array.shape, shape)


def _refuse_sum(a, b):
    check_broadcast(a, b)
    whole = list(np.broadcast_shapes(a, b))
    raise RuntimeError(f"output with shape {list(a)} doesn't match the broadcast shape {whole}")


def real(array):
    """A complex array as pairs of reals, sharing memory; a real one as it is."""
    if array.dtype.kind != dt.COMPLEX:
        return array
    if bits_of(array)[0]:
        raise RuntimeError(UNRESOLVED)
    return array[..., None].view(array.real.dtype)


def count_step(state):
    """Add one to state["step"] and return it as a Python number."""
    count = state["step"].array
    count += 1
    return count.item() if not count.ndim else count.item(0)       # those of a bundle are all the same


def zeros_like(p):
    """A state tensor of zeros for array `p`, in p's memory order."""
    return wrap(np.zeros_like(p))


def new_count():
    """A step count of zero: a 0-dim float tensor, as torch keeps it."""
    return wrap(np.zeros((), np.float64 if dt.get_default_dtype() is dt.float64 else np.float32))


def array_of(state, name):
    """The array of a state tensor (complex as pairs of reals), or None if there is none."""
    tensor = state.get(name)
    return None if tensor is None else real(tensor.array)
