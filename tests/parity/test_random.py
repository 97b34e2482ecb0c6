"""Random numbers beside the real torch: every value and the whole state of the generator are equal, bit for bit."""
import numpy as np
import pytest
import torch

import tinytorch

SIZES = [1, 2, 15, 16, 17, 100, 1001, 20000]
FLOATS = ["float32", "float64", "float16", "bfloat16"]


def bits(value, module):
    if value.dtype == module.bfloat16:
        value = value.float()
    return np.ascontiguousarray(value.detach().numpy())


def same(run, seed=3):
    """run(module) gives a tensor: equal values, dtype and state on both sides; or the same error."""
    results = []
    for module in (tinytorch, torch):
        module.manual_seed(seed)
        try:
            value = run(module)
            array = bits(value, module)
            result = str(value.dtype).split(".")[-1], array.shape, array.tobytes()
        except Exception as error:
            result = type(error), str(error).split("\n")[0]
        results.append((result, module.get_rng_state().numpy().tobytes()))
    (ours, our_state), (theirs, their_state) = results
    assert ours[:2] == theirs[:2]
    assert ours == theirs
    assert our_state == their_state


def empty(m, n, dtype):
    return m.empty(n, dtype=getattr(m, dtype))


CONTINUOUS = {
    "uniform_": [(), (-.3, .7), (1, 2), (0, .3), (-1e4, 1e-2), (3, 3)], "normal_": [(), (1, 2), (0, .02), (-3, .5)],
    "exponential_": [(), (1.3,)], "geometric_": [(.3,), (.9,)], "cauchy_": [(), (1, .5)], "log_normal_": [(), (0, .5)],
    "bernoulli_": [(), (.3,), (0,), (1,)], "random_": [(), (7,), (-5, 100), (2, None)]}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.filterwarnings("ignore")
def test_in_place(name, dtype):
    for arguments in CONTINUOUS[name]:
        for n in SIZES:
            same(lambda m: getattr(empty(m, n, dtype), name)(*arguments))


