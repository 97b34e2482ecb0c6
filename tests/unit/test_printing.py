"""The text of tensors, and set_printoptions."""
import pytest

import tinytorch as torch


@pytest.fixture(autouse=True)
def defaults():
    yield
    torch.set_printoptions(profile="default")


@pytest.mark.parametrize("tensor, text", [
    (lambda: torch.tensor([1.0, 2.5]), "tensor([1.0000, 2.5000])"),
    (lambda: torch.tensor([1.0, 2.0]), "tensor([1., 2.])"),
    (lambda: torch.tensor([1, -20]), "tensor([  1, -20])"),
    (lambda: torch.tensor([True, False]), "tensor([ True, False])"),
    (lambda: torch.tensor(3), "tensor(3)"),
    (lambda: torch.tensor(0.5), "tensor(0.5000)"),
    (lambda: torch.tensor([1.0, float("nan"), float("-inf")]), "tensor([1., nan, -inf])"),
    (lambda: torch.tensor([1e-5, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
    (lambda: torch.tensor([1e9]), "tensor([1.0000e+09])"),
    (lambda: torch.tensor([[1, 2], [3, 4]]), "tensor([[1, 2],\n        [3, 4]])"),
    (lambda: torch.zeros(1, 1, 2), "tensor([[[0., 0.]]])"),
    (lambda: torch.zeros(0), "tensor([])"),
    (lambda: torch.zeros(0, 2), "tensor([], size=(0, 2))"),
    (lambda: torch.zeros(0, dtype=torch.int64), "tensor([], dtype=torch.int64)"),
    (lambda: torch.tensor([1.0], dtype=torch.float64), "tensor([1.], dtype=torch.float64)"),
    (lambda: torch.tensor([1.5], dtype=torch.bfloat16), "tensor([1.5000], dtype=torch.bfloat16)"),
    (lambda: torch.tensor([1 - 2j], dtype=torch.complex64), "tensor([1.-2.j])"),
    (lambda: torch.tensor([1.0], requires_grad=True), "tensor([1.], requires_grad=True)"),
    (lambda: torch.tensor([1.0], requires_grad=True) * 2, "tensor([2.], grad_fn=<MulBackward0>)"),
])
def test_text(tensor, text):
    assert repr(tensor()) == text


def test_summary():
    assert repr(torch.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    rows = repr(torch.zeros(600, 2)).split("\n")
    assert len(rows) == 7 and rows[3] == "        ...,"
    assert "..." not in repr(torch.arange(1000))


def test_lines_are_wrapped():
    lines = repr(torch.arange(100)).split("\n")
    assert len(lines) == 6 and all(len(line) <= 80 for line in lines)


def test_options():
    torch.set_printoptions(precision=2, threshold=4, edgeitems=1)
    assert repr(torch.tensor([1.234])) == "tensor([1.23])"
    assert repr(torch.arange(9)) == "tensor([0,  ..., 8])"
    torch.set_printoptions(profile="full")
    assert "..." not in repr(torch.arange(2000))
    torch.set_printoptions(sci_mode=True)
    assert repr(torch.tensor([1.5])) == "tensor([1.5000e+00])"
    torch.set_printoptions(profile="default")
    assert torch.get_printoptions() == {
        "precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
