"""The stages of vmap as separate functions, as torch has them, for libraries that replace some of them."""
import sys

from ..autograd.grad_mode import mode
from ..tensor import Tensor
from ..utils._pytree import tree_flatten, tree_unflatten
from . import batching
from .vmap_levels import enter, is_batched, leave

_PACKAGE = __package__.partition(".")[0]


def _level(number):
    """The active vmap of that number. RuntimeError if there is none."""
    for level in mode.vmap_levels:
        if level.number == number:
            return level
    raise RuntimeError(f"there is no vmap of level {number} at work")


def process_batched_inputs(in_dims, args, func):
    """(number of samples, the dimension of each leaf to map over, the leaves, their tree)."""
    leaves, dims, spec = batching._process(func, in_dims, args)
    return batching._batch_size(leaves, dims), dims, leaves, spec


def validate_and_get_batch_size(flat_in_dims, flat_args):
    """The number of samples of the leaves. ValueError if leaves differ in it, or if no leaf is mapped over."""
    return batching._batch_size(flat_args, flat_in_dims)


def add_batch_dim(tensor: Tensor, in_dim: int, vmap_level: int) -> Tensor:
    """The tensor that shows one of the samples along dimension `in_dim`, in the vmap of that number."""
    return enter(tensor, _level(vmap_level), in_dim)


def remove_batch_dim(tensor: Tensor, vmap_level: int, batch_size: int, out_dim: int) -> Tensor:
    """The tensor of all samples, along dimension `out_dim`."""
    extent = tensor.dim() + 1
    if not -extent <= out_dim < extent:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], but got "
                         f"{out_dim})")
    return leave([tensor], [out_dim % extent], _level(vmap_level))[0]


def maybe_remove_batch_dim(name, batched_output, vmap_level, batch_size, out_dim):
    """As `remove_batch_dim`, for one output of the function `name`. If `out_dim` is None, the output must be the same
    for all samples. ValueError for an output that is no tensor."""
    if out_dim is None:
        if isinstance(batched_output, Tensor) and is_batched(batched_output, _level(vmap_level)):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. "
                         "Did you mean to set out_dims= to None for output?")
    return remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def create_batched_inputs(flat_in_dims, flat_args, vmap_level, args_spec):
    """The arguments of the function, in which each tensor that is mapped over shows one sample."""
    samples = [x if dim is None else add_batch_dim(x, dim, vmap_level) for dim, x in zip(flat_in_dims, flat_args)]
    return tree_unflatten(samples, args_spec)


def unwrap_batched(batched_outputs, out_dims, vmap_level, batch_size, func):
    """The outputs of the function for all samples."""
    leaves, spec = tree_flatten(batched_outputs)
    dims = batching._dims_of(func, batched_outputs, spec, out_dims)
    return tree_unflatten([maybe_remove_batch_dim(batching._name(func), y, vmap_level, batch_size, dim)
                           for y, dim in zip(leaves, dims)], spec)


#: The stages of vmap that a library may replace, by torch's names.
_OWN = {"_process_batched_inputs": process_batched_inputs, "_create_batched_inputs": create_batched_inputs,
        "_unwrap_batched": unwrap_batched}


def replaced():
    """The module that has the stages, if a library has replaced one of them; None otherwise."""
    home = sys.modules.get(f"{_PACKAGE}._functorch.vmap")
    if home is None or all([getattr(home, name) is stage for name, stage in _OWN.items()]):
        return None
    return home
