"""The native kernels beside their NumPy twins. Where there are none (no compiler built them), there is nothing to test
but that, and so the tests say."""
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.dtypes import numbers as numbers_of
from tinytorch.kernels import (
    attention as attentions,
    native,
    norm,
    optim,
    optim_matrix,
    softmax,
    sums as sums_of_arrays,
)
from tinytorch.kernels.conv import direct
from tinytorch.kernels.expressions import exp, expression, where
from tinytorch.kernels.linalg import products as linalg_products
from tinytorch.kernels.sums import add_up
from tinytorch.kinds.record_dtypes import to_bfloat16

from .doubles import need_steady_doubles

F = torch.nn.functional
ROOT = Path(__file__).parents[2]
needs_library = pytest.mark.skipif(native.level() is None, reason="no library of native kernels was built")
WIDTHS = (1, 2, 7, 16, 17, 33, 64, 100, 1000)


@contextmanager
def kernels(wanted):
    """All native kernels, however few elements there are; or none."""
    before, least, few = dict(native._least), native.LEAST, (direct._FEW, sums_of_arrays._FEW)
    native.LEAST = direct._FEW = sums_of_arrays._FEW = 0 if wanted else sys.maxsize
    native._least.update(dict.fromkeys(native._known, native.LEAST))
    try:
        yield
    finally:
        native._least.update(before)
        native.LEAST, (direct._FEW, sums_of_arrays._FEW) = least, few


def draws(seed, *shape, special=False, dtype=np.float32):
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(shape) * 3).astype(np.float32)
    if special and x.size > 8:
        x.reshape(-1)[rng.permutation(x.size)[:6]] = [np.inf, -np.inf, np.nan, -0.0, 1e-40, 3e38]
    return x.astype(dtype)


def layer_norm(width, seed, dtype):
    shapes = (5, width), (5, width), (width,), (width,)
    x, g, w, b = (draws(seed + i, *shape, dtype=dtype) for i, shape in enumerate(shapes))
    for weight, bias in ((w, b), (w, None), (None, None)):
        y, (mean, rate) = norm.layer_norm(x, weight, bias, width, 1e-5, True)
        for wanted in ((True, True, True), (True, False, False), (True, False, True)):
            g_input, g_weight, g_bias = norm.layer_norm_backward(g, wanted, x, weight, width, mean, rate)
            yield from (y, mean, rate, g_input)
            yield from [a for a, there in zip((g_weight, g_bias), wanted[1:]) if there]
    for weight in (w, None):
        y, (_, rate) = norm.layer_norm(x, weight, None, width, 1e-5, False)
        yield from (y, rate)


def by_rows(width, seed, dtype):
    x, g = draws(seed, 6, width, dtype=dtype), draws(seed + 1, 6, width, dtype=dtype)
    yield from (softmax.softmax(x, -1), softmax.log_softmax(x, -1))
    yield softmax.softmax_backward(g, softmax.softmax(x, 1), -1)
    yield softmax.log_softmax_backward(g, np.minimum(x, 0), 1)
    x[0, -1:], x[1], x[2, 0] = np.inf, -np.inf, np.nan
    with np.errstate(all="ignore"):
        yield from (softmax.softmax(x, 1), softmax.log_softmax(x, 1))
        for dims in ((1,), (0,), (0, 1)):
            yield torch.logsumexp(torch.tensor(x), dims, seed % 2 == 0).numpy()


def activations(width, seed, dtype):
    with np.errstate(all="ignore"):
        x = torch.tensor(draws(seed, 3, width, special=True, dtype=dtype), requires_grad=True)
        for f in (F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.silu, torch.sigmoid, torch.tanh, F.relu,
                  torch.exp, torch.log, torch.erf):
            y = f(x)
            yield y.detach().numpy()
            yield torch.autograd.grad(y, x, torch.tensor(draws(seed + 1, 3, width, dtype=dtype)))[0].numpy()


def optimisers(width, seed, dtype):
    def arrays(n):
        return [np.abs(draws(seed + i, 2, width, dtype=dtype)) if i > 2 else draws(seed + i, 2, width, dtype=dtype)
                for i in range(n)]
    for decay, maximize in ((0, False), (0.1, True)):
        for step, n, options in (
                *((optim.sgd, 3, (fresh, 0.1, 0.9, 0.2 * (not nesterov), decay, nesterov, maximize))
                  for fresh in (True, False) for nesterov in (True, False)),
                (lambda p, g, *rest: optim.sgd(p, g, None, *rest), 2, (False, 0.1, 0, 0, 0.1, False, maximize)),
                (optim.adam, 5, (3, 0.01, 0.9, 0.99, 1e-8, decay, False, maximize)),
                (lambda p, g, m, v, *rest: optim.adam(p, g, m, np.abs(v), None, *rest), 4,
                 (3, 0.01, 0.9, 0.99, 1e-8, decay, True, maximize)),
                *((optim.nadam, 4, (0.01, 3, 0.5, 0.6, 0.4, 0.9, 0.99, 1e-8, decay, decoupled, maximize))
                  for decoupled in (True, False)),
                *((optim.radam, 4, (0.01, 0.3, 0.1, rectify, 0.9, 0.99, 1e-8, decay, rectify is None, maximize))
                  for rectify in (None, 0.7)),
                (optim.adamax, 4, (3, 0.01, 0.9, 0.99, 1e-8, decay, maximize)),
                (lambda p, g, m, a, b, c, *rest: optim.rmsprop(p, g, a + m * m + 1, m, b, *rest), 6,
                 (0.1, 0.9, 1e-3, decay, 0.5, maximize)),
                (lambda p, g, m, square, *rest: optim.rmsprop(p, g, square, None, None, *rest), 4,
                 (0.1, 0.9, 1e-3, decay, 0, maximize)),
                (lambda p, g, m, total, *rest: optim.adagrad(p, g, total, *rest), 4, (0.1, 1e-8, decay, maximize)),
                (lambda p, g, m, a, b, *rest: optim.adadelta(p, g, a, b, *rest), 5, (0.1, 0.9, 1e-6, decay, maximize))):
            given = arrays(n)
            step(*given, *options)
            yield from given
        p, g = arrays(2)
        row, col = np.ones((2, 1), dtype), np.ones((1, width), dtype)
        optim_matrix.adafactor(p, g, row, col, None, 0.01, 0.3, 0.9, 1e-7, 1e-3, 1., maximize)
        yield from (p, row, col)


