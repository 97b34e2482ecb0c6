"""Optimiser steps in float16 and bfloat16, in place.

An update has a dozen roundings to 11 or 8 bits, and the result shows which numbers are rounded. So these steps, unlike
those for wider dtypes (optim.py), follow torch kernel by kernel: they compute in float32, and `q` rounds what a kernel
of torch stores. torch's fused updates are one kernel each: there `q` leaves the numbers as they are. `how`: whether
torch uses foreach, and whether it uses fused kernels.
"""
import numpy as np

from .. import dtypes as dt

_FLOAT32 = np.dtype(np.float32)

#: The number of elements that torch adds at once on a processor with AVX-512.
_LANES = 32


class _Rounding:
    """A function that rounds float32 numbers as a kernel of torch does when it stores them."""

    def __init__(self, dtype, foreach, fused):
        self.dtype, self.foreach, self.fused = dtype, foreach, fused

    def __call__(self, x):
        return x if self.fused else dt.cast(dt.cast(x, self.dtype), _FLOAT32)

    def factor(self, number):
        """`number` as a factor of tensors in place: torch._foreach_mul_ rounds it, torch.mul does not."""
        number = np.asarray(number, np.float32)
        return self(number) if self.foreach else number


def rounding(dtype):
    """A `_Rounding` to `dtype`, for updates in which torch calls several kernels."""
    return _Rounding(dtype, False, False)


def stepped(update, arrays, foreach=False, fused=False):
    """Calls update(q, *arrays) with flat float32 copies, and stores them again, except the second. `arrays`: parameter,
    gradient, state ..., of one shape (entries may be None)."""
    dtype, turned = arrays[0].dtype, arrays[0].flags.fnc         # flattened in memory order
    arrays = [a.T if turned and a is not None else a for a in arrays]
    wide = [None if a is None else dt.cast(a.reshape(-1), _FLOAT32) for a in arrays]
    update(_Rounding(dtype, foreach, fused), *wide)
    for i, (array, values) in enumerate(zip(arrays, wide)):
        if array is not None and i != 1:
            array[...] = dt.cast(values, dtype).reshape(array.shape)


def plus(q, a, factor, b):
    """torch.add(a, b, alpha=factor). It rounds the factor, and also the products at the end that fill no vector."""
    factor = q(np.asarray(factor, np.float32))
    result = q(a + factor * b)
    rest = a.size % _LANES
    if rest and not q.fused:
        result[-rest:] = q(a[-rest:] + q(factor * b[-rest:]))
    return result


def _decayed(q, g, p, weight_decay, maximize, shrink=None):
    if shrink is not None:
        p[...] = q(p * q.factor(shrink))
    g = -g if maximize else g
    return plus(q, g, weight_decay, p) if weight_decay != 0 else g


def moved(q, a, b, weight):
    """torch.lerp(a, b, weight)."""
    return q(a + np.float32(weight) * (b - a) if weight < 0.5 else b - (b - a) * (1 - np.float32(weight)))


def _add_square(q, average, share, g):
    return q(q(average * q.factor(share)) + np.float32(1 - share) * g * g)


def _root(q, x, eps):
    return q(q(np.sqrt(x)) + q(np.asarray(eps, np.float32)))


def sgd(p, g, buf, fresh, lr, momentum, dampening, weight_decay, nesterov, maximize, *how):
    def update(q, p, g, buf):
        g = _decayed(q, g, p, weight_decay, maximize)
        if buf is not None:
            buf[...] = g if fresh else plus(q, q(buf * q.factor(momentum)), 1 - dampening, g)
            g = plus(q, g, momentum, buf) if nesterov else buf
        p[...] = plus(q, p, -lr, g)
    stepped(update, (p, g, buf), *how)


def adam(p, g, m, v, v_max, rate, root, shrink, beta1, beta2, eps, weight_decay, maximize, *how):
    def update(q, p, g, m, v, v_max):
        g = _decayed(q, g, p, weight_decay, maximize, shrink)
        m[...] = moved(q, m, g, 1 - beta1)
        v[...] = _add_square(q, v, beta2, g)
        if v_max is not None:
            np.maximum(v_max, v, out=v_max)
            v = v_max
        p -= np.float32(rate) * m / q(q(q(np.sqrt(v)) / np.float32(root)) + q(np.asarray(eps, np.float32)))
    stepped(update, (p, g, m, v, v_max), *how)


def adamax(p, g, m, largest, rate, beta1, beta2, eps, weight_decay, maximize, *how):
    def update(q, p, g, m, largest):
        g = _decayed(q, g, p, weight_decay, maximize)
        m[...] = moved(q, m, g, 1 - beta1)
        np.maximum(q(largest * q.factor(beta2)), q(np.abs(g) + q(np.asarray(eps, np.float32))), out=largest)
        p -= np.float32(rate) * m / largest
    stepped(update, (p, g, m, largest), *how)


