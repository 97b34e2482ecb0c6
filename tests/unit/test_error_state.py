"""What NumPy would warn of, or raise for, is inf or NaN as in torch, whatever the caller had it do."""
import contextvars
import math
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import errstate

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


def test_operations_at_once_in_threads():
    """A free-threaded Python lets two threads enter one context, and fails when the second leaves it."""
    def work():
        together.wait()
        for _ in range(4000):
            x + x
            x.exp()
            x.add_(0)
        found.append(x.item())
    found, x, together = [], torch.zeros(1), threading.Barrier(4)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0.0] * 4


WARNS = """
import warnings
import tinytorch as torch


def warns():
    torch.vmap(lambda row: row.put(torch.tensor([0]), torch.zeros(1)))(torch.zeros(4, 3))


for _ in range(2):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warns()
    assert ["aten::put" in str(w.message) for w in caught] == [True], caught
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        warns()
    except UserWarning:
        print("raised")
"""


@pytest.mark.parametrize("option", [[], ["-X", "context_aware_warnings=1"]])
def test_filters_of_warnings_reach_what_an_operation_gives(option):
    """Pythons from 3.14 on can keep the filters in a context variable; earlier ones take no notice of the option."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TINYTORCH_")}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    run = subprocess.run([sys.executable, *option, "-c", WARNS], capture_output=True, text=True, env=environment)
    assert run.returncode == 0 and run.stdout == "raised\n", run.stderr


def test_in_the_callers_context(monkeypatch):
    monkeypatch.setattr(errstate, "_OWN_CONTEXTS", False)
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)

    def compute(x):
        assert np.geterr()["divide"] == "ignore"
        assert errstate.quiet()(variable.get) == 7           # within another
        if x is None:
            raise KeyError
        return x / 0
    run, before = errstate.quiet(), np.geterr()
    assert run(compute, np.ones(1))[0] == math.inf and np.geterr() == before
    with pytest.raises(KeyError):
        run(compute, None)
    assert np.geterr() == before


LOSSES = ["kl_div", "poisson_nll_loss", "hinge_embedding_loss", "soft_margin_loss", "smooth_l1_loss", "huber_loss",
          "mse_loss", "l1_loss", "pairwise_distance", "cosine_similarity"]


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_one_pass(name):
    """Losses without history are computed outside of operations."""
    function, x = getattr(torch.nn.functional, name), torch.tensor([0.0, -1.0, 1e38, float("inf"), float("nan"), 1e-45])
    x = x[None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for first, second in ((x, x), (x.flip(1), x), (x * 1e38, -x)):
            function(first, second)
