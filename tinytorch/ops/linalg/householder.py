"""Products of the Householder reflectors of a QR decomposition: geqrf householder_product orgqr ormqr."""
from __future__ import annotations

import numpy as np

from ... import return_types
from ...autograd.op import op
from ...autograd.promotion import EXACT
from ...autograd.public import public
from ...errors import not_implemented, type_name
from ...kernels.linalg import householder as kernels
from ...kernels.linalg.triangles import columns
from ...tensor import Tensor
from ...types import Tensors
from ..layout.join import cat, stack
from ..reduction.reductions import like, raw
from .decompositions import _rowwise
from .products import _matmul, mT
from .triangular import _triangle

__all__ = ["geqrf", "orgqr", "ormqr"]


# ------------------------------------------------------------------ factors
def _not_derived(g, wanted):
    raise NotImplementedError("the derivative for 'geqrf' is not implemented.")


@op(name="geqrf", batches="leading", multi=True, joint=_not_derived)
def _geqrf(input):
    R, tau = kernels.factored(input)
    return columns(R), tau


@public(out=EXACT, apart=None, method=True, autocast="up")
def geqrf(input: Tensor, *, out: Tensors | None = None) -> return_types.geqrf:
    """QR of (..., m, n) matrices in LAPACK's form: R on and above the diagonal, below it the reflectors, whose factors
    are `tau`. It has no derivative.

    >>> import tinytorch as torch
    >>> torch.geqrf(torch.tensor([[3., 0.], [4., 5.]])).a[0].abs()
    tensor([5., 4.])
    """
    if input._array.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    if input._array.dtype.char not in "fdFD":
        raise not_implemented("geqrf_cpu", input)
    return return_types.geqrf(*_geqrf(input))


# ------------------------------------------------------------------ products
def _reflectors_grad(g, C, wanted, input, tau, transposed):
    """The gradients of (H_1 ... H_k) @ C: those of the reflectors and of `tau`, from the outermost reflector inwards,
    and that of C by the reflectors in reverse order."""
    below = _triangle(input, False, 1)
    m, n = input.shape[-2:]
    vectors = below + like(below, np.eye(m, n, dtype=raw(input).dtype))
    k = tau.shape[-1]
    inside = list(range(k)) if transposed else list(range(k - 1, -1, -1))
    before = []                                # the matrix that each reflector was applied to
    for i in inside:
        before.append(C)
        v, scale = vectors[..., i:i + 1], _rowwise(tau[..., i:i + 1])
        C = C - (scale.conjugate() if transposed else scale) * _matmul(v, _matmul(mT(v), C))
    of_vectors, of_tau = [None] * k, [None] * k
    for i, C in zip(inside[::-1], before[::-1]):
        v, scale = vectors[..., i:i + 1], _rowwise(tau[..., i:i + 1])
        scale = scale.conjugate() if transposed else scale
        row, turned = _matmul(mT(v), C), _matmul(mT(v), g)
        inner = _matmul(row, mT(turned))       # v^H C g^H v
        of_tau[i] = -(inner if transposed else inner.conjugate())[..., 0, 0]
        of_vectors[i] = (-_matmul(g, mT(row)) * scale.conjugate() - _matmul(C, mT(turned)) * scale)[..., 0]
        g = g - scale.conjugate() * _matmul(v, turned)
    if isinstance(input, Tensor):
        of_input, of_tau = stack(of_vectors, -1), stack(of_tau, -1)
    else:
        of_input, of_tau = np.stack(of_vectors, -1), np.stack(of_tau, -1)
    if n > k:
        zeros = like(of_input, np.zeros((*of_input.shape[:-1], n - k), raw(input).dtype))
        of_input = cat([of_input, zeros], -1) if isinstance(input, Tensor) else np.concatenate([of_input, zeros], -1)
    return _triangle(of_input, False, 1), of_tau, g


def _product_grad(g, wanted, input, tau, ans):      # torch saves the result too
    if not tau.shape[-1]:
        return input * 0, tau * 0
    eye = like(input, np.broadcast_to(np.eye(*input.shape[-2:], dtype=raw(input).dtype), input.shape))
    return _reflectors_grad(g, eye, wanted, input, tau, False)[:2]


@op(name="linalg_householder_product", joint=_product_grad)
def _product(input, tau):
    return columns(kernels.product(input, tau))


