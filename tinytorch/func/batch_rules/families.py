"""Operations whose forward function computes on all samples if it is told where their dimensions are."""
import numpy as np

from ...autograd.node import Op
from ...autograd.op import _binary, _unary
from ...kernels.layout import as_array
from ...ops.creation import conversion
from ...ops.layout import rearrange
from ...ops.linalg import added, products
from ...ops.nn import pad
from ..batched import Batched, NotBatchable, aligned, level_of, max_ndim
from ..dispatch import FAMILIES, forward_rule, found_families
from .functions import axes_of, size_of, spread


def _results(results, level):
    """What a forward function gave for all samples, auxiliary values among it."""
    if isinstance(results, np.ndarray):
        return Batched(results, level)
    if results.__class__ in (tuple, list):
        return results.__class__([_results(x, level) for x in results])
    return results if results is None or not isinstance(results, np.generic) else Batched(np.asarray(results), level)


# ------------------------------------------------------------------ element by element
def _each_element(compute):
    def rule(level, *args):
        ndim = max_ndim(*args)
        return Batched(as_array(compute(*[aligned(x, level, ndim) for x in args])), level)
    return rule


def _belongs(op, family):
    """Has the forward functions of an operation taken together as the family takes them."""
    for forward in (op.forward, op.in_bfloat16):
        if forward is not None:
            FAMILIES[forward] = family


@found_families
def _elementwise(calls):
    for call in calls:
        if call.make[0] is _unary or call.make[0] is _binary and not (
                call.op.is_product or call.op.name in ("mv", "dot", "vdot")):
            _belongs(call.op, _each_element)


_EACH = {"nn.activation": ("_log_sigmoid",), "nn.gelu": ("_gelu_backward",), "nn.relu": ("_leak",),
         "layout.masked": ("_masked_fill",), "elementwise.complex": ("_complex",),
         "elementwise.power": ("_ldexp", "_number_to_power")}
for _op in list(Op.registry):
    if _op.forward.__name__ in _EACH.get(_op.forward.__module__.partition(".ops.")[2], ()):
        _belongs(_op, _each_element)


# ------------------------------------------------------------------ along dimensions
def _along(at):
    """The family of what is done along the dimensions in argument number `at`."""
    def family(compute):
        def rule(level, *args):
            args = [np.asarray(x) if isinstance(x, np.generic) else x for x in args]
            arrays = [x for x in args if isinstance(x, np.ndarray)]
            ndim = max_ndim(*[x for x in arrays if type(x) is Batched])
            if any([x.ndim != ndim and (not ndim or level_of(x)) for x in arrays]):
                raise NotBatchable("arrays of different dimensions")
            size, given = size_of(level, arrays), list(args)
            if not ndim:                       # as one of one element
                given = [spread(x, level, size)[:, None] if isinstance(x, np.ndarray) else x for x in given]
                given[at] = (1,) if given[at] is None or isinstance(given[at], tuple) else 1
                return _of_single(_results(compute(*given), level))
            for i, x in enumerate(given):
                if isinstance(x, np.ndarray) and x.ndim == ndim:
                    given[i] = spread(x, level, size)
            given[at] = axes_of(given[at], ndim)
            return _results(compute(*given), level)
        return rule
    return family


def _of_single(results):
    if results.__class__ in (tuple, list):
        return results.__class__([_of_single(x) for x in results])
    return results.reshape(())


_ALONG = set("""_softmax _log_softmax _softmax_backward _log_softmax_backward vector_norm_over _sum _mean _prod _cumsum
    _cumprod _logcumsumexp _amax _amin _aminmax _var _std _var_mean _std_mean _logsumexp _nansum _scatter
    _scatter_add _fft_c2c _fft_r2c _fft_c2r _cross""".split())
for _op in list(Op.registry):
    if _op.forward.__name__ in _ALONG:
        for _name in ("dim", "dims"):
            if _name in _op.params:
                _belongs(_op, _along(_op.params.index(_name)))


def _rolled(compute):
    along = _along(2)(compute)

    def rule(level, input, shifts, dims):
        if dims is not None:
            return along(level, input, shifts, dims)
        size = input.physical.shape            # each sample as one row
        return Batched(compute(input.physical.reshape(size[0], input.size), shifts, (1,)).reshape(size), level)
    return rule


_belongs(rearrange._roll.op, _rolled)


# ------------------------------------------------------------------ matrices, which are in the last two dimensions
def _of_matrices(at):
    """The family of what is done to stacks of matrices, those in the arguments `at`."""
    def family(compute):
        def rule(level, *args):
            given = list(args)
            arrays = [given[i] for i in at if isinstance(given[i], np.ndarray)]
            size, ndim = size_of(level, arrays), max_ndim(*arrays)
            if any([x.ndim != ndim for x in arrays]) or ndim < 2:
                raise NotBatchable("stacks of different dimensions")
            for i in at:
                if isinstance(given[i], np.ndarray):
                    given[i] = spread(given[i], level, size)
            return _results(compute(*given), level)
        return rule
    return family


_MATRICES = {"linalg.decompositions": ("_slogdet", "_det", "_inv", "_cholesky"), "linalg.functions": ("_matrix_exp",),
             "linalg.triangular": ("_solve_triangular",)}
for _op in list(Op.registry):
    _room = _op.forward.__module__.partition(".ops.")[2]
    if _op.forward.__name__ in _MATRICES.get(_room, ()):
        FAMILIES[_op.forward] = _of_matrices([i for i, name in enumerate(_op.params) if name in (
            "input", "A", "B", "x1", "x2")])


# ------------------------------------------------------------------ copies
def _converted(compute):
    return lambda level, input, *args: Batched(compute(input.physical, *args), level)


FAMILIES[conversion._to_copy.op.forward] = _converted


@forward_rule(conversion._clone)
def _clone(level, input, order):
    if order in ("K", "V"):
        return input.copy("K")
    if order == "C":
        return input.copy("C")
    return input.transpose(order).copy("C").transpose(sorted(range(len(order)), key=order.__getitem__))


def _c_order(compute):
    return lambda level, input: Batched(input.physical.copy(), level)


for _op in list(Op.registry):
    if _op.forward.__qualname__ == "_copying.<locals>.primitive":
        FAMILIES[_op.forward] = _c_order


@forward_rule(pad._constant)
def _constant(level, input, widths, value):
    return Batched(pad._constant(input.physical, ((0, 0), *widths), value), level)


# ------------------------------------------------------------------ products
def _matmul(a, b):
    """float16 is added up in single precision; NotBatchable for bools, which have rules of their own."""
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
