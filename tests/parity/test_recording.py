"""make_fx: the nodes that torch has, and graphs that compute what torch's own samples say."""
import warnings

import numpy as np
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx as theirs

import tinytorch
from tests.parity.sampled import converted, samples_of
from tinytorch.capture.twice import leaves, record
from tinytorch.fx import GraphModule
from tinytorch.fx.experimental.proxy_tensor import make_fx as ours


def nodes(graph):
    return [(n.op, n.name, str(n.target), str(n.args), str({k: v for k, v in n.kwargs.items() if k not in (
        "pin_memory", "device", "layout")})) for n in graph.graph.nodes]


def writes(t):
    def function(x, y):
        z = t.zeros(3)
        z[0] = x[0, 0]
        z[1:] += 2
        y = y + 1
        y.add_(x[:, None].sum())
        m = x.max(0)
        return {"a": z + 1, "b": [m.values, t.randn(2), y]}
    return function, ((2, 3), (2, 3))


def reflected(t):
    def function(x):
        return 2 - x, 2 / x, 2 ** x, -x, x == 1, x[..., -1], x.view(x.size(0), -1), x * t.tensor([1., 2., 3.]), ~(x > 0)
    return function, ((2, 3),)


def indexed(t):
    def function(x, y):
        y[0, 1:] = x[0, :2]
        return x[t.tensor([1, 0])], x[1:, ::2], x[None, 0], t.where(x > 0, x, y), t.cat([x, y], 1), x.unbind(0)
    return function, ((2, 3), (2, 3))


@pytest.mark.parametrize("made", [writes, reflected, indexed], ids=lambda f: f.__name__)
def test_same_nodes(made):
    results = []
    for t, make in ((torch, theirs), (tinytorch, ours)):
        function, shapes = made(t)
        results.append(nodes(make(function)(*[t.ones(s) for s in shapes])))
    assert results[1] == results[0]


def test_what_depends_on_values_is_refused_in_the_same_words():
    told = []
    for t, make in ((torch, theirs), (tinytorch, ours)):
        with pytest.raises(RuntimeError) as error:
            make(lambda x: x if x.sum() > 0 else -x)(t.ones(2))
        told.append(str(error.value))
    assert told[0] == told[1]


#: Operators whose calls are no operators of ATen's, or of which torch has no numbers to compare.
REFUSED = {"lu", "unique", "nn.functional.linear_cross_entropy", "nn.functional.fractional_max_pool2d",
           "nn.functional.fractional_max_pool3d", "nn.functional.max_unpool1d", "nn.functional.max_unpool2d",
           "nn.functional.max_unpool3d", "unravel_index", "nn.functional.upsample_bilinear",
           "nn.functional.upsample_nearest", "nn.functional.multilabel_soft_margin_loss",
           "nn.functional.local_response_norm", "nn.functional.dropout3d", "unique_consecutive", "nonzero",
           "nn.functional.interpolate"}
#: Functions without a tensor to record, and those that leave memory as it is.
OTHERS = {"allclose", "equal", "broadcast_shapes", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate",
          "_chunk_cat", "masked.prod", "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty",
          "new_empty_strided"}


@pytest.mark.parametrize("name, samples", samples_of(REFUSED | OTHERS))
def test_torchs_samples(name, samples):
    function = tinytorch
    for part in name.split("."):
        function = getattr(function, part)
    for sample in samples():
        try:
            args, kwargs = converted((sample.input, *sample.args)), converted(sample.kwargs)
            tinytorch.manual_seed(0)
            expected = list(leaves(function(*args, **kwargs)))
        except Exception:                      # another test's matter
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recording = record(function, args, kwargs)
        root = tinytorch.nn.Module()
        for path, tensor in recording.constants.items():
            setattr(root, path, tensor)
        tinytorch.manual_seed(0)
        results = list(leaves(GraphModule(root, recording.graph)(*leaves((args, kwargs)))))
        assert len(results) == len(expected)
        for a, b in zip(results, expected):
            assert a.shape == b.shape and a.dtype is b.dtype
            a, b = [x.resolve_conj().resolve_neg().numpy() for x in (a, b)]
            assert np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
