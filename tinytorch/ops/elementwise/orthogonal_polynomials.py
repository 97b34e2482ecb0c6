"""Orthogonal polynomials, of which torch has no derivatives. Integers give the default dtype.

`n` is the degree, truncated to an integer. A polynomial of negative degree is 0.
"""
from __future__ import annotations

import numpy as np

from ...autograd.op import binary
from ...kernels import orthogonal as kernels
from ...tensor import Tensor
from ...types import Number
from .special import single_or_double, without_derivative

__all__ = ["chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
           "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
           "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
           "shifted_chebyshev_polynomial_w"]


def _like(compute):
    def call(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        return compute(x, n, out=out)
    return call


def _public(forward):
    """Decorator: makes the public function from a function on arrays of arguments and degrees."""
    name = forward.__name__

    @binary(name="special_" + name, to_float=True, method=False, inplace=False, in_bfloat16=True)
    def _polynomial(x, n):
        return forward(single_or_double(name + "_cpu", x), np.asarray(n, x.dtype))
    return without_derivative(forward, _polynomial, _like)


@_public
def chebyshev_polynomial_t(x, n):
    """The Chebyshev polynomial of the first kind and degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.chebyshev_polynomial_t(torch.tensor([.5, 2.]), 3)
    tensor([-1., 26.])
    """
    return kernels.chebyshev("t", x, n)


@_public
def chebyshev_polynomial_u(x, n):
    """The Chebyshev polynomial of the second kind and degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.chebyshev_polynomial_u(torch.tensor([.5, 2.]), 3)
    tensor([-1., 56.])
    """
    return kernels.chebyshev("u", x, n)


@_public
def chebyshev_polynomial_v(x, n):
    """The Chebyshev polynomial of the third kind and degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.chebyshev_polynomial_v(torch.tensor([.5, 2.]), 3)
    tensor([-1., 41.])
    """
    return kernels.chebyshev("v", x, n)


@_public
def chebyshev_polynomial_w(x, n):
    """The Chebyshev polynomial of the fourth kind and degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.chebyshev_polynomial_w(torch.tensor([.5, 2.]), 3)
    tensor([-1., 71.])
    """
    return kernels.chebyshev("w", x, n)


@_public
def shifted_chebyshev_polynomial_t(x, n):
    """The Chebyshev polynomial of the first kind and degree `n` at 2 x - 1.

    >>> import tinytorch as torch
    >>> torch.special.shifted_chebyshev_polynomial_t(torch.tensor([.5, 2.]), 3)
    tensor([-0., 99.])
    """
    return kernels.chebyshev("t", x, n, shifted=True)


@_public
def shifted_chebyshev_polynomial_u(x, n):
    """The Chebyshev polynomial of the second kind and degree `n` at 2 x - 1.

    >>> import tinytorch as torch
    >>> torch.special.shifted_chebyshev_polynomial_u(torch.tensor([.5, 2.]), 3)
    tensor([ -0., 204.])
    """
    return kernels.chebyshev("u", x, n, shifted=True)


@_public
def shifted_chebyshev_polynomial_v(x, n):
    """The Chebyshev polynomial of the third kind and degree `n` at 2 x - 1.

    >>> import tinytorch as torch
    >>> torch.special.shifted_chebyshev_polynomial_v(torch.tensor([.5, 2.]), 3)
    tensor([  1., 169.])
    """
    return kernels.chebyshev("v", x, n, shifted=True)


@_public
def shifted_chebyshev_polynomial_w(x, n):
    """The Chebyshev polynomial of the fourth kind and degree `n` at 2 x - 1.

    >>> import tinytorch as torch
    >>> torch.special.shifted_chebyshev_polynomial_w(torch.tensor([.5, 2.]), 3)
    tensor([ -1., 239.])
    """
    return kernels.chebyshev("w", x, n, shifted=True)


@_public
def hermite_polynomial_h(x, n):
    """The physicists' Hermite polynomial of degree `n` at `x`; NaN for degrees above 128 (in float64 above 512).

    >>> import tinytorch as torch
    >>> torch.special.hermite_polynomial_h(torch.tensor([.5, 2.]), 3)
    tensor([-5., 40.])
    """
    return kernels.hermite_h(x, n)


@_public
def hermite_polynomial_he(x, n):
    """The probabilists' Hermite polynomial of degree `n` at `x`; NaN for degrees above 128 (in float64 above 512).

    >>> import tinytorch as torch
    >>> torch.special.hermite_polynomial_he(torch.tensor([.5, 2.]), 3)
    tensor([-1.3750,  2.0000])
    """
    return kernels.hermite_he(x, n)


@_public
def laguerre_polynomial_l(x, n):
    """The Laguerre polynomial of degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.laguerre_polynomial_l(torch.tensor([.5, 2.]), 3)
    tensor([-0.1458, -0.3333])
    """
    return kernels.laguerre(x, n)


@_public
def legendre_polynomial_p(x, n):
    """The Legendre polynomial of degree `n` at `x`.

    >>> import tinytorch as torch
    >>> torch.special.legendre_polynomial_p(torch.tensor([.5, 2.]), 3)
    tensor([-0.4375, 17.0000])
    """
    return kernels.legendre(x, n)
