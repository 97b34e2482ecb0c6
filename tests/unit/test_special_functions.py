"""torch.special by what holds between its functions, without torch."""
import math

import numpy as np
import pytest

import tinytorch as torch

S = torch.special
X = torch.linspace(.05, 40, 300, dtype=torch.float64)


def close(a, b, tolerance=1e-12):
    assert a.shape == b.shape
    assert ((a - b).abs() / (1 + b.abs())).max().item() <= tolerance


def test_wronskians_of_bessel_functions():
    """Of both kinds at once: each is right where the other is. (torch's are right to seven digits near 5.)"""
    close(S.bessel_j1(X) * S.bessel_y0(X) - S.bessel_j0(X) * S.bessel_y1(X), 2 / (math.pi * X), 1e-7)
    mixed = S.i0e(X) * S.scaled_modified_bessel_k1(X) + S.i1e(X) * S.scaled_modified_bessel_k0(X)
    close(mixed, 1 / X)
    close(S.modified_bessel_k0(X), S.scaled_modified_bessel_k0(X) * torch.exp(-X))


#: x, I0(x), I1(x), computed with 30 digits.
FIRST_KIND = [
    (1e-05, 1.000000000025, 5.0000000000625004e-06), (0.5, 1.0634833707413236, 0.2578943053908963),
    (3.0, 4.8807925858650245, 3.9533702174026093), (7.9, 389.406283282158, 363.8539440845084),
    (8.1, 469.5006067101215, 439.48430891035844), (30.0, 781672297823.9775, 768532038938.957)]


def test_modified_bessel_functions_to_the_last_digits():
    x, of_order_0, of_order_1 = torch.tensor(FIRST_KIND, dtype=torch.float64).t()
    for found, true in ((S.i0(x), of_order_0), (S.i1(x), of_order_1), (S.i0e(x), of_order_0 * torch.exp(-x)),
                        (S.i1e(x), of_order_1 * torch.exp(-x)), (-S.i1(-x), of_order_1)):
        assert ((found - true) / true).abs().max().item() < 1.2e-15


def test_airy_function():
    """Its differential equation y'' = x y, by differences. (torch's is right to six digits just below -2.09.)"""
    x, h = torch.linspace(-12, 8, 201, dtype=torch.float64), 1e-3
    second = (S.airy_ai(x + h) - 2 * S.airy_ai(x) + S.airy_ai(x - h)) / h ** 2
    close(second, x * S.airy_ai(x), 1e-4)
    close(S.airy_ai(torch.zeros(1, dtype=torch.float64)), torch.tensor([.355028053887817239], dtype=torch.float64))


@pytest.mark.parametrize("degree", [0, 1, 2, 5, 6, 7, 8, 9, 12, 33])
def test_chebyshev_polynomials_at_angles(degree):
    """The definition of the four kinds, on both sides of where they are computed by it."""
    angle = torch.linspace(.1, 3., 50, dtype=torch.float64)
    x, half = torch.cos(angle), angle / 2
    shifted = (x + 1) / 2
    for kind, expected in (("t", torch.cos(degree * angle)), ("u", torch.sin((degree + 1) * angle) / torch.sin(angle)),
                           ("v", torch.cos((degree + .5) * angle) / torch.cos(half)),
                           ("w", torch.sin((degree + .5) * angle) / torch.sin(half))):
        close(getattr(S, f"chebyshev_polynomial_{kind}")(x, degree), expected, 1e-10)
        close(getattr(S, f"shifted_chebyshev_polynomial_{kind}")(shifted, degree), expected, 1e-10)


def test_other_polynomials():
    x = torch.linspace(-3, 3, 61, dtype=torch.float64)
    close(S.hermite_polynomial_h(x, 3), 8 * x ** 3 - 12 * x)
    close(S.hermite_polynomial_he(x, 4), x ** 4 - 6 * x ** 2 + 3)
    close(S.laguerre_polynomial_l(x, 3), (-x ** 3 + 9 * x ** 2 - 18 * x + 6) / 6)
    close(S.legendre_polynomial_p(x, 4), (35 * x ** 4 - 30 * x ** 2 + 3) / 8)
    assert S.hermite_polynomial_h(torch.ones(2), torch.tensor([128., 129.])).isnan().tolist() == [True, True]
    assert S.hermite_polynomial_h(torch.ones(2).double(), torch.tensor([129, 513])).isnan().tolist() == [False, True]


