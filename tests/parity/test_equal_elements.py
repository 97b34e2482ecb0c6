"""Which of equal elements comes first, in sorts and selections that are not stable: as torch finds them."""
import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same

HALVES = ["float16", "bfloat16"]
SHORT = [*HALVES, "bool", "uint8", "int8", "int16"]          # what torch sorts in steps that can be followed
OTHERS = ["float32", "float64", "int32", "int64"]


def rows(n, kinds, seed):
    """Random, rising, falling, rising and falling rows with few different elements, and one that holds NaN and inf."""
    draw = np.random.RandomState(seed)
    x = draw.randint(0, kinds + 1, (5, n)).astype(np.float32)
    x[1].sort()
    x[2] = -np.sort(-x[2])
    x[3, :n // 2].sort()
    x[3, n // 2:] = -np.sort(-x[3, n // 2:])
    x[4] = draw.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], n)
    return x


def against_median_of_three(n):
    """Numbers that the median of three always parts badly: torch goes over to a heap."""
    half = n // 2
    low = [i + 1 if i % 2 == 0 else half + i + (half % 2 == 0) for i in range(half)]
    return np.array([low + [2 * (i + 1) for i in range(half)]], np.float32)


ARRAYS = {f"{n} of {kinds}": rows(n, kinds, n + kinds) for n in (2, 16, 17, 40, 100, 700) for kinds in (1, 5, 60)}
ARRAYS.update({f"bad {n}": against_median_of_three(n) for n in (200, 1000)})
ARRAYS.update({f"bad {n} of few": against_median_of_three(n) // 4 for n in (200, 1000)})


def compared(name, kind, function):
    if kind not in [*HALVES, "float32", "float64"]:
        array = np.nan_to_num(ARRAYS[name], nan=3, posinf=5, neginf=7)
    else:
        array = ARRAYS[name]
    answers = []
    for t in (tinytorch, torch):
        x = t.tensor(array).to(getattr(t, kind))
        answers.append([function(x, -1), function(x.t().contiguous(), 0)])
    same(*answers, tolerance=0)


@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("name", ARRAYS)
def test_sort(name, kind):
    compared(name, kind, lambda x, dim: [
        *[(*x.sort(dim, down), x.argsort(dim, down)) for down in (False, True)], *x.sort(dim=dim, stable=True)])


@pytest.mark.parametrize("kind", HALVES)
def test_msort_and_its_gradients(kind):
    def run(x, dim):
        x = x.clone().requires_grad_()
        values = x.sort(dim)[0]
        values.backward(values.detach().flip(dim))
        return values, x.grad, x.detach().msort()
    compared("700 of 5", kind, run)


@pytest.mark.parametrize("kind", [*SHORT[:2], *SHORT[3:], *OTHERS])
@pytest.mark.parametrize("name", ARRAYS)
def test_topk_and_kthvalue(name, kind):
    def run(x, dim):
        n = x.shape[dim]
        return [[x.topk(k, dim, large, ordered) for large in (True, False) for ordered in (True, False)] +
                [x.kthvalue(k, dim)] for k in sorted({1, n // 64 or 1, n // 3 or 1, n // 2, n - 1, n})]
    compared(name, kind, run)


@pytest.mark.parametrize("kind", [*SHORT, *OTHERS])
@pytest.mark.parametrize("name", [name for name in ARRAYS if "of" in name])
def test_mode_and_median(name, kind):
    def run(x, dim):
        if x.dtype.is_floating_point:          # whose order in torch is not one, with NaN
            x = x.nan_to_num(2)
        return [x.mode(dim)] + ([x.median(dim), x.nanmedian(dim)] if "bool" not in str(x.dtype) else [])
    compared(name, kind, run)


@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("n", [32767, 32768])
def test_sort_of_many(kind, n):
    array = np.random.RandomState(n).randint(0, 2 if kind == "bool" else 50, n)
    ours, theirs = (t.tensor(array).to(getattr(t, kind)) for t in (tinytorch, torch))
    for down in (False, True):
        same(ours.sort(descending=down), theirs.sort(descending=down), tolerance=0)
    same(ours.reshape(1, n).sort(), theirs.reshape(1, n).sort(), tolerance=0)
    same(ours[:1].expand(n).sort(), theirs[:1].expand(n).sort(), tolerance=0)


EXTREMES = {"amax": lambda x, dim: x.amax(dim), "amin": lambda x, dim: x.amin(dim), "max": lambda x, dim: x.max(),
            "min": lambda x, dim: x.min(), "median": lambda x, dim: x.median(),
            "nanmedian": lambda x, dim: x.nanmedian(),
            "norm": lambda x, dim: x.norm(float("inf"), dim=dim), "norm of all": lambda x, dim: x.norm(float("inf")),
            "aminmax": lambda x, dim: sum(x.aminmax()), "dist": lambda x, dim: (x * 1).dist(x * 0, float("inf"))}


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("dtype", [*HALVES, "float32"])
@pytest.mark.parametrize("shape, dim", [((70000,), 0), ((2049,), 0), ((257,), 0), ((2, 2049), 1), ((1, 70001), 1),
                                        ((3, 4099), (0, 1))])
def test_gradients_of_many_equal_elements(name, dtype, shape, dim):
    """The number of those that share the gradient may be more than half precision counts to."""
    found = []
    for lib in (torch, tinytorch):
        x = lib.ones(shape, dtype=getattr(lib, dtype), requires_grad=True)
        EXTREMES[name](x, dim).sum().backward()
        found.append(x.grad.float().flatten())
    assert found[0].tolist() == found[1].tolist()
