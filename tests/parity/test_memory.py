"""Views and sizes that a caller names, against torch: what reaches outside the memory, wraps around 64 bits, or is
larger than any machine is refused with torch's exception; what is left gives torch's elements and strides."""
import math
import random
import warnings

import numpy as np
import pytest
import torch

import tinytorch

LARGEST = 2 ** 63 - 1


def outcome(expression, t):
    x = t.arange(12.).reshape(3, 4)
    names = dict(t=t, np=np, x=x, v=x[1:, 1:], u=x.untyped_storage(), one=t.ones(1), b=t.arange(12).to(t.uint8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(expression, names)
        except Exception as error:
            return type(error).__name__, said(error)
    if isinstance(result, t.Tensor):
        return tuple(result.shape), result.stride(), result.storage_offset(), result.tolist()
    return repr(result).replace("tinytorch.", "torch.")


def said(error):
    """What an exception says, without what C++ adds to it and the many ways a function may be called."""
    text = str(error).split("\nException raised from")[0].replace("tinytorch.", "torch.")
    return text.split(" but expected one of")[0].rstrip('"')


#: Calls of as_strided and its like get each of these as sizes, strides and offset.
PLACES = ["(2,), (-1,)", "(-2,), (1,)", "(2,), (1, 1)", "(2,), (1,), -1", "(2 ** 62, 2), (2, 1)", "(2,), (2 ** 63,)",
          "(2,), (1,), 2 ** 63", "(2,), (2 ** 62,)", "(3,), (2 ** 62,)", "(5,), (2 ** 62,)",
          "(2 ** 40, 2 ** 40), (0, 0)",
          "(0,), (-1,)", "(13,), (1,)", "(2,), (11,), 1", "(), (), 12", "(), (), 11", "(2.,), (1,)", "(2,), (1,), 1.",
          "(2,), (1,), 2 ** 62", "(2,), (1,), 2 ** 61", "(2,), (1,), 2 ** 60", "(2 ** 61 + 1,), (4,)", "2, 1",
          "(2,), (1.,)", "(2,), (True,)", "(True,), (1,)", "(2,), (1,), True", "(2, 2), (1, 'a')", "(2,), None",
          "(2,), (1,), None", "(0,), (1,), -1", "(2, 2), (0, 3), 1", "(3, 0), (1, 5), 2", "[2, 3], [4, 1]"]


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("call", ["x.as_strided({})", "v.as_strided({})", "v.t().as_strided({})",
                                  "x.as_strided_scatter(t.ones(2), {})"])
def test_as_strided(call, places):
    expression = call.format(places)
    assert outcome(expression, tinytorch) == outcome(expression, torch)


@pytest.mark.parametrize("places", PLACES)
def test_as_strided_of_itself(places):
    """torch's as_strided_ reckons in 64 bits that wrap: where it takes what as_strided refuses, so does ours refuse."""
    here, there, strict = (outcome(e.format(places), t) for e, t in (
        ("x.as_strided_({})", tinytorch), ("x[:].as_strided({})", tinytorch), ("x.as_strided({})", torch)))
    assert here[0] == strict[0] and (isinstance(strict[0], tuple) or here[0] in ("RuntimeError", "TypeError",
                                                                                "ValueError"))
    assert here == there or here[1] == there[1].replace("as_strided()", "as_strided_()")


@pytest.mark.parametrize("expression", """
t.empty_strided((2, 3), (3, -1)); t.empty_strided((2, -3), (3, 1)); t.empty_strided((2, 3), (3,))
t.empty_strided((2 ** 40, 2 ** 40), (2 ** 40, 1)); t.empty_strided((2 ** 62, 2), (2, 1))
t.empty_strided((3,), (2 ** 62,)); t.empty_strided((2,), (2 ** 63,)); t.empty_strided((2 ** 62,), (1,))
t.empty_strided((2 ** 50,), (1,)); t.empty_strided((0, 3), (3, -1)); t.empty_strided((0, -3), (3, 1))
t.empty_strided((2.,), (1,)); t.empty_strided((2,), (1.,)); t.empty_strided(2, 1); t.empty_strided((True,), (1,))
t.empty_strided((2,), (True,)); t.empty_strided((2 ** 61,), (1,)); t.empty_strided((2 ** 61 + 5,), (1,), dtype=t.int8)
t.empty_strided((2, 2 ** 31), (2 ** 31, 2 ** 31)); t.empty_strided((2, 3), (3, 1), dtype=3)
t.empty_strided((2 ** 40, 2 ** 40), (0, 0)); t.empty_strided((1, 0), (-5, 1)); t.empty_strided((2, 3), 'ab')
t.empty_strided((2, 3), (3, 'a')); t.empty_strided((0, 2, 3), (-1, -1, -1)); t.empty_strided((2,), t.tensor([1]))
x.new_empty_strided((2, 3), (3, -1)); x.new_empty_strided((2, -3), (3, 1)); x.new_empty_strided((2,), (3, 1))
x.new_empty_strided(2, 1); t.empty_permuted((-2, 2), (0, 1)); t.empty_permuted((2 ** 50, 2), (0, 1))
t.zeros(2).set_(x, 0, (2,), (-1,)); t.zeros(2).set_(x, 0, (2,), (1, 1)); t.zeros(2).set_(x, -1, (2,), (1,))
t.zeros(2).set_(x, 0, (2,), (2 ** 62,)); t.zeros(2).set_(x, 0, (0,), (-1,)); t.zeros(2).set_(x[1:], 1, (2,), (1,))
t.zeros(2).set_(x[1:], -1, (2,), (1,)); t.zeros(2).set_(x[1:].untyped_storage(), 1, (2,), (1,))
t.zeros(2).set_(x.t(), 0, (2,), (1,)); t.zeros(2).set_(x, 2 ** 60, (2,), (1,)); t.zeros(2).set_(x, 0, (2,), ())
t.zeros(2).set_(x, 0, (2, 2)); t.zeros(2).set_(u, 0, (2,), (-1,)); t.zeros(2).set_(u, 0, (2,), (2 ** 62,))
t.zeros(2).set_(u[1:], 0, (2,), (1,)).shape; t.zeros(2).set_(t.UntypedStorage(9)).shape; t.zeros(2).set_(3)
t.TypedStorage(wrap_storage=u[1:], dtype=t.float32).size(); t.TypedStorage(wrap_storage=3, dtype=t.float32)
t.TypedStorage(3, wrap_storage=u, dtype=t.float32); t.TypedStorage(wrap_storage=u); t.UntypedStorage(-5)
t.UntypedStorage(2 ** 50); t.UntypedStorage(2 ** 62); t.UntypedStorage(2 ** 63); t.UntypedStorage(True)
t.TypedStorage(2 ** 50); t.TypedStorage(2 ** 62); t.TypedStorage(-1); u[100:].nbytes(); u[-100:5].nbytes()
u[5:2].nbytes()
b[1:].view(t.int16); b[2:].view(t.int16); b[:3].view(t.int16); b[:5].view(t.float32); b.view(4, 3)[:, :2].view(t.int16)
b.view(3, 4)[:, :2].view(t.int16); b.view(3, 4).t().view(t.int16); x[0, 0].view(t.int16); x[:, :1].view(t.float64)
x[:, :1].view(t.float16).stride(); x[:0].view(t.float64); t.ones(0).view(t.float64); t.ones(3, 0).view(t.float64)
t.ones(3, 0).view(t.uint8).shape; one.expand(4).view(t.float64); t.ones(1, 7)[:, :4].view(t.float64)
x[::2, 1:3].view(t.float64)
x.unfold(1, 2, 2 ** 62).tolist(); x.unfold(1, 5, 1); x.unfold(1, -1, 1); x.unfold(1, 0, 100); x.unfold(1, 2, 0)
x.unfold(1, 2 ** 63, 1); x.unfold(1, 2, 2 ** 63); x.unfold(1, 2., 1); x.unfold(1, True, 1); t.ones(()).unfold(0, 2, 1)
x.diagonal(2 ** 62); x.diagonal(-2 ** 62); x.diagonal(4); x.diagonal(-3); x.diagonal(3); x.diagonal(-2)
t.zeros(2).resize_(2 ** 50); t.zeros(2).resize_(2 ** 62); t.zeros(2).resize_(2 ** 63); t.zeros(2).resize_(2.)
t.zeros(2).resize_as_(one.expand(2 ** 50))
""".strip().replace("\n", "; ").split("; "))
def test_geometry(expression):
    assert outcome(expression, tinytorch) == outcome(expression, torch)


NASTY = [-2 ** 61, -2 ** 60, -3, -1, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 7, 11, 12, 13, 2 ** 50, 2 ** 60 - 1, 2 ** 60,
         2 ** 61, 2 ** 61 + 1, 2 ** 62 - 1, 2 ** 62, 2 ** 62 + 1, LARGEST]
SMALL = [0, 0, 1, 1, 1, 2, 2, 3, 4]


def numbers(rng, count):
    """`count` numbers, at most one in three of them nasty."""
    return tuple(rng.choice(NASTY if rng.random() < 0.3 else SMALL) for _ in range(count))


def beyond_numpy(size, stride=()):
    """Whether torch may hold what an ndarray cannot."""
    return (math.prod(abs(n) or 1 for n in size) * 8 > LARGEST or min(size, default=0) < 0
            or max(map(abs, stride), default=0) * 8 > LARGEST)


def answer(function, t):
    try:
        result = function(t)
    except Exception as error:
        return type(error).__name__
    count = result.numel()                     # the strides of no elements are anything
    values = result.flatten().tolist() if count < 10_000 else None
    return tuple(result.shape), result.stride() if count else None, values


def views(rng):
    """A call of as_strided, empty_strided or set_ with random sizes, strides and offset: (what it is, the call)."""
    size = numbers(rng, rng.randrange(4))
    stride = numbers(rng, len(size) if rng.random() < 0.97 else len(size) + 1)
    offset = numbers(rng, 1)[0]
    start = rng.randrange(6)

    def base(t):
        return t.arange(12.)[start:]
    calls = dict(as_strided=lambda t: base(t).as_strided(size, stride, offset),
                 as_strided_copy=lambda t: t.as_strided_copy(base(t), size, stride, offset),
                 empty_strided=lambda t: t.empty_strided(size, stride).fill_(1.5),
                 new_empty_strided=lambda t: base(t).new_empty_strided(size, stride).fill_(1.5))
    need = start + offset + 1 + sum((n - 1) * s for n, s in zip(size, stride))
    if 0 in size or need <= 12:                # for more, torch's set_ makes the storage grow
        calls["set_"] = lambda t: t.zeros(1).set_(base(t), offset, size, stride)
    name = rng.choice(list(calls))
    return name, size, stride, calls[name]


def test_random_views():
    rng, compared, refused = random.Random(0), 0, 0
    for _ in range(6000):
        name, size, stride, call = views(rng)
        large = math.prod(abs(n) for n in size) > 1e6
        if large and name != "as_strided":     # nothing is to be written to that many elements
            continue
        there = answer(call, torch)
        here = answer(call, tinytorch)
        if beyond_numpy(size, stride) and not isinstance(there, str):
            assert here == "RuntimeError" or here == there, (name, size, stride)
            continue
        assert here == there, (name, size, stride)
        compared, refused = compared + 1, refused + isinstance(there, str)
    assert compared > 3000 and refused > 1000 and compared - refused > 700


def test_random_resizes():
    """What there was stays, in the new shape; the elements that were added are anything."""
    rng, compared = random.Random(1), 0
    for _ in range(2000):
        size = numbers(rng, rng.randrange(4))
        start = rng.randrange(6)
        if beyond_numpy(size) and 0 in size:
            continue
        kept = 12 - start

        def call(t):
            return t.arange(12.)[start:].resize_(size)
        here, there = answer(call, tinytorch), answer(call, torch)
        if isinstance(there, tuple) and there[2] is not None:
            here, there = (*here[:2], here[2][:kept]), (*there[:2], there[2][:kept])
        assert here == there, size
        compared += 1
    assert compared > 1500


# ------------------------------------------------------------------ more than any machine has
@pytest.mark.parametrize("expression", """
t.empty(2 ** 62); t.empty(2 ** 63); t.zeros(2 ** 40, 2 ** 40); t.zeros(2 ** 50); t.zeros(2 ** 61, dtype=t.int8)
t.zeros(2 ** 62, 4, dtype=t.int8); t.zeros(3, 2 ** 63); t.ones(2 ** 50); t.ones(2 ** 40, 2 ** 40)
t.full((2 ** 50,), 1.)
t.full((2 ** 62, 2 ** 62), 1.); t.rand(2 ** 50); t.randn(2 ** 50); t.rand(2 ** 62); t.randn(2 ** 40, 2 ** 40)
t.randint(3, (2 ** 50,)); t.randperm(2 ** 50); t.randperm(2 ** 62); t.arange(1e18); t.arange(2 ** 62); t.arange(1e30)
t.arange(0, 1, 1e-30); t.arange(2 ** 63); t.arange(2 ** 50); t.range(0, 2 ** 50); t.linspace(0, 1, 2 ** 50)
t.linspace(0, 1, 2 ** 62); t.linspace(0, 1, 2 ** 63); t.logspace(0, 1, 2 ** 50); t.eye(2 ** 33); t.eye(2 ** 31)
t.eye(2 ** 25)
t.eye(2 ** 62); t.eye(2 ** 40, 0).shape; one.new_zeros(2 ** 50); one.new_empty(2 ** 62); one.new_full((2 ** 50,), 1)
t.Tensor(2 ** 62); t.Tensor(2 ** 50); t.Tensor(2 ** 70); t.FloatTensor(2 ** 50); t.LongTensor(2 ** 62)
t.zeros_like(one.expand(2 ** 50)); t.ones_like(one.expand(2 ** 50)); t.rand_like(one.expand(2 ** 50))
t.empty_like(one.expand(2 ** 50)); t.full_like(one.expand(2 ** 50), 2., dtype=t.float64); t.zeros(2 ** 40, 2 ** 40, 0)
one.expand(2 ** 50).clone(); one.expand(2 ** 50) + 1; one.expand(2 ** 50) + one; one.expand(2 ** 50).contiguous()
one.expand(2 ** 50).double(); one.expand(2 ** 50).exp(); one.expand(2 ** 50).relu(); one.expand(2 ** 50).cumsum(0)
x[0].expand(2 ** 50, 4).reshape(-1); one.repeat(2 ** 50); one.tile(2 ** 50); one.repeat_interleave(2 ** 50)
t.cat([one.expand(2 ** 50)] * 2); t.stack([one.expand(2 ** 50)] * 2); t.outer(one.expand(2 ** 25), one.expand(2 ** 25))
t.bmm(t.ones(1, 1, 1).expand(1, 2 ** 25, 1), t.ones(1, 1, 1).expand(1, 1, 2 ** 25)); t.diag(one.expand(2 ** 25))
t.mm(t.ones(1, 1).expand(2 ** 25, 1), t.ones(1, 1).expand(1, 2 ** 25)); t.diag_embed(one.expand(2 ** 25))
one.expand(2 ** 25)[:, None] + one.expand(2 ** 25); t.nn.Linear(2 ** 25, 2 ** 25); t.nn.Embedding(2 ** 50, 2)
t.nn.functional.pad(one, (2 ** 50, 0)); t.nn.functional.one_hot(t.tensor([3]), 2 ** 50); t.vander(one, 2 ** 50)
t.bincount(t.tensor([2]), minlength=2 ** 50); t.hstack([one.expand(2 ** 50)] * 2); t.Tensor(2 ** 40, 2 ** 40)
""".strip().replace("\n", "; ").split("; "))
def test_too_large(expression):
    here, there = outcome(expression, tinytorch), outcome(expression, torch)
    assert here == there


@pytest.mark.parametrize("expression", """
one.expand(2 ** 40, 2 ** 40); one.expand(2 ** 62).clone(); one.repeat(2 ** 40, 2 ** 40); one.repeat_interleave(2 ** 62)
one.expand(-2); x.expand(-2, 3, 4); t.zeros(0, 2 ** 40, 2 ** 40); t.cat([one.expand(2 ** 60)] * 2)
one.expand(2 ** 35)[:, None] + one.expand(2 ** 35); t.nn.functional.pad(one, (2 ** 62, 0)); t.zeros(2).resize_(-1)
one.double().expand(2 ** 30)[:, None] * one.double().expand(2 ** 30); one.expand(2 ** 60).double()
t.zeros(2).resize_(2 ** 40, 2 ** 40); t.histc(one, 2 ** 50); t.histc(one, 2 ** 62)
t.combinations(one.expand(2 ** 20), 5)
t.kron(one.expand(2 ** 40), one.expand(2 ** 10)); t.nn.functional.pad(one[None], (2 ** 50, 0), mode="replicate")
one.expand(2 ** 50).sort(); one.expand(2 ** 50).topk(2 ** 50); t.nn.functional.dropout(one.expand(2 ** 50))
t.nn.functional.affine_grid(t.ones(1, 2, 3), (1, 1, 2 ** 25, 2 ** 25)); t.quantile(one, t.ones(1).expand(2 ** 50))
""".strip().replace("\n", "; ").split("; "))
def test_too_large_in_other_words(expression):
    """Where the sizes are not known to who refuses: the same exception, without them."""
    here, there = outcome(expression, tinytorch), outcome(expression, torch)
    assert here[0] == there[0] == "RuntimeError"