@public("linalg_householder_product", out="", apart=None, autocast="up")
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first n columns of H_1 ... H_k for (..., m, n) `input` and (..., k) `tau`, where H_i = I - tau_i v_i v_i^H.
    The vector v_i is zero above place i, 1 at place i, and has the elements of column i of `input` below it. With the
    results of `geqrf` the product is Q.

    >>> import tinytorch as torch
    >>> torch.linalg.householder_product(torch.zeros(2, 1), torch.tensor([2.]))
    tensor([[-1.],
            [ 0.]])
    """
    name, a, t = "torch.linalg.householder_product", input._array, tau._array
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if a.shape[-2] < a.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if not t.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if a.shape[-1] < t.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if a.ndim - t.ndim != 1:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
                           f"{t.ndim} and input.ndim is equal to {a.ndim}")
    if t.shape[:-1] != a.shape[:-2]:
        raise RuntimeError(f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
                           f"{list(t.shape[:-1])}")
    if t.dtype != a.dtype:
        raise RuntimeError(f"{name}: tau dtype {type_name(tau)} does not match input dtype {type_name(input)}")
    if a.dtype.char not in "fdFD":
        raise not_implemented("orgqr_cpu", input)
    return _product(input, tau)


@public(out=EXACT, apart=None, method=True, autocast="up")
def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.linalg.householder_product` under its older name.

    >>> import tinytorch as torch
    >>> torch.orgqr(torch.zeros(2, 1), torch.tensor([2.]))
    tensor([[-1.],
            [ 0.]])
    """
    return householder_product(input, input2)


def _multiply_grad(g, wanted, left, transpose, input, tau, other, ans):
    if not tau.shape[-1]:
        return input * 0, tau * 0, g
    if left:
        return _reflectors_grad(g, other, wanted, input, tau, transpose)
    of_input, of_tau, of_other = _reflectors_grad(mT(g), mT(other), wanted, input, tau, not transpose)
    return of_input, of_tau, mT(of_other)


@op(name="ormqr", first=2, joint=_multiply_grad)
def _multiply(left, transpose, input, tau, other):
    if left:
        return columns(kernels.applied(input, tau, other, transpose))
    return columns(mT(kernels.applied(input, tau, mT(other), not transpose)))


@public(out=EXACT, apart=None, method=True, autocast="up")
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False, *,
          out: Tensor | None = None) -> Tensor:
    """Q @ other, where other = input3 and Q (m, m) is the full Q of the result (input, tau = input2) of `geqrf`; other
    @ Q if not `left`, and with Q^H if `transpose`.

    >>> import tinytorch as torch
    >>> torch.ormqr(torch.zeros(2, 1), torch.tensor([2.]), torch.eye(2))
    tensor([[-1.,  0.],
            [ 0.,  1.]])
    """
    a, t, c = input._array, input2._array, input3._array
    side = -2 if left else -1
    if a.ndim < 2:
        raise RuntimeError("torch.ormqr: input must have at least 2 dimensions.")
    if c.ndim < 2:
        raise RuntimeError("torch.ormqr: other must have at least 2 dimensions.")
    if c.shape[side] < t.shape[-1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if c.shape[side] != a.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if t.shape[-1] > a.shape[-1]:
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    for name, x, missing in (("tau", t, 1), ("other", c, 0)):
        if a.ndim - x.ndim != missing:
            than = "one dimension less than" if missing else "the same number of dimensions as"
            raise RuntimeError(f"torch.ormqr: Expected {name} to have {than} input, but got {name}.ndim equal to "
                               f"{x.ndim} and input.ndim is equal to {a.ndim}")
    for name, batch in (("tau", t.shape[:-1]), ("other", c.shape[:-2])):
        if batch != a.shape[:-2]:
            raise RuntimeError(f"torch.ormqr: Expected batch dimensions of {name} to be equal to input.shape[:-2], but "
                               f"got {list(batch)}")
    for name, x in (("tau", input2), ("other", input3)):
        if x._array.dtype != a.dtype:
            raise RuntimeError(f"torch.ormqr: Expected input and {name} to have the same dtype, but input has dtype"
                               f"{type_name(input)} and {name} has dtype {type_name(x)}")
    if a.dtype.char not in "fdFD":
        raise not_implemented("ormqr_cpu", input)
    return _multiply(left, transpose, input, input2, input3)