def rmsprop(p, g, square, mean, buf, lr, alpha, eps, weight_decay, momentum, maximize, *how):
    def update(q, p, g, square, mean, buf):
        g = _decayed(q, g, p, weight_decay, maximize)
        square[...] = _add_square(q, square, alpha, g)
        variance = square
        if mean is not None:
            mean[...] = moved(q, mean, g, 1 - alpha)
            variance = q(square - mean * mean)
        root = _root(q, variance, eps)
        if buf is None:
            p -= np.float32(lr) * g / root
        else:
            buf[...] = q(q(buf * q.factor(momentum)) + g / root)
            p[...] = plus(q, p, -lr, buf)
    stepped(update, (p, g, square, mean, buf), *how)


def adagrad(p, g, total, lr, eps, weight_decay, maximize, *how):
    def update(q, p, g, total):
        g = _decayed(q, g, p, weight_decay, maximize)
        total[...] = q(total + g * g)
        if q.foreach:
            in_place = weight_decay != 0 or maximize
            step = q(g * (q.factor(lr) if in_place else np.float32(lr)))
        else:
            step = np.float32(lr) * g
        p -= step / _root(q, total, eps)
    stepped(update, (p, g, total), *how)


def adadelta(p, g, square, delta2, lr, rho, eps, weight_decay, maximize, *how):
    def update(q, p, g, square, delta2):
        g = _decayed(q, g, p, weight_decay, maximize)
        square[...] = _add_square(q, square, rho, g)
        root, step = (q(np.sqrt(q(x + q(np.asarray(eps, np.float32))))) for x in (square, delta2))
        step = q(q(step / root) * g)
        delta2[...] = _add_square(q, delta2, rho, step)
        p[...] = plus(q, p, -lr, step)
    stepped(update, (p, g, square, delta2), *how)


def nadam(p, g, m, v, of_gradient, of_mean, root, shrink, beta1, beta2, eps, weight_decay, maximize, *how):
    def update(q, p, g, m, v):
        g = _decayed(q, g, p, weight_decay, maximize, shrink)
        m[...] = moved(q, m, g, 1 - beta1)
        v[...] = _add_square(q, v, beta2, g)
        if q.foreach:
            size = q(q(np.sqrt(v)) / np.float32(root))
        else:
            size = q(np.sqrt(q(v / np.float32(root ** 2))))
        size = q(size + q(np.asarray(eps, np.float32)))
        p[...] = q(p + np.float32(of_gradient) * g / size)
        p += np.float32(of_mean) * m / size
    stepped(update, (p, g, m, v), *how)


def radam(p, g, m, v, lr, rectify, root, bias, shrink, beta1, beta2, eps, weight_decay, maximize, *how):
    def update(q, p, g, m, v):
        g = _decayed(q, g, p, weight_decay, maximize, shrink)
        m[...] = moved(q, m, g, 1 - beta1)
        v[...] = _add_square(q, v, beta2, g)
        if q.foreach:
            rate = -lr / bias
            scale = np.zeros_like(v)
            if rectify is not None:
                scale = q(1 / q(_root(q, v, eps) / np.float32(root * rate * rectify)))
            else:
                scale = q(scale + q(np.asarray(rate, np.float32)))
            p += m * scale
            return
        step = q(q(m / np.float32(bias)) * np.float32(lr))
        if rectify is not None:
            scale = q(q(1 / _root(q, v, eps)) * np.float32(root))
            step = q(q(step * scale) * np.float32(rectify))
        p -= step
    stepped(update, (p, g, m, v), *how)


def rprop(p, g, prev, size, least, most, shorter, longer, maximize, *how):
    def update(q, p, g, prev, size):
        g = -g if maximize else g
        least_, most_, shorter_, longer_ = q(np.array([least, most, shorter, longer], np.float32))
        turn = q(g * prev)
        size[...] = q(size * np.where(turn > 0, longer_, np.where(turn < 0, shorter_, np.where(turn == 0, 1, turn))))
        np.clip(size, least_, most_, out=size)
        prev[...] = np.where(turn < 0, 0, g)
        p -= np.sign(prev) * size
    stepped(update, (p, g, prev, size), *how)


def asgd(p, g, average, eta, mu, lambd, weight_decay, maximize, *how):
    def update(q, p, g, average):
        g = _decayed(q, g, p, weight_decay, maximize)
        if q.foreach:
            p[...] = q(p - plus(q, g, lambd, p) * q(np.asarray(eta, np.float32)))
            average += q(p - average) * q(np.asarray(mu, np.float32))
            return
        p[...] = q(p * np.float32(1 - lambd * eta))
        p[...] = plus(q, p, -eta, g)
        average[...] = p if mu == 1 else average + q(q(p - average) * np.float32(mu))
    stepped(update, (p, g, average), *how)
