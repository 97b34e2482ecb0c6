"""Rules for operations whose forward function can compute all samples if it gets their dimensions."""
import numpy as np

from ...kernels.layout import as_array
from ...ops.creation import conversion
from ...ops.layout import rearrange
from ...ops.linalg import added, products
from ...ops.nn import pad
from ..batched import Batched, NotBatchable, aligned, axes_of, level_of, max_ndim
from ..dispatch import FAMILIES, WORDS, forward_rule
from .functions import apart, batch, side_by_side, size_of, some_of, spread


# ------------------------------------------------------------------ element by element
def _each_element(compute, o):
    def rule(level, *args):
        ndim = max_ndim(*args)
        return Batched(as_array(compute(*[aligned(x, level, ndim) for x in args])), level)
    return rule


# ------------------------------------------------------------------ along dimensions
def _along(compute, o):
    at = o.params.index("dim" if "dim" in o.params else "dims")

    def rule(level, *args):
        args = [np.asarray(x) if isinstance(x, np.generic) else x for x in args]
        arrays = [x for x in args if isinstance(x, np.ndarray)]
        ndim = max_ndim(*[x for x in arrays if type(x) is Batched])
        if any([x.ndim != ndim and (not ndim or level_of(x)) for x in arrays]):
            raise NotBatchable("arrays of different dimensions")
        size, given = size_of(level, arrays), list(args)
        if not ndim:                           # as one of one element
            given = [spread(x, level, size)[:, None] if isinstance(x, np.ndarray) else x for x in given]
            given[at] = (1,) if given[at] is None or isinstance(given[at], tuple) else 1
            return _of_single(batch(compute(*given), level))
        for i, x in enumerate(given):
            if isinstance(x, np.ndarray) and x.ndim == ndim:
                given[i] = spread(x, level, size)
        given[at] = axes_of(given[at], ndim)
        return batch(compute(*given), level)
    return rule


def _of_single(results):
    if results.__class__ in (tuple, list):
        return results.__class__([_of_single(x) for x in results])
    return results.reshape(())


def _rolled(compute):
    along = _along(compute, rearrange._roll.op)

    def rule(level, input, shifts, dims):
        if dims is not None:
            return along(level, input, shifts, dims)
        size = input.physical.shape            # each sample as one row
        return Batched(compute(input.physical.reshape(size[0], input.size), shifts, (1,)).reshape(size), level)
    return rule


FAMILIES[rearrange._roll.op.forward] = _rolled


# ------------------------------------------------------------------ stacks, of matrices for instance
def _of_stacks(compute, o):
    def rule(level, *args):
        size, arrays = size_of(level, args), [x for x in args[o.first:] if isinstance(x, np.ndarray)]
        if len({x.ndim for x in arrays}) > 1:
            raise NotBatchable("stacks of different dimensions")
        return batch(compute(*[spread(x, level, size) if isinstance(x, np.ndarray) else x for x in args]), level)
    return rule


# ------------------------------------------------------------------ examples one after the other
def _by_examples(compute, o):
    """In the arrays among the tensors, and in lists of one."""
    def rule(level, *args):
        size, given = some_of(level, args), list(args)
        for i, x in enumerate(given):
            if x.__class__ is list and x and isinstance(x[0], np.ndarray):
                given[i] = [side_by_side(x[0], level, size), *x[1:]]
            elif i >= o.first and isinstance(x, np.ndarray):
                if x.ndim < 2:
                    raise NotBatchable("no examples")
                given[i] = side_by_side(x, level, size)
        return apart(compute(*given), level, size)
    return rule


WORDS.update(elements=_each_element, dims=_along, leading=_of_stacks, examples=_by_examples)


# ------------------------------------------------------------------ copies
@forward_rule(conversion._clone)
def _clone(level, input, order):
    if order in ("K", "V"):
        return input.copy("K")
    if order == "C":
        return input.copy("C")
    return input.transpose(order).copy("C").transpose(sorted(range(len(order)), key=order.__getitem__))


@forward_rule(pad._constant)
def _constant(level, input, widths, value):
    return Batched(pad._constant(input.physical, ((0, 0), *widths), value), level)


# ------------------------------------------------------------------ products
def _matmul(a, b):
    """The product of matrices. Sums of float16 are in single precision. NotBatchable for bools, which have rules of
    their own."""
    if a.dtype.char == "?":
        raise NotBatchable("products of bools")
    if a.dtype.char == "e":
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return np.matmul(a, b)


@forward_rule(products._mm, products._mv, products._inner)
def _product(level, a, b):
    return _matmul(a, b)


@forward_rule(products._linear)
def _linear(level, input, weight, bias):
    result = _matmul(input, weight.T)
    if bias is None:
        return result
    if type(bias) is not Batched and result.dtype == bias.dtype:
        result += bias
        return result
    return result + bias


@forward_rule(added._addmm, added._baddbmm, added._addmv)
def _plus_product(level, beta, alpha, input, a, b):
    product = _matmul(a, b)
    if type(product) is not Batched or product.level != level:
        product = Batched(np.array(spread(product, level, size_of(level, input))), level)
    return added._plus(input, product, beta, alpha)
