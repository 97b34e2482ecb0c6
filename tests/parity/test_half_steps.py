"""What torch computes in several steps in half precision, each rounded: results, gradients and second gradients of the
same programs under both modules, equal to the last bit."""
import numpy as np
import pytest

from .adapter import same_outcome, skip_without_avx512

pytestmark = pytest.mark.filterwarnings("ignore")
KINDS = ["float16", "bfloat16"]


def numbers(*shape, seed=0):
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def derived_twice(t, kind, function, *arrays):
    """The result, its gradients, and the gradients of those."""
    dtype = getattr(t, kind)
    leaves = [t.tensor(a).to(dtype).requires_grad_() for a in arrays]
    result = function(t, *leaves)
    weight = t.tensor(numbers(*result.shape, seed=9)).to(dtype).requires_grad_()
    grads = t.autograd.grad(result, leaves, weight, create_graph=True)
    recorded = [g for g in grads if g.requires_grad]
    weights = [t.tensor(numbers(*g.shape, seed=10)).to(dtype) for g in recorded]
    more = t.autograd.grad(recorded, [*leaves, weight], weights, allow_unused=True) if recorded else ()
    return result.detach(), [g.detach() for g in grads], [g for g in more if g is not None]


def check(kind, function, *arrays, **how):
    same_outcome(lambda t: derived_twice(t, kind, function, *arrays), tolerance=0, **how)


PLACES = np.random.RandomState(1).randint(0, 4, (6, 5))
FACTORS = np.where(numbers(6, 5, seed=2) > 1, 0, numbers(6, 5, seed=3))
PROGRAMS = {
    **{f"{name} {value}": (lambda t, a, b, c, name=name, value=value: getattr(t, name)(a, b, c, value=value),
                           numbers(5, 7), numbers(5, 7, seed=1), numbers(1, 7, seed=2) + 3)
       for name in ("addcmul", "addcdiv") for value in (1, 3.14, -0.7)},
    **{f"power {p}": (lambda t, x, p=p: x ** p, np.abs(numbers(90)) + 0.1) for p in (3, -2, -0.5, 0.5, 2.5, -1)},
    **{f"norm {p}": (lambda t, x, p=p: t.nn.functional.normalize(x, p, 0), numbers(1, 2, 4, 5))
       for p in (0.5, 1.5, 2.0, 3.0)},
    **{f"group_norm {shape} {groups}": (lambda t, x, w, b, groups=groups: t.nn.functional.group_norm(x, groups, w, b),
                                        numbers(*shape), numbers(shape[1], seed=1), numbers(shape[1], seed=2))
       for shape, groups in (((1, 3), 1), ((2, 4, 3), 2), ((3, 6, 2, 2), 3), ((2, 4, 5), 4))},
    "group_norm of no weight": (lambda t, x: t.nn.functional.group_norm(x, 2), numbers(2, 4, 3)),
    "product of two": (lambda t, a, b: (a * b) / (b / a), numbers(40), numbers(40, seed=1)),
    **{f"{name} {itself}": (lambda t, x, y, name=name, itself=itself: getattr(x, name)(
        0, t.tensor(PLACES if name == "scatter_reduce" else PLACES[:, 0]), y, "prod", include_self=itself),
        numbers(4, 5), FACTORS) for name in ("scatter_reduce", "index_reduce") for itself in (True, False)},
    "index_reduce of columns": (lambda t, x, y: x.index_reduce(1, t.tensor(PLACES[:, 0]), y, "prod"),
                                numbers(3, 4, 2), numbers(3, 6, 2, seed=1)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps(name, kind):
    skip_without_avx512(kind == "bfloat16" and name in ("norm 0.5", "norm 1.5"))
    check(kind, *PROGRAMS[name])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("scale", [1, 10])
def test_soft_margin_loss(kind, reduction, scale):
    """With large numbers, its curvature overflows."""
    signs = np.sign(numbers(60, seed=4))
    check(kind, lambda t, x: t.nn.functional.soft_margin_loss(x, t.tensor(signs).to(x.dtype), reduction=reduction),
          scale * numbers(60))


def test_power_in_blocks():
    """torch's vector instructions round once, what they leave over in steps."""
    check("bfloat16", lambda t, x: x ** -0.5, np.abs(numbers(3, 50)) + 0.1)
    check("bfloat16", lambda t, x: x.t() ** -0.5, np.abs(numbers(3, 50)) + 0.1)


def test_in_place():
    def run(t):
        x, a, b = (t.tensor(numbers(5, seed=i)).half().requires_grad_() for i in range(3))
        y = x.clone().addcdiv_(a, b, value=3.14)
        return y.detach(), t.autograd.grad(y.sum(), [x, a, b])
    same_outcome(run, tolerance=0)
