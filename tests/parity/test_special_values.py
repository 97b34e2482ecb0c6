"""The sign of zero after activations and limits, and NaN among sorted numbers: as torch has them, bit for bit."""
import math

import numpy as np
import pytest
import torch

import tinytorch

FUNCTIONS = """
x.relu(); x.clone().relu_(); f.relu(x); f.relu(x.clone(), inplace=True); t.nn.ReLU()(x); f.relu6(x); x.clamp(min=0)
x.clamp(0, 1)
x.clamp(min=-0.); x.clamp(-1, 0); x.clamp(max=0); x.clamp(max=-0.); x.clamp_min(0); x.clamp_max(0); f.hardtanh(x, 0, 1)
f.hardtanh(x, -1, 0); f.hardtanh(x); f.threshold(x, 0, 0); f.threshold(x, -1, 0); f.threshold(x, 0, -0.)
f.leaky_relu(x)
f.leaky_relu(x, 0.); f.leaky_relu(x, -1.); f.leaky_relu(x, 2.); f.prelu(x, t.tensor([.25]).to(x.dtype))
f.prelu(x, t.tensor([0.]).to(x.dtype)); f.prelu(x, t.tensor([-1.]).to(x.dtype)); f.rrelu(x); f.elu(x); f.celu(x)
f.selu(x)
f.hardshrink(x); f.hardswish(x)
""".strip().replace("\n", "; ").split("; ")

#: Below and above a vector's length, with ends that fill none, and where other routines begin.
SIZES = [1, 3, 8, 12, 17, 32, 37, 100, 1000, 20_000, 120_001]
PATTERN = [-0.0, 0.0, -1.0, 1.0, -0.0, 0.5, -0.25, -0.0, math.nan, 7.0, -math.inf, math.inf]


def arranged(t, dtype, count):
    """The same numbers in a row, with gaps, and (where they fill it) as a transposed matrix and as cut rows."""
    x = t.tensor((PATTERN * (count // len(PATTERN) + 1))[:count], dtype=getattr(t, dtype))
    yield x
    yield t.stack([x, x], 1).reshape(-1)[::2]
    if count % 4 == 0:
        yield x.reshape(4, -1).t()
        yield t.cat([x.reshape(4, -1)] * 2, 1)[:, :count // 4]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_sign_of_zero(function, dtype):
    compared = 0
    for count in SIZES:
        pairs = zip(arranged(tinytorch, dtype, count), arranged(torch, dtype, count))
        for case, operands in enumerate(pairs):
            here, there = [eval(function, dict(t=t, f=t.nn.functional, x=x)).float().numpy()
                           for t, x in zip((tinytorch, torch), operands)]
            zero = (here == 0) & (there == 0)
            assert here.shape == there.shape and np.array_equal(here == 0, there == 0), (count, case)
            assert np.array_equal(np.signbit(here[zero]), np.signbit(there[zero])), (count, case)
            compared += zero.sum()
    assert compared > 100_000


SEQUENCES = [[1.0, 2.0, 3.0], [1.0, 2.0, math.nan], [1.0, math.nan, math.nan], [math.nan] * 2, [math.nan], [],
             [1.0, 2.0, math.inf], [1.0, math.inf, math.nan], [-math.inf, 1.0, math.nan], [math.nan, 1.0, 2.0],
             [3.0, math.nan, 1.0], [-math.inf, -0.0, 0.0, math.nan], [1.0, 1.0, 1.0], [*range(9), *[math.nan] * 8]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_search_with_nan(sequence, right, dtype):
    def found(t):
        kind = getattr(t, dtype)
        among = t.tensor(sequence, dtype=kind)
        values = t.tensor([-math.inf, -1, -0.0, 0, 1, 1.5, 2, 3, 4, 7.5, math.inf, math.nan], dtype=kind)
        n, order = len(sequence), t.arange(len(sequence)).flip(0)
        results = [t.searchsorted(among, values, right=right), t.bucketize(values, among, right=right),
                   t.searchsorted(among, math.nan, right=right), t.bucketize(1.5, among, right=right),
                   t.searchsorted(among, values, side="right" if right else "left", out_int32=True),
                   t.searchsorted(among.expand(2, n), values.expand(2, 12), right=right),
                   t.searchsorted(among.flip(0), values, right=right, sorter=order)]
        return [(str(r.dtype).split(".")[1], r.tolist()) for r in results]
    assert found(tinytorch) == found(torch)


@pytest.mark.parametrize("expression", """
t.searchsorted(b, t.tensor([1.]), sorter=t.tensor([5, 0])); t.searchsorted(b, t.tensor([1.]), sorter=t.tensor([0]))
t.searchsorted(b, t.tensor([1.]), sorter=t.tensor([0, -1]))
t.searchsorted(b, t.tensor([1.]), sorter=t.tensor([0., 1.]))
t.searchsorted(b, t.tensor([1.]), sorter=t.tensor([0, 1]).int()); t.searchsorted(b, t.tensor([1.]), out=t.zeros(1))
t.searchsorted(b, t.tensor([1.]), out=t.zeros(1, dtype=t.int32)); t.searchsorted(b[0], t.tensor([1.]))
t.searchsorted(b > 1, t.tensor([True])); t.searchsorted(b * 1j, t.tensor([1j])); t.searchsorted(b, t.tensor([1]))
t.bucketize(t.tensor([1.5]), b.long()); t.bucketize(t.tensor([1]), b); t.bucketize(1, b); t.searchsorted(b.long(), 1.5)
""".strip().replace("\n", "; ").split("; "))
def test_search_arguments(expression):
    def outcome(t):
        try:
            result = eval(expression, dict(t=t, b=t.tensor([1.0, 2.0])))
        except Exception as error:
            return type(error).__name__, str(error).split("\nException raised from")[0]
        return str(result.dtype).split(".")[1], result.tolist()
    assert outcome(tinytorch) == outcome(torch)