def attention(width, seed, dtype):
    masked = draws(seed, 5, width, dtype=dtype)
    masked[1], masked[2, :1], masked[3], masked[4, 1:] = -np.inf, -np.inf, np.nan, -np.inf
    masked[4, :1] = np.nan
    yield softmax.safe_softmax(masked, -1)
    for causal in (False, True):
        # Of unit variance, for scores of 40 are wrong by what changes a weight in the sixth digit.
        q, k, v = (torch.tensor(draws(seed + i, 2, 3, width % 60 + 1, 5, dtype=dtype) / 3, requires_grad=True)
                   for i in range(3))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        yield y.detach().numpy()
        gradients = torch.autograd.grad(y, (q, k, v), torch.tensor(draws(seed, *y.shape, dtype=dtype)))
        yield from [g.numpy() for g in gradients]
        for n, keys, size, wide in ((8, width, 3, 7), (width % 90 + 8, 60, 20, 50), (70, 130, 8, width % 50 + 1)):
            shapes = [(2, rows, 3, columns) for rows, columns in ((n, size), (keys, size), (keys, wide))]
            heads = [draws(seed + i, *shape, dtype=dtype).swapaxes(1, 2) / 3 for i, shape in enumerate(shapes)]
            heads = [np.ascontiguousarray(x) for x in heads] if causal else heads
            in_c = dtype == np.float32 and native.LEAST == 0
            assert (attentions._in_one(*heads, causal, 0.3) is not None) == in_c
            yield attentions.attend(*heads, None, causal, 0.3)
            yield attentions.attend(heads[0][:, :, :3], *heads[1:], None, causal, 0.3)
            for shape in ((), (n, keys), (1, 3, n, keys), (2, 1, 1, keys), (2, 3, n, 1)):
                mask = draws(seed + 3, *shape, dtype=dtype) / 3 if shape else None
                if shape:
                    mask[..., -1:] = mask[..., :1, :] = -np.inf
                hidden = causal and not shape
                y = attentions.attend(*heads, mask, hidden, 0.3)
                g = draws(seed + 4, *y.shape, dtype=dtype) / 3
                assert (attentions._gradients_in_one(g, *heads, hidden, 0.3, mask) is not None) == in_c
                yield y
                yield from attentions.attend_backward(g, *heads, y, mask, hidden, 0.3)


def recurrent(width, seed, dtype):
    """Narrow and wide inputs, initial states, both directions, padded and packed batches, without biases."""
    for i, (kind, features, settings, lengths) in enumerate((
            (torch.nn.LSTM, 3, {}, None), (torch.nn.GRU, 3, {}, None), (torch.nn.RNN, 3, {}, None),
            (torch.nn.LSTM, 95, {"bidirectional": True}, [4, 4, 2, 1, 1]), (torch.nn.GRU, 95, {"bias": False}, None),
            (torch.nn.GRU, 2, {"bidirectional": True}, [4, 3, 3, 3, 1]),
            (torch.nn.RNN, 95, {"bias": False}, [4, 2, 2, 2, 2]),
            (torch.nn.RNN, 7, {"nonlinearity": "relu", "batch_first": True, "bidirectional": True}, None))):
        torch.manual_seed(seed + i)
        layer = kind(features, width % 90 + 1, dtype=torch.float64, **settings).to(getattr(torch, np.dtype(dtype).name))
        # Small, for where tanh is nearly 1 its slope, 1 - tanh^2, has no digits left.
        x = torch.tensor(draws(seed, 4, 5, features, dtype=dtype) / features, requires_grad=True)
        shape = 2 if layer.bidirectional else 1, 4 if layer.batch_first else 5, width % 90 + 1
        state = torch.tensor(draws(seed, *shape, dtype=dtype) / 4, requires_grad=True)
        given = [None, (state, state + 1) if kind is torch.nn.LSTM else state][i > 2]
        packed = x if lengths is None else torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths))
        y, final = layer(packed, given)
        y = y if lengths is None else y.data
        final = final if isinstance(final, tuple) else (final,)
        yield from [a.detach().numpy() for a in (y, *final)]
        with torch.no_grad():
            yield layer(packed, given)[1][0].numpy()
        loss = (y * torch.tensor(draws(seed, *y.shape, dtype=dtype))).sum()
        for s in final[i % 2:]:
            loss = loss + s.square().sum()
        inputs = x, *([] if given is None else [state]), *layer.parameters()
        yield from [g.numpy() for g in torch.autograd.grad(loss, inputs)]


def products(width, seed, dtype):
    """Of few rows, of many and of long sums, with a bias or without, of parts of matrices and transposed ones."""
    shapes = (width, 7, 9), (9, width, 8), (width % 90 + 8, 1500, 50), (300, 130, width), (64, 70, 900), (16, 300, 100)
    for m, k, n in shapes:
        for left in (False, True):
            for right in (False, True):
                a = draws(seed, *((k, m) if left else (m, k)), dtype=dtype)
                b = draws(seed + 1, *((n, k + 3) if right else (k, n + 3)), dtype=dtype)
                a, b = a.T if left else a, b[:, 2:-1].T if right else b[:, 1:-2]
                bias = draws(seed + 2, n, dtype=dtype) if left else None
                found = linalg_products._native(a, b, bias) if dtype == np.float32 and native.LEAST == 0 else None
                if min(m, n) >= 8:
                    assert (found is None) != (dtype == np.float32 and native.LEAST == 0)
                yield np.dot(a, b) + (0 if bias is None else bias) if found is None else found


