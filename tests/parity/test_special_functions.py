"""torch.special and the incomplete gamma functions over wide grids of numbers: values to rounding, poles, borders of
domains, infinities, NaN and the sign of zero, gradients twice, out=, numbers as operands and what is refused."""
import itertools

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome

pytestmark = pytest.mark.filterwarnings("ignore")
NAN, INF = float("nan"), float("inf")
POINTS = [0., -0., 1., -1., .5, -.5, 2., -2., 5., -5., 8., -8., 2.09, -2.09, 8.3203353, 103.892, 1e-6, -1e-9, 1e-40,
          1e-300, 1e30, -1e30, 26.6, -26.6, -26.7, -6.1, 50., 5e7, 89., -89., INF, -INF, NAN]
GRID = np.concatenate([POINTS, np.linspace(-30, 30, 601), np.linspace(0, 1, 201), np.geomspace(1e-12, 1e8, 201),
                       -np.geomspace(1e-12, 1e8, 201), np.linspace(-110, 110, 221)])
DTYPES = [("float32", 3e-6), ("float64", 3e-13)]
DIFFERENTIABLE = ["erfcx", "log_ndtr", "ndtri", "ndtr", "entr", "i0", "i1", "i0e", "i1e", "erfinv", "gammaln", "psi"]
BESSEL = ["airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1",
          "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
          "spherical_bessel_j0"]
RECURRENT = ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]
CHEBYSHEV = [f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"]
OF_TWO = [*RECURRENT, *CHEBYSHEV, "gammainc", "gammaincc", "xlog1py", "xlogy", "zeta"]


def tensors(t, dtype, *arrays):
    return [t.tensor(array.tolist(), dtype=getattr(t, dtype)) for array in arrays]


def crossed(*values):
    return [array.ravel() for array in np.meshgrid(*values)]


@pytest.mark.parametrize("dtype, tolerance", DTYPES)
@pytest.mark.parametrize("name", [*DIFFERENTIABLE, *BESSEL])
def test_values(name, dtype, tolerance):
    same_outcome(lambda t: getattr(t.special, name)(*tensors(t, dtype, GRID)), tolerance=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["bessel_j1", "modified_bessel_i1", "erfcx", "log_ndtr", "xlog1py", "xlogy"])
def test_signs_of_zero(name, dtype):
    def program(t):
        x = tensors(t, dtype, np.array([0., -0., 1e-30]))
        result = getattr(t.special, name)(*x, *x * name.startswith("xlog"))
        return t.signbit(result), result == 0
    same_outcome(program)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*RECURRENT, *CHEBYSHEV])
def test_polynomials(name, dtype):
    """The recurrences to the last bit in single precision. (In double torch's are fused, and NumPy has no such
    product. At NaN torch returns what it has not set, of degree 2 and more.)"""
    single = dtype == "float32"
    xs = np.concatenate([[-0., 0., 1., -1., INF, -INF, 1 - 2 ** -24, 2 ** -24 - 1, 1 - 2 ** -25],
                         np.linspace(-1.5, 1.5, 61), np.linspace(-20, 20, 21)])
    degrees = [-3, -1, -.5, 0, .5, 1, 2, 2.9, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 127, 128, 129, NAN, INF, -INF]
    x, n = crossed(xs, degrees if name not in RECURRENT[2:] else degrees[:-3])
    scale = 0 if single and name in RECURRENT else 2e-4 if single else 1e-11

    def program(t):
        result = getattr(t.special, name)(*tensors(t, dtype, x, n))
        return result if single else t.where(result.abs() < 1e12, result, t.sign(result))
    same_outcome(program, tolerance=scale)


@pytest.mark.parametrize("name", [*RECURRENT, *CHEBYSHEV])
def test_polynomials_at_nan(name):
    same_outcome(lambda t: getattr(t.special, name)(t.tensor([NAN] * 5), t.tensor([-1., 0., 1., 7., 130.])))


@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-6), ("float64", 1e-13)])
@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma(name, dtype, tolerance):
    """Where each of the expansions begins, too: 20, 200, and near the diagonal. (In float32 torch loses digits of
    large `a`.)"""
    a = np.concatenate([[0., -0., 1., -1., INF, -INF, NAN, .5, 2., 20., 200.], np.geomspace(1e-5, 1e5, 41),
                        np.linspace(15, 30, 7), np.linspace(150, 250, 7)])
    one, two = crossed(a, np.concatenate([a, np.linspace(.1, 5, 15)]))
    large = np.geomspace(5, 1e3 if dtype == "float32" else 1e5, 25)[:, None]
    near = large * (1 + np.linspace(-6, 6, 13) / np.sqrt(large))
    one = np.concatenate([one, np.repeat(large, 13)])
    two = np.concatenate([two, near.ravel()])
    same_outcome(lambda t: getattr(t, name)(*tensors(t, dtype, one, two)), tolerance=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-6), ("float64", 1e-12)])
