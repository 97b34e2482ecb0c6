"""LazyModuleMixin: for layers that find out their input's size at the first call."""
from ...autograd.grad_mode import no_grad
from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Put before a Module class: its uninitialised parameters get their shapes at the first call.

    The class sets `cls_to_become` (what it is after that) and defines `initialize_parameters(*args)`, called
    with the arguments of `forward`, which materialises the parameters.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _tensors(self):
        return {**self._parameters, **self._buffers}

    def _lazy_load_hook(self, state_dict, prefix, *others):
        """Give uninitialised tensors the shapes they have in a state_dict about to be loaded."""
        for name, tensor in self._tensors().items():
            value = state_dict.get(prefix + name)
            if is_lazy(tensor) and value is not None and not is_lazy(value):
                with no_grad():
                    tensor.materialize(value.shape)

    def initialize_parameters(self, *args, **kwargs):
        """To override: materialise the parameters for these arguments of `forward`."""
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
