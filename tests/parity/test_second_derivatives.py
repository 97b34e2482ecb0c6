"""Second derivatives of every operator of torch's op_db that exists here: nested forward mode and double backward give
what central differences of the first derivative give, along a curve through the inputs of a sample. No gradient of
torch is asked for. Operators are called as torch's own check of gradients calls them (`gradcheck_wrapper`)."""
import functools

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import OPS, Comparisons, Untranslatable, convert, described, error_of, namesake, samples, tensors
from .test_op_db_forward import FORWARD, outputs_of, replaced

STEP, TOLERANCE = 1e-5, 1e-4


# ------------------------------------------------------------------ two ways, and a third
def _curve(name, sample, seed):
    """A function of a number: a random combination of the outputs for inputs that move along a random parabola. None if
    there is no such thing."""
    function, wrapper = namesake(OPS[name].op, OPS[name].name), OPS[name].gradcheck_wrapper
    if not wrapper.__name__.startswith("gradcheck_wrapper_masked"):            # those leave out what is not finite
        function = functools.partial(convert(wrapper), function)
    try:
        *arguments, process = convert(sample)
    except Untranslatable:
        return None
    random = np.random.RandomState(seed)
    inputs = {id(t): t.detach() for t in tensors(arguments) if t.requires_grad and t.dtype == tinytorch.float64}
    directions = {key: (_random_like(t, random), _random_like(t, random)) for key, t in inputs.items()}

    def at(s):
        moved = {key: t + s * directions[key][0] + s * s * directions[key][1] for key, t in inputs.items()}
        tinytorch.manual_seed(0)
        weights = np.random.RandomState(seed)
        outputs = outputs_of(function, process, replaced(arguments, moved))
        parts = [part for y in outputs for part in ((y.real, y.imag) if y.is_complex() else (y,))]
        return sum([(tinytorch.where(part.isfinite(), part, 0.0) * _random_like(part, weights)).sum() for part in parts
                    if part.is_floating_point()], s * 0)
    return at if inputs else None


def _random_like(t, random):
    return tinytorch.tensor(random.standard_normal(tuple(t.shape)))


def _by_differences(first, curve):
    """The second derivative by differences of first ones; None where they are not finite, or at a kink."""
    found = [(first(curve, h) - first(curve, -h)) / (2 * h) for h in (STEP, STEP / 4)]
    if not np.isfinite(found).all():
        return None
    return found[0] if abs(found[0] - found[1]) <= TOLERANCE * max(1, abs(found[0])) else None


def _number(s):
    return tinytorch.tensor(s, dtype=tinytorch.float64)


def _derivative(curve, s):
    return tinytorch.func.jvp(curve, (s,), (tinytorch.ones_like(s),))[1]


def _tangent(curve, s):
    return _derivative(curve, _number(s)).item()


def _nested_forward(curve, s):
    return _derivative(functools.partial(_derivative, curve), _number(s)).item()


def _slope(curve, s):
    s = _number(s).requires_grad_()
    return tinytorch.autograd.grad(curve(s), s)[0].item()


def _double_backward(curve, s):
    s = _number(s).requires_grad_()
    slope, = tinytorch.autograd.grad(curve(s), s, create_graph=True)
    return tinytorch.autograd.grad(slope, s)[0].item()


def _is_refusal(error):
    return isinstance(error, (NotImplementedError, RuntimeError)) and "implement" in str(error)


#: How each second derivative is computed, and the first one of its kind.
WAYS = {"nested forward": (_nested_forward, _tangent), "double backward": (_double_backward, _slope)}


