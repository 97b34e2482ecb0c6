"""Reductions, statistics and running results: behaviour, errors and edge cases."""
import math

import numpy as np
import pytest

import tinytorch as torch


def test_sum_dtypes_and_dims():
    x = torch.tensor([[1, 2], [3, 4]], dtype=torch.int8)
    assert x.sum().dtype == torch.int64 and x.sum().item() == 10
    assert x.sum(dtype=torch.int32).dtype == torch.int32 and (x > 0).prod(dtype=torch.bool).dtype == torch.bool
    assert x.sum(0, keepdim=True).tolist() == [[4, 6]]
    assert x.sum((0, 1)).item() == x.sum(dim=()).item() == x.sum(axis=[0, 1]).item() == 10
    assert x.sum(1, dtype=torch.float64).dtype == torch.float64
    out = torch.zeros(2, dtype=torch.int64)
    assert torch.sum(x, 0, out=out) is out and out.tolist() == [4, 6]


@pytest.mark.parametrize("call, error, text", [
    (lambda: torch.sum([1.0]), TypeError, "argument 'input' .position 1. must be Tensor, not list"),
    (lambda: torch.zeros(2, 3).sum(2), IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\]"),
    (lambda: torch.zeros(2, 3).sum((0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
    (lambda: torch.tensor([1]).mean(), RuntimeError, "could not infer output dtype.*Got: Long"),
    (lambda: torch.zeros(0).max(), RuntimeError, "Expected reduction dim to be specified for input.numel"),
    (lambda: torch.zeros(2, 0).max(1), IndexError, r"max\(\): Expected reduction dim 1 to have non-zero size"),
    (lambda: torch.zeros(0).argmax(), IndexError, "Expected reduction dim to be specified"),
    (lambda: torch.tensor([True]).argmax(), RuntimeError, "does not support bool input"),
    (lambda: torch.zeros(0).aminmax(), RuntimeError, "cannot compute aminmax over an empty dimension"),
    (lambda: torch.tensor([1]).std(), RuntimeError, "only support floating point and complex dtypes"),
    (lambda: torch.tensor([1]).norm(), RuntimeError, "Expected a floating point or complex tensor as input. Got Long"),
    (lambda: torch.quantile(torch.zeros(3), 2), RuntimeError, r"q must be in the range \[0, 1\] but got 2"),
    (lambda: torch.bincount(torch.tensor([-1])), RuntimeError, "1-d non-negative integral inputs"),
    (lambda: torch.diff(torch.tensor(1.0)), RuntimeError, "at least one-dimensional"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_empty():
    assert torch.zeros(0).sum().item() == 0 and torch.zeros(0).prod().item() == 1
    assert math.isnan(torch.zeros(0).mean().item())
    assert torch.zeros(2, 0).max(0).values.shape == (0,)
    assert torch.logsumexp(torch.zeros(2, 0), 1).tolist() == [-math.inf] * 2
    for row, wanted in (([math.inf, 1], math.inf), ([-math.inf] * 2, -math.inf), ([-math.inf, 1], 1), ([3e38, 1], 3e38),
                        ([math.inf, -math.inf], math.inf), ([1000, 999.5], 1000.4740770), ([-1000, -3000], -1000)):
        for dtype in (torch.float32, torch.float64):
            for times in (1, 40):              # of few and of many, which are not all in the vectors of one loop
                x = torch.tensor([row[:1] + row[1:] * times], dtype=dtype)
                more = math.log((1 + times * math.exp(-0.5)) / (1 + math.exp(-0.5))) if row[0] == 1000 else 0
                if row[0] == -math.inf and row[1] == 1:
                    more = math.log(times)
                assert x.logsumexp(1).tolist() == pytest.approx([wanted + more], rel=1e-6)
                for place in (0, -1):
                    x[0, place] = math.nan
                    assert x.logsumexp(1).isnan().all()


def test_three_forms_of_max():
    x = torch.tensor([[1.0, 5.0], [7.0, 2.0]])
    assert x.max().item() == 7
    result = x.max(dim=1, keepdim=True)
    assert result.values.tolist() == [[5], [7]] and result.indices.tolist() == [[1], [0]]
    assert type(result) is torch.return_types.max
    assert repr(x.min(0)) == ("torch.return_types.min(\nvalues=tensor([1., 2.]),\nindices=tensor([0, 1]))")
    out = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    values, _ = torch.max(x, 0, out=out)
    assert values is out[0] and out[1].tolist() == [1, 0]
    assert torch.max(x, torch.full((2,), 4.0)).tolist() == [[4, 5], [7, 4]]


def test_gradient_of_ties():
    x = torch.tensor([3.0, 3.0, 1.0], requires_grad=True)
    for result, expected in [(x.max(), [0.5, 0.5, 0]), (x.max(0).values, [1, 0, 0]), (x.amax(), [0.5, 0.5, 0]),
                             (x.median(), [0.5, 0.5, 0])]:
        assert torch.autograd.grad(result, x)[0].tolist() == expected


def test_nan():
    x = torch.tensor([1.0, math.nan, 3.0])
    assert math.isnan(x.max().item()) and x.argmax().item() == 1 and math.isnan(x.median().item())
    assert x.nansum().item() == 4 and x.nanmean().item() == 2 and x.nanmedian().item() == 1
    assert x.nanquantile(0.5).item() == 2 and math.isnan(x.quantile(0.5).item())
    assert x.cummax(0).indices.tolist() == [0, 1, 1]


def test_prod_gradient_with_zeros():
    x = torch.tensor([2.0, 0.0, 3.0], requires_grad=True)
    assert torch.autograd.grad(x.prod(), x)[0].tolist() == [0, 6, 0]
    assert torch.autograd.grad(x.cumprod(0).sum(), x)[0].tolist() == [1, 8, 0]


def test_std_of_equal_elements_has_gradient_zero():
    x = torch.ones(3, requires_grad=True)
    x.std().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_var_corrections():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert x.var(unbiased=False).item() == x.var(False).item() == x.var(correction=0).item() == 1.25
    with pytest.warns(UserWarning, match="degrees of freedom"), np.errstate(invalid="ignore"):
        assert math.isnan(torch.tensor([1.0]).var().item())


def test_all_any_keep_uint8():
    assert torch.tensor([1, 0], dtype=torch.uint8).any().dtype == torch.uint8
    assert torch.tensor([[1, 0], [1, 1]]).all(1).tolist() == [False, True]


def test_norms():
    x = torch.tensor([3.0, -4.0, 0.0])
    assert [x.norm(p).item() for p in (2, 1, 0, math.inf, -math.inf)] == [5, 7, 2, 4, 0]
    zero = torch.zeros(2, requires_grad=True)
    zero.norm().backward()
    assert zero.grad.tolist() == [0, 0]


def test_histc_and_bincount():
    assert torch.histc(torch.tensor([1.0, 2.0, 1.0]), 4, 0, 3).tolist() == [0, 2, 1, 0]
    assert torch.bincount(torch.tensor([1, 1]), torch.tensor([0.5, 0.25])).tolist() == [0, 0.75]


def test_running_results():
    x = torch.tensor([3, 1, 3, 5])
    assert x.cumsum(0).tolist() == [3, 4, 7, 12]
    assert x.cummax(0).indices.tolist() == [0, 0, 2, 3]
    assert x.diff(2).tolist() == [4, 0]
    assert x.float().cumsum_(0).tolist() == [3, 4, 7, 12]
    assert torch.trapezoid(torch.tensor([1.0, 5.0]), torch.tensor([0.0, 2.0])).item() == 6
