"""What changes a large tensor in place takes no more memory than some pieces of it, and gives the bits of the whole."""
import inspect
import tracemalloc

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd import in_place
from tinytorch.autograd.public import TABLE
from tinytorch.kernels import memory
from tinytorch.ops.creation import conversion
from tinytorch.ops.elementwise import power
from tinytorch.ops.random import samplers

#: The pieces are smaller here than they are elsewhere, and so is the tensor: what is measured is their ratio.
PIECE, WHOLE = 1 << 14, 1 << 16
SIZE = 1 << 20                                 # 4 MB of floats
#: What may be taken beside the tensor: a dozen pieces of numbers of eight bytes.
MOST = 12 * 8 * PIECE

#: Their series keep several terms for each element of a piece.
LARGER = {"igamma_": 40 * 8 * PIECE, "igammac_": 40 * 8 * PIECE, "erfinv_": 20 * 8 * PIECE}


@pytest.fixture(autouse=True)
def _smaller(monkeypatch):
    monkeypatch.setattr(memory, "PIECE", PIECE)
    monkeypatch.setattr(in_place, "PIECE", PIECE)
    above(monkeypatch, WHOLE)


def above(patch, size):
    """What has more elements than `size` is changed in pieces."""
    for module in (memory, in_place, power, conversion, samplers):
        patch.setattr(module, "WHOLE", size)


ELEMENTWISE = sorted({name for record in TABLE.values() if record.elementwise for name in record.methods
                      if name.endswith("_") and not name.startswith("__")} | {"fill_", "zero_"})
ARGUMENTS = {
    "addcmul_": "yy", "addcdiv_": "yy", "lerp_": "yn", "masked_fill_": "mn", "clamp_": "nn", "clip_": "nn",
    "fill_": "n", "clamp_min_": "n", "clamp_max_": "n", "heaviside_": "y", "zero_": "", "ldexp_": "y", "copysign_": "y",
    "polygamma_": "i", "float_power_": "n",
}
DRAWS = {"uniform_": (), "normal_": (), "exponential_": (), "cauchy_": (), "log_normal_": (), "geometric_": (.5,),
         "bernoulli_": (.5,), "random_": ()}


def operands(name, x):
    """Arguments for the method, after those that its function has."""
    made = {"y": lambda: torch.full_like(x, 1.5) if x.is_floating_point() else torch.full_like(x, 3),
            "n": lambda: 1 if not x.is_floating_point() else .5, "m": lambda: x > 0,
            "i": lambda: 1}
    if name in ARGUMENTS:
        return [made[kind]() for kind in ARGUMENTS[name]]
    of_tensor = inspect.signature(getattr(torch.Tensor, name[:-1])).parameters.values()
    return [made["y"]() for parameter in list(of_tensor)[1:] if parameter.default is parameter.empty]


