"""LazyModuleMixin: base of layers that determine the size of their input at the first call."""
from __future__ import annotations

import copy
import weakref
from types import MethodType
from typing import TYPE_CHECKING, Any

from ...autograd.grad_mode import no_grad
from ..parameter import is_lazy

if TYPE_CHECKING:
    from .module import Module as _Base  # every class that uses the mixin derives from Module, too
else:
    _Base = object

__all__ = ["LazyModuleMixin"]


class _Method:
    """A module's method as a hook that does not keep the module alive. Pickled as the method itself, as in torch."""

    def __init__(self, method):
        self.module, self.name = weakref.ref(method.__self__), method.__name__

    def __call__(self, *args):
        return getattr(self.module(), self.name)(*args)

    def __reduce__(self):
        return getattr, (self.module(), self.name)

    def __deepcopy__(self, memo):
        return _Method(getattr(copy.deepcopy(self.module(), memo), self.name))


class LazyModuleMixin(_Base):
    """Mixin before a Module class among the bases. Uninitialised parameters get their shapes at the first call.

    The class sets `cls_to_become` (its class after that) and defines `initialize_parameters(*args)`, which gets the
    arguments of `forward` and materialises the parameters.
    """

    cls_to_become: type[Any] | None = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(_Method(self._lazy_load_hook))
        self._initialize_hook = self.register_forward_pre_hook(_Method(self._infer_parameters), with_kwargs=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for key, hook in self._forward_pre_hooks.items():
            if isinstance(hook, MethodType) and hook.__self__ is self:
                self._forward_pre_hooks[key] = _Method(hook)
        wrapped: Any                           # a _WrappedHook
        for wrapped in self._load_state_dict_pre_hooks.values():
            if isinstance(wrapped.hook, MethodType) and wrapped.hook.__self__ is self:
                wrapped.hook = _Method(wrapped.hook)

    def _tensors(self):
        return {**self._parameters, **self._buffers}

    def _lazy_load_hook(self, state_dict, prefix, *others):
        """Give uninitialised tensors the shapes that they have in the state_dict to load."""
        for name, tensor in self._tensors().items():
            value = state_dict.get(prefix + name)
            if is_lazy(tensor) and value is not None and not is_lazy(value):
                with no_grad():
                    tensor.materialize(value.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Materialise the parameters for these arguments of `forward`. Subclasses override it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(tensor) for tensor in self._tensors().values())

    def _infer_parameters(self, module, args, kwargs=None):
        self.initialize_parameters(*args, **kwargs or {})
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become
