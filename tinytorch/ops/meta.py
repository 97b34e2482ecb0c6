"""Operations on tensors of the device `meta` whose forward needs numbers: rules for the shape and dtype of the result.

Most operations need no rule here: their forward only calls NumPy's functions, which give shape and dtype for meta
arrays (kernels/meta.py). RULES holds the rules of the others, and an operation without a rule is refused. The module is
loaded when the first meta tensor is made.
"""
import copy
import functools

import numpy as np

from ..autograd.node import shape_of
from ..device import META
from ..kernels.errstate import ignored
from ..kernels.layout import channels_last, in_channels_last, operand_order
from ..kernels.meta import Meta, meta_like, new_meta  # noqa: F401
from ..kinds.lazy import NoValues
from ..kinds.table import Kind, enter
from ..seam import UNSEEN
from ..tensor import Tensor, wrap

#: file.function of the forward, or the name of the operation -> function(arguments before the first tensor, *arguments
#: from the first tensor on), which gives the result.
RULES = {}


def rule(*names):
    """Decorator: the function is the rule of the forwards or operations of these names."""
    def decorate(function):
        RULES.update(dict.fromkeys(names, function))
        return function
    return decorate


@rule("gelu._gelu", "norm._layer_norm", "norm._batch_norm", "norm._scale_shift", "group_norm._group_norm",
      "pool._max_pool_grad", "rearrange._roll", "dropout._times", "tril", "triu", "bernoulli", "index_copy",
      "cumulative._cumsum", "cumulative._cumprod", "cumulative._logcumsumexp", "scatter._scatter",
      "scatter._scatter_combined", "scatter._scatter_add")
def _like_input(before, input, *rest):
    return input.copy("K")


@rule("statistics._var", "statistics._std")
def _spread(before, input, dim, freedom, keepdim, whole):
    return (input.real if input.dtype.kind == "c" else input).sum(dim, keepdims=keepdim)


@rule("statistics._var_mean", "statistics._std_mean")
def _spread_and_mean(before, input, dim, freedom, keepdim, whole):
    return _spread(before, input, dim, freedom, keepdim, whole), input.sum(dim, keepdims=keepdim)


@rule("softmax._softmax", "softmax._log_softmax", "attention._safe_softmax", "gelu._gelu_backward")
def _contiguous(before, input, *rest):
    return input.copy("C")


@rule("embedding._embedding", "embedding._embedding_of_rows")
def _rows(before, weight, indices, *rest):
    return new_meta((*indices.shape, *weight.shape[1:]), weight.dtype)


@rule("conv._conv")
def _convolved(before, input, weight, *rest):
    return _in_order(before[0], new_meta((len(input), len(weight), *before[2]), input.dtype))


@rule("conv._conv_input_grad")
def _transposed(before, input, weight, *rest):
    return _in_order(before[0], new_meta((len(input), weight.shape[1] * before[5], *before[1]), input.dtype))


def _in_order(last, result):
    if last[0] is not True:
        return result
    return new_meta(result.shape, result.dtype, (0, *range(2, result.ndim), 1))


@rule("rearrange._repeat")
def _repeated(before, input, repeats):
    return np.tile(input, repeats)


@rule("pad._constant")
def _padded(before, input, widths, value):
    missing = [(0, 0)] * (input.ndim - len(widths))
    return new_meta(tuple([n + a + b for n, (a, b) in zip(input.shape, [*missing, *widths])]), input.dtype)


@rule("interpolate._resize")
def _resized(before, input):
    return _with_sizes(input, before[1])


def _with_sizes(input, sizes):
    """A result in the memory format of `input` whose last dimensions have these sizes."""
    result = new_meta((*input.shape[:input.ndim - len(sizes)], *sizes), input.dtype)
    if result.ndim in (4, 5) and result.ndim == len(sizes) + 2 and channels_last(input):
        return in_channels_last(result)
    return result


@rule("pool._max_pool", "pool._avg_pool", "adaptive_pool._adaptive_avg")
def _pooled(before, input, *rest):
    return _with_sizes(input, before[0])


@rule("pool._max_and_indices", "adaptive_pool._adaptive_max")
def _with_indices(before, input):
    result = _pooled(before, input)
    return result, result.astype(np.int64)


@rule("norms.vector_norm_over")
def _norm(before, input, p, dim, keepdim):
    return (input.real if input.dtype.kind == "c" else input).sum(dim, keepdims=keepdim)


@rule("diagonal._embed")
def _embedded(before, input, shape, *rest):
    return new_meta(tuple(shape), input.dtype)


