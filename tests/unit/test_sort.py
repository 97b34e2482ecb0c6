"""sort topk kthvalue unique searchsorted: behaviour, errors and edge cases."""
import math

import numpy as np
import pytest

import tinytorch as torch


def test_sort_is_stable_and_nan_is_largest():
    x = torch.tensor([2.0, math.nan, 1.0, 2.0])
    assert x.sort().indices.tolist() == [2, 0, 3, 1]
    assert x.sort(descending=True).indices.tolist() == [1, 0, 3, 2]
    assert torch.argsort(x, descending=True).tolist() == [1, 0, 3, 2]


def test_sort_gradient_follows_the_elements():
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    (x.sort().values * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [100, 1, 10]


def test_topk():
    x = torch.tensor([[1, 4, 2], [6, 5, 9]])
    values, indices = x.topk(2)
    assert values.tolist() == [[4, 2], [9, 6]] and indices.tolist() == [[1, 2], [2, 0]]
    assert x.topk(1, dim=0, largest=False).values.tolist() == [[1, 4, 2]]
    assert torch.arange(1000).topk(3).indices.tolist() == [999, 998, 997]
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        x.topk(4)


def test_kthvalue_and_mode():
    x = torch.tensor([3.0, 1.0, 2.0, 1.0])
    assert x.kthvalue(3).values.item() == 2
    assert [t.item() for t in x.mode()] == [1, 3]
    with pytest.raises(RuntimeError, match="selected number k out of range"):
        x.kthvalue(5)


def test_unique():
    x = torch.tensor([[1, 2], [1, 2], [0, 3]])
    assert torch.unique(x).tolist() == [0, 1, 2, 3]
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True, dim=0)
    assert values.tolist() == [[0, 3], [1, 2]] and inverse.tolist() == [1, 1, 0] and counts.tolist() == [1, 2]
    assert torch.unique_consecutive(torch.tensor([1, 1, 2, 1])).tolist() == [1, 2, 1]
    assert torch.unique_consecutive(torch.zeros(0)).shape == (0,)


def test_searchsorted():
    edges = torch.tensor([1, 3, 5])
    assert torch.searchsorted(edges, torch.tensor([3, 6])).tolist() == [1, 3]
    assert torch.searchsorted(edges, torch.tensor([3]), right=True).tolist() == [2]
    assert torch.bucketize(torch.tensor([0, 9]), edges, out_int32=True).dtype == torch.int32
    rows = torch.tensor([[1, 3], [5, 7]])
    assert torch.searchsorted(rows, torch.tensor([[2], [6]])).tolist() == [[1], [1]]
    with pytest.raises(RuntimeError, match="opposites"):
        torch.searchsorted(edges, torch.tensor([1]), right=True, side="left")


@pytest.mark.parametrize("function, skips", [(torch.median, False), (torch.nanmedian, True)])
def test_place_of_the_median(function, skips):
    """Where a stable sort puts it, of equal elements too; the first NaN, if there is one that counts."""
    random = np.random.RandomState(0)
    for n in (1, 2, 3, 8, 257):
        x = random.choice([-2.0, -0.0, 0.0, 1.0, math.inf, -math.inf, math.nan, math.nan], (60, n))
        x[:30][np.isnan(x[:30])] = 3
        order, absent = x.argsort(1, kind="stable"), np.isnan(x)
        numbers = n - absent.sum(1)
        places = np.where(skips | (numbers == n), np.maximum(numbers - 1, 0) // 2, numbers)
        expected = torch.tensor(order[np.arange(60), places])
        assert torch.equal(function(torch.tensor(x), 1).indices, expected)
        assert torch.equal(function(torch.tensor(x).t(), 0).indices, expected)
        whole = torch.tensor(x[:30, 0]), torch.tensor(np.sort(x[:30, 0])[14])
        assert torch.equal(function(whole[0]), whole[1])


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64])
@pytest.mark.parametrize("span", [1, 100, 1 << 40])
def test_unique_integers(dtype, span):
    """By a table or by sorting, as the range of the numbers is."""
    if span > 100 and dtype != torch.int64:
        span = 100
    numbers = np.random.RandomState(0).randint(0, span, (20, 30), np.int64) + 27
    values, inverse, counts = torch.unique(torch.tensor(numbers).to(dtype), return_inverse=True, return_counts=True)
    assert values.dtype == dtype and values.tolist() == sorted(set(numbers.reshape(-1).tolist()))
    assert values[inverse].tolist() == numbers.tolist()
    assert counts.tolist() == [int((numbers == value).sum()) for value in values.tolist()]
    assert torch.equal(torch.unique(torch.tensor(numbers).to(dtype)), values)


def test_bincount_of_many():
    """In pieces: the first or a later one with the most bins, or with too many for pieces."""
    random = np.random.RandomState(0)
    for least, most in ((0, 9), (12, 9), (0, 40000), (70000, 9)):
        numbers = random.randint(0, most, 100000)
        for place in (0, 50000, 99999):
            changed = numbers.copy()
            changed[place] = 50000 if most > 9 else 10
            expected = np.bincount(changed, None, least)
            assert torch.equal(torch.bincount(torch.tensor(changed), minlength=least), torch.tensor(expected))
    numbers[99999] = -1
    with pytest.raises(RuntimeError, match="bincount only supports 1-d non-negative integral inputs."):
        torch.bincount(torch.tensor(numbers))
