"""torch._functorch.vmap: what libraries import of it."""
from typing import Any

from .._refused import refused
from ..func.batching import _name as _get_name, vmap
from ..tensor import Tensor
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from ._C import _REASON, _add_batch_dim, _remove_batch_dim

__all__ = ["Tensor", "_add_batch_dim", "_broadcast_to_and_flatten", "_get_name", "_remove_batch_dim", "tree_flatten",
           "tree_unflatten", "vmap"]

in_dims_t, out_dims_t = Any, Any

(_create_batched_inputs, _flat_vmap, _maybe_remove_batch_dim, _process_batched_inputs, _unwrap_batched,
 _validate_and_get_batch_size) = [refused(__name__, name, _REASON) for name in (
     "_create_batched_inputs", "_flat_vmap", "_maybe_remove_batch_dim", "_process_batched_inputs", "_unwrap_batched",
     "_validate_and_get_batch_size")]
