"""torch._functorch.apis: transforms that libraries import from here."""
import functools

from ..func import grad, grad_and_value, vmap
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten

__all__ = ["chunk_vmap", "grad", "grad_and_value", "vmap"]


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """`vmap` in `chunks` chunks, one after the other.

    >>> import tinytorch as torch
    >>> from tinytorch._functorch.apis import chunk_vmap
    >>> chunk_vmap(torch.sum, chunks=2)(torch.ones(3, 2))
    tensor([2., 2., 2.])
    """
    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        leaves, spec = tree_flatten(args)
        sizes = [x.shape[dim] for x, dim in zip(leaves, _broadcast_to_and_flatten(in_dims, spec) or ())
                 if dim is not None and hasattr(x, "shape")]
        size = -(-sizes[0] // chunks) if sizes and chunks > 1 else None
        return vmap(func, in_dims, out_dims, randomness, chunk_size=size or None)(*args, **kwargs)
    return wrapped
