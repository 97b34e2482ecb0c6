"""Fourier transforms by their definition, and when their namespace is loaded."""
import subprocess
import sys

import numpy as np
import pytest

import tinytorch as torch


def waves(n):
    """exp(-2 pi i j k / n)."""
    return np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_transform_is_the_sum_that_it_is_defined_by(n):
    x = np.cos(np.arange(3 * n) ** 2).reshape(3, n)
    assert np.allclose(torch.fft.fft(torch.tensor(x)).numpy(), x @ waves(n))
    assert np.allclose(torch.fft.ifft(torch.tensor(x + 1j)).numpy(), (x + 1j) @ waves(n).conj() / n)
    assert np.allclose(torch.fft.rfft(torch.tensor(x), norm="ortho").numpy(), (x @ waves(n))[:, :n // 2 + 1] / n ** .5)


@pytest.mark.parametrize("forward, back, more", [("fftn", "ifftn", {}), ("rfftn", "irfftn", {"s": (3, 4, 5)}),
                                                 ("ihfftn", "hfftn", {"s": (3, 4, 5)})])
@pytest.mark.parametrize("norm", [None, "forward", "ortho"])
def test_there_and_back(forward, back, more, norm):
    x = torch.sin(torch.arange(60.) ** 2).view(3, 4, 5)
    y = getattr(torch.fft, back)(getattr(torch.fft, forward)(x, norm=norm), norm=norm, **more)
    assert y.dtype.to_real() is torch.float32 and np.allclose(y.numpy(), x.numpy(), atol=1e-6)


def test_gradients_by_differences():
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    z = torch.randn(3, 4, dtype=torch.complex128, requires_grad=True)
    for name in ("fft", "ifft2", "rfft", "ihfftn", "irfft", "hfft2"):
        function = getattr(torch.fft, name)
        for given in (x,) if name in ("rfft", "ihfftn") else (x, z):
            assert torch.autograd.gradcheck(function, given, check_forward_ad=True)
            assert torch.autograd.gradgradcheck(function, given)


def test_signal_from_its_parts():
    x = torch.randn(2, 50)
    w = torch.hann_window(16)
    parts = x.stft(16, 4, window=w, return_complex=True)
    assert parts.shape == (2, 9, 13)
    assert np.allclose(parts.istft(16, 4, window=w, length=50).numpy()[:, :48], x.numpy()[:, :48], atol=1e-5)


def test_missing_window_is_told_once():
    program = """
import warnings, tinytorch as torch
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for _ in range(2):
        torch.ones(16).stft(8, return_complex=True)
print(len(told), "A window was not provided" in str(told[0].message))"""
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "1 True\n"


def test_namespaces_are_loaded_when_first_used():
    program = """
import sys, tinytorch
names = "tinytorch.fft", "tinytorch.signal", "tinytorch.ops.fft.transforms"
print([name in sys.modules for name in names])
tinytorch.fft.fft, tinytorch.signal.windows.hann
print([name in sys.modules for name in names])"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    assert told == "[False, False, False]\n[True, True, True]\n"


def test_windows_of_integers_are_refused():
    with pytest.raises(RuntimeError, match="kaiser_window expects floating point dtypes, got: .*dtype=long int"):
        torch.kaiser_window(3, dtype=torch.int64)
    with pytest.raises(ValueError, match="general_cosine expects float32 or float64 dtypes, got: torch.float16"):
        torch.signal.windows.hann(3, dtype=torch.float16)