def test_incomplete_gamma():
    """The two add up to 1; of order 1 and 1/2 they have other names; the derivative is that of differences."""
    a = torch.tensor([.1, .5, 1., 3., 19., 25., 150., 300., 2e4], dtype=torch.float64)[:, None]
    x = a * torch.linspace(.05, 3, 60, dtype=torch.float64)
    close(torch.igamma(a, x) + torch.igammac(a, x), torch.ones_like(x))
    close(torch.igammac(torch.ones_like(X), X), torch.exp(-X))
    close(torch.igamma(torch.full_like(X, .5), X), torch.erf(torch.sqrt(X)))
    a, x = a[1:5], x[1:5].clone().requires_grad_()
    torch.igamma(a, x).sum().backward()
    close((torch.igamma(a, x + 1e-6) - torch.igamma(a, x - 1e-6)).detach() / 2e-6, x.grad, 1e-6)


def test_zeta():
    s = torch.tensor([1.5, 2., 3., 6.], dtype=torch.float64)[:, None]
    close(S.zeta(s, X) - X ** -s, S.zeta(s, X + 1), 1e-7)
    close(S.zeta(s, X + .9) - (X + .9) ** -s, S.zeta(s, X + 1.9))
    close(S.zeta(torch.tensor([2., 4.], dtype=torch.float64), 1),
           torch.tensor([math.pi ** 2 / 6, math.pi ** 4 / 90], dtype=torch.float64))


def test_normal_distribution():
    """The inverse undoes the distribution function, its logarithm does not underflow, and erfcx is what it scales."""
    y = torch.linspace(.001, .999, 99, dtype=torch.float64)
    close(S.ndtr(S.ndtri(y)), y)
    close(S.log_ndtr(X - 6).exp(), S.ndtr(X - 6))
    far, = S.log_ndtr(torch.tensor([-1e4], dtype=torch.float64)).tolist()
    assert abs(far + 5e7 + math.log(1e4 * math.sqrt(2 * math.pi))) < 1e-7
    close(S.erfcx(X / 10) * torch.exp(-(X / 10) ** 2), torch.erfc(X / 10))


def test_what_torch_does_not_differentiate():
    x = torch.ones(2, requires_grad=True)
    assert not S.bessel_j0(x).requires_grad and not S.legendre_polynomial_p(x, x).requires_grad
    for y in (S.zeta(x + 1, x), torch.igamma(x, x)):
        with pytest.raises(NotImplementedError, match="the derivative for '(zeta|igamma: input)' is not implemented"):
            y.sum().backward()


def test_half_precision_is_refused():
    for dtype in (torch.float16, torch.bfloat16, torch.complex64):
        x = torch.ones(2, dtype=dtype)
        for call in (S.bessel_y1, S.airy_ai, S.erfcx, lambda x: S.zeta(x, x), lambda x: S.laguerre_polynomial_l(x, 2)):
            with pytest.raises(NotImplementedError, match="_cpu\" not implemented for"):
                call(x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logit_and_its_derivative(dtype):
    """Outside of (0, 1) too; a number at a time is computed as in an array."""
    x = torch.cat([torch.tensor([0., 1., -0.5, 1.5, math.nan, 0.05, 0.95]), torch.linspace(0.01, 0.99, 2000)]).to(dtype)
    x.requires_grad_()
    wide = x.detach().numpy().astype(np.float64)
    for eps, low, high in ((None, 0., 1.), (0.1, 0.1, 0.9)):
        with np.errstate(all="ignore"):
            inside = wide if eps is None else np.where(wide < low, low, np.where(wide > high, high, wide))
            wanted, outside = np.log(inside / (1 - inside)), (wide < low) | (wide > high)
            slope = np.where(outside, math.nan if eps is None else 0., 2 / (wide * (1 - wide)))
        y = torch.logit(x, eps)
        grad, = torch.autograd.grad(y, x, torch.full_like(y, 2.))
        np.testing.assert_allclose(y.detach().numpy(), wanted, rtol=2e-5, atol=1e-7)
        np.testing.assert_allclose(grad.numpy(), slope, rtol=1e-5)
        alone = torch.stack([torch.logit(one, eps) for one in x.detach()[:600]])
        np.testing.assert_array_equal(alone.numpy(), y.detach().numpy()[:600])
