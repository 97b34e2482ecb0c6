"""sort topk kthvalue unique searchsorted: behaviour, errors and edge cases."""
import math

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
