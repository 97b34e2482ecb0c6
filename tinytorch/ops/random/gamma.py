"""Gamma and Dirichlet random numbers, differentiable with respect to their parameters."""
from __future__ import annotations

from ...autograd.op import op
from ...autograd.public import public
from ...kernels.random import implicit, rejection
from ...random import Generator, stream_of
from ...tensor import Tensor
from ..elementwise.arithmetic import REFUSED, refused
from .samplers import refuse, varied

__all__ = ["_dirichlet_grad", "_sample_dirichlet", "_standard_gamma", "_standard_gamma_grad"]

_of_gamma_grad, _of_dirichlet_grad = refused("_standard_gamma_grad"), refused("_dirichlet_grad")


def _check(input, kernel):
    if input.dtype.char not in "fd":
        refuse(kernel, input)


@op(name="_standard_gamma_grad", input=_of_gamma_grad, output=_of_gamma_grad)
def _gamma_gradient(input, output):
    _check(input, "_standard_gamma_grad_cpu")
    return implicit.standard_gamma_grad(input, output)


@public()
def _standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """The derivatives of gamma numbers `output` with respect to their shape parameters `input`."""
    return _gamma_gradient(input, output)


@op(name="_standard_gamma", first=1, input=lambda g, input, ans: g * _gamma_gradient(input, ans))
def _gamma(stream, input):
    _check(input, "gamma_cpu")
    return rejection.standard_gamma(input, stream)


@public()
def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma numbers of rate 1 with the shape parameters in `input`."""
    stream = stream_of(generator)
    with stream.lock:
        return _gamma(stream, varied(input))


@op(name="_dirichlet_grad", backward_name=REFUSED, x=_of_dirichlet_grad, alpha=_of_dirichlet_grad,
    total=_of_dirichlet_grad)
def _dirichlet_gradient(x, alpha, total):
    _check(x, "_dirichlet_grad_cpu")
    return implicit.dirichlet_grad(x, alpha, total)


@public()
def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """The derivatives of `x`, elements of Dirichlet vectors, with respect to their concentrations `alpha`, divided by
    1 - x. `total`: the sum of all concentrations of the vector."""
    return _dirichlet_gradient(x, alpha, total)


@op(name="_sample_dirichlet", first=1, backward_name=REFUSED, input=refused("_sample_dirichlet"))
def _dirichlet(stream, input):
    _check(input, "dirichlet")
    return rejection.dirichlet(input, stream)


@public()
def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Dirichlet-distributed rows with the concentrations in `input`. (distributions.Dirichlet has the derivative.)"""
    stream = stream_of(generator)
    with stream.lock:
        return _dirichlet(stream, varied(input))
