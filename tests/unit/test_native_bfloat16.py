"""Kernels of 16-bit floats. Products of bfloat16 numbers in C have the bits of the products of the same numbers in
float32, on processors with an instruction for pairs of these numbers and on others."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import halves, native
from tinytorch.kernels.linalg import products

needs_products = pytest.mark.skipif(not products.NATIVE, reason="no library of native kernels computes products")


def numbers(rng, kind, *shape):
    x = rng.standard_normal(shape).astype(np.float32)
    if kind == "wide":
        x *= 10.0 ** rng.integers(-6, 7, shape)
    elif kind == "small":                      # products and sums below the smallest normal number
        x *= 1e-19
    elif kind == "smallest":
        x[::3, ::2] = 1e-39
    elif kind == "special":
        x[x < -1], x[1, 2], x[3, 4] = 0, np.inf, np.nan
    return x


@needs_products
@pytest.mark.parametrize("kind", ["normal", "wide", "small", "smallest", "special"])
@pytest.mark.parametrize("m, k, n", [(128, 256, 128), (129, 771, 77), (8, 4096, 100), (33, 385, 200), (500, 1155, 9),
                                     (300, 81, 500)])
def test_products_have_the_bits_of_float32(m, k, n, kind):
    rng = np.random.default_rng(m)
    for turned in range(4):
        a, b = numbers(rng, kind, m, k), numbers(rng, kind, k, n)
        a = halves.to_bfloat16(a) if turned & 1 else halves.to_bfloat16(np.ascontiguousarray(a.T)).T
        b = halves.to_bfloat16(b) if turned & 2 else halves.to_bfloat16(np.ascontiguousarray(b.T)).T
        with np.errstate(all="ignore"):
            found, wanted = products.of_bfloat16(a, b), products._native(halves.wide(a), halves.wide(b))
        missing = np.isnan(wanted)
        assert np.array_equal(np.isnan(found), missing) and missing.any() == (kind == "special")
        np.testing.assert_array_equal(found.view(np.int32)[~missing], wanted.view(np.int32)[~missing])


@needs_products
def test_gaps_threads_and_few_numbers():
    x = halves.to_bfloat16(np.random.default_rng(0).standard_normal((300, 700)).astype(np.float32))
    for a, b in ((x[::2, 3:500], x[:, 3:500].T), (x[:, :9], x[:9, ::3]), (x[:3], x.T), (x[:, :0], x[:0])):
        np.testing.assert_array_equal(products.of_bfloat16(a, b), products.dot(halves.wide(a), halves.wide(b)))
    results = []
    before = torch.get_num_threads()
    try:
        for count in (1, 3):
            torch.set_num_threads(count)
            results.append(products.of_bfloat16(x, x.T))
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*results)


@needs_products
def test_products_and_layers_use_the_kernel(monkeypatch):
    calls, run = [], native.result
    monkeypatch.setattr(native, "result", lambda name, *args: calls.append(name) or run(name, *args))
    x, w = [torch.randn(160, 160).bfloat16() for _ in range(2)]
    bias = torch.randn(160).bfloat16()
    y, z = torch.nn.functional.linear(x, w, bias), torch.mm(x, w)
    assert calls == ["bfloat16_product"] * 2
    assert torch.equal(y, (x.float() @ w.float().T + bias.float()).bfloat16())
    assert torch.equal(z, (x.float() @ w.float()).bfloat16())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_has_the_bits_of_float32(approximate, dtype):
    """Of all numbers of 16 bits, with and without a gradient."""
    x = torch.arange(-1 << 15, 1 << 15, dtype=torch.int32).to(torch.int16).view(dtype)
    for given in (x, x[:1000], x[::3], x.view(256, 256).t(), x[:0], x[0]):
        wanted = torch.nn.functional.gelu(given.float(), approximate=approximate).to(dtype)
        for needed in (False, True):
            found = torch.nn.functional.gelu(given.detach().requires_grad_(needed), approximate=approximate).detach()
            assert found.dtype == dtype and torch.equal(found.isnan(), wanted.isnan())
            assert torch.equal(found[~wanted.isnan()].view(torch.int16), wanted[~wanted.isnan()].view(torch.int16))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_and_products_have_the_bits_of_float32(dtype):
    """Of all numbers of 16 bits with some others, in runs of any length."""
    x = torch.arange(-1 << 15, 1 << 15, dtype=torch.int32).to(torch.int16).view(dtype)
    for shift in (1, 77, 31_000):
        y = x.roll(shift)
        for a, b in ((x, y), (x[:1001], y[:1001]), (x[5:20], y[5:20]), (x[:3000], x[:3000]), (x[7:8], y[3:4])):
            for function in (torch.add, torch.sub, torch.mul):
                found, wanted = function(a, b), function(a.float(), b.float()).to(dtype)
                assert torch.equal(found.isnan(), wanted.isnan())
                assert torch.equal(found[~wanted.isnan()].view(torch.int16), wanted[~wanted.isnan()].view(torch.int16))


def test_relu_of_every_bfloat16():
    """As of floats, at any place of an array; -0. stays, and NaN."""
    x = torch.from_numpy(np.arange(1 << 16, dtype=np.uint16)).view(torch.bfloat16)
    for given in (x, x[:70], x[3:20], x[-5000:-1], x[::7], x.reshape(256, 256).t()):
        wanted = torch.relu(given.float()).bfloat16().view(torch.int16)
        for found in (torch.relu(given), torch.nn.functional.relu(given.clone(), inplace=True)):
            assert found.dtype == torch.bfloat16 and torch.equal(found.view(torch.int16), wanted)