def test_zeta(dtype, tolerance):
    s = [0., -1., .5, 1., 1.0001, 1.5, 2., 3., 4., 7.5, 10., 50., 100., 300., 1e4, INF, -INF, NAN]
    q = [0., -0., 1., -1., -2., INF, -INF, NAN, .5, 2., 9., 10., 11., 1e-5, 1e10, *np.linspace(-12, 20, 129)]
    same_outcome(lambda t: t.special.zeta(*tensors(t, dtype, *crossed(s, q))), tolerance=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 3e-6), ("float64", 1e-13)])
def test_lgamma_near_its_zeros(dtype, tolerance):
    """As digits, not only as differences from zero."""
    def program(t):
        away = tensors(t, dtype, np.concatenate([np.geomspace(1e-3, .45, 40), -np.geomspace(1e-3, .45, 40)]))[0]
        return t.lgamma(1 + away) / away, t.lgamma(2 + away) / away
    same_outcome(program, tolerance=tolerance)


@pytest.mark.parametrize("name", DIFFERENTIABLE[:5])
def test_gradients(name):
    def program(t):
        x, = tensors(t, "float64", np.concatenate([np.linspace(-5, 5, 41), np.linspace(.01, .99, 21)]))
        x.requires_grad_()
        y = getattr(t.special, name)(x)
        first, = t.autograd.grad(y.sum(), x, create_graph=True)
        second, = t.autograd.grad(first.sum(), x)
        return y.grad_fn, first, second
    same_outcome(program, tolerance=1e-11)


@pytest.mark.parametrize("wanted", [(False, True), (True, False), (True, True)])
@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "xlog1py", "zeta"])
def test_gradients_of_two(name, wanted):
    def program(t):
        x = t.tensor([0., 2., 3., 1.5], dtype=t.float64, requires_grad=wanted[0])
        y = t.tensor([-1., 2., .25, 7.], dtype=t.float64, requires_grad=wanted[1])
        z = getattr(t.special, name)(x, y)
        grads = t.autograd.grad(z.sum(), [v for v in (x, y) if v.requires_grad], create_graph=True)
        return z.grad_fn, grads, t.autograd.grad(sum(g.sum() for g in grads), x if wanted[0] else y)
    same_outcome(program, tolerance=1e-12)


@pytest.mark.parametrize("name", ["xlog1py", "xlogy", "zeta"])
@pytest.mark.parametrize("number", [2, .5])
def test_numbers(name, number):
    """Either operand, with the node that torch has for it, and its gradient where there is one."""
    def program(t, first):
        x = t.tensor([2., 3.], requires_grad=True)
        y = getattr(t.special, name)(*((number, x) if first else (x, number)))
        return y, y.grad_fn, t.autograd.grad(y.sum(), x) if first or name != "zeta" else ()
    for first in (True, False):
        same_outcome(lambda t: program(t, first))


@pytest.mark.parametrize("name", [*RECURRENT, *CHEBYSHEV, "zeta"])
def test_kinds_of_operands(name):
    """Numbers, integers and mixed dtypes, by position and keyword, broadcast; by numbers alone nothing is computed."""
    function = f"t.special.{name}"
    lines = [f"{function}(x, 3)", f"{function}(2, x)", f"{function}(x, 3.7)", f"{function}(x, t.tensor([[2], [5]]))",
             f"{function}(t.tensor([1, 2, 3]), 4)", f"{function}(t.tensor([True, False]), t.tensor([2, 3]))",
             f"{function}(x.double(), x)", f"{function}(x, x[0].double())", f"{function}(x.half(), x)",
             f"{function}(x.half(), 3)", f"{function}(x.bfloat16(), 3)", f"{function}(x + 1j, 3)",
             f"{function}(x[:2], x)", f"{function}(x, 3, out=t.empty(3, dtype=t.float64))",
             f"{function}(x, 3, out=t.empty(3, dtype=t.int64))",
             f"{function}(x.clone().requires_grad_(), 3).requires_grad"]
    lines += [] if name == "zeta" else [f"{function}(x=x, n=3)", f"{function}(n=x, x=3)"]
    for line in lines:
        same_outcome(lambda t: eval(line, {"t": t, "x": t.tensor([1.25, 2.5, 4.])}), tolerance=1e-6)