def batched_products(width, seed, dtype):
    """Of one axis of matrices and of two in any order, of one matrix for many, of parts and transposed ones."""
    for m, k, n in ((8, width + 1, 9), (width % 90 + 8, 40, 33), (70, 3, 8 + width % 60)):
        for left in (False, True):
            for right in (False, True):
                a = draws(seed, 2, k if left else m, 3, m if left else k, dtype=dtype)
                a = a.swapaxes(1, 2)               # as the heads of attention lie
                b = draws(seed + 1, 2, 3, *((n, k + 3) if right else (k, n + 3)), dtype=dtype)
                a, b = a.swapaxes(2, 3) if left else a, b[..., 2:-1].swapaxes(2, 3) if right else b[..., 1:-2]
                for x, y in ((a, b), (a[1], b[0]), (a, np.broadcast_to(b[:, :1], b.shape)), (a[::-1], b[:, ::-1])):
                    found = linalg_products._several(x, y) if dtype == np.float32 and native.LEAST == 0 else None
                    assert (found is None) != (dtype == np.float32 and native.LEAST == 0)
                    yield np.matmul(x, y) if found is None else found


def entropy(width, seed, dtype):
    """Also of a NaN, of an infinity, and where everything but the class has none."""
    for special in (False, True):
        x = draws(seed, 40, width, dtype=dtype)
        if special:
            x[0, 0], x[1, -1], x[2] = np.nan, np.inf, -np.inf
            x[3, :-1] = -np.inf
        x = torch.tensor(x, requires_grad=True)
        target = torch.tensor(np.random.default_rng(seed).integers(0, width, 40))
        for rows in (slice(3 if special else 0, None), slice(None)):
            for reduction in ("mean", "sum"):
                with np.errstate(all="ignore"):
                    loss = F.cross_entropy(x[rows], target[rows], reduction=reduction)
                    yield loss.detach().numpy()
                    yield torch.autograd.grad(loss * 3, x)[0].numpy()


def batch_norm(width, seed, dtype):
    """In training, with given statistics, and of groups; with weight and bias or without."""
    shape = (5, 4, width, 3)
    x = torch.tensor(draws(seed, *shape, dtype=dtype), requires_grad=True)
    w, b, mean, variance = (torch.tensor(draws(seed + i, 4, dtype=dtype)) for i in (1, 2, 3, 4))
    g = torch.tensor(draws(seed + 5, *shape, dtype=dtype))
    for weight, bias in ((w, b), (w, None), (None, None)):
        learnt = [p.requires_grad_() for p in (weight, bias) if p is not None]
        for y in (F.batch_norm(x, None, None, weight, bias, True),
                  F.batch_norm(x, mean, variance.square() + 1, weight, bias, False),
                  F.group_norm(x, 2, weight, bias)):
            yield from [a.numpy() for a in (y.detach(), *torch.autograd.grad(y, [x, *learnt], g))]


def _sum_of_halves(x, dims, dtype):
    """In single precision; in double for what is exact."""
    if dtype == np.float32:
        return np.asarray(sums_of_arrays.add_up_halves(x, dims))
    return np.asarray(np.add.reduce(numbers_of(x).astype(dtype), dims))


def sums(width, seed, dtype):
    """Of rows, of columns and of all, with infinities and without."""
    for special in (False, True):
        x = draws(seed, 40, width, 3, special=special, dtype=dtype)
        for dims in ((0,), (0, 1), (0, 1, 2), (1, 2), (2,), (1,)):
            with np.errstate(all="ignore"):
                yield np.asarray(add_up(x, dims))
                yield np.asarray(add_up(x, dims, True))
                if not special:
                    yield torch.tensor(x).var(dims, keepdim=True).numpy()
                    yield torch.tensor(x).std(dims, correction=0.5).numpy()
                    yield torch.linalg.vector_norm(torch.tensor(x), 3, dims).numpy()
                    yield torch.linalg.vector_norm(torch.tensor(x), 4, dims, True).numpy()
        with np.errstate(all="ignore"):
            for stored in (x.astype(np.float16), to_bfloat16(x.astype(np.float32))):
                for dims in ((0, 1, 2), (1, 2), (2,), (0,)):
                    yield _sum_of_halves(stored, dims, dtype)
    yield _sum_of_halves(draws(seed, width * 1000, dtype=np.float16), (0,), dtype)
    yield np.asarray(add_up(draws(seed, width * 1000, dtype=dtype), (0,)))
    yield np.asarray(add_up(draws(seed, 1000, width * 50, dtype=dtype), (0,)))
    for scale in (1e-30, 1e25):                # squares under- or overflow in single precision
        yield torch.tensor(draws(seed, 30, width + 1).astype(dtype) * dtype(scale)).std(1).numpy()
        yield torch.tensor(draws(seed, width + 1, 30).astype(dtype) * dtype(scale)).std(0).numpy()


