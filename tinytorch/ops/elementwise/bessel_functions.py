"""Bessel functions and the Airy function, of which torch has no derivatives. Integers give the default dtype."""
from __future__ import annotations

from ...autograd.op import unary
from ...kernels import bessel, modified_bessel
from ...tensor import Tensor
from .special import single_or_double, without_derivative

__all__ = ["airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1",
           "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
           "spherical_bessel_j0"]


def _public(like):
    """Decorator: makes the public function from a function on arrays. `like` is as in `without_derivative`."""
    def decorate(forward):
        name = forward.__name__

        @unary(name="special_" + name, to_float=True, method=False, inplace=False, in_bfloat16=True)
        def _function(x):
            return forward(single_or_double(name + "_cpu", x))
        return without_derivative(forward, _function, like)
    return decorate


@_public
def _of_input(compute):
    def call(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        return compute(input, out=out)
    return call


@_public
def _of_x(compute):
    def call(x: Tensor, *, out: Tensor | None = None) -> Tensor:
        return compute(x, out=out)
    return call


@_of_input
def bessel_j0(input):
    """The Bessel function of the first kind, of order 0.

    >>> import tinytorch as torch
    >>> torch.special.bessel_j0(torch.tensor([0., 1., 2.]))
    tensor([1.0000, 0.7652, 0.2239])
    """
    return bessel.j0(input)


@_of_input
def bessel_j1(input):
    """The Bessel function of the first kind, of order 1.

    >>> import tinytorch as torch
    >>> torch.special.bessel_j1(torch.tensor([0., 1., 2.]))
    tensor([0.0000, 0.4401, 0.5767])
    """
    return bessel.j1(input)


@_of_input
def bessel_y0(input):
    """The Bessel function of the second kind, of order 0: -inf at zero, NaN below zero.

    >>> import tinytorch as torch
    >>> torch.special.bessel_y0(torch.tensor([0., 1., 2.]))
    tensor([  -inf, 0.0883, 0.5104])
    """
    return bessel.y0(input)


@_of_input
def bessel_y1(input):
    """The Bessel function of the second kind, of order 1: -inf at zero, NaN below zero.

    >>> import tinytorch as torch
    >>> torch.special.bessel_y1(torch.tensor([0., 1., 2.]))
    tensor([   -inf, -0.7812, -0.1070])
    """
    return bessel.y1(input)


@_of_input
def modified_bessel_i0(input):
    """The modified Bessel function of the first kind, of order 0. torch.i0 has a derivative.

    >>> import tinytorch as torch
    >>> torch.special.modified_bessel_i0(torch.tensor([0., 1., 2.]))
    tensor([1.0000, 1.2661, 2.2796])
    """
    return modified_bessel.i(0, input)


@_of_input
def modified_bessel_i1(input):
    """The modified Bessel function of the first kind, of order 1. torch.special.i1 has a derivative.

    >>> import tinytorch as torch
    >>> torch.special.modified_bessel_i1(torch.tensor([0., 1., 2.]))
    tensor([0.0000, 0.5652, 1.5906])
    """
    return modified_bessel.i(1, input)


@_of_input
def modified_bessel_k0(input):
    """The modified Bessel function of the second kind, of order 0: infinite at zero, NaN below zero.

    >>> import tinytorch as torch
    >>> torch.special.modified_bessel_k0(torch.tensor([0., 1., 2.]))
    tensor([   inf, 0.4210, 0.1139])
    """
    return modified_bessel.k0(input)


@_of_input
def modified_bessel_k1(input):
    """The modified Bessel function of the second kind, of order 1: infinite at zero, NaN below zero.

    >>> import tinytorch as torch
    >>> torch.special.modified_bessel_k1(torch.tensor([0., 1., 2.]))
    tensor([   inf, 0.6019, 0.1399])
    """
    return modified_bessel.k1(input)


@_of_x
def airy_ai(x):
    """The Airy function Ai. It is NaN at infinity.

    >>> import tinytorch as torch
    >>> torch.special.airy_ai(torch.tensor([-1., 0., 1.]))
    tensor([0.5356, 0.3550, 0.1353])
    """
    return bessel.airy_ai(x)


@_of_x
def spherical_bessel_j0(x):
    """The spherical Bessel function of the first kind, of order 0: sin(x) / x.

    >>> import tinytorch as torch
    >>> torch.special.spherical_bessel_j0(torch.tensor([0., 1., 2.]))
    tensor([1.0000, 0.8415, 0.4546])
    """
    return bessel.spherical_j0(x)


@_of_x
def scaled_modified_bessel_k0(x):
    """exp(x) modified_bessel_k0(x).

    >>> import tinytorch as torch
    >>> torch.special.scaled_modified_bessel_k0(torch.tensor([0., 1., 2.]))
    tensor([   inf, 1.1445, 0.8416])
    """
    return modified_bessel.scaled_k0(x)


@_of_x
def scaled_modified_bessel_k1(x):
    """exp(x) modified_bessel_k1(x).

    >>> import tinytorch as torch
    >>> torch.special.scaled_modified_bessel_k1(torch.tensor([0., 1., 2.]))
    tensor([   inf, 1.6362, 1.0335])
    """
    return modified_bessel.scaled_k1(x)
