"""autograd.Function under the transforms: the checks of a Function, and its `vmap`."""
import sys
from typing import NamedTuple

from ..autograd import late_bound
from ..autograd.function import Function
from ..autograd.grad_mode import mode
from ..tensor import Tensor
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from .vmap_levels import enter, is_batched, leave

_SEE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """The facts about a vmap that the `vmap` of a Function gets."""

    batch_size: int
    randomness: str


def check_support(cls):
    """Raises RuntimeError for a Function that a transform of torch.func cannot take."""
    if cls.setup_context is Function.setup_context:
        raise RuntimeError("In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
                           f"...), it must override the setup_context staticmethod. {_SEE}")
    own = cls.vmap is not Function.vmap
    if mode.vmap_levels and own == cls.generate_vmap_rule:
        has = ("it has both generate_vmap_rule=True and an overridden vmap staticmethod. Please set "
               "generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity." if own else
               "it does not have vmap support. Please override and implement the vmap staticmethod or set "
               "generate_vmap_rule=True.")
        raise RuntimeError(f"You tried to vmap over {cls.__name__}, but {has} {_SEE}")


def has_own_vmap(cls, args):
    """Whether the Function's own `vmap` computes this call."""
    return mode.vmap_levels and cls.vmap is not Function.vmap and any(
        isinstance(x, Tensor) for x in tree_flatten(args)[0])


def is_outside_of_transforms():
    """Whether no other transform has begun within the innermost vmap."""
    return mode.vmap_levels[-1].grad_levels == mode.grad_levels


def through_vmap(cls, *args):
    """The output of `cls.vmap`, which gets all samples. RuntimeError if it does not return outputs and their
    dimensions.

    `cls.vmap` runs outside of this vmap."""
    *outer, level = before = mode.vmap_levels
    leaves, spec = tree_flatten(args)
    batched = [isinstance(x, Tensor) and is_batched(x, level) for x in leaves]
    mode.vmap_levels = tuple(outer)
    try:
        if not any(batched):
            return cls.apply(*args)
        physical = [leave([x], [0], level)[0] if is_one else x for x, is_one in zip(leaves, batched)]
        in_dims = tree_unflatten([0 if is_one else None for is_one in batched], spec)
        return _samples(level, *_checked(cls.vmap(VmapInfo(level.size, level.randomness), in_dims,
                                                  *tree_unflatten(physical, spec))))
    finally:
        mode.vmap_levels = before


def _checked(result):
    if not isinstance(result, tuple) or len(result) != 2:
        got = f"{len(result)} returns" if isinstance(result, tuple) else f"a {type(result)}"
        raise RuntimeError("Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
                           f"structure compatible with the output. Got {got} instead")
    return result


def _samples(level, output, out_dims):
    """The outputs, as tensors that show one sample."""
    leaves, spec = tree_flatten(output)
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise RuntimeError("The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
                           f"tuple. Expected out_dims={out_dims} to be compatible with the structure of `output`. "
                           f"out_dims has structure {tree_flatten(out_dims)[1]} but output has structure {spec}. "
                           f"{_SEE}")
    return tree_unflatten([enter(x, level, dim % x.dim()) if isinstance(x, Tensor) and dim is not None else x
                           for x, dim in zip(leaves, dims)], spec)


late_bound.custom = sys.modules[__name__]
