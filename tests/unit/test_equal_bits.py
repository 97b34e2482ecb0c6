"""An element of a result has the same bits alone, beside others, in a view and on any number of threads, and so has an
optimiser's update of it: by random programs."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import native, norm, threads
from tinytorch.kernels.linalg import products

from .doubles import need_steady_doubles, need_steady_products

F = torch.nn.functional

#: Functions of single elements, with the range that they are tried in.
ELEMENTWISE = {
    **{name: (getattr(torch, name), -4, 4) for name in """exp exp2 expm1 tanh sigmoid erf erfc sin cos tan sinh cosh
        atan asinh abs neg square sign floor ceil trunc round frac relu sinc deg2rad""".split()},
    **{name: (getattr(torch, name), .1, 4)
       for name in "log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma".split()},
    **{name: (getattr(torch, name), -.99, .99) for name in "asin acos atanh erfinv".split()},
    **{name: (getattr(F, name), -4, 4) for name in """gelu silu elu selu celu softplus mish hardswish hardsigmoid
        hardtanh logsigmoid leaky_relu relu6 tanhshrink softsign""".split()},
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), -4, 4),
    "arithmetic": (lambda x: (x * 1.7 + .3) / (x - 7) - x ** 2, -4, 4),
    "pow": (lambda x: x ** 2.3, .1, 4),
    "clamp": (lambda x: x.clamp(-.5, .5), -4, 4),
    "lerp": (lambda x: torch.lerp(x, x * 2, .3), -4, 4),
    "atan2": (lambda x: torch.atan2(x, x * x + 1), -4, 4),
}
#: Functions of rows.
ROWS = {
    "softmax": lambda x, w: x.softmax(-1),
    "log_softmax": lambda x, w: x.log_softmax(-1),
    "layer_norm": lambda x, w: F.layer_norm(x, x.shape[-1:]),
    "layer_norm with weights": lambda x, w: F.layer_norm(x, x.shape[-1:], w, w * .3),
    "rms_norm": lambda x, w: F.rms_norm(x, x.shape[-1:], w),
}
OPTIMISERS = {
    "SGD": {"momentum": .9}, "Adam": {}, "AdamW": {}, "RMSprop": {}, "Adamax": {}, "Adagrad": {}, "Adadelta": {},
    "NAdam": {}, "RAdam": {}, "Rprop": {}, "ASGD": {},
}


@pytest.fixture(autouse=True)
def _as_many_threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def bits(x):
    return x.detach().numpy().view(np.uint32 if x.dtype == torch.float32 else np.uint64)


def gradient(function):
    """The gradient of a function's result for a seed that depends on the element alone."""
    def compute(x):
        x = x.detach().requires_grad_()
        result = function(x)
        result.backward((x.detach() * .7).cos())
        return x.grad
    return compute


def in_other_places(x, rng):
    """(name, the same numbers elsewhere, the places of x that they are from)."""
    n, m = x.shape
    yield "all", x.clone(), ...
    yield "transposed", x.t().contiguous().t(), ...
    wide = torch.zeros(n, m + 3, dtype=x.dtype)
    wide[:, 1:m + 1] = x
    yield "part of a wider one", wide[:, 1:m + 1], ...
    i = int(rng.integers(n))
    yield "one row many times", x[i].expand(5, m), np.s_[i:i + 1]
    for _ in range(3):
        first, last = sorted(rng.integers(n + 1, size=2))
        if first < last:
            yield f"rows {first} to {last}", x[first:last].clone(), np.s_[first:last]
    memory = np.zeros(x.numel() * x.element_size() + 1, np.uint8)[1:].view(bits(x).dtype).view(x.numpy().dtype)
    memory[...] = x.numpy().reshape(-1)
    yield "at an odd address", torch.from_numpy(memory.reshape(n, m)), ...


def sizes(rng):
    """Those of a matrix: small, or large enough for pieces and threads."""
    large = rng.random() < .15
    return int(rng.integers(1, 60)) if not large else 4500, int(rng.integers(1, 80))


