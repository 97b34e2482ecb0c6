"""embedding_bag refuses weights of samples of another dtype in torch's words, and rounds half precision as it does;
gradients have the dtype of the rows."""
import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same
from .fuzz.program import run


def _message(t, rows, weights):
    with pytest.raises(RuntimeError) as caught:
        t.nn.functional.embedding_bag(t.tensor([0, 1]), t.ones(3, 2, dtype=getattr(t, rows)), t.tensor([0]), mode="sum",
                                      per_sample_weights=t.ones(2, dtype=getattr(t, weights)))
    return str(caught.value)


@pytest.mark.parametrize("rows, weights", [("float32", "bfloat16"), ("bfloat16", "float32"), ("float32", "float64")])
def test_dtypes(rows, weights):
    assert _message(tinytorch, rows, weights) == _message(torch, rows, weights)


def _bags(t, dtype, mode, padding):
    """Bags of many sizes, and the gradient of the table, from random numbers."""
    r = np.random.default_rng(0)
    found = []
    for size in range(1, 9):
        table = t.tensor(r.normal(size=(20, 7)).tolist(), dtype=getattr(t, dtype)).requires_grad_()
        bags = t.tensor(r.integers(0, 20, (3, size)).tolist())
        y = t.nn.functional.embedding_bag(bags, table, mode=mode, padding_idx=padding)
        (y * t.arange(1., 8., dtype=table.dtype)).sum().backward()
        found += [y.detach(), table.grad] if mode == "mean" and dtype == "float16" else [y.detach()]
    return found


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_rounded_as_torch_rounds(dtype, mode, padding):
    """Sums first, then the mean; without padding torch's routine rounds halves of bfloat16 up. To the last bit."""
    same(_bags(tinytorch, dtype, mode, padding), _bags(torch, dtype, mode, padding), tolerance=0)


@pytest.mark.parametrize("rows", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("weights", [False, True])
def test_gradient_divided_by_frequency(rows, mode, weights):
    lines = [f"w = T.ones((4, 2), dtype=T.{rows}, requires_grad=True)",
             f"s = {f'T.tensor([[2., 1., .5], [0., 1., 3.]], dtype=T.{rows})' if weights and mode == 'sum' else None}",
             "y = F.embedding_bag(T.tensor([[3, 3, 1], [0, 3, 1]]), w, scale_grad_by_freq=True, "
             f"mode={mode!r}, per_sample_weights=s)", "g = T.autograd.grad(loss(y), w)"]
    run(lines)
