"""Optimiser steps on ndarrays, in place, in pieces small enough to stay in the cache.

Every function updates `p` and its state arrays from the gradient `g`. The formulas are those of the papers named. They
are computed as torch computes them for a single parameter: the same operations in the same order, each rounded once.
Scalars are computed in double precision, and rounded to the dtype of the array that they meet. So a step depends
neither on the kernel that computes it, in C or here, nor on the number of elements. (torch's own last digits depend on
its build: where the processor can, it rounds a product and a sum once, and MKL's square roots are not the nearest
numbers.) Steps in float16 and bfloat16 are in optim_half.py; they depend on `how` torch computes them: foreach, fused.
"""
import numpy as np

from ..device import META
from ..kinds.lazy import device_of
from . import native, optim_half
from .threads import split

#: At most so many bytes of an array are a piece: with the state and the scratch of an update it stays in the cache.
PIECE = 1 << 20
#: From so many elements on several threads are worth their overhead.
MANY = 1 << 18
#: From so many elements on two passes in NumPy take longer than a kernel in C.
_PASS = 32768


def by_pieces(update, arrays, works=1):
    """Calls update(*arrays, *scratch) for corresponding parts of `arrays`, which have one shape or are None. The parts
    are views, the `works` scratch arrays are uninitialised. Several threads share large arrays. Without elements
    nothing is called."""
    first = arrays[0]
    if type(first) is not np.ndarray and device_of(first) is META:
        return
    if first.nbytes <= PIECE or not all([a is None or a.flags.c_contiguous for a in arrays]):
        update(*arrays, *[np.empty_like(first) for _ in range(works)])
        return
    flat = [None if a is None else a.reshape(-1) for a in arrays]
    count = -(-first.nbytes // PIECE)
    count += count % 2                         # an even number: the same work for two threads
    piece = -(-first.size // count)

    def run(start, stop):
        scratch = [np.empty(piece, first.dtype) for _ in range(works)]
        for i in range(start * piece, min(stop * piece, first.size), piece):
            views = [None if a is None else a[i:i + piece] for a in flat]
            update(*views, *[work[:views[0].size] for work in scratch])
    if first.size >= MANY:
        split(count, run)
    else:
        run(0, count)


# ------------------------------------------------------------------ operations of the steps; `t`: scratch
def decayed(g, p, weight_decay, maximize, out, shrink=None):
    """The gradient, negated if `maximize`, plus the L2 penalty; `g` itself if neither applies. First the parameter is
    multiplied by `shrink`, unless that is None."""
    if shrink is not None:
        p *= shrink
    if weight_decay != 0:
        np.multiply(p, weight_decay, out)
        return np.subtract(out, g, out) if maximize else np.add(g, out, out)
    return np.negative(g, out) if maximize else g


def add_scaled(a, x, alpha, t):
    """a += alpha * x"""
    np.multiply(x, alpha, t)
    a += t


def addcmul(a, x, y, value, t):
    """a += value * x * y"""
    np.multiply(x, value, t)
    t *= y
    a += t


def addcdiv(a, x, y, value, t):
    """a += value * x / y"""
    np.multiply(x, value, t)
    t /= y
    a += t


def lerp(a, b, weight, t):
    """a += weight * (b - a), computed from the nearer of the two, as in torch.lerp."""
    weight = a.dtype.type(weight)
    np.subtract(b, a, t)
    if abs(weight) < 0.5:
        t *= weight
        a += t
    else:
        t *= 1 - weight
        np.subtract(b, t, a)


# ------------------------------------------------------------------ steps
def sgd(p, g, buf, fresh, lr, momentum, dampening, weight_decay, nesterov, maximize, *how):
    """Stochastic gradient descent; `buf` is the momentum buffer (None without), `fresh`: this is its first use."""
    if p.dtype.itemsize == 2:
        return optim_half.sgd(p, g, buf, fresh, lr, momentum, dampening, weight_decay, nesterov, maximize, *how)
    if native.done("sgd", p.size, nesterov, fresh, -1 if maximize else 1, weight_decay, -lr, momentum,
                   1 - dampening, p, g, buf):
        return

    def update(p, g, buf, t, out):
        g = decayed(g, p, weight_decay, maximize, out)
        if buf is not None:
            if fresh:
                np.copyto(buf, g)
            else:
                buf *= momentum
                add_scaled(buf, g, 1 - dampening, t)
            g = np.add(g, np.multiply(buf, momentum, t), t) if nesterov else buf
        add_scaled(p, g, -lr, t)
    by_pieces(update, (p, g, buf), 2)


def descend(pairs, lr, maximize):
    """Stochastic gradient descent without momentum or penalty, for pairs (parameter, gradient). Returns the positions
    of the pairs that are left to `sgd`: those that are not ndarrays of one shape in float32 or float64, those that are
    read-only, and, in double precision or without native kernels, those with more elements than a piece."""
    left, rate, shares = [], lr if maximize else -lr, {}
    for i, (p, g) in enumerate(pairs):
        dtype = p.dtype
        if type(g) is not np.ndarray or type(p) is not np.ndarray or dtype.char not in "fd" or (
                g.dtype != dtype or g.shape != p.shape):
            left.append(i)
            continue
        if dtype not in shares:                # NumPy multiplies by an array faster than by a number
            shares[dtype] = np.array(rate, dtype)
        try:
            if p.size < _PASS:
                p += g * shares[dtype]
            elif native.done("sgd", p.size, 0, 0, 1, 0, rate, 0, 1, p, g, None):
                pass
            elif p.nbytes > PIECE:
                left.append(i)
            else:
                p += g * shares[dtype]
        except ValueError:                     # the parameter is read-only
            left.append(i)
    return left


def adam(p, g, m, v, v_max, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize, *how):
    """Adam (Kingma and Ba 2015); `decoupled`: AdamW; `v_max`: AMSGrad's running maximum, or None."""
    root, rate, shrink = (1 - beta2 ** step) ** 0.5, float(lr / (1 - beta1 ** step)), None
    if decoupled:
        shrink, weight_decay = None if weight_decay == 0 else float(1 - lr * weight_decay), 0
    if p.dtype.itemsize == 2:
        return optim_half.adam(p, g, m, v, v_max, rate, root, shrink, beta1, beta2, eps, weight_decay, maximize, *how)
    sign = -1 if maximize else 1
    if native.done("adam", p.size, sign, weight_decay, 1 - beta1, beta2, 1 - beta2, root, eps,
                   -rate, 1 if shrink is None else shrink, p, g, m, v, v_max):
        return

    def update(p, g, m, v, v_max, t, out):
        g = decayed(g, p, weight_decay, maximize, out, shrink)
        lerp(m, g, 1 - beta1, t)
        v *= beta2
        addcmul(v, g, g, 1 - beta2, t)
        if v_max is not None:
            np.maximum(v_max, v, out=v_max)
            v = v_max
        np.sqrt(v, t)
        t /= root
        t += eps
        addcdiv(p, m, t, -rate, out)
    by_pieces(update, (p, g, m, v, v_max), 2)


def adamax(p, g, m, largest, step, lr, beta1, beta2, eps, weight_decay, maximize, *how):
    """Adamax (Kingma and Ba 2015); `largest`: the decayed maximum of the gradients' sizes."""
    rate = float(lr / (1 - beta1 ** step))
    if p.dtype.itemsize == 2:
        return optim_half.adamax(p, g, m, largest, rate, beta1, beta2, eps, weight_decay, maximize, *how)
    if native.done("adamax", p.size, -1 if maximize else 1, weight_decay, 1 - beta1, beta2, eps, -rate, p, g, m,
                   largest):
        return

    def update(p, g, m, largest, t, out):
        g = decayed(g, p, weight_decay, maximize, out)
        lerp(m, g, 1 - beta1, t)
        largest *= beta2
        np.abs(g, out=t)
        t += eps
        np.maximum(largest, t, out=largest)
        addcdiv(p, m, largest, -rate, t)
    by_pieces(update, (p, g, m, largest), 2)


def rmsprop(p, g, square, mean, buf, lr, alpha, eps, weight_decay, momentum, maximize, *how):
    """RMSprop (Hinton 2012); `mean`: the gradient's average if centered, `buf`: momentum, or None."""
    if p.dtype.itemsize == 2:
        return optim_half.rmsprop(p, g, square, mean, buf, lr, alpha, eps, weight_decay, momentum, maximize, *how)
    if native.done("rmsprop", p.size, -1 if maximize else 1, weight_decay, alpha, 1 - alpha, eps, momentum, -lr, p,
                   g, square, mean, buf):
        return

    def update(p, g, square, mean, buf, t, out, root):
        g = decayed(g, p, weight_decay, maximize, out)
        square *= alpha
        addcmul(square, g, g, 1 - alpha, t)
        np.copyto(root, square)
        if mean is not None:
            lerp(mean, g, 1 - alpha, t)
            addcmul(root, mean, mean, -1, t)
        np.sqrt(root, root)
        root += eps
        if buf is None:
            addcdiv(p, g, root, -lr, t)
            return
        buf *= momentum
        addcdiv(buf, g, root, 1, t)
        add_scaled(p, buf, -lr, t)
    by_pieces(update, (p, g, square, mean, buf), 3)


def adagrad(p, g, total, lr, eps, weight_decay, maximize, *how):
    """Adagrad (Duchi, Hazan and Singer 2011); `lr` is decayed already."""
    if p.dtype.itemsize == 2:
        return optim_half.adagrad(p, g, total, lr, eps, weight_decay, maximize, *how)
    if native.done("adagrad", p.size, -1 if maximize else 1, weight_decay, -lr, eps, p, g, total):
        return

    def update(p, g, total, t, out, root):
        g = decayed(g, p, weight_decay, maximize, out)
        addcmul(total, g, g, 1, t)
        np.sqrt(total, root)
        root += eps
        addcdiv(p, g, root, -lr, t)
    by_pieces(update, (p, g, total), 3)


def adadelta(p, g, square, delta2, lr, rho, eps, weight_decay, maximize, *how):
    """Adadelta (Zeiler 2012); `delta2`: the running average of squared updates."""
    if p.dtype.itemsize == 2:
        return optim_half.adadelta(p, g, square, delta2, lr, rho, eps, weight_decay, maximize, *how)
    if native.done("adadelta", p.size, -1 if maximize else 1, weight_decay, rho, 1 - rho, eps, -lr, p, g, square,
                   delta2):
        return

    def update(p, g, square, delta2, t, out, d):
        g = decayed(g, p, weight_decay, maximize, out)
        square *= rho
        addcmul(square, g, g, 1 - rho, t)
        np.add(square, eps, t)
        np.sqrt(t, t)
        np.add(delta2, eps, d)
        np.sqrt(d, d)
        d /= t
        d *= g
        delta2 *= rho
        addcmul(delta2, d, d, 1 - rho, t)
        add_scaled(p, d, -lr, t)
    by_pieces(update, (p, g, square, delta2), 3)


def nadam(p, g, m, v, lr, step, mu, mu_next, mu_product, beta1, beta2, eps, weight_decay, decoupled, maximize, *how):
    """NAdam (Dozat 2016); `mu_product`: the product of the momenta up to that of this step, `mu`."""
    correction, shrink = 1 - beta2 ** step, None
    if decoupled:
        shrink, weight_decay = None if weight_decay == 0 else float(1 - lr * weight_decay), 0
    of_gradient = float(-lr * (1 - mu) / (1 - mu_product))
    of_mean = float(-lr * mu_next / (1 - mu_product * mu_next))
    if p.dtype.itemsize == 2:
        return optim_half.nadam(p, g, m, v, of_gradient, of_mean, correction ** 0.5, shrink, beta1, beta2, eps,
                                weight_decay, maximize, *how)

    sign = -1 if maximize else 1
    if native.done("nadam", p.size, sign, weight_decay, 1 - beta1, beta2, 1 - beta2, correction,
                   eps, of_gradient, of_mean, 1 if shrink is None else shrink, p, g, m, v):
        return

    def update(p, g, m, v, t, out, root):
        g = decayed(g, p, weight_decay, maximize, out, shrink)
        lerp(m, g, 1 - beta1, t)
        v *= beta2
        addcmul(v, g, g, 1 - beta2, t)
        np.divide(v, correction, root)
        np.sqrt(root, root)
        root += eps
        addcdiv(p, g, root, of_gradient, t)
        addcdiv(p, m, root, of_mean, t)
    by_pieces(update, (p, g, m, v), 3)


def radam(p, g, m, v, lr, correction1, correction2, rectify, beta1, beta2, eps, weight_decay, decoupled, maximize,
          *how):
    """RAdam (Liu et al. 2020); `correction1` and `correction2` correct the bias. While `rectify` is None the step uses
    the average of the gradients alone."""
    shrink, root = None, correction2 ** 0.5
    if decoupled:
        shrink, weight_decay = None if weight_decay == 0 else float(1 - lr * weight_decay), 0
    if p.dtype.itemsize == 2:
        return optim_half.radam(p, g, m, v, float(lr), rectify, root, correction1, shrink, beta1, beta2, eps,
                                weight_decay, maximize, *how)

    sign = -1 if maximize else 1
    if native.done("radam", p.size, sign, weight_decay, 1 - beta1, beta2, 1 - beta2, correction1,
                   lr, eps, root, rectify or 0, 1 if shrink is None else shrink, p, g, m, v):
        return

    def update(p, g, m, v, t, out):
        g = decayed(g, p, weight_decay, maximize, out, shrink)
        lerp(m, g, 1 - beta1, t)
        v *= beta2
        addcmul(v, g, g, 1 - beta2, t)
        np.divide(m, correction1, out)
        out *= lr
        if rectify is not None:
            np.sqrt(v, t)
            t += eps
            np.reciprocal(t, t)
            t *= root
            out *= t
            out *= rectify
        p -= out
    by_pieces(update, (p, g, m, v), 2)


def rprop(p, g, prev, size, least, most, shorter, longer, maximize, *how):
    """Rprop (Riedmiller and Braun 1993); `prev`: the previous gradient, `size`: the step size of each element."""
    if p.dtype.itemsize == 2:
        return optim_half.rprop(p, g, prev, size, least, most, shorter, longer, maximize, *how)

    def update(p, g, prev, size, t):
        np.multiply(prev, g, out=t)
        if maximize:
            np.negative(t, out=t)
        turned = t < 0
        factor = np.array([1, longer, shorter, 1], p.dtype)
        size *= factor[(t > 0).view(np.int8) + 2 * turned.view(np.int8)]
        np.clip(size, least, most, out=size)
        np.negative(g, out=prev) if maximize else np.copyto(prev, g)
        np.copyto(prev, 0, where=turned)
        np.sign(prev, out=t)
        t *= size
        p -= t
    by_pieces(update, (p, g, prev, size), 1)


def asgd(p, g, average, eta, mu, lambd, weight_decay, maximize, *how):
    """Averaged SGD (Polyak and Juditsky 1992) at rate `eta`; `average` moves by the share `mu`."""
    if p.dtype.itemsize == 2:
        return optim_half.asgd(p, g, average, eta, mu, lambd, weight_decay, maximize, *how)

    def update(p, g, average, t, out):
        g = decayed(g, p, weight_decay, maximize, out)
        p *= 1 - lambd * eta
        add_scaled(p, g, -eta, t)
        if mu == 1:
            average[...] = p
        else:
            np.subtract(p, average, t)
            t *= mu
            average += t
    by_pieces(update, (p, g, average), 2)