def check(function, x, rng, wholes=(), anywhere=True):
    """That of all those places, or (not `anywhere`) of those in C order, the result is that of `x`."""
    whole = bits(function(x))
    for name, same, places in in_other_places(x, rng):
        if not anywhere and not same.is_contiguous():
            continue
        assert (bits(function(same)) == whole[places]).all(), name
    torch.set_num_threads(1)
    assert (bits(function(x)) == whole).all(), "on one thread"
    for name, same, place in wholes:
        assert (bits(function(same)) == whole[place]).all(), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_element_of_an_elementwise_result(name, dtype):
    if dtype is torch.float64:
        need_steady_doubles()
    function, low, high = ELEMENTWISE[name]
    rng = np.random.default_rng([*name.encode(), dtype is torch.float32])
    for trial in range(4):
        torch.set_num_threads(threads.team.cores)
        x = torch.from_numpy(rng.uniform(low, high, sizes(rng) if trial else (4500, 70))).to(dtype)
        flat = [(f"element {i} alone", x.reshape(-1)[i].reshape(shape), np.unravel_index(i, x.shape))
                for i, shape in zip(rng.integers(x.numel(), size=6), [(), (1,), (1, 1)] * 2)]
        check(function, x, rng, flat)
        if name not in ("sign", "floor", "ceil", "trunc", "round"):
            check(gradient(function), x, rng, flat)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_a_result_by_rows(name):
    """Without the library NumPy adds up what lies apart in another order."""
    if "norm" in name:
        need_steady_products()
    rng, anywhere = np.random.default_rng([*name.encode()]), native.level() is not None
    for trial in range(12):
        torch.set_num_threads(threads.team.cores)
        x = torch.from_numpy(rng.standard_normal(sizes(rng) if trial else (4500, 70)).astype(np.float32))
        w = torch.from_numpy(rng.standard_normal(x.shape[1]).astype(np.float32))
        rows = [(f"row {i} alone", x[i].clone(), i) for i in rng.integers(len(x), size=4)]
        check(lambda x: ROWS[name](x, w), x, rng, rows, anywhere)
        check(gradient(lambda x: ROWS[name](x, w)), x, rng, rows, anywhere)
        if "softmax" in name and anywhere:     # along another dimension it is what it is along the last
            function = getattr(F, name)
            assert (bits(function(x.t(), 0)) == bits(function(x, 1)).T).all()


def test_the_logarithm_of_the_sum_of_a_row():
    """Added to the row, so that it has an element in each place."""
    rng = np.random.default_rng(0)
    for trial in range(12):
        torch.set_num_threads(threads.team.cores)
        x = torch.from_numpy(rng.standard_normal(sizes(rng) if trial else (4500, 70)).astype(np.float32))
        rows = [(f"row {i} alone", x[i].clone(), i) for i in rng.integers(len(x), size=4)]
        check(lambda x: x.logsumexp(-1, True) + 0 * x, x, rng, rows, native.level() is not None)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "layer_norm"])
def test_a_row_in_double_precision(name):
    need_steady_doubles()
    if "norm" in name:
        need_steady_products()
    rng = np.random.default_rng(3)
    for width in (1, 2, 5, 10, 33, 70):
        x = torch.from_numpy(rng.standard_normal((200, width)))
        whole = bits(ROWS[name](x, None))
        for first, last in ((0, 1), (3, 5), (7, 24), (0, 199)):
            assert (bits(ROWS[name](x[first:last].clone(), None)) == whole[first:last]).all()
        assert (bits(ROWS[name](x[9].clone(), None)) == whole[9]).all()


def trained(name, options, numbers, gradients, steps=3):
    """The parameters, of those numbers, after steps with those gradients."""
    parameters = [torch.nn.Parameter(x.clone()) for x in numbers]
    optimiser = getattr(torch.optim, name)(parameters, **options)
    for step in range(steps):
        for p, g in zip(parameters, gradients):
            p.grad = (g * (1 + step)).clone()
        optimiser.step()
    return [p.detach() for p in parameters]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", OPTIMISERS)
def test_an_optimisers_update_of_an_element(name, dtype):
    if dtype is torch.float64:
        need_steady_doubles()
    rng = np.random.default_rng([*name.encode()])
    for n in (1, 2, 7, 15, 16, 17, 600, 5000, 40000, 300000):
        options = {**OPTIMISERS[name], **({"weight_decay": .01} if name != "Rprop" and rng.random() < .5 else {})}
        x, g = (torch.from_numpy(rng.standard_normal(n)).to(dtype) for _ in range(2))
        torch.set_num_threads(threads.team.cores)
        whole = bits(trained(name, options, [x], [g])[0])
        torch.set_num_threads(1)
        assert (bits(trained(name, options, [x], [g])[0]) == whole).all(), n
        picked = rng.integers(n, size=5)
        alone = trained(name, options, [x[i:i + 1] for i in picked], [g[i:i + 1] for i in picked])
        assert [bits(a)[0] for a in alone] == [whole[i] for i in picked], n
        half = n // 2 + 1
        parts = trained(name, options, [x[:half], x[half:]], [g[:half], g[half:]])
        assert (np.concatenate([bits(part) for part in parts]) == whole).all(), n
        if not n % 4:                          # in another order in memory
            turned = [t.reshape(4, -1).t() for t in (x, g)]
            assert (bits(trained(name, options, *[[t] for t in turned])[0]) == whole.reshape(4, -1).T).all(), n


