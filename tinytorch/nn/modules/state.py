"""state_dict and load_state_dict of modules."""
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...autograd.grad_mode import no_grad
from ...errors import warn
from ...tensor import Tensor
from ..parameter import Parameter, is_lazy
from . import hooks

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The missing and the unexpected keys that load_state_dict found."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WrappedHook:
    """A hook of loading. With a `module`, the hook gets it as first argument; a weak reference holds the module."""

    def __init__(self, hook, module=None):
        self.hook, self.with_module = hook, module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args):
        if not self.with_module:
            return self.hook(*args)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __getstate__(self):
        state = {"hook": self.hook, "with_module": self.with_module}
        return {**state, "module": self.module()} if self.with_module else state

    def __setstate__(self, state):
        if state["with_module"] and state["module"] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        _WrappedHook.__init__(self, state["hook"], state.get("module"))


class Stateful:
    """The part of Module that turns its parameters and buffers into a dict and back."""

    if TYPE_CHECKING:                          # attributes that Module and its __init__ set
        _version: int
        _parameters: dict[str, Any]
        _buffers: dict[str, Tensor | None]
        _non_persistent_buffers_set: set[str]
        _modules: dict[str, Any]
        _state_dict_hooks: dict[int, Callable]
        _state_dict_pre_hooks: dict[int, Callable]
        _load_state_dict_pre_hooks: dict[int, Callable]
        _load_state_dict_post_hooks: dict[int, Callable]

    def get_extra_state(self):
        """Additional picklable state for the state_dict, besides the tensors. Subclasses override it."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. "
            "Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml "
            "to report this bug.")

    def set_extra_state(self, state):
        """Restore the result of get_extra_state when a state_dict is loaded. Subclasses override both."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. "
            "Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml "
            "to report this bug.")

    # -------------------------------------------------------------- hooks
    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("Cannot register the same function as the state dict post hook that was previously "
                               "registered via register_state_dict_post_hook")
        return hooks.add(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Call hook(module, state_dict, prefix, local_metadata) after `state_dict`; it may change the dict in place."""
        hook._from_public_api = True
        return hooks.add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Call hook(module, prefix, keep_vars) before `state_dict`."""
        return hooks.add(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return hooks.add(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_pre_hook(self, hook):
        """Call hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        before this module's part of a state_dict is loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """Call hook(module, incompatible_keys) after loading; it may change the two lists in place."""
        return hooks.add(self._load_state_dict_post_hooks, hook)

    # -------------------------------------------------------------- saving
    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Put this module's own parameters and persistent buffers into `destination`."""
        for name, tensor in self._parameters.items():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()
        for name, tensor in self._buffers.items():
            if tensor is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False, copy=False):
        """All parameters and persistent buffers by their full names, sharing memory with the module's.

        prefix       text before every name
        keep_vars    whether the dict holds the parameters themselves and not detached tensors
        copy         whether the dict holds copies, which training does not change. Tensors that share memory in the
                     module share it in the copies. copy.deepcopy copies an extra state. ValueError together with
                     `keep_vars`

        >>> import tinytorch as torch
        >>> model = torch.nn.Linear(2, 1)
        >>> list(model.state_dict())
        ['weight', 'bias']
        >>> shared, copied = model.state_dict(), model.state_dict(copy=True)
        >>> _ = torch.nn.init.zeros_(model.bias)
        >>> shared["bias"].item() == 0, copied["bias"].item() == 0
        (True, False)
        """
        if copy:
            return self._copied_state_dict(args, destination, prefix, keep_vars)
        if args:
            warn("Positional args are being deprecated, use kwargs instead. Refer to https://pytorch.org/docs/"
                 "main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                 FutureWarning)
            given = dict(zip(("destination", "prefix", "keep_vars"), args))
            destination = given["destination"] if destination is None else destination
            prefix = prefix or given.get("prefix", "")
            keep_vars = keep_vars or given.get("keep_vars", False)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, metadata)
            if result is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = result
        return destination

    def _copied_state_dict(self, args, destination, prefix, keep_vars):
        if keep_vars:
            raise ValueError("copy=True gives copies, which are nobody's parameters: keep_vars=True excludes it")
        from ...checkpoint.shown import copied  # imported on use: few programs need it
        shared = self.state_dict(*args, prefix=prefix, keep_vars=keep_vars)
        copies = copied(shared)
        if destination is None:
            shared.update(copies)              # an OrderedDict with _metadata
            return shared
        destination.update(copies)
        if hasattr(destination, "_metadata"):
            destination._metadata.update(shared._metadata)
        return destination

    # -------------------------------------------------------------- loading
    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        """Load this module's own tensors. Problems are appended to the three lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = {name: t for name, t in self._parameters.items() if t is not None}
        own.update((name, t) for name, t in self._buffers.items()
                   if t is not None and name not in self._non_persistent_buffers_set)
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                error = self._load_tensor(name, tensor, key, state_dict[key], assign)
                if error:
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(key)
        has_extra = type(self).set_extra_state is not Stateful.set_extra_state
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if has_extra:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        if strict:
            unexpected_keys += _unexpected_keys(self, state_dict, prefix, own, has_extra)

    def _load_tensor(self, name, tensor, key, value, assign):
        """Load one tensor. Returns the text of an error, or None."""
        if not isinstance(value, Tensor):
            return (f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(value)}")
        if not is_lazy(tensor):
            if not tensor.shape and value.shape == (1,):
                value = value[0]               # old files store 0-dim tensors with one dimension
            if value.shape != tensor.shape:
                return (f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape "
                        f"in current model is {tensor.shape}.")
        try:
            with no_grad():
                if not assign:
                    if tensor.is_meta and not value.is_meta:
                        warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                             "parameter in the current model, which is a no-op. (Did you mean to pass "
                             "`assign=True` to assign items in the state dictionary to their corresponding "
                             "key in the module instead of copying them in place?)")
                    tensor.copy_(value)
                    return None
                if isinstance(tensor, Parameter):
                    if isinstance(value, Parameter):
                        value.requires_grad_(tensor.requires_grad)
                    else:
                        value = Parameter(value, requires_grad=tensor.requires_grad)
                setattr(self, name, value)
        except Exception as error:
            return (f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.size()} and '
                    f"whose dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}.")

    def load_state_dict(self, state_dict, strict=True, assign=False, *, keep_ties=False):
        """Copy the tensors of `state_dict` into this module and its descendants.

        strict       whether it is a RuntimeError if the keys are not exactly those of `self.state_dict()`
        assign       whether the tensors themselves replace the module's parameters and buffers
        keep_ties    whether a parameter or buffer with several names is still one tensor after `assign`: the tensor
                     loaded for the last of its names. Without it, each name gets a separate tensor, as in PyTorch

        Returns the missing and the unexpected keys. The RuntimeError lists every wrong shape.

        >>> import tinytorch as torch
        >>> def tied():
        ...     model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
        ...     model[1].weight = model[0].weight
        ...     return model
        >>> model = tied()
        >>> model.load_state_dict(tied().state_dict(), assign=True, keep_ties=True)
        <All keys matched successfully>
        >>> model[1].weight is model[0].weight
        True
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        ties = _ties(self) if assign and keep_ties else ()
        _load(self, state_dict, "", metadata or {}, assign, missing, unexpected, errors)
        for tensor, places in ties:
            given = [entries[name] for entries, name in places if entries[name] is not tensor]
            for entries, name in places if given else ():
                entries[name] = given[-1]
        if strict:
            for title, keys in [("Unexpected", unexpected), ("Missing", missing)]:
                if keys:
                    names = ", ".join(f'"{k}"' for k in keys)
                    errors.insert(0, f"{title} key(s) in state_dict: {names}. ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _IncompatibleKeys(missing, unexpected)


def _unexpected_keys(module, state_dict, prefix, own, has_extra):
    """The keys of `state_dict` under `prefix` that belong to none of the tensors `own`, to no submodule of `module` and
    to no extra state. The key of an extra state that the module does not take comes first, as in torch."""
    extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
    unexpected = [extra_key] if extra_key in state_dict and not has_extra else []
    for key in state_dict:
        if key.startswith(prefix) and key != extra_key:
            head, dot, _ = key[len(prefix):].partition(".")
            if head not in (module._modules if dot else own):
                unexpected.append(key)
    return unexpected


def _ties(module):
    """(tensor, [(dict that holds it, name)]) of each parameter and buffer of `module` with more than one name."""
    found: dict[int, tuple[Tensor, list[tuple[dict, str]]]] = {}
    for part in module.modules():
        for entries in (part._parameters, part._buffers):
            for name, tensor in entries.items():
                if tensor is not None:
                    found.setdefault(id(tensor), (tensor, []))[1].append((entries, name))
    return [(tensor, places) for tensor, places in found.values() if len(places) > 1]


def _load(module, state_dict, prefix, metadata, assign, missing, unexpected, errors):
    """Load `module` and its descendants from the keys of `state_dict` that begin with `prefix`."""
    local = metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state_dict, prefix, local, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            inner = f"{prefix}{name}."
            part = {k: v for k, v in state_dict.items() if k.startswith(inner)}
            _load(child, part, inner, metadata, assign, missing, unexpected, errors)
    keys = _IncompatibleKeys(missing, unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                                 "return new values, if incompatible_keys need to be modified, it should be done "
                                 "inplace.")
