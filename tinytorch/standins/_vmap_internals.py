"""torch._vmap_internals: the vmap from before torch.func, which libraries use from here."""
from .errors import warn
from .func import vmap as _batched

__all__ = ["vmap"]


def _vmap(func, in_dims=0, out_dims=0, allow_none_pass_through=False):
    """torch.func.vmap(func, in_dims, out_dims). With `allow_none_pass_through` the result of func, or a part of it, may
    be None, and stays None.

    >>> import tinytorch as torch
    >>> torch._vmap_internals._vmap(lambda x: (None, x + 1), allow_none_pass_through=True)(torch.ones(2))
    (None, tensor([2., 2.]))
    """
    if not allow_none_pass_through:
        return _batched(func, in_dims, out_dims)

    def wrapped(*args):
        absent = []

        def without_none(*args):
            found = func(*args)
            values = found if isinstance(found, tuple) else (found,)
            absent[:] = [isinstance(found, tuple), *[x is None for x in values]]
            return tuple([x for x in values if x is not None])

        found = iter(_batched(without_none, in_dims, out_dims)(*args))
        several, *absent = absent
        values = tuple([None if none else next(found) for none in absent])
        return values if several else values[0]
    return wrapped


def vmap(func, in_dims=0, out_dims=0):
    """Deprecated: torch.func.vmap."""
    warn("Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.", FutureWarning)
    return _vmap(func, in_dims, out_dims)
