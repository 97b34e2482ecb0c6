"""Attention beside torch: masks, causal, dropout, shared heads, dtypes, gradients; errors."""
import math

import numpy as np
import pytest

from .adapter import same_outcome

RNG = np.random.default_rng(0)
Q, K, V = RNG.normal(size=(2, 4, 5, 8)), RNG.normal(size=(2, 4, 6, 8)), RNG.normal(size=(2, 4, 6, 8))
MASK = RNG.random((5, 6)) < 0.6
MASK[1] = False                                # a query that attends to nothing
NUMBERS = RNG.normal(size=(2, 1, 5, 6))


def given(t, dtype="float32", arrays=(Q, K, V)):
    return [t.tensor(x).to(getattr(t, dtype)).requires_grad_() for x in arrays]


CALLS = {
    "plain": lambda F, t, q, k, v: F(q, k, v),
    "causal": lambda F, t, q, k, v: F(q, k, v, is_causal=True),
    "bools": lambda F, t, q, k, v: F(q, k, v, t.tensor(MASK)),
    "numbers": lambda F, t, q, k, v: F(q, k, v, t.tensor(NUMBERS).to(q.dtype)),
    "numbers of three dimensions": lambda F, t, q, k, v: F(q[0], k[0], v[0], t.tensor(NUMBERS[:, 0, :1]).to(q.dtype)[
        :1]),
    "scale": lambda F, t, q, k, v: F(q, k, v, scale=0.3),
    "negative scale": lambda F, t, q, k, v: F(q, k, v, scale=-0.3),
    "shared heads": lambda F, t, q, k, v: F(q, k[:, :2], v[:, :2], enable_gqa=True),
    "shared unlike": lambda F, t, q, k, v: F(q, k[:, :2], v[:, :1], enable_gqa=True),
    "matrices": lambda F, t, q, k, v: F(q[0, 0], k[0, 0], v[0, 0], t.tensor(MASK)),
    "three dimensions": lambda F, t, q, k, v: F(q[0], k[0], v[0], is_causal=True),
    "values of another size": lambda F, t, q, k, v: F(q, k, v[..., :3]),
    "transposed": lambda F, t, q, k, v: F(q.transpose(1, 2), k.transpose(1, 2)[:, :5], v.transpose(1, 2)[:, :5]),
    "one batch of keys": lambda F, t, q, k, v: F(q, k[:1], v[:1]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name, dtype):
    def program(t):
        q, k, v = given(t, dtype)
        y = CALLS[name](t.nn.functional.scaled_dot_product_attention, t, q, k, v)
        return y, y.stride(), y.grad_fn.name(), t.autograd.grad((y ** 3).sum(), (q, k, v))
    same_outcome(program)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_halves(name, dtype):
    def program(t):
        q, k, v = given(t, dtype)
        y = CALLS[name](t.nn.functional.scaled_dot_product_attention, t, q, k, v)
        return y, y.stride(), t.autograd.grad(y.sum(), (q, k, v))
    same_outcome(program, tolerance={"float16": 2e-3, "bfloat16": 1.6e-2}[dtype])


@pytest.mark.parametrize("p", [0.3, 1.0])
def test_dropout_has_the_same_numbers(p):
    def program(t):
        t.manual_seed(3)
        q, k, v = given(t)
        y = t.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=p)
        return y, t.autograd.grad(y.sum(), (q, k, v)), t.rand(2)
    same_outcome(program)


def test_gradients_of_a_mask():
    def program(t):
        q, k, v = given(t)
        mask = t.tensor(NUMBERS[0, 0]).float().requires_grad_()
        y = t.nn.functional.scaled_dot_product_attention(q, k, v, mask)
        dm, = t.autograd.grad((y ** 2).sum(), mask, create_graph=True)
        return y, dm, t.autograd.grad(dm.sum(), (q, mask))
    same_outcome(program)


def test_derived_once():
    def program(t):
        q, k, v = given(t)
        y = t.nn.functional.scaled_dot_product_attention(q, k, v)
        dq, = t.autograd.grad((y ** 2).sum(), q, create_graph=True)
        return t.autograd.grad(dq.sum(), q)
    same_outcome(program)


