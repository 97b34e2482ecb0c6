"""Activation functions, softmax, dropout."""
from __future__ import annotations

import math

from ... import dtypes as dt
from ..registry import Refusal, entered, translation
from ..writer import Value


@translation("relu")
def relu(g, x):
    if not x.dtype.is_floating_point:
        return g.op("Max", x, g.number(0, x.dtype))
    return g.op("Relu", x)


@translation("relu6")
def relu6(g, x):
    return hardtanh(g, x, 0, 6)


@translation("hardtanh")
def hardtanh(g, x, low=-1, high=1):
    return g.op("Clip", x, g.number(low, x.dtype), g.number(high, x.dtype))


@translation("leaky_relu")
def leaky_relu(g, x, slope=0.01):
    return g.op("LeakyRelu", x, alpha=float(slope))


@translation("rrelu")
def rrelu(g, x, lower=1 / 8, upper=1 / 3, training=False, generator=None):
    if training:
        raise Refusal("random slopes; model.eval() uses their mean")
    return g.op("LeakyRelu", x, alpha=(lower + upper) / 2)


@translation("prelu")
def prelu(g, x, weight):
    if not x.rank:
        return g.squeeze(g.op("PRelu", g.unsqueeze(x, [0]), weight), [0])
    if x.rank > 2 and weight.shape != (1,) and weight.rank:
        weight = g.reshape(weight, [weight.shape[0]] + [1] * (x.rank - 2))
    return g.op("PRelu", x, weight)


@translation("elu")
def elu(g, x, alpha=1, scale=1, input_scale=1):
    if input_scale != 1:
        raise Refusal("input_scale")
    result = g.op("Elu", x, alpha=float(alpha))
    return result if scale == 1 else g.op("Mul", result, g.number(scale, x.dtype))


@translation("selu")
def selu(g, x):
    return g.op("Selu", x, alpha=1.6732632423543772, gamma=1.0507009873554805)


@translation("celu")
def celu(g, x, alpha=1.0):
    return g.op("Celu", x, alpha=float(alpha))


@translation("gelu")
def gelu(g, x, approximate="none"):
    if g.opset >= 20:
        return g.op("Gelu", x, approximate=approximate)
    half, one = g.number(0.5, x.dtype), g.number(1.0, x.dtype)
    if approximate == "none":
        inner = g.op("Erf", g.op("Mul", x, g.number(math.sqrt(0.5), x.dtype)))
    else:
        cubed = g.op("Mul", g.op("Mul", x, g.op("Mul", x, x)), g.number(0.044715, x.dtype))
        inner = g.op("Tanh", g.op("Mul", g.op("Add", x, cubed), g.number(math.sqrt(2 / math.pi), x.dtype)))
    return g.op("Mul", g.op("Mul", x, half), g.op("Add", inner, one))


@translation("silu")
def silu(g, x):
    return g.op("Mul", x, g.op("Sigmoid", x))


@translation("softplus")
def softplus(g, x, beta=1, threshold=20):
    if beta == 1 and threshold == 20:
        return g.op("Softplus", x)
    scaled = g.op("Mul", x, g.number(beta, x.dtype))
    soft = g.op("Div", g.op("Softplus", scaled), g.number(beta, x.dtype))
    return g.where(g.op("Greater", scaled, g.number(threshold, x.dtype)), x, soft)


@translation("mish")
def mish(g, x):
    return g.op("Mish", x) if g.opset >= 18 else g.op("Mul", x, g.op("Tanh", g.op("Softplus", x)))


@translation("hardsigmoid")
def hardsigmoid(g, x):
    return g.op("HardSigmoid", x, alpha=1 / 6, beta=0.5)


@translation("hardswish")
def hardswish(g, x):
    return g.op("HardSwish", x) if g.opset >= 14 else g.op("Mul", x, hardsigmoid(g, x))


@translation("softsign")
def softsign(g, x):
    return g.op("Softsign", x)


@translation("log_sigmoid")
def log_sigmoid(g, x):
    return g.op("Neg", g.op("Softplus", g.op("Neg", x)))


@translation("hardshrink")
def hardshrink(g, x, lambd=0.5):
    return g.op("Shrink", x, lambd=float(lambd), bias=0.0)


@translation("softshrink")
def softshrink(g, x, lambd=0.5):
    return g.op("Shrink", x, lambd=float(lambd), bias=float(lambd))


@translation("tanhshrink")
def tanhshrink(g, x):
    return g.op("Sub", x, g.op("Tanh", x))


@translation("threshold")
def threshold(g, x, limit, value):
    return g.where(g.op("Greater", x, g.number(limit, x.dtype)), x, g.number(value, x.dtype))


@translation("glu")
def glu(g, x, dim=-1):
    dim %= x.rank
    if x.dynamic[dim]:
        raise Refusal("halves of a size that may vary")
    first, second = g.split(x, [x.shape[dim] // 2] * 2, dim)
    return g.op("Mul", first, g.op("Sigmoid", second))


def _softmax(kind):
    def write(g, x, dim, dtype=None):
        x = g.cast(x, g.out.dtype)
        if not x.rank:
            return g.squeeze(g.op(kind, g.unsqueeze(x, [0]), axis=0), [0])
        return g.op(kind, x, axis=dim % x.rank)
    return write


entered([("softmax", _softmax("Softmax")), ("log_softmax", _softmax("LogSoftmax")),
         ("_softmax", _softmax("Softmax")), ("_log_softmax", _softmax("LogSoftmax")),
         ("special_softmax", _softmax("Softmax")), ("special_log_softmax", _softmax("LogSoftmax"))])


# ------------------------------------------------------------------ dropout
@translation("dropout")
def dropout(g, x, p, train):
    if not train or not p:
        return g.op("Identity", x)
    if p == 1:
        return g.op("Mul", x, g.number(0.0, x.dtype))
    return g.op("Dropout", x, g.number(p, dt.float32), g.number(True, dt.bool))


@translation("feature_dropout")
def feature_dropout(g, x, p, train):
    if not train or not p:
        return g.op("Identity", x)
    if p == 1:
        return g.op("Mul", x, g.number(0.0, x.dtype))
    # a Dropout of ones does not work: onnxruntime folds it into a constant
    ones = g.expand(g.number(1.0, dt.float32), [*g.sizes(x)[:2], *[1] * (x.rank - 2)])
    kept = g.op("GreaterOrEqual", g.op("RandomUniformLike", ones), g.number(p, dt.float32))
    return g.op("Mul", x, g.op("Mul", g.cast(Value(kept, (), dt.bool), x.dtype), g.number(1 / (1 - p), x.dtype)))


@translation("alpha_dropout", "feature_alpha_dropout")
def alpha_dropout(g, x, p, train):
    if train and p:
        raise Refusal("in training mode")
    return g.op("Identity", x)