@pytest.mark.parametrize("name", [*BESSEL, *DIFFERENTIABLE[:5]])
def test_dtypes(name):
    lines = [f"f(x.to(t.{d}))" for d in ("int64", "bool", "uint8", "uint16", "float16", "bfloat16", "complex64")]
    lines += ["f(x, out=t.empty(3, dtype=t.float64))", "f(x, out=t.empty(3, dtype=t.int32))", "f(x.t()[::2])",
              "f(1.)", "f(t.tensor(.25))", "f(t.empty(0, 3))", "f(x.clone().requires_grad_()).requires_grad"]
    for line in lines:
        same_outcome(lambda t: eval(line, {"t": t, "f": getattr(t.special, name), "x": t.tensor([.25, .5, .75])}),
                     tolerance=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["ndtr", "entr", "i0", "i0e", "xlog1py", "gammainc", "gammaincc"])
def test_halves(name, dtype):
    """To the last bit but where float32 itself differs."""
    def program(t):
        x, y = tensors(t, dtype, *crossed(np.linspace(-3, 12, 31), np.linspace(-3, 12, 31)))
        return getattr(t.special, name)(x, y) if name in OF_TWO else getattr(t.special, name)(x)
    same_outcome(program, tolerance=5e-4 if dtype == "float16" else 4e-3)


@pytest.mark.parametrize("name", ["gammainc", "legendre_polynomial_p", "zeta", "xlog1py"])
def test_memory_order(name):
    def program(t):
        wide, tall = t.full((3, 4), 2.).t(), t.full((4, 3), 3.)
        function = getattr(t.special, name)
        results = [function(wide, tall), function(tall, wide), function(t.full((10, 1, 5), 2.), t.full((10, 5), 3.))]
        return results, [y.stride() for y in results]
    same_outcome(program)


def test_incomplete_gamma_as_methods():
    def program(t):
        a, x = t.tensor([1., 2.5]), t.tensor([.5, 3.])
        wide = t.empty(2, dtype=t.float64)
        return (a.igamma(x), a.igammac(x), a.clone().igamma_(x), a.clone().igammac_(x), t.igamma(a, x, out=wide), wide,
                t.igamma(a.half(), x), t.igamma(t.tensor([1, 2]), x))
    same_outcome(program, tolerance=1e-6)


@pytest.mark.parametrize("line", ["t.igamma(a, 2.)", "t.igamma(2., a)", "t.igamma(t.tensor([1]), t.tensor([2]))",
                                  "t.igammac(t.tensor([True]), t.tensor([True]))", "t.igamma(a, a + 1j)",
                                  "t.tensor([1, 2]).igamma_(a)", "t.special.gammainc(a, 2.)",
                                  "t.special.gammaincc(2., a)", "t.igamma(a, t.ones(3))"])
def test_refused_incomplete_gamma(line):
    same_outcome(lambda t: eval(line, {"t": t, "a": t.tensor([1., 2.])}))


def test_names():
    """Every public function of torch.special."""
    import torch

    import tinytorch
    names = {name for name, value in vars(torch.special).items() if callable(value) and name[0] != "_"
             and not isinstance(value, type)}
    assert len(names) > 50 and names <= set(dir(tinytorch.special))
    methods = itertools.product(["igamma", "igamma_", "igammac", "igammac_"], [torch, tinytorch])
    assert not [name for name, module in methods if not hasattr(module.Tensor, name)]


@pytest.mark.parametrize("dtype, units", [(np.float32, 1), (np.float64, 4), (np.float16, 1)])
def test_erfinv_everywhere(dtype, units):
    """Within so many units in the last place of torch's, near 0, near 1 and between."""
    random = np.random.default_rng(0)
    small = 10.0 ** random.uniform(-16, 0, 20000)
    values = np.concatenate([random.uniform(-1, 1, 20000), 1 - small, small - 1, small, -small,
                             [0.0, -0.0, 1.0, -1.0, 2.0, -np.inf, np.nan]]).astype(dtype)
    theirs, ours = (lib.from_numpy(values).erfinv().numpy() for lib in (torch, tinytorch))
    known = np.isfinite(theirs)
    assert np.array_equal(ours[~known], theirs[~known], equal_nan=True)
    assert np.array_equal(np.signbit(ours[known]), np.signbit(theirs[known]))
    assert (np.abs(ours[known].astype(float) - theirs[known]) <= units * np.spacing(np.abs(theirs[known]))).all()
