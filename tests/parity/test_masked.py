"""torch.masked beside torch: what op_db does not hold, dtypes, dimensions, masks that leave out all, the words of
errors, nodes."""
import pytest
import torch

from .adapter import TOLERANCE, same_outcome

REDUCTIONS = ["sum", "prod", "amax", "amin", "mean", "logsumexp", "norm", "var", "std"]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int8", "uint8", "bool", "complex64"]


def data(t, dtype):
    x = t.tensor([[1, 5, 3, 0], [2, 0, 7, 4], [6, 1, 1, 2]]).to(getattr(t, dtype))
    return x * (1 + 0.5j) if dtype == "complex64" else x


MASKS = {"some": [[True, False, True, True], [False, True, True, False], [False, False, True, True]],
         "row": [True, True, False, True], "all of a row out": [[True] * 4, [False] * 4, [True, False] * 2],
         "numbers": [[1, 0, 2, 0]], "none": None, "too many dimensions": [[[True]]], "wrong": [True, False]}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, mask):
    for dtype in DTYPES:
        for more in ({}, {"dim": 1}, {"dim": (0, 1), "keepdim": True}, {"dim": -1, "dtype": "float64"}, {"dim": ()},
                     {"dim": 0, "dtype": "int64"}, {"dim": 2}, {"dim": (1, 1)}):
            # A logarithm computed in float32 keeps its rounding, up to 5e-7 here, in the dtype it is converted to.
            converted = name == "logsumexp" and "dtype" in more and dtype != "float64"
            how = {"tolerance": {**TOLERANCE, torch.float64: 5e-7}} if converted else {}
            same_outcome(lambda t: _called(t, name, data(t, dtype), mask, more), **how)


def _called(t, name, x, mask, more, *args):
    """The result, the name of its node and the gradient."""
    m = None if MASKS[mask] is None else t.tensor(MASKS[mask])
    more = {key: getattr(t, v) if key == "dtype" else v for key, v in more.items()}
    if x.is_floating_point() or x.is_complex():
        x.requires_grad_()
    y = getattr(t.masked, name)(x, *args, mask=m, **more)
    if not y.requires_grad:
        return y, None
    return y, y.grad_fn.name(), t.autograd.grad(y.abs().sum(), x)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", ["argmax", "argmin", "median", "cumsum", "cumprod", "softmax", "log_softmax",
                                  "softmin"])
def test_along_a_dimension(name, mask):
    for dtype in DTYPES:
        for more in ({}, {"dtype": "float64"}, {"dtype": "int64"}):
            if (name, dtype) == ("cumprod", "complex64") and more:
                continue                       # torch's gradient is by the complex numbers, of which it took the parts
            for dim in (0, -1, 3):
                same_outcome(lambda t: _called(t, name, data(t, dtype), mask, more, dim))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("ord", [2, 1, 0, 3.5, float("inf"), float("-inf"), None])
def test_norms(ord, mask):
    for dtype in ("float64", "int64", "complex64"):
        if ord == float("-inf") and dtype != "float64":
            continue                           # torch asserts that the dtype is floating
        for name in ("norm", "normalize"):
            same_outcome(lambda t: _called(t, name, data(t, dtype), mask, {}, ord, 1))


@pytest.mark.parametrize("more", [{"unbiased": False}, {"unbiased": True}, {"correction": 0}, {"correction": 2.5},
                                  {"correction": 20}, {"unbiased": True, "correction": 1}])
@pytest.mark.parametrize("mask", MASKS)
def test_corrections(more, mask):
    for dtype in ("float64", "int64", "complex64"):
        if more == {"correction": 20} and dtype == "complex64":
            continue                           # complex numbers by zero
        for name in ("var", "std"):
            for dim in (None, 1):
                same_outcome(lambda t: _called(t, name, data(t, dtype), mask, more, dim))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_logaddexp(dtype, mask):
    def program(t):
        x, m = data(t, dtype), None if MASKS[mask] is None else t.tensor(MASKS[mask])
        other = t.tensor(MASKS["row"])
        return t.masked.logaddexp(x, x, input_mask=m, other_mask=other), t.masked.logaddexp(x, x, input_mask=m)
    same_outcome(program)
