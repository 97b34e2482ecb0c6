"""Normalisation, padding and similarity against torch: values, first and second derivatives, running statistics,
modules, errors."""
import numpy as np
import pytest
import torch

import tinytorch

pytestmark = pytest.mark.filterwarnings("ignore")


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(1.0, 2.0, size=shape)


def outcome(m, name, data, options):
    """The result, the gradients of `data`, and the gradients of their squares."""
    xs = [m.tensor(d, requires_grad=True) for d in data]
    y = name(m.nn.functional, *xs, **options) if callable(name) else getattr(m.nn.functional, name)(*xs, **options)
    grads = m.autograd.grad((y * m.tensor(numbers(*y.shape, seed=9))).sum(), xs, create_graph=True)
    total = sum((g * g).sum() for g in grads) + sum((x * x).sum() for x in xs)
    return [t.detach().numpy() for t in (y, *grads, *m.autograd.grad(total, xs))]


def batch(f, x, weight=None, bias=None, **options):
    return f.batch_norm(x, None, None, weight, bias, training=True, **options)


W, V = numbers(3, seed=1), numbers(3, seed=2)
CASES = [
    (batch, (numbers(4, 3), W, V), {}), (batch, (numbers(4, 3, 5),), {"eps": 0.1}),
    (batch, (numbers(2, 3, 4, 4), W), {}),
    (batch, (numbers(2, 3, 2, 2, 2), W, V), {}),
    ("layer_norm", (numbers(4, 5),), {"normalized_shape": (5,)}),
    (lambda f, x, w, b: f.layer_norm(x, (2, 3), w, b),
     (numbers(4, 2, 3), numbers(2, 3, seed=1), numbers(2, 3, seed=2)), {}),
    (lambda f, x, w: f.rms_norm(x, (3,), w), (numbers(4, 2, 3), W), {}),
    (lambda f, x: f.rms_norm(x, (2, 3), eps=0.1), (numbers(4, 2, 3),), {}),
    (lambda f, x, w, b: f.group_norm(x, 2, w, b), (numbers(2, 4, 3), numbers(4, seed=1), numbers(4, seed=2)), {}),
    (lambda f, x: f.group_norm(x, 1), (numbers(2, 4, 3),), {}),
    (lambda f, x, w, b: f.instance_norm(x, weight=w, bias=b), (numbers(2, 3, 4), W, V), {}),
    ("local_response_norm", (numbers(2, 5, 3),), {"size": 3, "alpha": 0.5}),
    ("local_response_norm", (numbers(1, 5, 3, 2),), {"size": 2, "k": 2.0}),
    ("normalize", (numbers(4, 3),), {}), ("normalize", (numbers(4, 3),), {"p": 3, "dim": 0}),
    ("cosine_similarity", (numbers(4, 3), numbers(4, 3, seed=3)), {}),
    ("cosine_similarity", (numbers(4, 3), numbers(1, 3, seed=3)), {"dim": 0}),
    ("pairwise_distance", (numbers(4, 3), numbers(4, 3, seed=3)), {}),
    ("pairwise_distance", (numbers(4, 3), numbers(3, seed=3)), {"p": 1.5, "keepdim": True}),
    ("pad", (numbers(2, 3, 4),), {"pad": (1, 2)}), ("pad", (numbers(2, 3, 4),), {"pad": (1, -2, -1, 3), "value": 2.0}),
    ("pad", (numbers(2, 3, 4),), {"pad": (3, 2), "mode": "reflect"}),
    ("pad", (numbers(2, 3, 4),), {"pad": (1, 2, 2, 0), "mode": "reflect"}),
    ("pad", (numbers(2, 3, 4, 3),), {"pad": (5, 2, 0, 1), "mode": "replicate"}),
    ("pad", (numbers(2, 2, 3, 4, 3),), {"pad": (1, 1, 2, 0, 1, 2), "mode": "replicate"}),
    ("pad", (numbers(2, 3, 4),), {"pad": (4, 1), "mode": "circular"}),
    ("pad", (numbers(2, 3, 4, 4),), {"pad": (2, -1, 0, 3), "mode": "circular"}),
]


@pytest.mark.parametrize("name, data, options", CASES)
def test_value_and_gradients(name, data, options):
    for ours, theirs in zip(*(outcome(m, name, data, options) for m in (tinytorch, torch)), strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, 1e-7, 1e-9)


def test_pdist():
    for p in (0, 1, 2, 2.5, float("inf")):
        np.testing.assert_allclose(*(m.pdist(m.tensor(numbers(5, 3)), p).numpy() for m in (tinytorch, torch)), 1e-9)