@rule("pixel_shuffle._shuffle")
def _shuffled(before, input, factor):
    *batch, c, h, w = input.shape
    return new_meta((*batch, c // factor ** 2, h * factor, w * factor), input.dtype)


@rule("pixel_shuffle._unshuffle")
def _unshuffled(before, input, factor):
    *batch, c, h, w = input.shape
    return new_meta((*batch, c * factor ** 2, h // factor, w // factor), input.dtype)


@rule("rnn._rnn", "rnn._gru")
def _recurrent(before, input, hx, w_ih, w_hh, *rest):
    sizes, batch_first = before[-3:-1]
    if sizes is None:
        count = input.shape[0 if batch_first else 1]
    else:
        count = sizes[0]
    output = new_meta((*input.shape[:-1], w_hh.shape[1]), input.dtype)
    if sizes is None and batch_first:          # in memory the steps are the first dimension
        output = new_meta(output.shape, input.dtype, (1, 0, 2))
    return output, new_meta((1, count, w_hh.shape[1]), input.dtype)


@rule("rnn._lstm")
def _long_short(before, input, hx, cx, w_ih, w_hh, *rest):
    output, h = _recurrent(before, input, hx, w_ih, w_hh)
    return output, h, new_meta((*h.shape[:2], w_hh.shape[0] // 4), input.dtype)


@rule("scatter._gather")
def _gathered(before, input, dim, index):
    return new_meta(index.shape, input.dtype)


@rule("cross_entropy._nll_loss", "cross_entropy._cross_entropy")
def _loss(before, input, target, weight, ignore_index, reduction, *rest):
    return new_meta(target.shape if reduction == "none" else (), input.dtype)


@rule("attention._attend")
def _attended(before, query, key, value):
    return operand_order(new_meta((*query.shape[:-1], value.shape[-1]), query.dtype), query)


@rule("normal")
def _normal(before, mean, std):
    like = mean if isinstance(mean, np.ndarray) else std
    return new_meta(np.broadcast_shapes(np.shape(mean), np.shape(std)), like.dtype)


@rule("masked._masked_fill")
def _broadcast(before, input, mask, value):
    shape = np.broadcast_shapes(input.shape, mask.shape)
    return input.copy("K") if shape == input.shape else new_meta(shape, input.dtype)


class _WithoutNumbers(Kind):
    """The handler of primitives with an argument on `meta`. Its results have no numbers."""

    def run(self, o, call, args, error):
        """RuntimeError for tensors on both devices, NotImplementedError for an operation without a rule."""
        if not isinstance(error, NoValues):
            return UNSEEN
        devices = [x.device for x in args if isinstance(x, Tensor) and x._array.ndim]
        for device in devices:
            if device is not devices[0]:
                raise RuntimeError(f"Tensor on device {device} is not on the expected device {devices[0]}!") from None
        call = getattr(call, "plain", call)
        if META not in call.stored:
            call.stored = {**call.stored, META: _variant(call)}
        return call.stored[META](*args)


def _variant(call):
    """A primitive like `call` whose forward gives shapes."""
    o = copy.copy(call.op)
    forward = call.op.forward
    compute = RULES.get(f"{forward.__module__.rpartition('.')[2]}.{forward.__name__}") or RULES.get(o.name)
    if compute is None and (o.elementwise or o.batches == "elements"):
        compute = functools.partial(_by_element, forward)
    if compute is None:
        raise NotImplementedError(f"aten::{o.name} is not implemented for tensors on the device meta")

    def shaped(*args):
        result = compute(args[:o.first], *args[o.first:])
        return (result, []) if o.aux else result
    o.forward, o.run, o.run_recorded = shaped, _gradients, _gradients
    o.batched = o.run_of_batches = o.ufunc = None
    make, flags = call.make
    return make(o, shaped, *flags)


def _gradients(g, saved, edges):
    """The gradients, without numbers: each has the shape of its input."""
    one = next(x for x in g if x is not None) if isinstance(g, (list, tuple)) else g
    array = one._array if isinstance(one, Tensor) else one
    made = [None if edge is None else new_meta(tuple(shape_of(edge)), array.dtype) for edge in edges]
    if array is one:
        return made
    return [None if d is None else wrap(d) for d in made]


def _by_element(forward, before, *args):
    """The result of an elementwise operation. Its dtype is found by calling the forward with single elements."""
    arrays = [x for x in args if isinstance(x, np.ndarray)]
    with ignored():
        sample = forward(*before, *[np.ones((1,) * x.ndim, x.dtype) if isinstance(x, np.ndarray) else x for x in args])
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    sample = sample[0] if isinstance(sample, tuple) else sample
    return operand_order(new_meta(shape, sample.dtype), *arrays)


enter(Meta, _WithoutNumbers())
