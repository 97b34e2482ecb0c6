"""Householder reflectors H_i = I - tau_i v_i v_i^H as LAPACK stores them: v_i has a 1 at i, and below it column i of
the matrix."""
import numpy as np


def factored(matrices):
    """(R on and above the diagonal and the reflectors below, tau) with H_1^H ... H_k^H A = R: geqrf."""
    raw, tau = np.linalg.qr(matrices, mode="raw")
    return raw.swapaxes(-1, -2), tau


def _vector(reflectors, i):
    v = np.array(reflectors[..., i])
    v[..., :i] = 0
    v[..., i] = 1
    return v


def applied(reflectors, tau, C, transposed):
    """H_1 ... H_k @ C, or with `transposed` (H_1 ... H_k)^H @ C."""
    shape = np.broadcast_shapes(reflectors.shape[:-2], C.shape[:-2])
    result = np.array(np.broadcast_to(C, shape + C.shape[-2:]))
    k = tau.shape[-1]
    for i in range(k) if transposed else range(k - 1, -1, -1):
        v = _vector(reflectors, i)
        scale = tau[..., i].conj() if transposed else tau[..., i]
        result -= (scale[..., None] * v)[..., :, None] * np.matmul(v.conj()[..., None, :], result)
    return result


def product(reflectors, tau):
    """The first columns of H_1 ... H_k, as many as `reflectors` has columns."""
    return applied(reflectors, tau, np.eye(*reflectors.shape[-2:], dtype=reflectors.dtype), False)
