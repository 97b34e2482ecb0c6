"""The random stream: PyTorch's numbers without PyTorch, generators and their states, arguments and errors."""
import copy
import hashlib
import pickle

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.nn import functional as F

from .doubles import need_usual_doubles

# What PyTorch 2.13.0 draws from seed 42: first 16 digits of the sha256 of the numbers, and of the 5056 bytes
# of the generator's state afterwards.
GOLDEN = {
    "rand": (lambda: torch.rand(1000), "80ff065ee30ad7ac", "75ddb2bd810e03fd"),
    "rand f64": (lambda: torch.rand(1000, dtype=torch.float64), "3c32285b450a7e7c", "2eb16e0c078ad1ed"),
    "uniform_": (lambda: torch.empty(1000).uniform_(-.3, .7), "89c2de668781bbee", "75ddb2bd810e03fd"),
    "uniform_ f64": (lambda: torch.empty(1000, dtype=torch.float64).uniform_(-.3, .7),
                     "8dd8f2535d42f0cf", "2eb16e0c078ad1ed"),
    "randn 15": (lambda: torch.randn(15), "8db9a5331024e1ef", "8f5b58e591fe1e8c"),
    "randn": (lambda: torch.randn(1000), "13b35fb427f5f8d7", "6a718db87f23797d"),
    "randn ragged": (lambda: torch.randn(1001), "5a2287cc6d08ee68", "0220240e3e541f9c"),
    "randn f64": (lambda: torch.randn(1001, dtype=torch.float64), "e9f7c98cf8c09545", "94e28b6275b4805c"),
    "randn f16": (lambda: torch.randn(1001, dtype=torch.float16), "92492723f044aaba", "966c0fb3bcf15414"),
    "randn bf16": (lambda: torch.randn(1001, dtype=torch.bfloat16).float(), "cc465b911c55f16b", "966c0fb3bcf15414"),
    "normal_": (lambda: torch.empty(1000).normal_(1, 2), "14b274721ac45b27", "6a718db87f23797d"),
    "normal_ strided": (lambda: torch.empty(40, 50).t().normal_(), "21871b14a6999ec7", "b44d292f43d7c2d7"),
    "randint": (lambda: torch.randint(0, 10, (1000,)), "7a70c1a85599ee17", "75ddb2bd810e03fd"),
    "randint wide": (lambda: torch.randint(0, 2 ** 28, (1000,)), "dfea92006c4d1321", "2eb16e0c078ad1ed"),
    "random_": (lambda: torch.empty(100, dtype=torch.int64).random_(), "e1125103baced788", "ebbe9adb0758ff06"),
    "randperm": (lambda: torch.randperm(1000), "ac5c22de20fc5d16", "16aaf30c99f842ab"),
    "randperm long": (lambda: torch.randperm(60000), "7cd1a1e010482b25", "cc2d1c0211fb58d1"),
    "bernoulli_": (lambda: torch.empty(1000).bernoulli_(.3), "6847249cdf1a832b", "2eb16e0c078ad1ed"),
    "bernoulli": (lambda: torch.bernoulli(torch.full((1000,), .3)), "058f2aeffb8a8661", "75ddb2bd810e03fd"),
    "dropout": (lambda: F.dropout(torch.ones(1000), .3), "8736941908a4035e", "2eb16e0c078ad1ed"),
    "dropout transposed": (lambda: F.dropout(torch.ones(40, 25).t(), .3), "7cbffa339fc5f9e1", "2eb16e0c078ad1ed"),
    "exponential_": (lambda: torch.empty(1000).exponential_(), "6a2a557321b93672", "2eb16e0c078ad1ed"),
    "geometric_": (lambda: torch.empty(1000).geometric_(.3), "b75f3bc8bc1c3db6", "2eb16e0c078ad1ed"),
    "cauchy_": (lambda: torch.empty(1000).cauchy_(), "7220f113de927c8f", "2eb16e0c078ad1ed"),
    "log_normal_": (lambda: torch.empty(1000).log_normal_(), "071979ae68f18c42", "2eb16e0c078ad1ed"),
    "multinomial": (lambda: torch.multinomial(torch.arange(1., 101), 50), "15d99ac33cfd6c72", "ebbe9adb0758ff06"),
    "multinomial replaced": (lambda: torch.multinomial(torch.arange(1., 101), 1000, True),
                             "aebe42452bdc8dca", "2eb16e0c078ad1ed"),
    "poisson": (lambda: torch.poisson(torch.full((1000,), 4.5)), "783fdd72bcab6516", "f9b3b16b1e6f9dfc"),
    "Linear": (lambda: nn.Linear(784, 128).weight, "94950594639217f2", "b4744bdb612441be"),
    "Conv2d": (lambda: nn.Conv2d(3, 16, 3).bias, "06f71da84f3ba2d8", "c96c931134f01a9b"),
    "LSTM": (lambda: nn.LSTM(5, 7, 2).bias_hh_l1, "a58b654a5c9492d8", "e43c9d36faa6c00e"),
    "Embedding": (lambda: nn.Embedding(50, 16).weight, "d7a73a0e24eec543", "6037bcf03f77cb7a"),
    "trunc_normal_": (lambda: nn.init.trunc_normal_(torch.empty(64, 64), std=.02),
                      "80d5bfa5ed6baf27", "bb1270baba79d5b9"),
}


