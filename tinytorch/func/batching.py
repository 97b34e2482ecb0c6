"""vmap, which turns a function of one sample into a function of a batch.

The function runs once, on tensors that show one sample and hold all samples (batched.py). Operations compute on the
whole batch (dispatch.py).
"""
import contextlib
import functools
import sys

from ..ops.layout.join import cat
from ..random import Stream, default_generator, exchange_stream, own_stream
from ..tensor import Tensor
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_map, tree_unflatten
from .batched import NotBatchable, Refusal, Unreadable
from .dispatch import install
from .vmap_levels import DRAWN, VmapLevel, enter, is_batched, leave


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """The function that maps `func` over a dimension of its arguments.

    in_dims     the dimension to map over: an int for all arguments, or a tuple (of trees) matching their
                structure, None for what is not mapped
    out_dims    where the dimension appears in the outputs: an int, or a tree like the outputs; None for an output
                that is the same for all samples
    randomness  "error" (RuntimeError for random operations), "different" for each sample, or "same"
    chunk_size  how many samples to compute at once (None: all)

    ValueError for dimensions that do not fit. Nests with itself and with the other transforms.

    >>> import tinytorch as torch
    >>> torch.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def wrapper(*args, **kwargs):
        _prepare()
        _check_out_dims(func, out_dims)
        home = _replaced()
        if home is not None:
            return _by_stages(home, func, in_dims, args, kwargs, out_dims, randomness, chunk_size)
        leaves, dims, spec = _process(func, in_dims, args)
        size = _batch_size(leaves, dims)
        if chunk_size is None or not size:
            return _mapped(func, leaves, dims, spec, kwargs, out_dims, randomness, size)
        return _in_chunks(func, leaves, dims, spec, kwargs, out_dims, randomness, size, chunk_size)
    return functools.wraps(func)(wrapper) if hasattr(func, "__name__") else wrapper


def _prepare():
    """Loads the rules for batches, which few programs need, and makes operations use them."""
    from . import batch_rules  # noqa: F401
    install()


def _mapped(func, leaves, dims, spec, kwargs, out_dims, randomness, size):
    """The outputs for all samples at once."""
    level = VmapLevel(size, randomness)
    with level, draws(randomness):
        samples = [x if dim is None else enter(x, level, dim) for x, dim in zip(leaves, dims)]
        output = _run(func, tree_unflatten(samples, spec), kwargs)
        return _outputs(func, output, out_dims, level)


def _run(func, args, kwargs):
    """The result of the function for one sample that stands for all."""
    try:
        return func(*args, **kwargs)
    except (Unreadable, Refusal) as error:
        raise RuntimeError(str(error)) from None
    except NotBatchable:
        raise RuntimeError(_UNBATCHED) from None


def _replaced():
    """The module of the stages of vmap if a library has replaced one of them (stages.py); None otherwise."""
    stages = sys.modules.get(f"{__package__}.stages")
    return None if stages is None else stages.replaced()


def _by_stages(home, func, in_dims, args, kwargs, out_dims, randomness, chunk_size):
    """The outputs for all samples, computed by the stages in a module, some of which belong to a library."""
    size, dims, leaves, spec = home._process_batched_inputs(in_dims, args, func)
    if chunk_size is not None and chunk_size < size:
        raise NotImplementedError("torch.vmap: chunk_size is not supported where a library has put stages of its own "
                                  "in the place of vmap's")
    level = VmapLevel(size, randomness)
    with level, draws(randomness):
        output = _run(func, home._create_batched_inputs(dims, leaves, level.number, spec), kwargs)
        return home._unwrap_batched(output, out_dims, level.number, size, func)


_UNBATCHED = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args "
    "that has more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped "
    "over in a vmap. Please try to use out-of-place operators instead of inplace arithmetic. If said operator is being "
    "called inside the PyTorch framework, please file a bug report instead.")


def _in_chunks(func, leaves, dims, spec, kwargs, out_dims, randomness, size, chunk_size):
    """The joined outputs of chunks of `chunk_size` samples. With the randomness "same" every chunk draws the same
    numbers."""
    chunks = [x if dim is None else x.split(chunk_size, dim) for x, dim in zip(leaves, dims)]
    state, results = default_generator.get_state(), []
    for k in range(-(-size // chunk_size)):
        if randomness == "same":
            default_generator.set_state(state)
        part = [x if dim is None else x[k] for x, dim in zip(chunks, dims)]
        count = min(chunk_size, size - k * chunk_size)
        results.append(_mapped(func, part, dims, spec, kwargs, out_dims, randomness, count))
    columns, specs = zip(*map(tree_flatten, results))
    dims = _dims_of(func, results[0], specs[0], out_dims)
    return tree_unflatten([column[0] if dim is None else cat(column, dim) for column, dim in zip(zip(*columns), dims)],
                          specs[0])


def check_randomness(randomness):
    """Raises RuntimeError for an unknown value of `randomness`."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


@contextlib.contextmanager
def draws(randomness):
    """A context in which random operations behave as `randomness` says."""
    if randomness != "error":
        yield
        return
    before = own_stream()                      # read first: an interrupt may come at any line
    try:
        exchange_stream(_Refusing(default_generator.stream))
        yield
    finally:
        exchange_stream(before)


class _Refusing(Stream):
    """A stream that can be seeded and has a state, but refuses to draw."""

    def __init__(self, stream):
        self.__dict__ = stream.__dict__

    def natively(self, *_):
        self.words(0)

    def words(self, n):
        raise RuntimeError(DRAWN)


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
    dims = _broadcast_to_and_flatten(in_dims, spec)
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


def _check_out_dims(func, out_dims):
    def check(dim):
        if dim is not None and not isinstance(dim, int):
            raise ValueError(f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a "
                             "python collection of ints representing where in the outputs the vmapped dimension "
                             "should appear.")
    tree_map(check, out_dims)


def _dims_of(func, output, spec, out_dims):
    """The dimension of the samples in each leaf of the output."""
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and isinstance(output, Tensor):
        return list(out_dims)
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise ValueError(f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
                         f"the structure of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs "
                         f"has structure {spec}.")
    return dims


def _outputs(func, output, out_dims, level):
    """The outputs of all samples."""
    name = _name(func)
    leaves, spec = tree_flatten(output)
    dims = _dims_of(func, output, spec, out_dims)
    places = []
    for i, (y, dim) in enumerate(zip(leaves, dims)):
        if dim is None:
            if isinstance(y, Tensor) and is_batched(y, level):
                raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
            continue
        if not isinstance(y, Tensor):
            raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(y)}. "
                             "Did you mean to set out_dims= to None for output?")
        extent = y.dim() + 1
        if not -extent <= dim < extent:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], but got "
                             f"{dim})")
        places.append((i, dim % extent))
    found = leave([leaves[i] for i, _ in places], [dim for _, dim in places], level)
    for (i, _), y in zip(places, found):
        leaves[i] = y
    return tree_unflatten(leaves, spec)
