"""New tensors of given sizes; random numbers."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ..registry import Refusal, entered, translation
from ..writer import Value, element_type


def filled(g, sizes, value):
    """The result, filled with one number."""
    if isinstance(value, Value):
        return g.expand(g.cast(value, g.out.dtype), sizes)
    return g.expand(g.number(value, g.out.dtype), sizes)


def _of(value):
    return lambda g, sizes, *options: filled(g, sizes, value)


def _like(value):
    return lambda g, x, *options: filled(g, g.sizes(x), value)


def _new(value):
    return lambda g, x, sizes, *options: filled(g, sizes, value)


entered([("zeros", _of(0)), ("ones", _of(1)), ("empty", _of(0)), ("zeros_like", _like(0)), ("ones_like", _like(1)),
         ("empty_like", _like(0)), ("new_zeros", _new(0)), ("new_ones", _new(1)), ("new_empty", _new(0))])


@translation("full")
def full(g, sizes, value, *options):
    return filled(g, sizes, value)


@translation("full_like", "fill")
def full_like(g, x, value, *options):
    return filled(g, g.sizes(x), value)


@translation("new_full")
def new_full(g, x, sizes, value, *options):
    return filled(g, sizes, value)


@translation("scalar_tensor")
def scalar_tensor(g, value, *options):
    return g.cast(value, g.out.dtype)


def _range(g, start, end, step):
    numbers = [g.cast(x, g.out.dtype) for x in (start, end, step)]
    return g.op("Range", *numbers)


@translation("arange")
def arange(g, end, *options):
    return _range(g, 0, end, 1)


@translation("arange.start")
def arange_start(g, start, end, *options):
    return _range(g, start, end, 1)


@translation("arange.start_step")
def arange_step(g, start, end, step=1, *options):
    return _range(g, start, end, step)


@translation("linspace")
def linspace(g, start, end, steps, *options):
    if not isinstance(steps, int):
        raise Refusal("a number of steps that is a size that may vary")
    made = g.constant(np.linspace(0, 1, steps), g.out.dtype)
    span = g.op("Sub", g.cast(end, g.out.dtype), g.cast(start, g.out.dtype))
    return g.op("Add", g.op("Mul", made, span), g.cast(start, g.out.dtype))


@translation("eye")
def eye(g, n, *options):
    return _eye(g, n, n)


@translation("eye.m")
def eye_m(g, n, m, *options):
    return _eye(g, n, m)


def _eye(g, n, m):
    shape = g.expand(g.number(0, dt.int32), [n, m])
    return g.op("EyeLike", shape, dtype=element_type(g.out.dtype))


# ------------------------------------------------------------------ random numbers
def _drawn(g, kind, sizes, **attributes):
    shape = g.expand(g.number(0.0, dt.float32), sizes)
    drawn = g.op(kind, shape, dtype=element_type(dt.float32), **attributes)
    return g.cast(Value(drawn, (), dt.float32), g.out.dtype)


@translation("rand")
def rand(g, sizes, *options):
    return _drawn(g, "RandomUniformLike", sizes)


@translation("randn")
def randn(g, sizes, *options):
    return _drawn(g, "RandomNormalLike", sizes)


@translation("rand_like")
def rand_like(g, x, *options):
    return _drawn(g, "RandomUniformLike", g.sizes(x))


@translation("randn_like")
def randn_like(g, x, *options):
    return _drawn(g, "RandomNormalLike", g.sizes(x))


@translation("uniform")
def uniform(g, x, low=0, high=1, generator=None):
    return _drawn(g, "RandomUniformLike", g.sizes(x), low=float(low), high=float(high))


@translation("normal")
def normal(g, x, mean=0, std=1, generator=None):
    return _drawn(g, "RandomNormalLike", g.sizes(x), mean=float(mean), scale=float(std))


@translation("normal.float_float")
def normal_of_sizes(g, mean, std, sizes, *options):
    return _drawn(g, "RandomNormalLike", sizes, mean=float(mean), scale=float(std))


@translation("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor")
def normal_of_tensors(g, mean, std=1.0, generator=None):
    given = [x for x in (mean, std) if isinstance(x, Value)]
    if len({x.shape for x in given}) > 1:
        raise Refusal("means and deviations of different shapes")
    drawn = g.cast(_drawn(g, "RandomNormalLike", g.sizes(given[0])), g.out.dtype)
    return g.op("Add", g.cast(mean, g.out.dtype), g.op("Mul", drawn, g.cast(std, g.out.dtype)))


@translation("bernoulli")
def bernoulli(g, p, generator=None):
    # ONNX's Bernoulli does not do: its definition returns 1 where a uniform number is greater than p
    drawn = g.op("RandomUniformLike", p, dtype=element_type(dt.float32))
    return g.cast(Value(g.op("Less", drawn, g.cast(p, dt.float32)), (), dt.bool), g.out.dtype)


@translation("bernoulli.p", "bernoulli.float", "bernoulli.Tensor")
def bernoulli_like(g, x, p=0.5, generator=None):
    p = g.expand(g.cast(p, x.dtype), g.sizes(x))
    return bernoulli(g, Value(p, x.shape, x.dtype, x.history))


@translation("multinomial")
def multinomial(g, p, count, replacement=False, generator=None):
    if not replacement and count > 1:
        raise Refusal("drawing without replacement")
    rows = p if p.rank == 2 else g.unsqueeze(p, [0])
    made = g.op("Multinomial", g.op("Log", rows), dtype=element_type(dt.int64), sample_size=count)
    return made if p.rank == 2 else g.squeeze(made, [0])
