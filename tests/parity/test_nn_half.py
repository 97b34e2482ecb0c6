"""Losses, embeddings, recurrent layers and clipping in float16 and bfloat16 beside torch: values, gradients and, where
torch has them, second gradients, to a few units in the last place of the largest number."""
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import array_of, tensors

pytestmark = pytest.mark.filterwarnings("ignore")
KINDS = ["float16", "bfloat16"]
UNITS = {"float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}


def numbers(*shape, seed=0):
    return np.random.RandomState(seed).standard_normal(shape)


def shares(*shape, seed=0):
    return 0.05 + 0.9 * np.random.RandomState(seed).random_sample(shape)


def close(ours, theirs, kind, units, where):
    """Each tensor to `units` in the last place of its largest number."""
    ours, theirs = tensors(ours), tensors(theirs)
    assert len(ours) == len(theirs) > 0
    for i, (a, b) in enumerate(zip(ours, theirs)):
        assert (tuple(a.shape), str(a.dtype), a.requires_grad) == (tuple(b.shape), str(b.dtype), b.requires_grad), where
        a, b = array_of(a).astype(float), array_of(b).astype(float)
        scale = np.abs(b, where=np.isfinite(b), out=np.zeros_like(b)).max(initial=0)
        np.testing.assert_allclose(a, b, rtol=0, atol=units * UNITS[kind] * scale, err_msg=f"{where}: number {i}")


def derived(library, kind, function, arrays, second=True):
    """[result, gradients, second gradients] of a function of tensors."""
    dtype = getattr(library, kind)
    leaves = [library.tensor(a).to(dtype).requires_grad_() for a in arrays]
    result = function(library, *leaves)
    weight = library.tensor(numbers(*result.shape, seed=9)).to(dtype)
    grads = library.autograd.grad(result, leaves, weight, create_graph=second)
    found = [result.detach(), *[g.detach() for g in grads]]
    grads = [g for g in grads if g.requires_grad]
    if grads:
        weights = [library.tensor(numbers(*g.shape, seed=10)).to(dtype) for g in grads]
        more = library.autograd.grad(grads, leaves, weights, allow_unused=True)
        found += [g for g in more if g is not None]
    return found


X, Y, Z, W = numbers(5, 4) * 2, numbers(5, 4, seed=1), numbers(5, 4, seed=2), shares(4, seed=3)
P, Q, V = shares(5, 4), shares(5, 4, seed=1), shares(5, 4, seed=4)
SIGNS = np.where(numbers(5, 4, seed=7) > 0, 1, -1)
#: name -> (differentiable arguments, others, keywords)
LOSSES = [
    ("mse_loss", (X, Y), (), {}), ("l1_loss", (X, Y), (), {}), ("smooth_l1_loss", (X, Y), (), {"beta": 0.3}),
    ("huber_loss", (X, Y), (), {}), ("huber_loss", (X, Y), (), {"delta": 0.3}), ("kl_div", (Y, P), (), {}),
    ("kl_div", (Y, Z), (), {"log_target": True}), ("poisson_nll_loss", (Y, Z), (), {}),
    ("poisson_nll_loss", (P, V), (), {"log_input": False, "full": True}),
    ("gaussian_nll_loss", (Y, Z, V), (), {"full": True}), ("binary_cross_entropy", (P, Q), (), {}),
    ("binary_cross_entropy", (P,), (Q, V), {}), ("binary_cross_entropy_with_logits", (X, P), (), {}),
    ("binary_cross_entropy_with_logits", (X,), (P,), {"weight": V, "pos_weight": W}),
    ("soft_margin_loss", (X,), (SIGNS,), {}), ("hinge_embedding_loss", (X,), (SIGNS,), {}),
    ("margin_ranking_loss", (X, Y), (SIGNS,), {"margin": 0.3}), ("multilabel_soft_margin_loss", (X,), (Q > 0.5,), {}),
    ("cosine_embedding_loss", (X, Y), (SIGNS[:, 0],), {"margin": 0.3}), ("triplet_margin_loss", (X, Y, Z), (), {}),
    ("nll_loss", (X,), (np.arange(5) % 4,), {}), ("nll_loss", (X,), (np.arange(5) % 4, W), {"ignore_index": 1}),
    ("cross_entropy", (X,), (np.arange(5) % 4,), {}),
    ("cross_entropy", (X,), (np.arange(5) % 4, W), {"ignore_index": 1, "label_smoothing": 0.2}),
    ("cross_entropy", (X, Q / Q.sum(1, keepdims=True)), (W,), {"label_smoothing": 0.1}),
    ("cross_entropy", (numbers(2, 4, 3, 2),), (np.arange(12).reshape(2, 3, 2) % 4,), {"ignore_index": 3}),
    ("cross_entropy", (numbers(2, 4, 3, seed=1),), (np.arange(6).reshape(2, 3) % 4, W), {"label_smoothing": 0.3}),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name, data, fixed, options", LOSSES)
def test_losses(name, data, fixed, options, reduction, kind):
    def loss(library, *leaves):
        def given(a):
            t = library.tensor(a) if isinstance(a, np.ndarray) else a
            return t.to(getattr(library, kind)) if isinstance(a, np.ndarray) and a.dtype == float else t
        rest, keywords = [given(a) for a in fixed], {k: given(a) for k, a in options.items()}
        if name == "multilabel_soft_margin_loss":
            rest = [rest[0].to(leaves[0].dtype)]
        return getattr(library.nn.functional, name)(*leaves, *rest, reduction=reduction, **keywords)
    close(derived(tinytorch, kind, loss, data), derived(torch, kind, loss, data), kind, 8, name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"scale_grad_by_freq": True}, {"padding_idx": 2}])
