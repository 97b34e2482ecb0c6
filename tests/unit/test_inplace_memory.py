"""What changes a large tensor in place takes no more memory than some pieces of it, and gives the bits of the whole."""
import tracemalloc

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd.public import TABLE
from tinytorch.kernels import memory
from tinytorch.ops.random import samplers

SIZE = 1 << 23                                 # 32 MB of floats
#: What may be taken beside the tensor: a dozen pieces of numbers of eight bytes.
MOST = 12 << 20

#: Their series keep several terms for each element of a piece.
LARGER = {"igamma_": 40 << 20, "igammac_": 40 << 20, "erfinv_": 20 << 20}

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
    function = next(f for f, record in TABLE.items() if name in record.methods)
    needed = TABLE[function].function.__code__.co_argcount - len(TABLE[function].function.__defaults__ or ())
    return [made["y"]() for _ in range(needed - 1)]


def extra(call):
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
def test_elementwise(name):
    dtype = dtypes(name)
    assert dtype is not None
    generator = torch.Generator().manual_seed(0)
    x = (torch.rand(SIZE + 5, generator=generator) * .8 + .1).to(dtype)
    arguments, before = operands(name, x), x.clone()
    version = x._version
    took = extra(lambda: getattr(x, name)(*arguments))
    assert took <= LARGER.get(name, MOST), f"{took >> 20} MB"
    assert x._version == version + 1
    whole, memory.WHOLE = memory.WHOLE, 1 << 60
    try:
        from tinytorch.autograd import in_place
        kept, in_place.WHOLE = in_place.WHOLE, 1 << 60
        expected = getattr(before, name)(*arguments)
    finally:
        memory.WHOLE = whole
        in_place.WHOLE = kept
    assert x.numpy().tobytes() == expected.numpy().tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "uint8"])
@pytest.mark.parametrize("name", DRAWS)
def test_draws(name, dtype, monkeypatch):
    dtype = getattr(torch, dtype)
    if not dtype.is_floating_point and name not in ("random_", "bernoulli_", "geometric_"):
        pytest.skip("torch draws no such numbers for integers")
    for size in (SIZE + 5, memory.PIECE * 9 + 1, memory.PIECE * 9):
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


def test_where_pieces_would_be_wrong():
    """What is recorded, lies otherwise or overlaps is computed as a whole."""
    x = torch.ones(2048, 1024)
    assert (x.t().add_(x.t(), alpha=2) == 3).all()
    row = torch.arange(1024.)
    assert (x.mul_(0).add_(row, alpha=2)[7] == 2 * row).all()
    y = torch.zeros(1 << 21)
    y[1:].add_(y[:-1] + 1, alpha=2)
    w = torch.ones(1 << 21, requires_grad=True)
    z = w * 2
    z.exp_()
    z.sum().backward()
    assert np.allclose(w.grad.numpy(), 2 * np.exp(2.))
    with pytest.raises(RuntimeError):
        torch.ones(1 << 21).masked_fill_(torch.ones(1 << 21), 0.)