@pytest.mark.parametrize("shapes, given", [
    ([(2, 3), (2, 4), (2, 4)], {}), ([(3,), (3,), (3,)], {}), ([(2, 3), (2, 3), (3, 3)], {}),
    ([(2, 2, 3), (3, 2, 3), (2, 2, 3)], {}), ([(1, 4, 2, 3), (1, 3, 2, 3), (1, 3, 2, 3)], {"enable_gqa": True}),
    ([(4, 2, 3), (2, 2, 3), (2, 2, 3)], {"enable_gqa": True}), ([(0, 3), (0, 3), (0, 3)], {}),
    ([(2, 3), (0, 3), (0, 3)], {}), ([(2, 0), (2, 0), (2, 0)], {}), ([(1, 1, 2, 3)] * 3, {"scale": "a"}),
    ([(2, 3)] * 3, {"dropout_p": 2.0}), ([(1, 1, 0, 3)] * 3, {}), ([(0, 1, 2, 3)] * 3, {})])
def test_shapes(shapes, given):
    same_outcome(lambda t: t.nn.functional.scaled_dot_product_attention(*map(t.ones, shapes), **given))


@pytest.mark.parametrize("mask", [
    lambda t: t.ones(2, 2, dtype=t.int64), lambda t: t.ones(2, 2, dtype=t.float64), lambda t: t.ones(3, 2)])
def test_errors_of_masks(mask):
    same_outcome(lambda t: t.nn.functional.scaled_dot_product_attention(*[t.ones(2, 3)] * 3, mask(t)))


def test_other_errors():
    same_outcome(lambda t: t.nn.functional.scaled_dot_product_attention(*[t.ones(2, 3)] * 3, t.ones(2, 2),
                                                                        is_causal=True))
    same_outcome(lambda t: t.nn.functional.scaled_dot_product_attention(t.ones(2, 3), t.ones(2, 3).double(),
                                                                        t.ones(2, 3)))
    same_outcome(lambda t: t.nn.functional.scaled_dot_product_attention([1], t.ones(2, 3), t.ones(2, 3)))


# ------------------------------------------------------------------ several heads
E, HEADS, LENGTH, S, N = 8, 2, 5, 6, 3
W, WO, B, BO = RNG.normal(size=(3 * E, E)), RNG.normal(size=(E, E)), RNG.normal(size=3 * E), RNG.normal(size=E)
X, Y, Z = RNG.normal(size=(LENGTH, N, E)), RNG.normal(size=(S, N, E)), RNG.normal(size=(S, N, E))
PADDING = np.arange(S) >= np.array([[6], [4], [2]])
BLOCKED = np.triu(np.ones((LENGTH, S), bool), 1)


def heads(t, form="other", key=None, **named):
    x, y, z, w, wo, b, bo = (t.tensor(a).float().requires_grad_() for a in (X, Y, Z, W, WO, B, BO))
    inputs = {"self": (x, x, x), "same": (x, y, y), "other": (x, y, z)}[form]
    if named.pop("alone", False):
        inputs = [a[:, 0] for a in inputs]
    named = {name: a(t) if callable(a) else a for name, a in named.items()}
    bias_k, bias_v = named.pop("biases", (None, None))
    settings = {"add_zero_attn": False, "dropout_p": 0.0, **named}
    t.manual_seed(1)
    out, weights = t.nn.functional.multi_head_attention_forward(
        *inputs, E, HEADS, w, b, bias_k, bias_v, settings.pop("add_zero_attn"), settings.pop("dropout_p"), wo, bo,
        **settings)
    return out, weights, t.autograd.grad((out ** 2).sum(), (x, w, b, wo, bo), allow_unused=True)


