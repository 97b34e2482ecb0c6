"""Losses against torch: values, gradients, second derivatives, reductions, warnings and errors."""
import contextlib
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome

pytestmark = pytest.mark.filterwarnings("ignore")


def numbers(*shape, seed=0, low=None):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) if low is None else rng.uniform(low, 1 - low, size=shape)


def signs(*shape, seed=5):
    return np.where(numbers(*shape, seed=seed) > 0, 1.0, -1.0)


def outcome(m, name, data, fixed, options, second=False):
    """[loss, gradients of `data`] (and the gradients of the gradients' squares)."""
    xs = [m.tensor(d, requires_grad=True) for d in data]
    options = {k: m.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    loss = getattr(m.nn.functional, name)(*xs, *[m.tensor(f) for f in fixed], **options)
    weight = m.tensor(numbers(*loss.shape, seed=9))
    grads = m.autograd.grad((loss * weight).sum(), xs, create_graph=second)
    found = [loss, *grads]
    if second:
        total = sum((g * g).sum() for g in grads) + sum((x * x).sum() for x in xs)
        found += m.autograd.grad(total, xs)
    return [t.detach().numpy() for t in found]


A, B, C = numbers(4, 3), numbers(4, 3, seed=1), numbers(4, 3, seed=2)
P, Q = numbers(4, 3, low=0.1), numbers(4, 3, seed=3, low=0.1)
PAIRS = [
    ("mse_loss", (A, B), (), {}), ("l1_loss", (A, B), (), {}), ("smooth_l1_loss", (A, B), (), {}),
    ("smooth_l1_loss", (A, B), (), {"beta": 0.3}), ("smooth_l1_loss", (A, B), (), {"beta": 0.0}),
    ("huber_loss", (A, B), (), {"delta": 0.7}), ("mse_loss", (A, B), (), {"weight": P}),
    ("l1_loss", (A, B), (), {"weight": P}), ("huber_loss", (A, B), (), {"weight": P}),
    ("mse_loss", (A, B[0]), (), {}), ("binary_cross_entropy", (P, Q), (), {}),
    ("binary_cross_entropy", (P,), (Q,), {"weight": Q}), ("binary_cross_entropy_with_logits", (A, Q), (), {}),
    ("binary_cross_entropy_with_logits", (A * 30, Q), (), {"weight": P, "pos_weight": Q[0]}),
    ("kl_div", (A,), (P,), {}), ("kl_div", (A, B), (), {"log_target": True}),
    ("poisson_nll_loss", (A,), (P * 5,), {}), ("poisson_nll_loss", (P,), (P * 5,), {"log_input": False, "full": True}),
    ("gaussian_nll_loss", (A, B, P), (), {"full": True}), ("hinge_embedding_loss", (A,), (signs(4, 3),), {}),
    ("cosine_embedding_loss", (A, B), (signs(4),), {"margin": 0.1}),
    ("margin_ranking_loss", (A, B), (signs(4, 3),), {"margin": 0.2}), ("soft_margin_loss", (A,), (signs(4, 3),), {}),
    ("multi_margin_loss", (A,), (np.array([0, 2, 1, 1]),), {"p": 2, "margin": 0.8, "weight": P[0]}),
    ("multi_margin_loss", (A[0],), (np.array(2),), {}),
    ("multilabel_margin_loss", (A,), (np.array([[0, -1, 1], [1, 2, 0], [-1, 0, 0], [2, -1, -1]]),), {}),
    ("multilabel_margin_loss", (A[0],), (np.array([1, -1, 0]),), {}),
    ("multilabel_soft_margin_loss", (A,), (np.round(P),), {"weight": Q[0]}),
    ("triplet_margin_loss", (A, B, C), (), {"p": 1.5}), ("triplet_margin_loss", (A, B, C), (), {"swap": True}),
    ("nll_loss", (A,), (np.array([0, 2, 1, 1]),), {"weight": P[0]}), ("nll_loss", (A[0],), (np.array(1),), {}),
    ("nll_loss", (numbers(2, 3, 2, 2),), (np.arange(8).reshape(2, 2, 2) % 3,), {"ignore_index": 1}),
    ("cross_entropy", (A,), (np.array([0, 2, 1, 1]),), {}), ("cross_entropy", (A[0],), (np.array(1),), {}),
    ("cross_entropy", (A,), (np.array([0, 2, -100, 1]),), {"weight": P[0]}),
    ("cross_entropy", (A,), (np.array([0, 2, 1, 1]),), {"ignore_index": 1}),
    ("cross_entropy", (A,), (np.array([0, 2, -100, 1]),), {"label_smoothing": 0.3, "weight": P[0]}),
    ("cross_entropy", (A,), (np.array([0, 2, -100, 1]),), {"label_smoothing": 0.3}),
    ("cross_entropy", (numbers(2, 3, 2, 2),), (np.arange(8).reshape(2, 2, 2) % 3,), {"weight": P[0]}),
    ("cross_entropy", (A, P), (), {}), ("cross_entropy", (numbers(2, 3, 2),), (numbers(2, 3, 2, low=0.1),),
                                        {"label_smoothing": 0.2, "weight": P[0]}),
]
ONCE = ("multi_margin_loss", "multilabel_margin_loss")       # torch has no second derivative of them


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name, data, fixed, options", PAIRS)
def test_value_and_gradients(name, data, fixed, options, reduction):
    options = {**options, "reduction": reduction}
    found = [outcome(m, name, data, fixed, options, name not in ONCE) for m in (tinytorch, torch)]
    for ours, theirs in zip(*found, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, 1e-9, 1e-11)


@pytest.mark.parametrize("name, data, fixed, options", [      # these modules have no weights
    case for case in PAIRS if not ("weight" in case[3] and case[0] in ("mse_loss", "l1_loss", "huber_loss"))])
def test_module_form(name, data, fixed, options):
    words = {"mse": "MSE", "nll": "NLL", "bce": "BCE", "kl": "KLDiv", "l1": "L1", "multilabel": "MultiLabel",
             "binary": "BCE", "cross": "CrossEntropy"}
    special = {"binary_cross_entropy": "BCELoss", "binary_cross_entropy_with_logits": "BCEWithLogitsLoss",
               "kl_div": "KLDivLoss", "cross_entropy": "CrossEntropyLoss"}
    cls = special.get(name) or "".join(words.get(w, w.capitalize()) for w in name.split("_"))
    found = []
    for m in (tinytorch, torch):
        wrapped = {k: m.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
        module = getattr(m.nn, cls)(**wrapped)
        found.append((module(*[m.tensor(d) for d in (*data, *fixed)]).numpy(), repr(module), list(module.state_dict())))
    np.testing.assert_allclose(found[0][0], found[1][0], 1e-9)
    assert found[0][1:] == found[1][1:]


def long(m, *values):
    return m.tensor(values)


X = [[0.1, 0.2, 0.3, 0.4]] * 3
ERRORS = [
    lambda m, f, x: f.cross_entropy(x, long(m, 0, 1)),
    lambda m, f, x: f.cross_entropy(x, long(m, 0, 1, 10)),
    lambda m, f, x: f.cross_entropy(x, long(m, 0, 1, -1)),
    lambda m, f, x: f.cross_entropy(x, x[:, 0]),
    lambda m, f, x: f.cross_entropy(x, long(m, [0], [1], [2])),
    lambda m, f, x: f.cross_entropy(x, long(m, 0, 1, 2).int()),
    lambda m, f, x: f.cross_entropy(x, long(m, 0, 1, 2), weight=m.ones(3)),
    lambda m, f, x: f.cross_entropy(x, long(m, 0, 1, 2), reduction="foo"),
    lambda m, f, x: f.cross_entropy(x, long(m, 0, 1, 2), label_smoothing=2.0),
    lambda m, f, x: f.cross_entropy(x, x, ignore_index=1),
    lambda m, f, x: f.cross_entropy(m.ones(2, 3, 4), m.zeros(2, 5).long()),
    lambda m, f, x: f.cross_entropy(x.int(), long(m, 0, 1, 2)),
    lambda m, f, x: f.nll_loss(x[0], long(m, 0, 1)),
    lambda m, f, x: f.mse_loss(x, x, reduction="bar"),
    lambda m, f, x: f.mse_loss(x, m.ones(5)),
    lambda m, f, x: f.mse_loss(x.long(), x.long()),
    lambda m, f, x: f.huber_loss(x, x, delta=0),
    lambda m, f, x: f.binary_cross_entropy(x, x[0]),
    lambda m, f, x: f.binary_cross_entropy(x + 1, x),
    lambda m, f, x: f.binary_cross_entropy_with_logits(x, x[0]),
    lambda m, f, x: f.gaussian_nll_loss(x, x, -x),
    lambda m, f, x: f.gaussian_nll_loss(x, x, x[0, :2]),
    lambda m, f, x: f.multi_margin_loss(x, long(m, 0, 1, 9)),
    lambda m, f, x: f.multi_margin_loss(x, long(m, 0, 1, 2), p=3),
    lambda m, f, x: f.multilabel_margin_loss(x, m.ones(3, 4).long() * 9),
    lambda m, f, x: f.triplet_margin_loss(x, x, x, margin=0),
    lambda m, f, x: f.margin_ranking_loss(x, x[0], x),
]


@pytest.mark.parametrize("f", ERRORS)
def test_errors(f):
    with pytest.raises(Exception) as theirs:
        f(torch, torch.nn.functional, torch.tensor(X))
    with pytest.raises(theirs.type) as ours:
        f(tinytorch, tinytorch.nn.functional, tinytorch.tensor(X))
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


@pytest.mark.parametrize("f", [
    lambda m, f, x: f.mse_loss(x, x[0]),
    lambda m, f, x: f.l1_loss(x, x, size_average=False),
    lambda m, f, x: f.mse_loss(x, x, reduce=False),
    lambda m, f, x: f.kl_div(x, x)])
def test_warnings(f):
    found = []
    for m in (tinytorch, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = f(m, m.nn.functional, m.tensor(X))
        found.append((value.numpy(), [(w.category, str(w.message)) for w in caught]))
    np.testing.assert_allclose(found[0][0], found[1][0], 1e-6)
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("targets, lengths", [([[1, 2, 2], [3, 3, 1], [4, 0, 0]], [3, 2, 1]),
                                              ([1, 2, 2, 3, 3], [3, 2, 0]),
                                              ([[1, 1, 1], [3, 3, 1], [4, 1, 2]], [3, 3, 3])])
@pytest.mark.parametrize("frames", [[7, 6, 5], [4, 7, 3]])
def test_ctc_loss(targets, lengths, frames, zero_infinity, reduction):
    found = []
    for m in (tinytorch, torch):
        x = m.tensor(numbers(7, 3, 5), requires_grad=True)
        loss = m.nn.CTCLoss(reduction=reduction, zero_infinity=zero_infinity)(
            m.nn.functional.log_softmax(x, 2), m.tensor(targets), m.tensor(frames), m.tensor(lengths))
        loss.sum().backward()
        found.append((loss.detach().numpy(), x.grad.numpy()))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-9, 1e-12)


@pytest.mark.parametrize("name", ["multi_margin_loss", "multilabel_margin_loss", "nll_loss", "cross_entropy"])
@pytest.mark.parametrize("target", [(0,), (1,), (2,), (), (2, 3), (1, 2), (0, 2)])
@pytest.mark.parametrize("scores", [(0,), (1,), (2,), (2, 0), (0, 2), (2, 3), (), (2, 3, 4), (0, 0)])
def test_sizes_of_targets(scores, target, name):
    """Torch reads what it has not written where there is no sample, and looks for the first of no dimensions."""
    if scores[:1] == (0,) and target in ((0,), (0, 2), ()) and len(scores) > 1:
        with contextlib.suppress(RuntimeError, ValueError):
            loss = getattr(tinytorch.nn.functional, name)(tinytorch.ones(scores),
                                                          tinytorch.zeros(target, dtype=tinytorch.long))
            assert loss.isnan()
        return
    same_outcome(lambda t: getattr(t.nn.functional, name)(t.ones(scores), t.zeros(target, dtype=t.long)))


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("kind", ["float32", "int32", "uint8", "bfloat16"])
@pytest.mark.parametrize("target", [(), (0,), (1,), (2,), (3,)])
def test_dtypes_of_targets(target, kind, name):
    """The dtype is looked at before the size of the target of a single sample."""
    same_outcome(lambda t: getattr(t.nn.functional, name)(t.ones(2), t.zeros(target, dtype=getattr(t, kind))))


def test_weights_that_do_not_fit():
    for size in ((4,), (2, 2), (3, 3, 3), (1, 4), (1, 2, 3)):
        same_outcome(lambda t, size=size: t.nn.functional.binary_cross_entropy(
            t.full((2, 3), .5), t.ones(2, 3), weight=t.ones(size)))