# ------------------------------------------------------------------ the tables
#: Whose gradient, as torch's, is not the derivative: forward mode, which is, is compared with differences of tangents.
OTHER_GRADIENT = {
    "as_strided_scatter": "the gradient of the input is that of what is replaced",
    **dict.fromkeys(["nn.functional.max_unpool1d", "nn.functional.max_unpool2d", "nn.functional.max_unpool3d"],
                    "of several elements put in one place all have the gradient"),
}
DERIVED_ONCE = ["nn.functional.ctc_loss", "_segment_reduce.lengths", "_segment_reduce.offsets"]
#: The ways that an entry refuses, for samples that have a second derivative: torch refuses these too.
REFUSED = {
    **dict.fromkeys(["cdist", "nn.functional.hardsigmoid", "nn.functional.multi_margin_loss",
                     "nn.functional.multilabel_margin_loss", "nn.functional.pdist"], {"double backward"}),
    **dict.fromkeys(["nn.functional.scaled_dot_product_attention", *DERIVED_ONCE], set(WAYS)),
}
LEFT_OUT = {
    "as_strided.partial_views": "it reads memory around the inputs, which those that have moved do not have",
    **dict.fromkeys(["half", "bfloat16", "chalf"], "differences of what is rounded to few digits are not good enough"),
    **dict.fromkeys(["nn.functional.linear_cross_entropy.chunked", "nn.functional.linear_cross_entropy.chunked_none"],
                    "its gradient is computed with its value, and is constant to what derives it, as in torch"),
    **dict.fromkeys(["nn.functional.cosine_embedding_loss", "nn.functional.hinge_embedding_loss"],
                    "it jumps where the target, which is among the inputs, is no longer 1 or -1"),
    "masked.logaddexp": "the logarithm of zero, for what is left out, makes it NaN, as in torch",
}
NOTHING = {
    **LEFT_OUT,
    **dict.fromkeys(DERIVED_ONCE, "both ways are refused"),
    "linalg.norm.subgradients_at_zero": "all samples are at kinks",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.counted(nothing=NOTHING)
@pytest.mark.parametrize("name", [name for name in FORWARD if OPS[name].supports_dtype(torch.float64, "cpu")])
def test_second_derivatives(name):
    if name in LEFT_OUT:
        return
    refused = set()
    chosen = samples(OPS[name], torch.float64, 3, requires_grad=True)[-2:]     # the first is often trivial
    for number, sample in enumerate(chosen):
        curve = _curve(name, sample, number)
        for way, (second, first) in WAYS.items() if curve else ():
            expected = _by_differences(first if name in OTHER_GRADIENT else _slope, curve)
            if expected is None:
                continue
            error, found = error_of(lambda: second(curve, 0.0))
            if _is_refusal(error):
                refused.add(way)
            elif error is not None:
                raise error
            else:
                assert abs(found - expected) <= TOLERANCE * max(1, abs(expected)), (
                    f"{name} {described(sample[:3])}: {way} {found}, by differences {expected}")
                Comparisons.values += 1
    assert refused == REFUSED.get(name, set())


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 2.5, 3, float("inf")])
@pytest.mark.parametrize("function", [tinytorch.pdist, lambda x, p: tinytorch.cdist(x, x[1:], p)])
def test_distances(function, p):
    """Two of the points are one, and two differ in one coordinate alone, which keep so; torch does not derive this."""
    start, along, across = [np.random.RandomState(0).standard_normal((3, 4, 3))[k] for k in range(3)]
    for rows in (start, along, across):
        rows[1] = rows[0]
        rows[2, :2] = rows[0, :2]
    if p == 1.5:                               # infinite where one coordinate does not differ
        start[2, :2] += 1
    _check_nested(lambda s, x, v, w: function(x + s * v + s * s * w, p).square().sum(-1).cos().sum(),
                  start, along, across)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("weight", [None, tinytorch.tensor([0.5, 2.0, 3.0], dtype=tinytorch.float64)])
def test_multi_margin_loss(p, weight):
    start, along, across = np.random.RandomState(0).standard_normal((3, 5, 3))
    target = tinytorch.tensor([0, 2, 1, 1, 0])
    _check_nested(lambda s, x, v, w: tinytorch.nn.functional.multi_margin_loss(
        x + s * v + s * s * w, target, p, 0.5, weight), start, along, across)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("unitriangular", [False, True])
def test_triangular_solve(upper, transpose, unitriangular):
    """Matrices that are not triangular: what is not read has no tangent, other than in torch."""
    start, along, across = np.random.RandomState(0).standard_normal((3, 3, 5))
    _check_nested(lambda s, x, v, w: tinytorch.triangular_solve(
        *(x + s * v + s * s * w).split([2, 3], 1), upper, transpose, unitriangular)[0].sin().sum(),
        start, along, across)


def _check_nested(function, *arrays):
    arrays = [tinytorch.tensor(a) for a in arrays]

    def curve(s):
        return function(s, *arrays)
    expected = _by_differences(_slope, curve)
    assert expected == pytest.approx(_by_differences(_tangent, curve), rel=TOLERANCE)
    assert _nested_forward(curve, 0.0) == pytest.approx(expected, rel=TOLERANCE)