MODULES = [("BatchNorm1d", (3,), {}, (4, 3)), ("BatchNorm1d", (3,), {"momentum": None}, (4, 3, 5)),
           ("BatchNorm2d", (3,), {"affine": False}, (4, 3, 2, 2)), ("BatchNorm2d", (3,), {"bias": False}, (4, 3, 2, 2)),
           ("BatchNorm3d", (3,), {"track_running_stats": False}, (2, 3, 2, 2, 2)), ("LayerNorm", (3,), {}, (4, 3)),
           ("LayerNorm", ((4, 3),), {"bias": False}, (2, 4, 3)), ("RMSNorm", (3,), {}, (4, 3)),
           ("GroupNorm", (2, 4), {}, (3, 4, 2)), ("InstanceNorm1d", (3,), {}, (2, 3, 4)),
           ("InstanceNorm2d", (3,), {"affine": True, "track_running_stats": True}, (2, 3, 4, 4)),
           ("InstanceNorm1d", (3,), {"affine": True}, (3, 4)), ("LocalResponseNorm", (2,), {}, (2, 3, 4)),
           ("LazyBatchNorm1d", (), {}, (4, 3)), ("LazyInstanceNorm2d", (), {"affine": True}, (2, 3, 4, 4)),
           ("CosineSimilarity", (), {}, None), ("PairwiseDistance", (), {"p": 1.0}, None),
           ("ReflectionPad2d", (1,), {}, (2, 3, 4)), ("ConstantPad1d", ((1, 2), 3.5), {}, (2, 3)),
           ("ZeroPad2d", ((1, 0, 2, 1),), {}, (2, 3, 4)), ("CircularPad1d", (2,), {}, (2, 3)),
           ("ReplicationPad3d", (1,), {}, (2, 3, 4, 2))]


@pytest.mark.parametrize("name, args, options, shape", MODULES)
def test_module(name, args, options, shape):
    """Three training steps, then evaluation; state, buffers and text as torch's."""
    found = []
    for m in (tinytorch, torch):
        module = getattr(m.nn, name)(*args, **options)
        inputs = [(numbers(4, 3), numbers(4, 3, seed=1))] * 3
        if shape is not None:
            inputs = [(numbers(*shape, seed=i),) for i in range(3)]
        ys = [module(*[m.tensor(x, dtype=m.float32) for x in xs]) for xs in inputs]
        module.eval()
        ys.append(module(*[m.tensor(x, dtype=m.float32) for x in inputs[0]]))
        state = {k: v.numpy() for k, v in module.state_dict().items()}
        found.append(([y.detach().numpy() for y in ys], state, repr(module), [n for n, _ in module.named_parameters()]))
    (ours, our_state, *our_text), (theirs, their_state, *their_text) = found
    assert our_text == their_text and list(our_state) == list(their_state)
    for a, b in zip([*ours, *our_state.values()], [*theirs, *their_state.values()], strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, 1e-4, 2e-6)


@pytest.mark.parametrize("training", [True, False])
def test_running_statistics(training):
    found = []
    for m in (tinytorch, torch):
        mean, var = m.tensor(W), m.tensor(V ** 2)
        x = m.tensor(numbers(4, 3, 2), requires_grad=True)
        w, b = m.tensor(W, requires_grad=True), m.tensor(V, requires_grad=True)
        y = m.nn.functional.batch_norm(x, mean, var, w, b, training, 0.3)
        (y * y).sum().backward()
        found.append([t.detach().numpy() for t in (mean, var, y, x.grad, w.grad, b.grad)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-9, 1e-10)


@pytest.mark.parametrize("f", [
    lambda m, f, x: f.layer_norm(x, [3]), lambda m, f, x: f.layer_norm(x, []),
    lambda m, f, x: f.layer_norm(x, [4], m.ones(3)),
    lambda m, f, x: f.layer_norm(x.long(), [4]), lambda m, f, x: f.rms_norm(x, [3]), lambda m, f, x: f.group_norm(x, 3),
    lambda m, f, x: f.group_norm(x[0], 1), lambda m, f, x: f.batch_norm(x, None, None),
    lambda m, f, x: f.batch_norm(x, m.ones(3), m.ones(4)),
    lambda m, f, x: f.batch_norm(x[:1], None, None, training=True),
    lambda m, f, x: f.batch_norm(x, m.ones(4), m.ones(4), m.ones(3)), lambda m, f, x: f.instance_norm(x[:, :, None]),
    lambda m, f, x: f.batch_norm(x, None, None, training=True, eps=0.0),
    lambda m, f, x: f.group_norm(x[:1, :, None], 4),
    lambda m, f, x: f.local_response_norm(x, 2), lambda m, f, x: f.pad(x, (1,)),
    lambda m, f, x: f.pad(x, (1, 1, 1, 1, 1, 1)), lambda m, f, x: f.pad(x, (5, 5), mode="reflect"),
    lambda m, f, x: f.pad(x, (5, 5), mode="circular"), lambda m, f, x: f.pad(x, (-5, 0)),
    lambda m, f, x: f.pad(x, (1, 1), mode="foo"), lambda m, f, x: f.pad(x, (1, 1, 1, 1), mode="reflect"),
    lambda m, f, x: f.pad(x, (1, 1), mode="reflect", value=1.0), lambda m, f, x: f.pdist(x[0]),
    lambda m, f, x: m.nn.BatchNorm2d(3)(x), lambda m, f, x: m.nn.InstanceNorm1d(4, affine=True)(x),
    lambda m, f, x: m.nn.GroupNorm(3, 4), lambda m, f, x: m.nn.Dropout(2.0), lambda m, f, x: m.nn.CircularPad2d(1)(x)])
def test_errors(f):
    with pytest.raises(Exception) as theirs:
        f(torch, torch.nn.functional, torch.ones(3, 4))
    with pytest.raises(theirs.type) as ours:
        f(tinytorch, tinytorch.nn.functional, tinytorch.ones(3, 4))
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]