@pytest.mark.skipif(not products.NATIVE, reason="BLAS computes products, whose bits may depend on their shapes")
@pytest.mark.parametrize("m, k, n", [(40, 900, 3000), (300, 500, 700), (700, 1300, 150), (129, 64, 5000)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_product_on_any_number_of_threads(m, k, n, turned):
    """Pieces of few threads are larger than those of many."""
    random = np.random.RandomState(m)
    a, b, bias = (random.randn(*shape).astype(np.float32) for shape in ((m, k), (n, k), (n,)))
    if turned:
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    found = []
    for count in (1, 2, 4, 7):
        torch.set_num_threads(count)
        found.append(F.linear(*map(torch.from_numpy, (a, b, bias))).numpy())
    assert all([x.tobytes() == found[0].tobytes() for x in found])
    wide = a.astype(np.float64) @ b.T.astype(np.float64) + bias
    np.testing.assert_allclose(found[0], wide, rtol=0, atol=1e-6 * np.sqrt(k) * np.abs(wide).max())


@pytest.mark.parametrize("queries, keys, causal, masked", [(130, 130, True, False), (70, 70, False, True),
                                                           (40, 300, False, False)])
def test_attention_and_its_gradients_on_any_number_of_threads(queries, keys, causal, masked):
    random = np.random.RandomState(queries)
    shapes = (3, 2, queries, 20), (3, 2, keys, 20), (3, 2, keys, 20)
    q, k, v = (torch.tensor(random.randn(*shape).astype(np.float32), requires_grad=True) for shape in shapes)
    mask = torch.from_numpy(random.rand(queries, keys) < .8) if masked else None
    g = torch.from_numpy(random.randn(*shapes[0]).astype(np.float32))
    found = []
    for count in (1, 2, 4):
        torch.set_num_threads(count)
        y = F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
        alone = F.scaled_dot_product_attention(q[1:2], k[1:2], v[1:2], mask, is_causal=causal)
        assert alone.detach().numpy().tobytes() == y[1:2].detach().numpy().tobytes()
        found.append(b"".join([x.detach().numpy().tobytes() for x in (y, *torch.autograd.grad(y, (q, k, v), g))]))
    assert found == found[:1] * 3


@pytest.mark.parametrize("weighted, shifted", [(True, True), (True, False), (False, True), (False, False)])
def test_batch_norm_in_evaluation_rounds_each_step_for_a_channel(weighted, shifted):
    """As NumPy does: a product that is added is rounded first."""
    random = np.random.RandomState(1)
    x = random.randn(3, 700, 2, 3).astype(np.float32)
    mean, weight, bias = random.randn(3, 700).astype(np.float32)
    variance = random.rand(700).astype(np.float32)
    weight, bias = weight if weighted else None, bias if shifted else None
    result, rate = norm.batch_norm_by(x, weight, bias, mean, variance, 1e-5)
    steps = 1 / np.sqrt(variance + 1e-5)
    assert rate.tobytes() == steps.tobytes()
    assert result.tobytes() == norm.scale_shift(x, weight, bias, mean, steps).tobytes()


def test_what_runs_in_c_from_one_element_on_does_so():
    """The kernels that round otherwise than NumPy take one element, where there is the library."""
    if native.level() is not None:
        for name in """walk4 walk8 sigmoid silu silu_backward gelu gelu_tanh gelu_backward gelu_tanh_backward softmax
                softmax_backward log_softmax log_softmax_backward layer_norm layer_norm_backward""".split():
            assert native.many(name, 1), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_not_recorded_has_the_same_bits(dtype):
    """Functions that are made of several operations compute on arrays at once where nothing records them."""
    for shape in ((5, 7), (3, 40, 6), (1, 9), (4,)):
        x, y = (torch.tensor(np.random.default_rng(i).standard_normal(shape), dtype=dtype) for i in (1, 2))
        for function in (lambda x, y: F.cosine_similarity(x, y, -1), lambda x, y: F.cosine_similarity(x, y, 0, 3.0),
                         lambda x, y: F.normalize(x, dim=-1), lambda x, y: F.normalize(x, dim=0, eps=9.0)):
            alone, recorded = function(x, y), function(x.clone().requires_grad_(), y)
            assert recorded.grad_fn is not None and alone.stride() == recorded.stride()
            np.testing.assert_array_equal(alone.numpy(), recorded.detach().numpy())


@pytest.mark.skipif(native.level() is None, reason="NumPy adds up one row in another order than several")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std", "norm", "cumsum"])
def test_a_row_is_reduced_alone_as_in_a_batch(name, dtype):
    random = np.random.RandomState(0)

    def reduced(x, dim):
        return getattr(x, name)(dim=dim)
    for width in (2, 7, 16, 100, 129, 513, 1025, 16385, 40000):
        x = torch.tensor(random.randn(3, width)).to(dtype)
        whole = reduced(x, 1)
        for i in range(3):
            for alone in (reduced(x[i:i + 1], 1)[0], reduced(x[i], 0), reduced(x[i].clone(), 0)):
                assert torch.equal(alone, whole[i])