def rows_added(width, seed, dtype):
    """To few rows and to many, none and all of them named twice; of a table and by an index of two axes."""
    for count, n in ((3, 700), (1000, 700), (300, 40)):
        index = torch.tensor(np.random.default_rng(seed).integers(0, count, (n // 4, 4)))
        table = torch.tensor(draws(seed, count, width, dtype=dtype), requires_grad=True)
        g = torch.tensor(draws(seed + 1, n // 4, 4, width, dtype=dtype))
        for found in (F.embedding(index, table), table[index]):
            yield torch.autograd.grad(found, table, g)[0].numpy()
        yield table.detach().index_add(0, index.reshape(-1), g.reshape(n, width)).numpy()


def masks(width, seed, dtype):
    """As large as what is filled, and one for many."""
    x = torch.tensor(draws(seed, 4, 5, width, dtype=dtype, special=True), requires_grad=True)
    for shape in ((4, 5, width), (5, width), (width,), (5, 1)):
        mask = torch.tensor(np.random.default_rng(seed).random(shape) < 0.5)
        y = x.masked_fill(mask, -np.inf)
        yield y.detach().numpy()
        yield torch.autograd.grad(y, x, torch.tensor(draws(seed, *y.shape, dtype=dtype)))[0].numpy()


def convolutions(width, seed, dtype):
    """Of images of 1, 2 and 3 axes, with dilation and padding that differs by axis, also beyond the kernel."""
    c = width % 5 + 1
    for shape, kernel, settings in (
            ((3, c, 40, 31), (3, 3), {}), ((5, c, 24, 60), (2, 4), {"padding": (1, 3), "dilation": (3, 1)}),
            ((2, c, 900), (5,), {"padding": 4}), ((2, c, 5, 20, 13), (2, 3, 3), {"padding": (0, 1, 2)}),
            ((4, c, 30, 30), (3, 3), {"padding": 4}), ((2, c, 25, 30), (1, 1), {})):
        x = torch.tensor(draws(seed, *shape, dtype=dtype), requires_grad=True)
        weight = torch.tensor(draws(seed + 1, width % 12 + 5, c, *kernel, dtype=dtype), requires_grad=True)
        bias = torch.tensor(draws(seed + 2, len(weight), dtype=dtype), requires_grad=True)
        conv = getattr(F, f"conv{len(kernel)}d")
        y = conv(x, weight, bias, **settings)
        yield y.detach().numpy()
        yield conv(x, weight, **settings).detach().numpy()
        for g in torch.autograd.grad(y, (x, weight, bias), torch.tensor(draws(seed, *y.shape, dtype=dtype))):
            yield g.numpy()


def convolutions_of_windows(width, seed, dtype):
    """With strides, groups, small images, and places of a kernel that sees nothing but padding."""
    c = width % 5 + 1
    for shape, kernel, groups, settings in (
            ((3, 4 * c, 9, 14), (3, 3), 1, {"stride": 2, "padding": 1}), ((5, 4 * c, 4, 4), (3, 3), 1, {"padding": 1}),
            ((2, 4 * c, 7, 30), (1, 1), 4, {"stride": (2, 3)}), ((2, 2 * c, 700), (5,), 2, {"stride": 3, "padding": 4}),
            ((2, 2 * c, 5, 6, 13), (2, 3, 3), 2, {"stride": (1, 2, 1), "padding": (0, 1, 2), "dilation": (1, 2, 1)}),
            ((2, 40 * c, 6, 6), (3, 3), 1, {"padding": 1}), ((3, 30, 11, 26), (3, 3), 1, {"padding": (0, 2)}),
            ((2, 30, 60, 60), (3, 3), 1, {"padding": 1}), ((2, c, 8, 9), (2, 2), 1, {"stride": 3}),
            ((1, c, 2, 2), (3, 3), 1, {"padding": 3, "stride": 4})):
        x = torch.tensor(draws(seed, *shape, dtype=dtype), requires_grad=True)
        weight = torch.tensor(draws(seed + 1, groups * (width % 60 + 1), shape[1] // groups, *kernel, dtype=dtype),
                              requires_grad=True)
        bias = torch.tensor(draws(seed + 2, len(weight), dtype=dtype), requires_grad=True)
        conv = getattr(F, f"conv{len(kernel)}d")
        y = conv(x, weight, bias, groups=groups, **settings)
        yield y.detach().numpy()
        yield conv(x, weight, groups=groups, **settings).detach().numpy()
        for g in torch.autograd.grad(y, (x, weight, bias), torch.tensor(draws(seed, *y.shape, dtype=dtype))):
            yield g.numpy()
        back = getattr(F, f"conv_transpose{len(kernel)}d")
        if len(weight) == groups * (shape[1] // groups):
            yield back(x, weight, torch.tensor(draws(seed, shape[1], dtype=dtype)), groups=groups,
                       **settings).detach().numpy()


def convolutions_by_channel(width, seed, dtype):
    """Each channel by a kernel of its own."""
    c = width % 7 + 2
    for shape, kernel, settings in (
            ((3, c, 8, 8), (3, 3), {"padding": 1}), ((3, c, 9, 11), (3, 3), {"padding": 1, "stride": 2}),
            ((2, c, 9, 70), (5, 4), {"padding": (1, 2), "stride": (2, 3), "dilation": (2, 1)}),
            ((2, c, 50), (3,), {"stride": 2}), ((2, c, 9, 9), (1, 1), {"stride": 2}),
            ((2, c, 4, 4), (3, 3), {"padding": 1}),
            ((2, c, 2, 2), (3, 3), {"padding": 3, "stride": 4}), ((2, c, 20, 21), (2, 2), {"stride": 3})):
        x = torch.tensor(draws(seed, *shape, dtype=dtype), requires_grad=True)
        weight = torch.tensor(draws(seed + 1, c, 1, *kernel, dtype=dtype), requires_grad=True)
        bias = torch.tensor(draws(seed + 2, c, dtype=dtype), requires_grad=True)
        y = getattr(F, f"conv{len(kernel)}d")(x, weight, bias, groups=c, **settings)
        yield y.detach().numpy()
        for g in torch.autograd.grad(y, (x, weight, bias), torch.tensor(draws(seed, *y.shape, dtype=dtype))):
            yield g.numpy()
        yield getattr(F, f"conv_transpose{len(kernel)}d")(x, weight, bias, groups=c, **settings).detach().numpy()


def convolutions_of_pixels(width, seed, dtype):
    """Of images whose channels lie beside each other, by few outputs."""
    c = width % 30 + 10
    for shape, kernel, settings in (((3, 41, c), (3,), {}), ((2, 30, c), (4,), {"padding": 5, "dilation": 2}),
                                    ((2, 9, 14, c), (2, 3), {"padding": (1, 0)}),
                                    ((2, 5, 7, 6, c), (2, 1, 3), {"padding": (0, 2, 1), "dilation": (2, 1, 1)})):
        x = torch.tensor(draws(seed, *shape, dtype=dtype)).movedim(-1, 1)
        weight = torch.tensor(draws(seed + 1, width % (c // 2) + 1, c, *kernel, dtype=dtype))
        bias = torch.tensor(draws(seed + 2, len(weight), dtype=dtype))
        conv = getattr(F, f"conv{len(kernel)}d")
        yield conv(x, weight, bias, **settings).numpy()
        yield conv(x, weight, **settings).numpy()


def rows_taken(width, seed, dtype):
    weight, threads = torch.tensor(draws(seed, 50, width, dtype=dtype)), torch.get_num_threads()
    torch.set_num_threads(max(2, threads))     # C is asked only where there are several
    try:
        for count in (1, 7, 1 << 16):
            places = torch.tensor(np.random.default_rng(seed).integers(0, 50, (2, count // width + 1)))
            yield F.embedding(places, weight).numpy()
    finally:
        torch.set_num_threads(threads)


def pooling(width, seed, dtype):
    for nan in (np.nan, 0.5):
        x = draws(seed, 2, 3, 9, width + 8, special=True)
        x[0, 0, :, 3] = x[0, 0, :, 2]                         # of equals the first has the gradient
        x[np.isnan(x)] = nan
        x = torch.tensor(x.astype(dtype), requires_grad=True)
        for kernel, ceil_mode in ((2, False), (2, True), ((3, 4), False), ((4, 3), True), ((1, 8), False)):
            y = F.max_pool2d(x, kernel, ceil_mode=ceil_mode)
            yield y.detach().numpy()
            yield torch.autograd.grad(y, x, torch.tensor(draws(seed, *y.shape, dtype=dtype)))[0].numpy()
        for kernel in (2, (3, 4), (1, 8), (5, 1)):
            yield F.avg_pool2d(x.detach(), kernel).numpy()
        yield F.avg_pool1d(x[:, 0].detach(), 5).numpy()
        y = F.max_pool1d(x[:, 0], 5)
        yield y.detach().numpy()
        yield torch.autograd.grad(y, x, torch.tensor(draws(seed, *y.shape, dtype=dtype)))[0].numpy()


#: Of four operands.
_joined = expression(lambda a, b, c, d: where(a > b, c * b, exp(-abs(a)) * d), 4)


def elementwise(width, seed, dtype):
    """In single and in double precision, of operands that are broadcast (test_expressions.py has the rest)."""
    for kind in (dtype, np.float64):
        x, row, column = (draws(seed + i, *shape, dtype=kind)
                          for i, shape in enumerate(((50, width), (width,), (50, 1))))
        yield _joined(x, row, column, x[:1]).astype(dtype)
        yield _joined(x, x, x, x).astype(dtype)
    x = draws(seed, 4, 9, width)
    yield _joined(*x.astype(np.float16).swapaxes(1, 2)).astype(dtype)
    for kind in (torch.bfloat16, torch.float16):
        yield torch.tensor(x).to(kind).float().numpy().astype(dtype)


def scans(width, seed, dtype):
    """Extremes so far and where they are, also of equal ones and of NaN; products; numbers at equal distances."""
    kind = getattr(torch, np.dtype(dtype).name)
    for special in (False, True):
        for shape, dim in (((5, width), 1), ((width, 3), 0), ((3, width, 70), 1), ((1, 1, 1), 2), ((2, 0, 3), 1)):
            x = draws(seed, *shape, special=special)
            x = torch.tensor((np.round(x) if special else x).astype(dtype))
            for found in (x.cummax(dim), x.cummin(dim)):
                yield from (found.values.numpy(), found.indices.numpy().astype(dtype))
            small = torch.tensor(np.tanh(draws(seed, *shape)).astype(dtype) + dtype(1))
            yield from (small.prod(dim).numpy(), small.prod(0).numpy(), small.prod().numpy(),
                        small.prod(-1, keepdim=True).numpy())
    for count in (0, 1, 15, 16, 17, 70 * width):
        yield torch.arange(-1.5, -1.5 + count * 0.25, 0.25, dtype=kind).numpy()
        yield torch.linspace(-3, 17.5, count, dtype=kind).numpy()


def arranged(width, seed, dtype):
    """Turned round, rolled, differences, on diagonals, triangles, resized images and what goes back to them."""
    for shape in ((width,), (3, width), (2, width, 3)):
        x = torch.tensor(draws(seed, *shape, special=True, dtype=dtype))
        for d in range(len(shape)):
            yield from (x.flip(d).numpy(), x.roll(1, d).numpy(), x.roll(-2, d).numpy())
            yield torch.diff(torch.tensor(draws(seed, *shape, dtype=dtype)), dim=d).numpy()
        for offset in (0, 2, -1):
            yield torch.diag_embed(x, offset).numpy()
        if len(shape) > 1:
            for diagonal in (0, -1, 2, width, -width, 1 << 40):
                yield from (x.tril(diagonal).numpy(), x.triu(diagonal).numpy())
    x = torch.tensor(draws(seed, 2, 3, 5, width, dtype=dtype), requires_grad=True)
    for mode in ("nearest", "bilinear", "bicubic"):
        for size in ((10, 2 * width), (3, width), (5, 1)):
            y = F.interpolate(x, size, mode=mode)
            yield y.detach().numpy()
            yield torch.autograd.grad(y, x, torch.tensor(draws(seed, *y.shape, dtype=dtype)))[0].numpy()


def sampled(width, seed, dtype):
    """Images at the places of a grid, in them and beside them, and what goes back to them."""
    x = torch.tensor(draws(seed, 2, 3, width % 40 + 1, 9, dtype=dtype), requires_grad=True)
    for shape in ((2, 5, width, 2), (2, 300, 1, 2)):
        grid = torch.tensor(draws(seed + 1, *shape, dtype=dtype) / 3)
        for padding in ("zeros", "border"):
            for aligned in (False, True):
                y = F.grid_sample(x, grid, padding_mode=padding, align_corners=aligned)
                yield y.detach().numpy()
                yield torch.autograd.grad(y, x, torch.tensor(draws(seed, *y.shape, dtype=dtype)))[0].numpy()


def transformed(width, seed, dtype):
    """Fourier transforms of lengths with the factors that C knows and with others, along each axis and along two, of
    real numbers and of complex ones, forward and backward, however they are scaled."""
    for n in (width, 2 * width, 15 * width, 48):
        for shape in ((n,), (3, n), (37, n), (2, n, 5)):
            x = torch.tensor(draws(seed, *shape, dtype=dtype))
            y = torch.complex(x, torch.tensor(draws(seed + 1, *shape, dtype=dtype)))
            for scaled in ("backward", "ortho", "forward"):
                found = [torch.fft.fft(x, norm=scaled), torch.fft.rfft(x, norm=scaled), torch.fft.fft(y, norm=scaled),
                         torch.fft.ifft(y, norm=scaled), torch.fft.fft(y, dim=0, norm=scaled)]
                if len(shape) == 3:
                    found += [torch.fft.ifft(y, dim=1), torch.fft.fftn(y, dim=(0, 1)), torch.fft.rfft2(x)]
                for z in found:
                    yield np.array(torch.view_as_real(z))


def gated(width, seed, dtype):
    """Halves along each axis, and their gradients."""
    for shape, dim in (((2 * width,), 0), ((5, 2 * width), 1), ((6, width), 0), ((3, 4, width), 1)):
        x = torch.tensor(draws(seed, *shape, special=True, dtype=dtype), requires_grad=True)
        with np.errstate(all="ignore"):
            y = F.glu(x, dim)
            yield y.detach().numpy()
            yield torch.autograd.grad(y, x, torch.tensor(draws(seed + 1, *y.shape, dtype=dtype)))[0].numpy()


def pooled_evenly(width, seed, dtype):
    """By windows that divide the image: of one axis and of two, and wider than what is added up at once."""
    for shape, size in (((2, 3, 4, 4 * width), (2, 2)), ((2, 3, 20, width), (4, 1)), ((3, 6 * width), 2),
                        ((1, 2, 8, 3000), (2, 2)), ((2, 4, width, 9), 1)):
        x = torch.tensor(draws(seed, *shape, dtype=dtype), requires_grad=True)
        y = (F.adaptive_avg_pool1d if len(shape) == 2 else F.adaptive_avg_pool2d)(x, size)
        yield y.detach().numpy()
        yield torch.autograd.grad(y, x, torch.tensor(draws(seed, *y.shape, dtype=dtype)))[0].numpy()


def of_classes(width, seed, dtype):
    """The likelihood of classes, and of labels in a number of steps: repeated ones, few and none."""
    rng = np.random.default_rng(seed)
    x = torch.tensor(draws(seed, 7, width + 1, dtype=dtype), requires_grad=True)
    for reduction in ("sum", "mean"):
        y = F.nll_loss(x, torch.tensor(rng.integers(0, width + 1, 7)), reduction=reduction)
        yield from (y.detach().numpy(), torch.autograd.grad(y, x)[0].numpy())
    for steps, labels in ((9, 3), (2 * width + 1, width), (4, 0)):
        x = torch.tensor(draws(seed, steps, 4, width % 9 + 3, dtype=dtype), requires_grad=True)
        targets = torch.tensor(rng.integers(1, 3, (4, labels)))
        counts = torch.tensor([labels, labels, labels // 2, 0])
        y = F.ctc_loss(x.log_softmax(2), targets, torch.tensor([steps, steps - 1, steps, steps // 2]), counts,
                       reduction="none")
        yield y.detach().numpy()
        yield torch.autograd.grad(y, x, torch.tensor(draws(seed, 4, dtype=dtype)))[0].numpy()


FAMILIES = [by_rows, layer_norm, activations, optimisers, attention, recurrent, products, batched_products,
            entropy, batch_norm, sums, rows_added, masks, convolutions, convolutions_of_windows,
            convolutions_by_channel, convolutions_of_pixels, rows_taken, pooling, elementwise, scans, arranged, sampled,
            transformed, gated, pooled_evenly, of_classes]


@needs_library
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_twins(family):
    """As near to what double precision gives as the twin is, and as infinite."""
    if family in (sums, attention):            # whose twins add up in what is more than double precision
        need_steady_doubles()
    for seed, width in enumerate(WIDTHS):
        with kernels(True):
            ours = list(family(width, 10 * seed, np.float32))
        with kernels(False):
            twins = list(family(width, 10 * seed, np.float32))
        exact = list(family(width, 10 * seed, np.float64))
        assert len(ours) == len(twins) == len(exact) > 2
        for i, (a, b, c) in enumerate(zip(ours, twins, exact)):
            assert a.dtype == b.dtype == np.float32 and a.shape == b.shape, (i, width)
            finite = np.isfinite(b)
            np.testing.assert_array_equal(a[~finite], b[~finite], f"{i} at width {width}")
            wrong, wrong_there = (np.abs(x[finite] - c[finite]).max(initial=0) for x in (a, b))
            assert wrong <= 2 * wrong_there + 1e-6 * np.abs(c[finite]).max(initial=1), (i, width)


@needs_library
def test_nothing_but_plain_arrays_is_taken():
    x = draws(0, 64, 64)
    with kernels(True):
        for wrong in (x.astype(np.float64), x.T, x[:, ::2], x.astype(">f4"), x[:, :63], x.view(np.recarray),
                      x.astype(np.float16)):
            assert not native.takes("softmax", wrong)
            assert not native.takes("layer_norm", x, wrong)
        assert native.takes("softmax", x) and native.takes("layer_norm", x, None, x)
        assert native.takes("softmax", np.frombuffer(b"0" * 4097, np.uint8)[1:].view(np.float32))      # run copies it


@needs_library
def test_the_door_refuses():
    x, out = draws(0, 4, 8), np.empty((4, 8), np.float32)
    native.run("log_softmax", 4, 8, x, out)
    closed = out.copy()
    closed.flags.writeable = False
    native.run("log_softmax", 4, 8, closed, out)                  # to be read, it may be closed
    for wrong in (x.T.copy().T, x.astype(np.float64), x.astype(">f4"), x.view(np.recarray), None, [1.0]):
        with pytest.raises((TypeError, AttributeError)):
            native.run("log_softmax", 4, 8, wrong, out)
        with pytest.raises((TypeError, AttributeError)):
            native.run("log_softmax", 4, 8, x, wrong)
    with pytest.raises(ValueError, match="read-only"):
        native.run("log_softmax", 4, 8, x, closed)
    for rows, width in ((5, 8), (4, 9), (0, 8), (-4, -8)):
        if rows * width != x.size:
            with pytest.raises(ValueError):
                native.run("log_softmax", rows, width, x, out)
    with pytest.raises(ValueError):
        native.run("layer_norm", 4, 8, 0.0, x, np.ones(7, np.float32), None, out, *np.empty((2, 4), np.float32))


@needs_library
def test_rows_that_do_not_exist():
    weight = draws(0, 50, 1000)
    for wrong in (50, -1, 2 ** 40):
        places = np.arange(100, dtype=np.int64) % 50
        places[77] = wrong
        with pytest.raises(IndexError, match="index out of range in self"):
            native.run("take_rows", 50, 1000, 100, weight, places, np.empty((100, 1000), np.float32))


@needs_library
def test_classes_that_do_not_exist():
    x = torch.tensor(draws(0, 20, 10), requires_grad=True)
    target = torch.arange(20) % 10
    with kernels(True):
        for wrong in (10, -1, 2 ** 40):
            target[7] = wrong
            with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
                F.cross_entropy(x, target)
        target[7] = -100
        loss = F.cross_entropy(x, target)
        some = torch.arange(20) != 7
        torch.testing.assert_close(loss, F.cross_entropy(x[some], target[some]))
        with pytest.raises(IndexError):
            native.run("cross_entropy", 20, 10, 1.0, x.detach().numpy(), target.numpy(), np.empty((20, 10), np.float32),
                       np.empty(21, np.float32))


@needs_library
def test_threads_change_no_bit():
    """Also the gradient of weight and bias, which is a sum over all rows."""
    x = torch.tensor(draws(0, 3000, 96))
    torch.manual_seed(0)
    layers = [kind(40, 96) for kind in (torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU)]
    before, found = torch.get_num_threads(), []
    try:
        for n in (1, 2, 4):
            torch.set_num_threads(n)
            w, b = torch.ones(96, requires_grad=True), torch.zeros(96, requires_grad=True)
            y = F.gelu(F.layer_norm(x, (96,), w, b)).softmax(-1)
            (y * x).sum().backward()
            kept = [y.detach(), w.grad, b.grad, x @ x.T, x.T @ x, x.sum(), x.sum(0), x.sum(1)]
            w = torch.ones(5, requires_grad=True)
            y = F.batch_norm(x.view(30, 5, 1920), None, None, w, training=True)
            kept += [y.detach(), *torch.autograd.grad(y.square().sum(), w)]
            w = torch.tensor(draws(2, 12, 4, 3, 3), requires_grad=True)
            y = F.conv2d(x.view(6, 4, 120, 100), w)
            kept += [y.detach(), *torch.autograd.grad(y.square().sum(), w)]
            w = torch.tensor(draws(3, 70, 20, 3, 3), requires_grad=True)
            for size, stride in ((60, 2), (30, 1), (6, 1)):
                images = x.view(-1, 20, size, size // 2 * 2)[:40].clone().requires_grad_()
                y = F.conv2d(images, w, stride=stride, padding=1)
                kept += [y.detach(), *torch.autograd.grad(y.square().sum(), (images, w))]
                each = w[:20, :1].detach().requires_grad_()
                y = F.conv2d(images, each, stride=stride, padding=1, groups=20)
                kept += [y.detach(), *torch.autograd.grad(y.square().sum(), (images, each))]
            for layer in layers:
                y, _ = layer(x.view(16, 450, 40))
                kept += [y.detach(), *torch.autograd.grad(y.square().sum(), list(layer.parameters()))]
            found.append([a.numpy().tobytes() for a in kept])
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1] == found[2]


@needs_library
@pytest.mark.parametrize("channels, size, stride", [(3, 9, 1), (3, 9, 2), (40, 4, 1), (40, 8, 1), (40, 16, 1),
                                                    (40, 15, 2)])
def test_the_same_bits_of_an_image_alone(channels, size, stride):
    """Which kernel convolves an image does not depend on how many others there are."""
    x, w = torch.tensor(draws(0, 7, channels, size, size)), torch.tensor(draws(1, 50, channels, 3, 3))
    y = F.conv2d(x, w, stride=stride, padding=1)
    g = torch.tensor(draws(2, *y.shape))

    def both(part):
        given = x[part].clone().requires_grad_()
        y = F.conv2d(given, w, stride=stride, padding=1)
        return y, torch.autograd.grad(y, given, g[part])[0]
    for whole, *alone in zip(both(slice(0, 7)), *[both(slice(i, i + 1)) for i in range(7)]):
        assert torch.equal(whole, torch.cat(alone))


@needs_library
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3e38])
def test_what_is_not_finite_stays_in_its_windows(value):
    """In squares of which sums are made (winograd.c) it is in all four windows."""
    x, w = draws(0, 2, 30, 12, 13), torch.tensor(draws(1, 40, 30, 3, 3))
    x[0, 5, 4, 7], x[1, 29, 0, 0], x[1, 0, 11, 12] = value, value, -value
    with kernels(False):
        exact = F.conv2d(torch.tensor(x).double(), w.double(), torch.ones(40).double(), padding=1).float()
    ours = F.conv2d(torch.tensor(x), w, torch.ones(40), padding=1)
    finite = exact.isfinite()
    assert torch.equal(finite, ours.isfinite()) and torch.allclose(ours[finite], exact[finite], 1e-4, 1e-3)
    assert torch.equal(exact[~finite].nan_to_num(7), ours[~finite].nan_to_num(7)) or value == 3e38


@needs_library
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_and_many_threads():
    x = torch.tensor(draws(1, 2000, 64))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        expected = x.softmax(-1).numpy().tobytes()
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.write(writer, b"1" if x.softmax(-1).numpy().tobytes() == expected else b"0")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0 and os.read(reader, 1) == b"1"
        found = []
        threads = [threading.Thread(target=lambda: found.extend(
            x.softmax(-1).numpy().tobytes() == expected for _ in range(20))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert found == [True] * 80
    finally:
        torch.set_num_threads(before)


def _stream():
    torch.manual_seed(7)
    state = torch.get_rng_state()
    for n in (3, 700, 1, 255, 256, 5000, 2):
        yield torch.rand(n)
        yield F.dropout(torch.ones(n), 0.3)
        yield torch.randint(2 ** 40, (n,))
        yield torch.randperm(n)
        yield torch.randn(n)
        yield torch.rand(n, dtype=torch.float64)
        yield torch.get_rng_state()
    torch.set_rng_state(state)
    yield torch.rand(1000)


@needs_library
def test_the_random_stream_is_the_same():
    ours = list(_stream())
    for there in (True, False):
        with kernels(there):
            again = list(_stream())
        assert len(again) == len(ours)
        for i, (a, b) in enumerate(zip(ours, again)):
            assert torch.equal(a, b), (there, i)


def _python(code, **environment):
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TINYTORCH_NATIVE")}
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, timeout=60,
                          env={**ours, **environment})


def test_settings():
    said = "import tinytorch as t; print(t.__config__.show(), t.__config__.parallel_info())"
    assert _python(said, TINYTORCH_NATIVE="0").stdout.count("None") == 2
    there = "None" not in _python(said).stdout
    assert native.level() is None or there and _python(said).stdout.count(native.level()) == 2
    refused = _python(said, TINYTORCH_NATIVE_LEVEL="none")
    assert refused.returncode and "ImportError: TINYTORCH_NATIVE: no library of native kernels" in refused.stderr
    demanded = _python(said, TINYTORCH_NATIVE="1")
    assert (demanded.returncode == 0) == there


@needs_library
def test_a_library_of_other_sources_is_not_used(monkeypatch):
    monkeypatch.setattr(native, "fingerprint", lambda: 1)
    for name in "TINYTORCH_NATIVE", "TINYTORCH_NATIVE_LEVEL":
        monkeypatch.delenv(name, raising=False)
    with pytest.warns(UserWarning, match="no native kernels: the baseline library was built from other sources"):
        assert native._load() is None
    monkeypatch.setenv("TINYTORCH_NATIVE", "1")
    with pytest.raises(ImportError, match="install tinytorch again"):
        native._load()


@needs_library
def test_the_function_of_a_kernel_is_made_when_it_is_first_called():
    """It is made of text, and to make all of them took a fifth of the import."""
    said = """
import types, tinytorch as torch
from tinytorch.kernels import native
x = torch.zeros(100, 400)
before = [name for name, f in native._known.items() if isinstance(f, types.FunctionType)]
print(before, torch.equal(x.softmax(1), x.softmax(1)), isinstance(native._known["softmax"], types.FunctionType))"""
    assert _python(said).stdout == "[] True True\n"


@needs_library
@pytest.mark.parametrize("level", [name for name in native.LEVELS if native.level() in native.LEVELS[
    native.LEVELS.index(name) + 1:]])
def test_levels_below(level):
    """Also what the machine does not choose is right."""
    # The project's own options name pytest-benchmark's, which is not there where NumPy is alone.
    options = "addopts=-m 'not sweep'"
    command = [sys.executable, "-m", "pytest", "-q", "--override-ini", options, "-p", "no:cacheprovider", __file__,
               str(Path(__file__).with_name("test_native_rows.py")), "-k", "twins or the_random or same_bits"]
    run = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=120,
                         env={**os.environ, "TINYTORCH_NATIVE_LEVEL": level})
    assert run.returncode == 0 and "failed" not in run.stdout, run.stdout[-2000:]
