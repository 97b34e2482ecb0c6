"""New tensors under vmap: random tensors, which differ between samples ("different") and are drawn at once as PyTorch
draws them, or are the same; and tensors that are made like a batch."""
import numpy as np

from ...autograd.grad_mode import mode
from ...kernels.random import samplers
from ...ops.random import factories, gamma
from ...tensor import wrap
from ..batched import Batched, level_of
from ..dispatch import forward_rule
from ..vmap_levels import DRAWN, stripped
from .functions import batch, size_of, spread
from .layout import family

_SAME = ("Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
         "functorch")


def room(array, like=None):
    """Uninitialised memory in the shape of a sample: for each of those that are to differ, in the memory order of
    `like`."""
    shape, sizes, numbers = array.shape, [], []
    for level in mode.vmap_levels:
        if level.randomness == "different":
            sizes.append(level.size)
            numbers.append(level.number)
    if not numbers:
        return array if not level_of(array) else np.empty(shape, array.dtype)
    if type(like) is Batched and numbers == [like.level] and like.shape == shape:
        result = samplers.empty_like(like.physical, array.dtype)
    else:
        result = np.empty((*sizes, *shape), array.dtype)
    for number in numbers:
        result = Batched(result, number)
    return result


def varied(x):
    """A tensor of parameters, as a batch for each vmap whose samples are to differ."""
    array = x._array
    for level in mode.vmap_levels:
        batched = stripped(array, level.number) is not None
        if level.randomness == "different":
            if not batched:
                array = _spread_over(array, level)
        elif batched:
            raise RuntimeError(_SAME if level.randomness == "same" else DRAWN)
    if array is x._array:
        return x
    result = x._alias() if x.requires_grad else wrap(array)
    result._array = array
    return result


def _spread_over(array, level):
    if type(array) is Batched and array.level > level.number:
        inner = _spread_over(array.physical, level)
        return Batched(inner, array.level)
    return Batched(np.broadcast_to(array, (level.size, *array.shape)), level.number)


def refill(array, fill, arguments, stream):
    """The in-place form: `array` filled by fill(array, *arguments, stream)."""
    for level in mode.vmap_levels:
        batched = stripped(array, level.number) is not None
        given = any([isinstance(x, np.ndarray) and stripped(x, level.number) is not None for x in arguments])
        if level.randomness == "same" and given:
            raise RuntimeError(_SAME)
        if level.randomness == "different" and not batched:
            if given:
                raise RuntimeError(
                    "vmap: inplace bernoulli(self, *extra_args) is not possible because there exists a Tensor `other` "
                    "in extra_args that has more elements than `self`. This happened due to `other` being vmapped over "
                    "but `self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of "
                    "inplace arithmetic. If said operator is being called inside the PyTorch framework, please file a "
                    "bug report instead.")
            raise RuntimeError("vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will "
                               "appear like same randomness. If this is necessary for your usage, please file an issue "
                               "with functorch.")
    if all([level.randomness == "different" for level in mode.vmap_levels]):
        fill(array, *arguments, stream)
    else:
        array[...] = fill(room(array), *arguments, stream)


@family(factories._poisson, factories._binomial, gamma._gamma, gamma._dirichlet)
def _of_parameters(compute, level, stream, *arrays):
    """Rule for draws from a stream with parameters, for all samples at once."""
    size, shape = size_of(level, *arrays), np.broadcast_shapes(*[x.shape for x in arrays])
    return batch(compute(stream, *[spread(np.broadcast_to(x, shape), level, size) for x in arrays]), level)


@forward_rule(factories._categories)
def _categories(level, weights, *options):
    """Draws for all rows of all samples."""
    physical = weights.physical
    found = factories._categories(physical.reshape(-1, physical.shape[-1]), *options)
    return batch(found.reshape(*physical.shape[:-1], -1), level)


# ------------------------------------------------------------------ new tensors are batches beside a batch
def beside(input, result):
    """`result`, new memory, for each sample of `input`."""
    result._array = _spread_like(result._array, input._array)
    return result


def _spread_like(array, like):
    levels, sizes = [], []
    while type(like) is Batched:
        levels.append(like.level)
        like = like.physical
        sizes.append(like.shape[0])
    result = np.array(np.broadcast_to(array, (*sizes[::-1], *array.shape))) if levels else array
    for level in levels[::-1]:
        result = Batched(result, level)
    return result
