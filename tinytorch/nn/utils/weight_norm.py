"""The older weight_norm, by a forward pre-hook. parametrizations.weight_norm is newer."""

from ... import dtypes as dt
from ...errors import not_implemented, warn
from ...ops.linalg.distance import norm
from ..parameter import Parameter, is_lazy

__all__ = ["remove_weight_norm", "weight_norm"]


def norm_except_dim(v, pow=2, dim=0):
    """The norm of v over all dimensions except `dim`, which keeps its size. With dim=-1 it is one number."""
    if dim == -1:
        return norm(v, pow)
    return norm(v, pow, [d for d in range(v.dim()) if d != dim], keepdim=True)


def _weight_norm(v, g, dim=0):
    if dim in (0, v.dim() - 1) and v._array.dtype.kind not in dt.FLOATING:      # in all other cases torch composes it
        raise not_implemented("weight_norm_kernel", v)
    return v * (g / norm_except_dim(v, 2, dim))


class WeightNorm:
    """The hook that computes `name` from `name_g` and `name_v` before every forward."""

    def __init__(self, name, dim):
        self.name, self.dim = name, dim

    def compute_weight(self, module):
        return _weight_norm(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))

    def remove(self, module):
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))


def weight_norm(module, name="weight", dim=0):
    """Replace the parameter `name` by the parameters `name_g` (magnitude) and `name_v` (direction), from which it is
    computed before every forward. Deprecated in favour of parametrizations.weight_norm.

    dim    the dimension with a magnitude for each index; None: one magnitude for all

    Salimans and Kingma, https://arxiv.org/abs/1602.07868. RuntimeError if it has been applied already. Returns the
    module.
    """
    warn("`torch.nn.utils.weight_norm` is deprecated in favor of "
         "`torch.nn.utils.parametrizations.weight_norm`.", FutureWarning)
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, WeightNorm) and hook.name == name:
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, -1 if dim is None else dim)
    weight = getattr(module, name)
    if is_lazy(weight):
        raise ValueError("The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the "
                         "dummy forward before applying weight normalization")
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, 2, hook.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module, name="weight"):
    """Undo `weight_norm`: `name` is a parameter again, with its present value. ValueError if it was not applied."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
