"""torch._functorch.vmap: the stages of vmap under torch's names. A library that replaces _process_batched_inputs,
_create_batched_inputs or _unwrap_batched changes every vmap, as in torch."""
from typing import Any

from .._refused import refused
from ..func.batching import _name as _get_name, vmap
from ..func.stages import (
    add_batch_dim as _add_batch_dim,
    create_batched_inputs as _create_batched_inputs,
    maybe_remove_batch_dim as _maybe_remove_batch_dim,
    process_batched_inputs as _process_batched_inputs,
    remove_batch_dim as _remove_batch_dim,
    unwrap_batched as _unwrap_batched,
    validate_and_get_batch_size as _validate_and_get_batch_size,
)
from ..tensor import Tensor
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten

__all__ = ["Tensor", "_add_batch_dim", "_broadcast_to_and_flatten", "_create_batched_inputs", "_get_name",
           "_maybe_remove_batch_dim", "_process_batched_inputs", "_remove_batch_dim", "_unwrap_batched",
           "_validate_and_get_batch_size", "tree_flatten", "tree_unflatten", "vmap"]

in_dims_t, out_dims_t = Any, Any

_flat_vmap = refused(__name__, "_flat_vmap", "torch.vmap calls the other functions of this module")
