"""Orthogonal polynomials, which torch does not differentiate; for integers in the default dtype.

`n` is the degree, cut to a whole number: the polynomial of a negative one is 0.
"""
from __future__ import annotations

from functools import partial

import numpy as np

from ...autograd.op import binary
from ...autograd.public import public
from ...kernels import orthogonal as kernels
from ...tensor import Tensor
from ...types import Number
from .special import single_or_double, without_derivative


def _primitive(name, kernel):
    @without_derivative
    @binary(name="special_" + name, to_float=True, method=False, inplace=False, in_bfloat16=True)
    def _polynomial(x, n):
        return kernel(single_or_double(name + "_cpu", x), np.asarray(n, x.dtype))
    return _polynomial


_chebyshev_polynomial_t = _primitive("chebyshev_polynomial_t", partial(kernels.chebyshev, "t"))


@public("special_chebyshev_polynomial_t")
def chebyshev_polynomial_t(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the first kind and degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.chebyshev_polynomial_t(torch.tensor([.5, 2.]), 3)
    tensor([-1., 26.])
    """
    return _chebyshev_polynomial_t(x, n, out=out)


_chebyshev_polynomial_u = _primitive("chebyshev_polynomial_u", partial(kernels.chebyshev, "u"))


@public("special_chebyshev_polynomial_u")
def chebyshev_polynomial_u(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the second kind and degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.chebyshev_polynomial_u(torch.tensor([.5, 2.]), 3)
    tensor([-1., 56.])
    """
    return _chebyshev_polynomial_u(x, n, out=out)


_chebyshev_polynomial_v = _primitive("chebyshev_polynomial_v", partial(kernels.chebyshev, "v"))


@public("special_chebyshev_polynomial_v")
def chebyshev_polynomial_v(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the third kind and degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.chebyshev_polynomial_v(torch.tensor([.5, 2.]), 3)
    tensor([-1., 41.])
    """
    return _chebyshev_polynomial_v(x, n, out=out)


_chebyshev_polynomial_w = _primitive("chebyshev_polynomial_w", partial(kernels.chebyshev, "w"))


@public("special_chebyshev_polynomial_w")
def chebyshev_polynomial_w(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the fourth kind and degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.chebyshev_polynomial_w(torch.tensor([.5, 2.]), 3)
    tensor([-1., 71.])
    """
    return _chebyshev_polynomial_w(x, n, out=out)


_shifted_chebyshev_polynomial_t = _primitive(
    "shifted_chebyshev_polynomial_t", partial(kernels.chebyshev, "t", shifted=True))


@public("special_shifted_chebyshev_polynomial_t")
def shifted_chebyshev_polynomial_t(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the first kind and degree `n` at 2 x - 1.

    >>> import tinytorch as torch
    >>> torch.special.shifted_chebyshev_polynomial_t(torch.tensor([.5, 2.]), 3)
    tensor([-0., 99.])
    """
    return _shifted_chebyshev_polynomial_t(x, n, out=out)


_shifted_chebyshev_polynomial_u = _primitive(
    "shifted_chebyshev_polynomial_u", partial(kernels.chebyshev, "u", shifted=True))


@public("special_shifted_chebyshev_polynomial_u")
def shifted_chebyshev_polynomial_u(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the second kind and degree `n` at 2 x - 1.

    >>> import tinytorch as torch
    >>> torch.special.shifted_chebyshev_polynomial_u(torch.tensor([.5, 2.]), 3)
    tensor([ -0., 204.])
    """
    return _shifted_chebyshev_polynomial_u(x, n, out=out)


_shifted_chebyshev_polynomial_v = _primitive(
    "shifted_chebyshev_polynomial_v", partial(kernels.chebyshev, "v", shifted=True))


@public("special_shifted_chebyshev_polynomial_v")
def shifted_chebyshev_polynomial_v(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the third kind and degree `n` at 2 x - 1.

    >>> import tinytorch as torch
    >>> torch.special.shifted_chebyshev_polynomial_v(torch.tensor([.5, 2.]), 3)
    tensor([  1., 169.])
    """
    return _shifted_chebyshev_polynomial_v(x, n, out=out)


_shifted_chebyshev_polynomial_w = _primitive(
    "shifted_chebyshev_polynomial_w", partial(kernels.chebyshev, "w", shifted=True))


@public("special_shifted_chebyshev_polynomial_w")
def shifted_chebyshev_polynomial_w(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the fourth kind and degree `n` at 2 x - 1.

    >>> import tinytorch as torch
    >>> torch.special.shifted_chebyshev_polynomial_w(torch.tensor([.5, 2.]), 3)
    tensor([ -1., 239.])
    """
    return _shifted_chebyshev_polynomial_w(x, n, out=out)


_hermite_polynomial_h = _primitive("hermite_polynomial_h", kernels.hermite_h)


@public("special_hermite_polynomial_h")
def hermite_polynomial_h(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The physicists' Hermite polynomial of degree `n` at `x`; NaN for degrees above 128 (in float64 above 512).

    >>> import tinytorch as torch
    >>> torch.special.hermite_polynomial_h(torch.tensor([.5, 2.]), 3)
    tensor([-5., 40.])
    """
    return _hermite_polynomial_h(x, n, out=out)


_hermite_polynomial_he = _primitive("hermite_polynomial_he", kernels.hermite_he)


@public("special_hermite_polynomial_he")
def hermite_polynomial_he(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The probabilists' Hermite polynomial of degree `n` at `x`; NaN for degrees above 128 (in float64 above 512).

    >>> import tinytorch as torch
    >>> torch.special.hermite_polynomial_he(torch.tensor([.5, 2.]), 3)
    tensor([-1.3750,  2.0000])
    """
    return _hermite_polynomial_he(x, n, out=out)


_laguerre_polynomial_l = _primitive("laguerre_polynomial_l", kernels.laguerre)


@public("special_laguerre_polynomial_l")
def laguerre_polynomial_l(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Laguerre polynomial of degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.laguerre_polynomial_l(torch.tensor([.5, 2.]), 3)
    tensor([-0.1458, -0.3333])
    """
    return _laguerre_polynomial_l(x, n, out=out)


_legendre_polynomial_p = _primitive("legendre_polynomial_p", kernels.legendre)


@public("special_legendre_polynomial_p")
def legendre_polynomial_p(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Legendre polynomial of degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.legendre_polynomial_p(torch.tensor([.5, 2.]), 3)
    tensor([-0.4375, 17.0000])
    """
    return _legendre_polynomial_p(x, n, out=out)