LAYOUTS = {"transposed": lambda x: x.t(), "columns": lambda x: x[:, ::2], "rows": lambda x: x[1::3],
           "reversed": lambda x: x.reshape(4, 5, 50).permute(2, 0, 1),
           "swapped": lambda x: x.reshape(4, 5, 50).transpose(1, 2)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_layouts(name, layout):
    for arguments in CONTINUOUS[name][:2]:
        same(lambda m: getattr(LAYOUTS[layout](m.zeros(20, 50)), name)(*arguments))


@pytest.mark.parametrize("run", [
    lambda m, x: m.rand_like(x), lambda m, x: m.randn_like(x), lambda m, x: m.randint_like(x, 9),
    lambda m, x: m.bernoulli(x),
    lambda m, x: m.nn.functional.dropout(x, .3), lambda m, x: m.nn.functional.alpha_dropout(x, .3, True),
    lambda m, x: m.poisson(x), lambda m, x: m.multinomial(x, 3), lambda m, x: m.multinomial(x, 1),
    lambda m, x: m.multinomial(x, 30, True), lambda m, x: x.bernoulli_(x.clone()), lambda m, x: m.bernoulli(x, .3),
    lambda m, x: m.normal(x, 1.), lambda m, x: m.normal(1., x), lambda m, x: m.normal(x, x),
    lambda m, x: m.zeros(20, 50).t().bernoulli_(m.arange(20) / 20), lambda m, x: m.native_dropout(x, .3, True)[1]])
def test_layouts_of_inputs(run):
    for make in (lambda x: x, LAYOUTS["transposed"], LAYOUTS["columns"]):
        same(lambda m: run(m, make((m.arange(1000) / 1000).reshape(20, 50))))


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool", "uint16"])
def test_integers(dtype):
    for arguments in [(), (2,), (1,), (0, 1), (0, 100), (0, None), (-3, 4), (0, 2 ** 28), (0, 2 ** 31),
                      (-2 ** 63, None)]:
        same(lambda m: empty(m, 33, dtype).random_(*arguments))
    same(lambda m: empty(m, 33, dtype).bernoulli_(.3))
    if dtype not in ("bool", "uint16"):
        same(lambda m: empty(m, 33, dtype).geometric_(.3))


@pytest.mark.parametrize("dtype", FLOATS + ["complex64", "complex128"])
def test_new_tensors(dtype):
    for n in SIZES:
        same(lambda m: m.rand(n, dtype=getattr(m, dtype)))
        same(lambda m: m.randn(n, dtype=getattr(m, dtype)))
    same(lambda m: m.randn(3, 4, dtype=getattr(m, dtype), generator=m.Generator().manual_seed(9)))
    same(lambda m: m.normal(1, 2, (40,), dtype=getattr(m, dtype)))


def test_randint_and_randperm():
    for n in (0, 1, 2, 3, 50, 399, 401, 5000):
        same(lambda m: m.randperm(n))
        for dtype in ("int32", "float32", "float64", "int16", "float16", "bfloat16", "uint8", "bool", "complex64"):
            same(lambda m: m.randperm(n, dtype=getattr(m, dtype)))
    for arguments in ((5,), (2, 5), (0, 2 ** 40), (-7, 2 ** 28 - 7), (0, 2 ** 63 - 1)):
        same(lambda m: m.randint(*arguments, (31,)))
    same(lambda m: m.randint(0, 9, (31,), dtype=m.float32))


def test_cached_normals_are_shared():
    def run(m):
        parts = [m.randn(3), m.randn(5), m.rand(2), m.randn(20), m.empty(4, 6).t().normal_().flatten(),
                 m.empty(3).log_normal_(), m.randn(1), m._standard_gamma(m.ones(5))]
        return m.cat(parts)
    same(run)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rejection_samplers(dtype):
    def const(m, *values):
        return m.tensor([v for v in values for _ in range(100)], dtype=getattr(m, dtype))
    same(lambda m: m.poisson(const(m, 0., .1, 4.5, 9.9, 10., 33.3, 1e4)))
    same(lambda m: m._standard_gamma(const(m, .1, .5, 1., 2.5, 40.)))
    same(lambda m: m.binomial(const(m, 10., 1000., 77., 0., 1e6), const(m, .3, .5, .99, .5, .2)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_multinomial(dtype):
    """Weights that are equal or zero too: which of several equal ones comes first depends on torch's steps."""
    for n in (1, 2, 10, 127, 700, 5000):
        for make in (lambda m, n: m.ones(n), lambda m, n: m.arange(n) % 7 // 6 + (m.arange(n) == 0),
                     lambda m, n: m.rand(3, n) + 1e-3, lambda m, n: m.rand(n, 3).T + 1e-3):
            for count in {1, max(n // 100, 1), (n + 1) // 2, n}:
                same(lambda m: m.multinomial(make(m, n).to(getattr(m, dtype)), count))
            same(lambda m: m.multinomial(make(m, n).to(getattr(m, dtype)), 300, True))


def test_multinomial_of_many():
    for count, replacement in ((1, False), (5, False), (50_000, False), (100_000, False), (100_000, True)):
        same(lambda m: m.multinomial(m.ones(100_000), count, replacement))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", [0, .1, .5, .85, 1])
def test_dropout(p, dtype):
    for name, shape in [("dropout", (7, 9)), ("alpha_dropout", (7, 9)), ("dropout1d", (3, 4, 5)), ("dropout1d", (4, 5)),
                        ("dropout2d", (3, 4, 5, 2)), ("dropout3d", (3, 4, 1, 5, 2)), ("dropout3d", (4, 1, 5, 2)),
                        ("feature_alpha_dropout", (3, 4, 5))]:
        for inplace in (False, True):
            def run(m):
                x = ((m.arange(int(np.prod(shape))) - 20) / 8).reshape(shape).to(getattr(m, dtype))
                return getattr(m.nn.functional, name)(x, p, True, inplace)
            same(run)
    same(lambda m: m.feature_dropout(m.ones(9, 9), p, True))


def test_dropout_gradients_match():
    def run(m):
        x = ((m.arange(60) - 20) / 8).reshape(3, 4, 5).requires_grad_()
        F = m.nn.functional
        y = F.dropout(x, .3) * F.dropout1d(x, .5)
        (y + F.alpha_dropout(x, .2, True) * F.feature_alpha_dropout(x, .4, True)).sum().backward()
        return x.grad
    same(run)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rrelu(dtype):
    for bounds in ((), (.1, .9), (.5, .1)):
        def run(m):
            x = ((m.arange(60) - 40) / 8).reshape(6, 10).t().to(getattr(m, dtype))
            return m.nn.functional.rrelu(x, *bounds, training=True)
        same(run)


def test_gumbel_softmax():
    for hard in (False, True):
        results = []
        for m in (tinytorch, torch):
            m.manual_seed(1)
            logits = m.linspace(-1, 1, 60).reshape(12, 5).t().requires_grad_()
            y = m.nn.functional.gumbel_softmax(logits, .7, hard)
            (y * y).sum().backward()
            results.append((y.detach().numpy(), m.get_rng_state().numpy()))
        np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5, atol=1e-6)
        assert (results[0][1] == results[1][1]).all()


@pytest.mark.parametrize("run", [
    lambda m: m.rand(-1), lambda m: m.rand(2.5), lambda m: m.rand(2, dtype=m.int64),
    lambda m: m.randn(2, dtype=m.int64),
    lambda m: m.rand(2, out=m.empty(2, dtype=m.float64), dtype=m.float32), lambda m: m.randint(5, 5, (2,)),
    lambda m: m.randint(0, 300, (2,), dtype=m.uint8), lambda m: m.randint(-1, 3, (2,), dtype=m.uint8),
    lambda m: m.randint(0, 3, (2,), dtype=m.complex64), lambda m: m.randperm(-1), lambda m: m.randperm(5, dtype=m.bool),
    lambda m: m.randperm(3000, dtype=m.float16), lambda m: m.normal(m.zeros(2), m.ones(3)),
    lambda m: m.normal(m.zeros(2), -1.),
    lambda m: m.normal(m.zeros(2, dtype=m.int64), 1.), lambda m: m.normal(m.zeros(2), m.ones(2, dtype=m.complex64)),
    lambda m: m.bernoulli(m.tensor([2.])), lambda m: m.bernoulli(m.tensor([1])), lambda m: m.zeros(2).bernoulli_(1.5),
    lambda m: m.zeros(2, dtype=m.complex64).bernoulli_(), lambda m: m.zeros(2).uniform_(2.5, 1),
    lambda m: m.zeros(2).uniform_(-1e39, 1),
    lambda m: m.zeros(2).uniform_(-3e38, 3e38), lambda m: m.zeros(2).normal_(0, -1.5),
    lambda m: m.zeros(2).normal_(0, float("nan")),
    lambda m: m.zeros(2, dtype=m.int64).exponential_(), lambda m: m.zeros(2, dtype=m.int64).cauchy_(),
    lambda m: m.zeros(2, dtype=m.int64).log_normal_(), lambda m: m.zeros(2, dtype=m.bool).geometric_(.5),
    lambda m: m.zeros(2, dtype=m.uint16).random_(), lambda m: m.zeros(2, dtype=m.float16).random_(-2 ** 20, 20),
    lambda m: m.zeros(1).expand(3).normal_(), lambda m: m.zeros(2, requires_grad=True).uniform_(),
    lambda m: m.zeros(2, requires_grad=True)[0].uniform_(), lambda m: m.multinomial(m.tensor([1, 2]), 1),
    lambda m: m.multinomial(m.ones(3), 0), lambda m: m.multinomial(m.zeros(3), 2, True),
    lambda m: m.multinomial(m.tensor([1., float("inf")]), 2, True),
    lambda m: m.multinomial(m.tensor([1., -1]), 3, True),
    lambda m: m.poisson(m.tensor([1])), lambda m: m.binomial(m.tensor([5]), m.tensor([.5])),
    lambda m: m.nn.functional.dropout(m.ones(4, dtype=m.int64)), lambda m: m.nn.functional.dropout(m.ones(4), 1.2),
    lambda m: m.nn.functional.dropout(m.ones(4, dtype=m.complex64)), lambda m: m.nn.functional.dropout1d(m.ones(4)),
    lambda m: m.nn.functional.dropout2d(m.ones(2, 2), inplace=1.5), lambda m: m.alpha_dropout(m.ones(2), 1.3, True),
    lambda m: m.nn.functional.dropout(m.ones(2, requires_grad=True), .3, True, True), lambda m: m.set_rng_state(3),
    lambda m: m.set_rng_state(m.zeros(3, dtype=m.uint8)), lambda m: m.set_rng_state(m.zeros(5056)),
    lambda m: m.manual_seed(2 ** 64), lambda m: m.Generator().manual_seed(1.5)])
@pytest.mark.filterwarnings("ignore")
def test_errors(run):
    same(run)


def test_states_cross_over():
    tinytorch.manual_seed(5), tinytorch.randn(7), tinytorch.rand(700)
    torch.set_rng_state(torch.from_numpy(tinytorch.get_rng_state().numpy()))
    assert torch.randn(9).tolist() == tinytorch.randn(9).tolist()
    torch.rand(1000)
    tinytorch.set_rng_state(tinytorch.from_numpy(torch.get_rng_state().numpy()))
    assert torch.randn(40).tolist() == tinytorch.randn(40).tolist()


@pytest.mark.parametrize("name", list(CONTINUOUS))
def test_recorded_as_in_torch(name):
    names = []
    for m in (tinytorch, torch):
        y = m.ones(3, requires_grad=True) * 2
        getattr(y, name)(*CONTINUOUS[name][0])
        names.append(y.grad_fn.name().rstrip("0123456789"))
    assert names[0] == names[1]


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("dtype", ["complex32", "complex64", "complex128"])
@pytest.mark.parametrize("name", ["normal_", "uniform_"])
@pytest.mark.parametrize("shape, stride", [((7,), (1,)), ((17,), (3,)), ((16, 3), (1, 16)), ((3, 17), (17, 1)),
                                           ((2, 5, 3), (1, 2, 10)), ((3, 8), (19, 2)), ((0, 2), (2, 1))])
def test_complex_numbers_in_any_order_of_memory(name, dtype, shape, stride):
    found = []
    for lib in (torch, tinytorch):
        lib.manual_seed(5)
        x = lib.zeros(200, dtype=getattr(lib, dtype)).as_strided(shape, stride)
        found.append((getattr(x, name)().tolist(), lib.get_rng_state().tolist()))
    assert found[0] == found[1]


def test_dtypes_of_permutations_and_geometric_numbers():
    for name in ("uint16", "uint32", "uint64", "float8_e4m3fn", "bool", "uint8"):
        said = []
        for lib in (torch, tinytorch):
            for draw in (lambda lib=lib: lib.randperm(3, dtype=getattr(lib, name)),
                         lambda lib=lib: lib.zeros(3, dtype=getattr(lib, name)).geometric_(0.5)):
                try:
                    draw()
                    said.append(None)
                except NotImplementedError as error:
                    said.append(str(error))
        assert said[:2] == said[2:], name
