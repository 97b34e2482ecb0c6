"""Bessel functions and the Airy function, which torch does not differentiate; for integers in the default dtype."""
from __future__ import annotations

from functools import partial

from ...autograd.op import unary
from ...autograd.public import public
from ...kernels import bessel, modified_bessel
from ...tensor import Tensor
from .special import single_or_double, without_derivative


def _primitive(name, kernel):
    @without_derivative
    @unary(name="special_" + name, to_float=True, method=False, inplace=False, in_bfloat16=True)
    def _function(x):
        return kernel(single_or_double(name + "_cpu", x))
    return _function


_bessel_j0 = _primitive("bessel_j0", bessel.j0)


@public("special_bessel_j0")
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 0.

    >>> import tinytorch as torch
    >>> torch.special.bessel_j0(torch.tensor([0., 1., 2.]))
    tensor([1.0000, 0.7652, 0.2239])
    """
    return _bessel_j0(input, out=out)


_bessel_j1 = _primitive("bessel_j1", bessel.j1)


@public("special_bessel_j1")
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 1.

    >>> import tinytorch as torch
    >>> torch.special.bessel_j1(torch.tensor([0., 1., 2.]))
    tensor([0.0000, 0.4401, 0.5767])
    """
    return _bessel_j1(input, out=out)


_bessel_y0 = _primitive("bessel_y0", bessel.y0)


@public("special_bessel_y0")
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 0: -inf at zero, NaN below.

    >>> import tinytorch as torch
    >>> torch.special.bessel_y0(torch.tensor([0., 1., 2.]))
    tensor([  -inf, 0.0883, 0.5104])
    """
    return _bessel_y0(input, out=out)


_bessel_y1 = _primitive("bessel_y1", bessel.y1)


@public("special_bessel_y1")
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 1: -inf at zero, NaN below.

    >>> import tinytorch as torch
    >>> torch.special.bessel_y1(torch.tensor([0., 1., 2.]))
    tensor([   -inf, -0.7812, -0.1070])
    """
    return _bessel_y1(input, out=out)


_modified_bessel_i0 = _primitive("modified_bessel_i0", partial(modified_bessel.i, 0))


@public("special_modified_bessel_i0")
def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0; `i0` has derivatives.

    >>> import tinytorch as torch
    >>> torch.special.modified_bessel_i0(torch.tensor([0., 1., 2.]))
    tensor([1.0000, 1.2661, 2.2796])
    """
    return _modified_bessel_i0(input, out=out)


_modified_bessel_i1 = _primitive("modified_bessel_i1", partial(modified_bessel.i, 1))


@public("special_modified_bessel_i1")
def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1; `i1` has derivatives.

    >>> import tinytorch as torch
    >>> torch.special.modified_bessel_i1(torch.tensor([0., 1., 2.]))
    tensor([0.0000, 0.5652, 1.5906])
    """
    return _modified_bessel_i1(input, out=out)


_modified_bessel_k0 = _primitive("modified_bessel_k0", modified_bessel.k0)


@public("special_modified_bessel_k0")
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 0: infinite at zero, NaN below.

    >>> import tinytorch as torch
    >>> torch.special.modified_bessel_k0(torch.tensor([0., 1., 2.]))
    tensor([   inf, 0.4210, 0.1139])
    """
    return _modified_bessel_k0(input, out=out)


_modified_bessel_k1 = _primitive("modified_bessel_k1", modified_bessel.k1)


@public("special_modified_bessel_k1")
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 1: infinite at zero, NaN below.

    >>> import tinytorch as torch
    >>> torch.special.modified_bessel_k1(torch.tensor([0., 1., 2.]))
    tensor([   inf, 0.6019, 0.1399])
    """
    return _modified_bessel_k1(input, out=out)


_airy_ai = _primitive("airy_ai", bessel.airy_ai)


@public("special_airy_ai")
def airy_ai(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Airy function Ai; NaN at infinity.

    >>> import tinytorch as torch
    >>> torch.special.airy_ai(torch.tensor([-1., 0., 1.]))
    tensor([0.5356, 0.3550, 0.1353])
    """
    return _airy_ai(x, out=out)


_spherical_bessel_j0 = _primitive("spherical_bessel_j0", bessel.spherical_j0)


@public("special_spherical_bessel_j0")
def spherical_bessel_j0(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The spherical Bessel function of the first kind, of order 0: sin(x) / x.

    >>> import tinytorch as torch
    >>> torch.special.spherical_bessel_j0(torch.tensor([0., 1., 2.]))
    tensor([1.0000, 0.8415, 0.4546])
    """
    return _spherical_bessel_j0(x, out=out)


_scaled_modified_bessel_k0 = _primitive("scaled_modified_bessel_k0", modified_bessel.scaled_k0)


@public("special_scaled_modified_bessel_k0")
def scaled_modified_bessel_k0(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x) modified_bessel_k0(x).

    >>> import tinytorch as torch
    >>> torch.special.scaled_modified_bessel_k0(torch.tensor([0., 1., 2.]))
    tensor([   inf, 1.1445, 0.8416])
    """
    return _scaled_modified_bessel_k0(x, out=out)


_scaled_modified_bessel_k1 = _primitive("scaled_modified_bessel_k1", modified_bessel.scaled_k1)


@public("special_scaled_modified_bessel_k1")
def scaled_modified_bessel_k1(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x) modified_bessel_k1(x).

    >>> import tinytorch as torch
    >>> torch.special.scaled_modified_bessel_k1(torch.tensor([0., 1., 2.]))
    tensor([   inf, 1.6362, 1.0335])
    """
    return _scaled_modified_bessel_k1(x, out=out)