def extra(call):
    """The most memory, in bytes, that a call takes beyond what there was before it."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def dtypes(name):
    """One that the method takes."""
    for dtype in (torch.float32, torch.float64, torch.int32, torch.bool):
        x = torch.ones(4, dtype=dtype)
        try:
            getattr(x, name)(*operands(name, x))
            return dtype
        except (RuntimeError, NotImplementedError, TypeError):
            continue
    return None


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name, monkeypatch):
    dtype = dtypes(name)
    assert dtype is not None
    generator = torch.Generator().manual_seed(0)
    x = (torch.rand(SIZE + 5, generator=generator) * .8 + .1).to(dtype)
    arguments, before = operands(name, x), x.clone()
    version = x._version
    took = extra(lambda: getattr(x, name)(*arguments))
    assert took <= LARGER.get(name, MOST), f"{took >> 20} MB"
    assert x._version == version + 1
    above(monkeypatch, 1 << 60)
    expected = getattr(before, name)(*arguments)
    assert x.numpy().tobytes() == expected.numpy().tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "uint8"])
@pytest.mark.parametrize("name", DRAWS)
def test_draws(name, dtype, monkeypatch):
    dtype = getattr(torch, dtype)
    if not dtype.is_floating_point and name not in ("random_", "bernoulli_", "geometric_"):
        pytest.skip("torch draws no such numbers for integers")
    for size in (SIZE + 5, PIECE * 9 + 1, PIECE * 9):
        x = torch.zeros(size, dtype=dtype)
        torch.manual_seed(3)
        took = extra(lambda: getattr(x, name)(*DRAWS[name]))
        assert took <= MOST, f"{took >> 20} MB"
        after = torch.rand(3)
        with monkeypatch.context() as patch:
            patch.setattr(samplers, "pieces", lambda array: [array])
            torch.manual_seed(3)
            y = getattr(torch.zeros(size, dtype=dtype), name)(*DRAWS[name])
        assert (x.view(torch.uint8) == y.view(torch.uint8)).all()
        assert after.tolist() == torch.rand(3).tolist()


@pytest.mark.parametrize("name", ["relu", "relu6", "leaky_relu", "hardtanh", "hardsigmoid", "hardswish", "silu", "mish",
                                  "elu", "selu", "celu", "threshold"])
def test_activations(name, monkeypatch):
    arguments = (.5, 2.) if name == "threshold" else ()
    x = torch.rand(SIZE + 5, generator=torch.Generator().manual_seed(0)) * 8 - 4
    function = getattr(torch.nn.functional, name)
    before = x.clone()
    took = extra(lambda: function(x, *arguments, inplace=True))
    assert took <= MOST, f"{took >> 20} MB"
    above(monkeypatch, 1 << 60)
    assert (x.view(torch.int32) == function(before, *arguments, inplace=True).view(torch.int32)).all()


@pytest.mark.parametrize("shape", [(1024,), (1024, 1), (1, 1024), (1, 1)])
@pytest.mark.parametrize("name", ["masked_fill_", "add_", "div_", "clamp_", "lerp_", "addcmul_"])
def test_operands_that_broadcast(name, shape, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    x, other = torch.rand(1024, 1024, generator=generator), torch.rand(shape, generator=generator)
    change = {"masked_fill_": lambda x: x.masked_fill_(other > .5, 2.), "add_": lambda x: x.add_(other, alpha=2),
              "div_": lambda x: x.div_(other, rounding_mode="floor"), "clamp_": lambda x: x.clamp_(other, other + .1),
              "lerp_": lambda x: x.lerp_(other.expand(1024, 1024), other),
              "addcmul_": lambda x: x.addcmul_(other, other)}
    before = x.clone()
    took = extra(lambda: change[name](x))
    assert took <= MOST, f"{took >> 20} MB"
    above(monkeypatch, 1 << 60)
    assert (x.view(torch.int32) == change[name](before).view(torch.int32)).all()


def test_where_pieces_would_be_wrong():
    """What is recorded, lies otherwise or overlaps is computed as a whole."""
    x = torch.ones(512, 512)
    assert (x.t().add_(x.t(), alpha=2) == 3).all()
    row = torch.arange(512.)
    assert (x.mul_(0).add_(row, alpha=2)[7] == 2 * row).all()
    y = torch.zeros(1 << 18)
    y[1:].add_(y[:-1] + 1, alpha=2)
    w = torch.ones(1 << 18, requires_grad=True)
    z = w * 2
    z.exp_()
    z.sum().backward()
    assert np.allclose(w.grad.numpy(), 2 * np.exp(2.))
    with pytest.raises(RuntimeError):
        torch.ones(1 << 18).masked_fill_(torch.ones(1 << 18), 0.)


@pytest.mark.parametrize("name", ["exp_", "sigmoid_", "tanh_", "erf_"])
@pytest.mark.parametrize("rest", [1, 17, 511, 2047, PIECE - 1])
def test_a_short_rest_has_the_bits_of_the_whole(name, rest):
    x = torch.rand(WHOLE + rest, generator=torch.Generator().manual_seed(0)) * 4 - 2
    expected = getattr(x, name[:-1])()
    assert (getattr(x, name)().view(torch.int32) == expected.view(torch.int32)).all()


@pytest.mark.parametrize("name, options", [("floor_divide_", {}), ("remainder_", {}), ("fmod_", {}),
                                           ("div_", {"rounding_mode": "trunc"}), ("div_", {"rounding_mode": "floor"})])
def test_a_zero_is_refused_before_anything_is_written(name, options):
    x, other = torch.full((WHOLE * 2,), 7), torch.full((WHOLE * 2,), 2)
    other[-1] = 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        getattr(x, name)(other, **options)
    assert (x == 7).all() and x._version == 0


@pytest.mark.parametrize("shape", [(512, 512), (512,), (512, 1), ()])
def test_probabilities_that_broadcast(shape):
    x, p = torch.zeros(512, 512), torch.full(shape, .25)
    torch.manual_seed(1)
    x.bernoulli_(p)
    torch.manual_seed(1)
    assert (x == torch.bernoulli(p.expand(512, 512))).all()
    assert .24 < x.mean() < .26