def test_embedding(options, kind):
    def rows(library, table):
        return library.nn.functional.embedding(library.tensor([[1, 2, 2], [5, 1, 0]]), table, **options)
    data = [numbers(7, 3)]
    close(derived(tinytorch, kind, rows, data), derived(torch, kind, rows, data), kind, 1, options)


@pytest.mark.parametrize("kind", [*KINDS, "float32", "complex64"])
@pytest.mark.parametrize("norm_type", [2.0, 1, 3.5, 0, float("inf"), -float("inf"), -1.0])
def test_embedding_of_limited_norm(norm_type, kind):
    def tables(library, use):
        table = library.tensor(numbers(7, 3) * 3).to(getattr(library, kind))
        return [use(library)(library.tensor([[1, 2, 2], [5, 1, 0]]), table, max_norm=1.5, norm_type=norm_type), table]
    uses = [lambda library: library.nn.functional.embedding]
    if kind in KINDS:
        uses.append(lambda library: library.nn.functional.embedding_bag)
    for use in uses:
        for a, b in zip(tables(tinytorch, use), tables(torch, use)):
            tolerance = UNITS.get(kind, 1e-6)
            np.testing.assert_allclose(array_of(a), array_of(b), rtol=tolerance, atol=tolerance)
            assert str(a.dtype) == str(b.dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{"mode": "sum"}, {"mode": "mean"}, {"mode": "max"}, {"padding_idx": 1}])
def test_embedding_bag(options, kind):
    def bags(library, table):
        index, starts = library.tensor([1, 2, 2, 5, 1, 3]), library.tensor([0, 3, 3])
        return library.nn.functional.embedding_bag(index, table, starts, **options)
    data = [numbers(7, 3)]
    close(derived(tinytorch, kind, bags, data, False), derived(torch, kind, bags, data, False), kind, 2, options)


@pytest.mark.parametrize("kind", KINDS)
def test_weighted_bag(kind):
    def bags(library, table, weights):
        index, starts = library.tensor([1, 2, 2, 5, 1, 3]), library.tensor([0, 3, 3])
        return library.nn.functional.embedding_bag(index, table, starts, mode="sum", per_sample_weights=weights)
    data = [numbers(7, 3), numbers(6, seed=1)]
    close(derived(tinytorch, kind, bags, data, False), derived(torch, kind, bags, data, False), kind, 2, "weighted")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["fold", "unfold", "bilinear", "prelu", "dropout", "alpha_dropout", "dropout2d",
                                  "feature_alpha_dropout", "native_dropout"])
def test_others(name, kind):
    data = {"fold": [numbers(2, 12, 6)], "unfold": [numbers(2, 3, 4, 3)],
            "bilinear": [numbers(2, 3), numbers(2, 4, seed=1), numbers(5, 3, 4, seed=2), numbers(5, seed=3)],
            "prelu": [numbers(4, 3), numbers(3, seed=1)]}.get(name, [numbers(4, 3, 2, 2)])
    options = {"fold": dict(output_size=(4, 3), kernel_size=2), "unfold": dict(kernel_size=2, padding=1),
               "native_dropout": dict(p=0.3, train=True), "bilinear": {}, "prelu": {}}.get(name, dict(p=0.4))

    def result(library, *leaves):
        library.manual_seed(0)
        function = getattr(library.nn.functional, name, None) or getattr(library, name)
        found = function(*leaves, **options)
        return found[0] if name == "native_dropout" else found
    second = name in ("bilinear", "prelu")
    close(derived(tinytorch, kind, result, data, second), derived(torch, kind, result, data, second), kind, 4, name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["dropout", "dropout2d", "alpha_dropout", "feature_alpha_dropout"])
