"""Optimiser steps on ndarrays, in place, in pieces small enough to stay in the cache.

Every function updates `p` and its state arrays from the gradient `g`. Formulas are those of the
papers named, in torch's order of operations up to the folding of constants.
"""
import numpy as np

#: Elements per piece: smaller ones cost more calls than the cache saves.
PIECE = 65536


def pieces(*arrays):
    """Corresponding parts of arrays of one shape (entries may be None), as views to write to."""
    if arrays[0].size <= PIECE or not all(a is None or a.flags.c_contiguous for a in arrays):
        return (arrays,)
    flat = [None if a is None else a.reshape(-1) for a in arrays]
    return ([None if a is None else a[i:i + PIECE] for a in flat] for i in range(0, flat[0].size, PIECE))


def scratch(p, n=1):
    """`n` uninitialised work arrays for pieces of `p`."""
    if p.size <= PIECE or not p.flags.c_contiguous:
        return [np.empty_like(p) for _ in range(n)]
    return [np.empty(PIECE, p.dtype) for _ in range(n)]


def fit(work, p):
    """Work array cut to the last, shorter piece."""
    return work if work.shape == p.shape else work[:p.shape[0]] if work.ndim == p.ndim == 1 else np.empty_like(p)


def decayed(g, p, weight_decay, maximize, out):
    """The gradient with its sign and L2 penalty: g itself where there is nothing to change."""
    if maximize:
        g = np.negative(g, out=out)
    if weight_decay != 0:
        penalty = p * weight_decay
        g = np.add(g, penalty, out=out)
    return g


def sgd(p, g, buf, fresh, lr, momentum, dampening, weight_decay, nesterov, maximize):
    """Stochastic gradient descent; `buf` is the momentum buffer (None without), `fresh` on its first use."""
    if buf is None and weight_decay == 0:
        rate = np.array(-lr if maximize else lr, p.dtype)      # NumPy takes longer to multiply by a Python number
        for p, g in pieces(p, g):
            p -= g * rate
        return
    work, = scratch(p)
    for p, g, buf in pieces(p, g, buf):
        out = fit(work, p)
        g = decayed(g, p, weight_decay, maximize, out)
        if buf is not None:
            if fresh:
                buf[...] = g
            else:
                buf *= momentum
                buf += g if dampening == 0 else g * (1 - dampening)
            if nesterov:
                np.multiply(buf, momentum, out=(step := np.empty_like(buf)))
                step += g
                g = step
            else:
                g = buf
        np.multiply(g, lr, out=out)
        p -= out


def adam(p, g, m, v, v_max, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize):
    """Adam (Kingma and Ba 2015); `decoupled`: AdamW; `v_max`: AMSGrad's running maximum, or None."""
    root = (1 - beta2 ** step) ** 0.5
    rate = lr / (1 - beta1 ** step) * root     # the bias corrections, folded into rate and eps
    work, extra = scratch(p, 2)
    for p, g, m, v, v_max in pieces(p, g, m, v, v_max):
        t, out = fit(work, p), fit(extra, p)
        if decoupled and weight_decay != 0:
            p *= 1 - lr * weight_decay
        g = decayed(g, p, 0 if decoupled else weight_decay, maximize, out)
        np.subtract(g, m, out=t)
        t *= 1 - beta1
        m += t
        v *= beta2
        np.multiply(g, g, out=t)
        t *= 1 - beta2
        v += t
        if v_max is not None:
            np.maximum(v_max, v, out=v_max)
            v = v_max
        np.sqrt(v, out=t)
        t += eps * root
        np.divide(m, t, out=t)
        t *= rate
        p -= t


def rmsprop(p, g, square, mean, buf, lr, alpha, eps, weight_decay, momentum, maximize):
    """RMSprop (Hinton 2012); `mean`: the gradient's average if centered, `buf`: momentum, or None."""
    work, extra = scratch(p, 2)
    for p, g, square, mean, buf in pieces(p, g, square, mean, buf):
        t, out = fit(work, p), fit(extra, p)
        g = decayed(g, p, weight_decay, maximize, out)
        square *= alpha
        np.multiply(g, g, out=t)
        t *= 1 - alpha
        square += t
        if mean is not None:
            np.subtract(g, mean, out=t)
            t *= 1 - alpha
            mean += t
            np.multiply(mean, mean, out=t)
            np.subtract(square, t, out=t)
            np.sqrt(t, out=t)
        else:
            np.sqrt(square, out=t)
        t += eps
        np.divide(g, t, out=t)
        if buf is not None:
            buf *= momentum
            buf += t
            np.multiply(buf, lr, out=t)
        else:
            t *= lr
        p -= t


def adagrad(p, g, total, lr, eps, weight_decay, maximize):
    """Adagrad (Duchi, Hazan and Singer 2011); `lr` already decayed."""
    work, extra = scratch(p, 2)
    for p, g, total in pieces(p, g, total):
        t, out = fit(work, p), fit(extra, p)
        g = decayed(g, p, weight_decay, maximize, out)
        np.multiply(g, g, out=t)
        total += t
        np.sqrt(total, out=t)
        t += eps
        np.divide(g, t, out=t)
        t *= lr
        p -= t


def adadelta(p, g, square, delta2, lr, rho, eps, weight_decay, maximize):
    """Adadelta (Zeiler 2012); `delta2`: the running average of squared updates."""
    work, extra, third = scratch(p, 3)
    for p, g, square, delta2 in pieces(p, g, square, delta2):
        t, out, d = fit(work, p), fit(extra, p), fit(third, p)
        g = decayed(g, p, weight_decay, maximize, out)
        square *= rho
        np.multiply(g, g, out=t)
        t *= 1 - rho
        square += t
        np.add(delta2, eps, out=d)
        np.add(square, eps, out=t)
        d /= t
        np.sqrt(d, out=d)
        d *= g
        delta2 *= rho
        np.multiply(d, d, out=t)
        t *= 1 - rho
        delta2 += t
        d *= lr
        p -= d
