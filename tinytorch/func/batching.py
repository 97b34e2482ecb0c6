"""vmap: a function of one sample as a function of a batch.

The function runs once per sample and the results are stacked: this saves code, not time. Anything
the function does works, data-dependent Python included. Random numbers are drawn sample by sample,
so `randomness="different"` gives other numbers than PyTorch's batched draw; "same" gives its numbers.
"""
import contextlib
import functools

from ..autograd.grad_mode import mode
from ..ops.creation.factories import empty, zeros
from ..ops.layout.join import stack
from ..random import Stream, default_generator, exchange_stream
from ..tensor import Tensor
from ..utils._pytree import broadcast_leaves, tree_flatten, tree_map, tree_unflatten


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """The function that maps `func` over a dimension of its arguments.

    in_dims     the dimension to map over: an int for all arguments, or a tuple (of trees) matching their
                structure, None for what is not mapped
    out_dims    where the dimension appears in the outputs: an int, or a tree like the outputs; None for an output
                that is the same for all samples
    randomness  "error" (RuntimeError for random operations), "different" for each sample, or "same"
    chunk_size  checked, and makes no difference: samples are computed one by one

    ValueError for dimensions that do not fit. Nests with itself and with the other transforms.

    >>> import tinytorch as torch
    >>> torch.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def wrapper(*args, **kwargs):
        _check_out_dims(func, out_dims)
        leaves, dims, spec = _process(func, in_dims, args)
        size = _batch_size(leaves, dims)
        results = []
        with _at_work(randomness), draws(randomness) as renew:
            for i in range(max(size, 1)):
                if i:
                    renew()
                sample = [_sample(x, dim, i, size) for x, dim in zip(leaves, dims)]
                results.append(func(*tree_unflatten(sample, spec), **kwargs))
        return _gathered(func, out_dims, results, size)
    return functools.wraps(func)(wrapper) if hasattr(func, "__name__") else wrapper


def check_randomness(randomness):
    """RuntimeError for an unknown way to treat random operations."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


@contextlib.contextmanager
def _at_work(randomness):
    """One more vmap is at work."""
    before, mode.vmap_levels = mode.vmap_levels, (*mode.vmap_levels, (randomness, mode.grad_levels))
    try:
        yield
    finally:
        mode.vmap_levels = before


@contextlib.contextmanager
def draws(randomness):
    """What random operations do inside; yields a function to call before each sample after the first."""
    if randomness == "different":
        yield lambda: None
    elif randomness == "same":
        state = default_generator.get_state()
        yield lambda: default_generator.set_state(state)
    else:
        before = exchange_stream(_Refusing(default_generator.stream))
        try:
            yield lambda: None
        finally:
            exchange_stream(before)


class _Refusing(Stream):
    """A stream that can be seeded and asked for its state, but not drawn from."""

    def __init__(self, stream):
        self.__dict__ = stream.__dict__

    def words(self, n):
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap")


def _name(func):
    if hasattr(func, "__name__"):
        return func.__name__
    return f"functools.partial({_name(func.func)}, ...)" if isinstance(func, functools.partial) else repr(func)


def _process(func, in_dims, args):
    """The leaves of the arguments, the dimension to map over of each (or None), and their tree."""
    name = _name(func)
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(where + "expected `in_dims` to be int or a (potentially nested) tuple matching the structure "
                         f"of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
                         "vmap over a function with no inputs. The latter is unsupported.")
    leaves, spec = tree_flatten(args)
    dims = broadcast_leaves(in_dims, spec)
    if dims is None:
        raise ValueError(where + f"in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                         f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}.")
    for i, (x, dim) in enumerate(zip(leaves, dims)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(where + f"Got in_dim={dim} for an input but in_dim must be either an integer dimension or "
                             "None.")
        if not isinstance(x, Tensor):
            raise ValueError(where + f"Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot "
                             "vmap over non-Tensor arguments, please use None as the respective in_dim")
        if not -x.dim() <= dim < x.dim():
            raise ValueError(where + f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                             f"{x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}.")
        dims[i] = dim % x.dim()
    return leaves, dims, spec


def _batch_size(leaves, dims):
    sizes = [x.shape[dim] for x, dim in zip(leaves, dims) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} "
                         "for the mapped dimension")
    return sizes[0]


def _sample(x, dim, i, size):
    """Sample `i` of an argument; for an empty batch zeros, to learn the shapes of the outputs."""
    if dim is None:
        return x
    return x.select(dim, i) if size else zeros(x.shape[:dim] + x.shape[dim + 1:], dtype=x.dtype)


def _check_out_dims(func, out_dims):
    def check(dim):
        if dim is not None and not isinstance(dim, int):
            raise ValueError(f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a "
                             "python collection of ints representing where in the outputs the vmapped dimension "
                             "should appear.")
    tree_map(check, out_dims)


def _gathered(func, out_dims, results, size):
    """The outputs of all samples, stacked leaf by leaf."""
    name = _name(func)
    columns, specs = zip(*map(tree_flatten, results))
    spec = specs[0]
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and isinstance(results[0], Tensor):
        dims = list(out_dims)
    else:
        dims = broadcast_leaves(out_dims, spec)
    if dims is None:
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
                         f"structure of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has "
                         f"structure {spec}.")
    return tree_unflatten([_stacked(name, column, dim, size) for column, dim in zip(zip(*columns), dims)], spec)


def _stacked(name, outputs, dim, size):
    first = outputs[0]
    if dim is None:
        if isinstance(first, Tensor) and any(y is not first and not first.equal(y) for y in outputs):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return first
    if not isinstance(first, Tensor):
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(first)}. "
                         "Did you mean to set out_dims= to None for output?")
    if not size:
        shape = list(first.shape)
        shape.insert(dim % (first.dim() + 1), 0)
        return empty(shape, dtype=first.dtype)
    return stack(outputs, dim)