def test_names_of_nodes(name, kind):
    names = []
    for library in (torch, tinytorch):
        x = library.ones(2, 2, 2, dtype=getattr(library, kind), requires_grad=True)
        names.append(getattr(library.nn.functional, name)(x, 0.5, True).grad_fn.name())
    assert names[0] == names[1]


@pytest.mark.parametrize("value", [15.7, -12.0, 250.0])
@pytest.mark.parametrize("name", ["softplus", "mish", "logsigmoid", "silu", "gelu", "selu"])
def test_of_a_number_that_is_used_twice(name, value):
    """Its gradient is a sum without dimensions."""
    found = []
    for library in (torch, tinytorch):
        x = library.tensor(value, dtype=library.float16, requires_grad=True)
        y = getattr(library.nn.functional, name)(x * 1)
        found.append(library.autograd.grad((y * 3).double() + (y * 2).double(), x)[0].item())
    assert found[1] == pytest.approx(found[0], rel=2e-3, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_packing(kind):
    def program(library):
        rnn, dtype = library.nn.utils.rnn, getattr(library, kind)
        sequences = [library.tensor(numbers(n, 2, seed=n)).to(dtype) for n in (3, 1)]
        packed = rnn.pack_sequence(sequences)
        return [rnn.pad_sequence(sequences, padding_value=1.3), packed.data,
                rnn.pad_packed_sequence(packed, padding_value=-2.7)[0]]
    close(program(tinytorch), program(torch), kind, 0, "padding")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm_type", [1.0, 2.0, float("inf"), 3.0])
def test_clipping(norm_type, kind):
    def program(library):
        parameters = [library.zeros(5, n, dtype=getattr(library, kind), requires_grad=True) for n in (1, 2, 3)]
        for i, p in enumerate(parameters):
            p.grad = library.tensor(numbers(*p.shape, seed=i)).to(p.dtype)
        total = library.nn.utils.clip_grad_norm_(parameters, 0.5, norm_type)
        clipped = [p.grad.clone() for p in parameters]
        library.nn.utils.clip_grad_value_(parameters, 0.1)
        return [total, *clipped, *[p.grad for p in parameters]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(program(tinytorch), program(torch), kind, 2, "clipping")


LAYOUTS = [lambda x: x, lambda x: x.transpose(1, -1).contiguous().transpose(1, -1),
           lambda x: x.transpose(0, -1).contiguous().transpose(0, -1), lambda x: x[:, :, :1].expand(x.shape),
           lambda x: x.to(memory_format=torch.channels_last if isinstance(x, torch.Tensor) else tinytorch.channels_last)
           if x.ndim == 4 else x * 1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameters", [None, "float32"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("sizes", [(3, 5, 4, 2), (4, 3, 3), (5, 3)])
def test_batch_norm_in_any_order(sizes, training, parameters, kind):
    """Torch has a routine for arrays without gaps, and one that rounds each step for the rest, and for gradients that
    lie otherwise than the input."""
    def program(library, of_input, of_gradient):
        dtype = getattr(library, kind)
        x = of_input(library.tensor(numbers(*sizes)).to(dtype)).requires_grad_()
        rest = [library.tensor(numbers(sizes[1], seed=k)).abs().to(getattr(library, parameters or kind))
                for k in (1, 2, 3, 4)]
        weight, bias = [v.requires_grad_() for v in rest[:2]]
        y = library.nn.functional.batch_norm(x, *rest[2:], weight, bias, training, .1, .1)
        g = of_gradient(library.tensor(numbers(*sizes, seed=5)).to(dtype))
        found = [y, *library.autograd.grad(y, [x, weight, bias], g)]
        return [t.to(dtype) for t in found]
    for a in LAYOUTS[:3] + LAYOUTS[3:] * (len(sizes) > 2):
        for b in LAYOUTS[:2] + LAYOUTS[4:]:
            close(program(tinytorch, a, b), program(torch, a, b), kind, 2, "batch norm")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("count", [0, 1, 16, 17, 300])
def test_sums_of_likelihoods(count, reduction, kind):
    """Equal to the last bit: added up in half precision, a cascade of sixteen at a time."""
    def program(library, ignored, weighted, flat):
        dtype = getattr(library, kind)
        x = library.tensor(numbers(count, 3)).to(dtype)
        target = library.arange(count) * 5 % 3
        x, target = (x, target) if flat else (x.t().reshape(1, 3, count), target[None])
        x.requires_grad_()
        weight = library.tensor([.5, 1.5, 2.5]).to(dtype) if weighted else None
        y = library.nn.functional.nll_loss(x, target, weight, ignore_index=ignored, reduction=reduction)
        return [y, library.autograd.grad(y, x)[0]]
    for case in [(i, w, flat) for i in (-100, 1) for w in (True, False) for flat in (True, False)]:
        close(program(tinytorch, *case), program(torch, *case), kind, 0, case)
