"""Optimiser steps on ndarrays, in place, in pieces small enough to stay in the cache.

Every function updates `p` and its state arrays from the gradient `g`. Formulas are those of the
papers named, in torch's order of operations up to the folding of constants. Those of float16 and bfloat16 are in
optim_half.py, where it counts `how` torch does them: foreach, fused.
"""
import numpy as np

from ..device import META
from ..lazy import device_of
from . import native, optim_half
from .linalg import blas
from .linalg.blas import Short, Sums, add_scaled, add_scaled_each
from .threads import split

#: Bytes of one array in a piece, at most: with the state and the scratch of an update they stay in the cache.
PIECE = 1 << 20
#: Elements that take a thread longer than it takes to share them.
MANY = 1 << 18
#: Elements of which a pass or two take longer than it takes to share them.
_PASS = 1 << 21


def by_pieces(update, arrays, works=1):
    """update(sums, *arrays, *scratch) for corresponding parts of `arrays` (of one shape; entries may be None), as views
    to write to, with `works` uninitialised scratch arrays of the part's shape; `sums`: blas.Sums or Short. Several
    threads share large ones. Nothing is done where there are no numbers."""
    first = arrays[0]
    if type(first) is not np.ndarray and device_of(first) is META:
        return
    if first.nbytes <= PIECE or not all([a is None or a.flags.c_contiguous for a in arrays]):
        scratch = [np.empty_like(first) for _ in range(works)]
        sums = Short
        if first.size >= blas.SHORT:
            there = [a for a in arrays if a is not None]
            sums = Sums(there, scratch)
            sums.see(there + scratch)
        update(sums, *arrays, *scratch)
        return
    flat = [None if a is None else a.reshape(-1) for a in arrays]
    there = [a for a in flat if a is not None]
    count = -(-first.nbytes // PIECE)
    count += count % 2                         # the same work for each of two threads
    piece = -(-first.size // count)

    def run(start, stop):
        scratch = [np.empty(piece, first.dtype) for _ in range(works)]
        sums = Sums(there, scratch)
        for i in range(start * piece, min(stop * piece, first.size), piece):
            views = [None if a is None else a[i:i + piece] for a in flat]
            views += scratch if i + piece <= first.size else [work[:first.size - i] for work in scratch]
            sums.see([view for view in views if view is not None], i)
            update(sums, *views)
    if first.size >= MANY:
        split(count, run)
    else:
        run(0, count)


def decayed(g, p, weight_decay, maximize, out):
    """The gradient with its sign and L2 penalty: g itself where there is nothing to change."""
    if weight_decay != 0:
        np.multiply(p, weight_decay, out)
        return np.subtract(out, g, out) if maximize else np.add(g, out, out)
    return np.negative(g, out) if maximize else g


def add_square(sums, average, share, g, t):
    """average = share * average + (1 - share) * g * g; `t` is scratch."""
    np.square(g, t)
    sums.blend(average, share, t, 1 - share, t)


def sgd(p, g, buf, fresh, lr, momentum, dampening, weight_decay, nesterov, maximize, *how):
    """Stochastic gradient descent; `buf` is the momentum buffer (None without), `fresh` on its first use."""
    if p.dtype.itemsize == 2:
        return optim_half.sgd(p, g, buf, fresh, lr, momentum, dampening, weight_decay, nesterov, maximize, *how)
    if buf is None and weight_decay == 0 and p.size < _PASS:
        return add_scaled(p, g, lr if maximize else -lr)
    sign = -1 if maximize else 1
    if native.takes("sgd", p, g, buf):
        native.run("sgd", p.size, nesterov, fresh, sign, weight_decay, lr, momentum, 1 - dampening, p, g, buf)
        return

    def update(sums, p, g, buf, t):            # in scaled sums alone, each of them one pass
        if buf is not None:
            if fresh:
                np.negative(g, buf) if maximize else np.copyto(buf, g)
            else:
                sums.blend(buf, momentum, g, sign * (1 - dampening), t)
            if weight_decay != 0:
                sums.add_scaled(buf, p, weight_decay if fresh else (1 - dampening) * weight_decay, t)
            if not nesterov:
                sums.add_scaled(p, buf, -lr, t)
                return
        if weight_decay != 0:
            sums.blend(p, 1 - lr * weight_decay, g, -lr * sign, t)
        else:
            sums.add_scaled(p, g, -lr * sign, t)
        if buf is not None:
            sums.add_scaled(p, buf, -lr * momentum, t)
    if weight_decay != 0 or nesterov or p.size >= _PASS:
        by_pieces(update, (p, g, buf))
    else:                                      # a pass or two over all: there is nothing to keep in the cache
        update(blas, p, g, buf, None)


def descend(pairs, lr, maximize):
    """Stochastic gradient descent and nothing more, for pairs of parameter and gradient. Returns the numbers of those
    left to `sgd`."""
    return add_scaled_each(pairs, lr if maximize else -lr, _PASS - 1)


def adam(p, g, m, v, v_max, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize, *how):
    """Adam (Kingma and Ba 2015); `decoupled`: AdamW; `v_max`: AMSGrad's running maximum, or None."""
    root, rate, shrink = (1 - beta2 ** step) ** 0.5, float(lr / (1 - beta1 ** step)), None
    if decoupled:
        shrink, weight_decay = None if weight_decay == 0 else float(1 - lr * weight_decay), 0
    if p.dtype.itemsize == 2:
        return optim_half.adam(p, g, m, v, v_max, rate, root, shrink, beta1, beta2, eps, weight_decay, maximize, *how)
    rate *= root                               # the bias corrections, folded into rate and eps
    if native.takes("adam", p, g, m, v, v_max):
        native.run("adam", p.size, -1 if maximize else 1, weight_decay, beta1, beta2, rate, eps * root,
                   1 if shrink is None else shrink, p, g, m, v, v_max)
        return

    def update(sums, p, g, m, v, v_max, t, out):
        if shrink is not None:
            p *= shrink
        g = decayed(g, p, weight_decay, maximize, out)
        sums.blend(m, beta1, g, 1 - beta1, t)
        add_square(sums, v, beta2, g, t)
        if v_max is not None:
            np.maximum(v_max, v, out=v_max)
            v = v_max
        np.sqrt(v, t)
        t += eps * root
        np.divide(m, t, t)
        sums.add_scaled(p, t, -rate, out)
    by_pieces(update, (p, g, m, v, v_max), 2)


def adamax(p, g, m, largest, step, lr, beta1, beta2, eps, weight_decay, maximize, *how):
    """Adamax (Kingma and Ba 2015); `largest`: the decayed maximum of the gradients' sizes."""
    rate = float(lr / (1 - beta1 ** step))
    if p.dtype.itemsize == 2:
        return optim_half.adamax(p, g, m, largest, rate, beta1, beta2, eps, weight_decay, maximize, *how)
    if native.takes("adamax", p, g, m, largest):
        native.run("adamax", p.size, -1 if maximize else 1, weight_decay, beta1, beta2, rate, eps, p, g, m, largest)
        return

    def update(sums, p, g, m, largest, t, out):
        g = decayed(g, p, weight_decay, maximize, out)
        sums.blend(m, beta1, g, 1 - beta1, t)
        largest *= beta2
        np.abs(g, out=t)
        t += eps
        np.maximum(largest, t, out=largest)
        np.divide(m, largest, out=t)
        sums.add_scaled(p, t, -rate, out)
    by_pieces(update, (p, g, m, largest), 2)


def rmsprop(p, g, square, mean, buf, lr, alpha, eps, weight_decay, momentum, maximize, *how):
    """RMSprop (Hinton 2012); `mean`: the gradient's average if centered, `buf`: momentum, or None."""
    if p.dtype.itemsize == 2:
        return optim_half.rmsprop(p, g, square, mean, buf, lr, alpha, eps, weight_decay, momentum, maximize, *how)
    if native.takes("rmsprop", p, g, square, mean, buf):
        native.run("rmsprop", p.size, -1 if maximize else 1, weight_decay, alpha, eps, momentum, lr, p, g, square, mean,
                   buf)
        return

    def update(sums, p, g, square, mean, buf, t, out):
        g = decayed(g, p, weight_decay, maximize, out)
        add_square(sums, square, alpha, g, t)
        if mean is not None:
            sums.blend(mean, alpha, g, 1 - alpha, t)
            np.multiply(mean, mean, out=t)
            np.subtract(square, t, out=t)
            np.sqrt(t, out=t)
        else:
            np.sqrt(square, out=t)
        t += eps
        np.divide(g, t, out=t)
        if buf is not None:
            sums.blend(buf, momentum, t, 1, out)
            t = buf
        sums.add_scaled(p, t, -lr, out)
    by_pieces(update, (p, g, square, mean, buf), 2)


def adagrad(p, g, total, lr, eps, weight_decay, maximize, *how):
    """Adagrad (Duchi, Hazan and Singer 2011); `lr` already decayed."""
    if p.dtype.itemsize == 2:
        return optim_half.adagrad(p, g, total, lr, eps, weight_decay, maximize, *how)
    if native.takes("adagrad", p, g, total):
        native.run("adagrad", p.size, -1 if maximize else 1, weight_decay, lr, eps, p, g, total)
        return

    def update(sums, p, g, total, t, out):
        g = decayed(g, p, weight_decay, maximize, out)
        np.multiply(g, g, out=t)
        total += t
        np.sqrt(total, out=t)
        t += eps
        np.divide(g, t, out=t)
        sums.add_scaled(p, t, -lr, out)
    by_pieces(update, (p, g, total), 2)


def adadelta(p, g, square, delta2, lr, rho, eps, weight_decay, maximize, *how):
    """Adadelta (Zeiler 2012); `delta2`: the running average of squared updates."""
    if p.dtype.itemsize == 2:
        return optim_half.adadelta(p, g, square, delta2, lr, rho, eps, weight_decay, maximize, *how)
    if native.takes("adadelta", p, g, square, delta2):
        native.run("adadelta", p.size, -1 if maximize else 1, weight_decay, rho, eps, lr, p, g, square, delta2)
        return

    def update(sums, p, g, square, delta2, t, out, d):
        g = decayed(g, p, weight_decay, maximize, out)
        add_square(sums, square, rho, g, t)
        np.add(delta2, eps, out=d)
        np.add(square, eps, out=t)
        d /= t
        np.sqrt(d, out=d)
        d *= g
        add_square(sums, delta2, rho, d, t)
        sums.add_scaled(p, d, -lr, t)
    by_pieces(update, (p, g, square, delta2), 3)


def nadam(p, g, m, v, lr, step, mu, mu_next, mu_product, beta1, beta2, eps, weight_decay, decoupled, maximize, *how):
    """NAdam (Dozat 2016); `mu_product`: of the momenta up to this step's, `mu`."""
    root, shrink = (1 - beta2 ** step) ** 0.5, None
    if decoupled:
        shrink, weight_decay = None if weight_decay == 0 else float(1 - lr * weight_decay), 0
    of_gradient = float(-lr * (1 - mu) / (1 - mu_product))
    of_mean = float(-lr * mu_next / (1 - mu_product * mu_next))
    if p.dtype.itemsize == 2:
        return optim_half.nadam(p, g, m, v, of_gradient, of_mean, root, shrink, beta1, beta2, eps, weight_decay,
                                maximize, *how)

    def update(sums, p, g, m, v, t, out):
        if shrink is not None:
            p *= shrink
        g = decayed(g, p, weight_decay, maximize, out)
        sums.blend(m, beta1, g, 1 - beta1, t)
        add_square(sums, v, beta2, g, t)
        np.sqrt(v, t)
        t += eps * root
        np.multiply(g, of_gradient * root, out=out)            # the bias correction, folded into both rates and eps
        sums.add_scaled(out, m, of_mean * root)
        out /= t
        p += out
    by_pieces(update, (p, g, m, v), 2)


def radam(p, g, m, v, lr, correction1, correction2, rectify, beta1, beta2, eps, weight_decay, decoupled, maximize,
          *how):
    """RAdam (Liu et al. 2020): by the gradients' average alone while `rectify` is None; the corrections are of bias."""
    shrink, root = None, correction2 ** 0.5
    if decoupled:
        shrink, weight_decay = None if weight_decay == 0 else float(1 - lr * weight_decay), 0
    if p.dtype.itemsize == 2:
        return optim_half.radam(p, g, m, v, float(lr), rectify, root, correction1, shrink, beta1, beta2, eps,
                                weight_decay, maximize, *how)
    foreach = how[0]
    rate = float(lr / correction1) if foreach else float(lr) / correction1         # a tensor's dtype rounds the one

    def update(sums, p, g, m, v, t, out):
        if shrink is not None:
            p *= shrink
        g = decayed(g, p, weight_decay, maximize, out)
        sums.blend(m, beta1, g, 1 - beta1, t)
        add_square(sums, v, beta2, g, t)
        if rectify is None:
            sums.add_scaled(p, m, -rate, t)
            return
        np.sqrt(v, t)
        t += eps
        np.divide(m, t, t)
        sums.add_scaled(p, t, -rate * rectify * root, out)
    by_pieces(update, (p, g, m, v), 2)


def rprop(p, g, prev, size, least, most, shorter, longer, maximize, *how):
    """Rprop (Riedmiller and Braun 1993); `prev`: the gradient before, `size`: of each element's step."""
    if p.dtype.itemsize == 2:
        return optim_half.rprop(p, g, prev, size, least, most, shorter, longer, maximize, *how)

    def update(sums, p, g, prev, size, t):
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

    def update(sums, p, g, average, t):
        sums.blend(p, 1 - (lambd + weight_decay) * eta, g, eta if maximize else -eta, t)
        if mu == 1:
            average[...] = p
        else:
            sums.blend(average, 1 - mu, p, mu, t)
    by_pieces(update, (p, g, average), 1)
