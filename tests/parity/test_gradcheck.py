"""gradcheck and gradgradcheck accept and refuse what torch's do, with its words."""
import itertools
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import error_of


def real(t):
    return t.from_numpy(np.array([0.3, -1.2, 2.0])).requires_grad_()


def cplx(t):
    return t.from_numpy(np.array([0.3 + 1j, -1.2j, 2.0 - 0.5j])).requires_grad_()


FUNCTIONS = {
    "right": lambda t, x: x.sin() * x,
    "two outputs": lambda t, x: (x * x, x.sum()),
    "wrong": lambda t, x: x.detach() * x,
    "second wrong": lambda t, x: (x * x, x.detach() * x),
    "constant": lambda t, x: t.ones(2).double(),
    "hidden": lambda t, x: x.detach() * 2,
    "abs": lambda t, x: x.abs(),
    "real part": lambda t, x: x.real if x.is_complex() else x * 1,
    "to complex": lambda t, x: x * 1j,
}
OPTIONS = [{}, {"fast_mode": True}, {"check_forward_ad": True}, {"check_forward_ad": True, "check_backward_ad": False},
           {"check_batched_grad": True}, {"raise_exception": False}, {"atol": 10.0}, {"eps": 1e-4, "rtol": 1e-2},
           {"check_backward_ad": False}, {"check_grad_dtypes": True, "check_undefined_grad": False}]


def outcome(t, check, function, x, options):
    error, result = error_of(lambda: getattr(t.autograd, check)(lambda x: FUNCTIONS[function](t, x), x(t), **options))
    # The Jacobians in a message differ in their last digits; fast mode explains itself in other words.
    return type(error).__name__, str(error).split("\n")[0], result


@pytest.mark.parametrize("function", FUNCTIONS)
def test_same_as_torch(function):
    warnings.simplefilter("ignore")
    for check, x, options in itertools.product(("gradcheck", "gradgradcheck"), (real, cplx), OPTIONS):
        if check == "gradgradcheck" and (options.keys() & {"check_forward_ad", "check_backward_ad"}
                                         or function in ("constant", "hidden")):
            continue
        expected, result = (outcome(t, check, function, x, options) for t in (torch, tinytorch))
        assert result == expected, (check, x.__name__, options)


@pytest.mark.parametrize("make", [lambda t: real(t).detach(), lambda t: real(t).expand(2, 3), lambda t: 3.0])
def test_refused_inputs(make):
    errors = [error_of(lambda: t.autograd.gradcheck(lambda x: x * 2, make(t)))[0] for t in (torch, tinytorch)]
    assert (type(errors[0]), str(errors[0])) == (type(errors[1]), str(errors[1]))


def test_gradcheck_of_a_jacobian_shown():
    texts = [str(error_of(lambda: t.autograd.gradcheck(lambda x: x.detach() * x, real(t)))[0])
             for t in (torch, tinytorch)]
    assert texts[0].replace("-0.0000", " 0.0000") == texts[1].replace("-0.0000", " 0.0000")