@pytest.mark.parametrize("named", [
    {"form": "self"}, {"form": "same"}, {}, {"need_weights": False}, {"form": "self", "need_weights": False},
    {"average_attn_weights": False}, {"alone": True}, {"alone": True, "need_weights": False},
    {"key_padding_mask": lambda t: t.tensor(PADDING)}, {"attn_mask": lambda t: t.tensor(BLOCKED)},
    {"key_padding_mask": lambda t: t.tensor(PADDING), "attn_mask": lambda t: t.tensor(BLOCKED), "need_weights": False},
    {"attn_mask": lambda t: t.zeros(N * HEADS, LENGTH, S), "need_weights": False},
    {"attn_mask": lambda t: t.tensor(BLOCKED), "is_causal": True},
    {"attn_mask": lambda t: t.tensor(BLOCKED), "is_causal": True, "need_weights": False},
    {"add_zero_attn": True, "attn_mask": lambda t: t.tensor(BLOCKED)}, {"dropout_p": 0.4},
    {"dropout_p": 0.4, "need_weights": False}, {"dropout_p": 0.4, "training": False},
    {"biases": lambda t: (t.ones(1, 1, E), t.ones(1, 1, E)), "key_padding_mask": lambda t: t.tensor(PADDING)},
    {"static_k": lambda t: t.tensor(X.reshape(-1)[:96].reshape(N * HEADS, 4, 4)).float(), "static_v": lambda t: t.ones(
        N * HEADS, 4, E // HEADS)},
    {"use_separate_proj_weight": True, "q_proj_weight": lambda t: t.tensor(WO).float(),
     "k_proj_weight": lambda t: t.tensor(WO).float(), "v_proj_weight": lambda t: t.tensor(WO).float()},
    {"is_causal": True}, {"use_separate_proj_weight": True}, {"attn_mask": lambda t: t.zeros(LENGTH, LENGTH)},
    {"attn_mask": lambda t: t.zeros(1, LENGTH, S)}, {"attn_mask": lambda t: t.zeros(LENGTH)},
    {"attn_mask": lambda t: t.zeros(LENGTH, S, dtype=t.int64)}, {"key_padding_mask": lambda t: t.zeros(S)},
    {"key_padding_mask": lambda t: t.zeros(2, S)}, {"key_padding_mask": lambda t: t.zeros(N, 2)},
    {"biases": lambda t: (t.ones(1, 1, E), None)}, {"static_k": lambda t: t.ones(1, S, E // HEADS)},
    {"key_padding_mask": lambda t: t.tensor(PADDING), "attn_mask": lambda t: t.zeros(LENGTH, S)}],
    ids=lambda named: " ".join(named) or "plain")
def test_multi_head_attention_forward(named):
    same_outcome(lambda t: heads(t, **named))


@pytest.mark.parametrize("keys", [1, 2, 5, 17, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_scores_that_are_no_numbers(keys, dtype):
    """NaN among scores is in the result, though it is not larger than any: of a row with nothing else in it, too."""
    rows = [[math.nan] * keys, [math.nan] + [-math.inf] * (keys - 1), [-math.inf] * (keys - 1) + [math.nan],
            [1.] * (keys - 1) + [math.nan], [-math.inf] * keys, [-math.inf] * (keys - 1) + [1.]]

    def program(t):
        mask = t.tensor([rows], dtype=getattr(t, dtype))
        q, k, v = [t.ones(1, n, 2, dtype=mask.dtype).requires_grad_() for n in (len(rows), keys, keys)]
        y = t.nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return y, t.autograd.grad(y[:, -2:].sum(), v)
    same_outcome(program)


@pytest.mark.parametrize("ways", ["000", "111", "100", "010", "001", "222"])
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_one_operation_for_rows_in_one_piece(dtype, size, ways):
    """Rows of one number too lie in one piece only if their stride says so."""
    def program(t):
        made = []
        for way in ways:
            x = t.linspace(-1, 2, 24 * size).to(getattr(t, dtype))
            x = {"0": lambda: x[::2].clone().reshape(2, 2, 3, size), "1": lambda: x[::2].clone().reshape(
                2, 2, size, 3).transpose(2, 3), "2": lambda: x.reshape(2, 2, 3, 2 * size)[..., ::2]}[way]()
            made.append(x.requires_grad_())
        y = t.nn.functional.scaled_dot_product_attention(*made)
        return y.grad_fn.name(), y.stride(), y
    same_outcome(program)