def digest(tensor):
    numbers = np.ascontiguousarray(tensor.detach().numpy())
    return hashlib.sha256(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("draw, data, state", GOLDEN.values(), ids=GOLDEN)
def test_numbers_and_state_are_pytorchs(draw, data, state):
    torch.manual_seed(42)
    drawn = draw()
    assert digest(torch.get_rng_state()) == state
    if drawn.dtype is torch.float64:
        need_usual_doubles()
    assert digest(drawn) == data


# ------------------------------------------------------------------ generators
def test_seeds():
    assert torch.manual_seed(3) is torch.default_generator
    assert torch.initial_seed() == 3 and torch.manual_seed(-1).initial_seed() == 2 ** 64 - 1
    low = torch.rand(5, generator=torch.Generator().manual_seed(7))
    assert (low == torch.rand(5, generator=torch.Generator().manual_seed(2 ** 32 + 7))).all()
    assert torch.Generator().initial_seed() == 67280421310721
    seed = torch.seed()
    assert seed == torch.initial_seed() and 0 <= seed < 2 ** 53
    assert torch.manual_seed(1.9).initial_seed() == 1


@pytest.mark.parametrize("seed", [2 ** 64, -2 ** 63 - 1])
def test_seed_out_of_range(seed):
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        torch.manual_seed(seed)


def test_generator_arguments():
    generator = torch.Generator(device="cpu")
    assert generator.device == torch.device("cpu")
    with pytest.raises(RuntimeError, match="manual_seed expected a long, but got float"):
        generator.manual_seed(1.5)
    with pytest.raises(TypeError, match="torch.Generator"):
        torch.rand(2, generator=3)


@pytest.mark.parametrize("words", [0, 1, 623, 624, 625, 1248])
def test_state_round_trip(words):
    torch.manual_seed(words)
    torch.rand(words)
    torch.randn(3)                                           # leaves a number in the cache
    state = torch.get_rng_state()
    assert state.dtype == torch.uint8 and state.shape == (5056,)
    first = torch.randn(2).tolist() + torch.rand(700).tolist()
    torch.set_rng_state(state)
    assert torch.get_rng_state().tolist() == state.tolist()
    assert torch.randn(2).tolist() + torch.rand(700).tolist() == first


def test_state_errors():
    with pytest.raises(TypeError, match="expected a torch.ByteTensor, but got int"):
        torch.set_rng_state(3)
    with pytest.raises(TypeError, match="RNG state must be a torch.ByteTensor"):
        torch.set_rng_state(torch.zeros(5056))
    with pytest.raises(RuntimeError, match="size 5056 but found the input RNG state size to be 3"):
        torch.set_rng_state(torch.zeros(3, dtype=torch.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        torch.set_rng_state(torch.zeros(5056, dtype=torch.uint8))


@pytest.mark.parametrize("duplicate",
                         [torch.Generator.clone_state, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_copies_go_their_own_way(duplicate):
    generator = torch.Generator().manual_seed(5)
    torch.randn(3, generator=generator)
    other = duplicate(generator)
    a = torch.randn(5, generator=generator)
    torch.rand(5, generator=generator)
    assert torch.randn(5, generator=other).tolist() == a.tolist()


def test_fork_rng():
    torch.manual_seed(0)
    expected = torch.rand(2).tolist()
    torch.manual_seed(0)
    with torch.random.fork_rng():
        torch.rand(10)
    assert torch.rand(2).tolist() == expected
    with torch.random.fork_rng(enabled=False):
        torch.manual_seed(0)
    assert torch.rand(2).tolist() == expected


# ------------------------------------------------------------------ arguments
def test_shapes_dtypes_and_out():
    assert torch.rand(2, 3).shape == torch.rand([2, 3]).shape == torch.rand(size=(2, 3)).shape == (2, 3)
    assert torch.randn((), dtype=torch.float64).dtype == torch.float64
    assert torch.rand(2, requires_grad=True).requires_grad
    assert torch.randint(3, (2,)).dtype == torch.randperm(3).dtype == torch.int64
    assert torch.randint(low=2, high=3, size=(4,)).tolist() == [2] * 4
    out = torch.empty(5)
    assert torch.rand(2, out=out) is out and out.shape == (2,)
    with pytest.raises(RuntimeError, match="dtype Float does not match dtype of out parameter"):
        torch.rand(2, out=torch.empty(2, dtype=torch.float64), dtype=torch.float32)
    assert torch.rand(3, dtype=torch.complex64).dtype == torch.complex64


def test_like_takes_shape_dtype_and_memory_order():
    x = torch.zeros(3, 4, dtype=torch.float64).t()
    for like in (torch.rand_like, torch.randn_like, lambda t: torch.randint_like(t, 5)):
        y = like(x)
        assert (y.shape, y.dtype, y.stride()) == (x.shape, x.dtype, x.stride())
    assert torch.rand_like(x, dtype=torch.float32).dtype == torch.float32


@pytest.mark.parametrize("call, error, message", [
    (lambda: torch.rand(-1), RuntimeError, "negative dimension -1"),
    (lambda: torch.rand(2.5), TypeError, "must be tuple of ints, not float"),
    (lambda: torch.rand(2, dtype=torch.int64), NotImplementedError, "not implemented for 'Long'"),
    (lambda: torch.randn(2, dtype=torch.int32), NotImplementedError, "not implemented for 'Int'"),
    (lambda: torch.randint(5, 5, (2,)), RuntimeError, "got from=5 >= to=5"),
    (lambda: torch.randint(0, 300, (2,), dtype=torch.uint8), RuntimeError, "to - 1 is out of bounds for unsigned char"),
    (lambda: torch.randint(0, 2, (2,), requires_grad=True), RuntimeError, "floating point"),
    (lambda: torch.randint(2.5, (2,)), TypeError, "must be int, not float"),
    (lambda: torch.randperm(300, dtype=torch.uint8), RuntimeError, "without overflow"),
    (lambda: torch.normal(torch.zeros(2), -torch.ones(2)), RuntimeError, "all elements of std >= 0.0"),
    (lambda: torch.normal(torch.zeros(2), torch.ones(3)), RuntimeError, "must match the size of tensor b"),
    (lambda: torch.normal(0., 1.), TypeError, "invalid combination"),
    (lambda: torch.bernoulli(torch.tensor([2.])), RuntimeError, "p_in >= 0 && p_in <= 1"),
    (lambda: torch.bernoulli(torch.tensor([1])), NotImplementedError, "not implemented for 'Long'"),
    (lambda: torch.zeros(2).uniform_(2, 1), RuntimeError, "found from=2 > to=1"),
    (lambda: torch.zeros(2).uniform_(0, float("inf")), RuntimeError, "to is out of bounds for float"),
    (lambda: torch.zeros(2).normal_(0, -1), RuntimeError, "found std -1"),
    (lambda: torch.zeros(2).bernoulli_(1.5), RuntimeError, "got p=1.5"),
    (lambda: torch.zeros(2).exponential_(0), RuntimeError, "found lambda=0"),
    (lambda: torch.zeros(2).geometric_(1), RuntimeError, "got p=1"),
    (lambda: torch.zeros(2).cauchy_(0, -1), RuntimeError, "found sigma=-1"),
    (lambda: torch.zeros(2).log_normal_(0, -1), RuntimeError, "found std=-1"),
    (lambda: torch.zeros(1).expand(3).uniform_(), RuntimeError, "more than one element"),
    (lambda: torch.multinomial(torch.zeros(3), 1), RuntimeError, "sum of probabilities <= 0"),
    (lambda: torch.multinomial(torch.ones(3), 4), RuntimeError, "cannot sample n_sample >"),
    (lambda: torch.multinomial(torch.tensor([1., -1.]), 1), RuntimeError, "element < 0"),
    (lambda: torch.multinomial(torch.ones(2, 2, 2), 1), RuntimeError, "1 or 2 dim"),
    (lambda: torch.poisson(torch.tensor([-1.])), RuntimeError, "to be non-negative"),
    (lambda: F.dropout(torch.ones(2), 1.2), ValueError, "between 0 and 1, but got 1.2"),
    (lambda: torch.dropout(torch.ones(2), 1.2, True), RuntimeError, "between 0 and 1, but got 1.2"),
    (lambda: F.dropout1d(torch.ones(2)), RuntimeError, "Expected 2D or 3D input"),
    (lambda: F.dropout2d(torch.ones(2)), RuntimeError, "at least 2 dimensions"),
])
def test_errors(call, error, message):
    state = torch.get_rng_state()
    with pytest.raises(error, match=message):
        call()
    assert torch.get_rng_state().tolist() == state.tolist()


def test_nothing_is_drawn_for_no_elements():
    state = torch.get_rng_state().tolist()
    empty = torch.empty(0)
    for draw in (torch.rand, torch.randn):
        assert draw(0, 3).shape == (0, 3)
    empty.uniform_(), empty.normal_(1, 2), empty.bernoulli_(), empty.random_(3), empty.exponential_()
    torch.randperm(1), torch.multinomial(torch.ones(0, 3), 2, True), F.dropout(empty)
    assert torch.get_rng_state().tolist() == state


# ------------------------------------------------------------------ in place on the tape
SAMPLERS = {"uniform_": (), "normal_": (), "random_": (), "bernoulli_": (0.3,), "exponential_": (),
            "geometric_": (0.3,),
            "cauchy_": (), "log_normal_": ()}


@pytest.mark.parametrize("name, arguments", SAMPLERS.items())
def test_in_place_samplers_stop_gradients(name, arguments):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    assert getattr(y, name)(*arguments) is y
    assert y.requires_grad and y._version == 1
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        getattr(x, name)(*arguments)


def test_overwriting_a_saved_tensor_is_noticed():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    z = y * y
    y.detach().uniform_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_random_functions_pass_zero_gradient():
    for draw in (torch.bernoulli, torch.poisson, lambda p: torch.normal(p, 1.)):
        p = torch.full((3,), 0.5, requires_grad=True)
        draw(p).sum().backward()
        assert p.grad.tolist() == [0, 0, 0]


# ------------------------------------------------------------------ dropout
def test_dropout_gradient_is_the_noise():
    x = torch.ones(4, 5, requires_grad=True)
    y = F.dropout(x, 0.25)
    y.sum().backward()
    assert (x.grad == y.detach()).all()
    assert set(y.detach().flatten().tolist()) == {0.0, float(np.float32(1) / np.float32(0.75))}


def test_dropout_that_does_nothing():
    x = torch.ones(3)
    assert F.dropout(x, 0.5, training=False) is x and F.dropout(x, 0) is x
    assert F.dropout(x, 1.0).tolist() == [0, 0, 0]
    y = torch.ones(50)
    assert F.dropout(y, 0.5, inplace=True) is y and 0 in y.tolist()


def test_feature_dropout_drops_channels():
    torch.manual_seed(0)
    for y in (F.dropout1d(torch.ones(8, 4, 5)), F.dropout2d(torch.ones(8, 4, 5, 1)),
              F.dropout3d(torch.ones(8, 4, 5, 1, 1))):
        channels = y.reshape(8, 4, 5)
        assert (channels == channels[:, :, :1]).all() and set(y.flatten().tolist()) == {0.0, 2.0}
    assert F.dropout1d(torch.ones(4, 5)).shape == (4, 5)


def test_gumbel_softmax():
    logits = torch.zeros(20, 5, requires_grad=True)
    soft = F.gumbel_softmax(logits)
    assert torch.allclose(soft.sum(-1), torch.ones(20))
    hard = F.gumbel_softmax(logits, hard=True)
    assert set(hard.detach().flatten().tolist()) <= {0.0, 1.0} and hard.detach().sum() == 20
    hard[:, 0].sum().backward()
    assert logits.grad.abs().sum() > 0
