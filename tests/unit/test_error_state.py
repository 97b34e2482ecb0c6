"""What NumPy would warn of, or raise for, is inf or NaN as in torch, whatever the caller had it do."""
import math
import threading
import warnings

import numpy as np
import pytest

import tinytorch as torch

WIDE = [math.inf, -math.inf, math.nan, 0.0, 3e38, 1e-45, -1.0]


@pytest.fixture(autouse=True)
def strict():
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_numbers():
    x = torch.tensor(WIDE)
    assert str((x / 0).tolist()) == "[inf, -inf, nan, nan, inf, inf, -inf]"
    assert str((x * x).tolist()) == "[inf, inf, nan, 0.0, inf, 0.0, 1.0]"
    assert str(x.log().tolist()[:4]) == "[inf, nan, nan, -inf]" and str(x.half().tolist()[4]) == "inf"
    assert str(x.clone().div_(0).tolist()) == str((x / 0).tolist())
    assert (torch.tensor(7) // 2).item() == 3 and torch.tensor([1e300]).item() == math.inf
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.tensor(7) // 0


def test_gradients():
    x = torch.tensor(WIDE, requires_grad=True)
    (x.sqrt() * x.exp()).sum().backward()
    assert x.grad[3] == math.inf and math.isnan(x.grad[0])


def test_an_operation_within_itself_and_in_threads():
    """A context runs one call at a time: another call has another."""
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x / 0

        @staticmethod
        def backward(ctx, g):
            return g / 0

    def work():
        for _ in range(200):
            x = torch.ones(100, requires_grad=True)
            Twice.apply(x * 3e38 * 10).sum().backward()
            found.append(x.grad[0].item())
    found = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [math.inf] * 800


def test_the_caller_keeps_his_own():
    before = np.geterr()
    torch.tensor(WIDE).exp().softmax(0)
    assert np.geterr() == before
    with pytest.raises(FloatingPointError):
        np.ones(1) / 0


def test_a_tensor_of_larger_numbers_is_assigned_in_silence():
    x, y = torch.zeros(2), torch.zeros(2, dtype=torch.float16)
    x[0] = torch.tensor(1e300, dtype=torch.float64)
    y[1:] = torch.tensor([1e6])
    assert x.tolist() == [math.inf, 0.] and y.tolist() == [0., math.inf]
