"""Embeddings: lookups, gradients of repeated and padded rows, norms, refusals."""
import numpy as np
import pytest

import tinytorch as torch
import tinytorch.nn.functional as F


def table():
    return torch.tensor(np.arange(8.0).reshape(4, 2), requires_grad=True)


def test_repeated_rows_add_up():
    w = table()
    F.embedding(torch.tensor([[1, 3], [1, 1]]), w).sum().backward()
    assert w.grad.tolist() == [[0, 0], [3, 3], [0, 0], [1, 1]]


def test_padding_row_gets_no_gradient():
    w = table()
    F.embedding(torch.tensor([0, 3, 3]), w, padding_idx=-1).sum().backward()
    assert w.grad.tolist() == [[1, 1], [0, 0], [0, 0], [0, 0]]
    layer = torch.nn.Embedding(3, 2, padding_idx=1)
    assert layer.weight[1].tolist() == [0, 0] and layer.weight.is_leaf


def test_frequency_scaling():
    w = table()
    F.embedding(torch.tensor([2, 2, 0]), w, scale_grad_by_freq=True).sum().backward()
    assert w.grad.tolist() == [[1, 1], [0, 0], [1, 1], [0, 0]]


def test_max_norm_shortens_rows_in_place():
    w = torch.tensor([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]])
    y = F.embedding(torch.tensor([0, 1]), w, max_norm=1.0)
    np.testing.assert_allclose(y.numpy(), [[0.6, 0.8], [0.3, 0.4]], 1e-5)
    assert w[2].tolist() == [30, 40] and torch.equal(w[:2], y)


def test_refusals():
    with pytest.raises(IndexError, match="index out of range in self"):
        F.embedding(torch.tensor([4]), table())
    with pytest.raises(IndexError, match="index out of range in self"):
        F.embedding(torch.tensor([-1]), table())
    with pytest.raises(AssertionError, match="Padding_idx"):
        torch.nn.Embedding(3, 2, padding_idx=3)


def test_from_pretrained_shares_the_table():
    data = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    layer = torch.nn.Embedding.from_pretrained(data)
    assert not layer.weight.requires_grad
    data[1, 0] = 9.0
    assert layer(torch.tensor(1)).tolist() == [9, 4]
    assert torch.nn.Embedding.from_pretrained(data, freeze=False).weight.requires_grad


def test_bags():
    w = table()
    index, offsets = torch.tensor([1, 3, 0]), torch.tensor([0, 2, 2])
    assert F.embedding_bag(index, w, offsets, mode="sum").tolist() == [[8, 10], [0, 0], [0, 1]]
    assert F.embedding_bag(index, w, offsets).tolist() == [[4, 5], [0, 0], [0, 1]]
    assert F.embedding_bag(index, w, offsets, mode="max").tolist() == [[6, 7], [0, 0], [0, 1]]


def test_one_hot():
    assert F.one_hot(torch.tensor([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert F.one_hot(torch.tensor([[1]]), 3).shape == (1, 1, 3)
    with pytest.raises(RuntimeError, match="Class values must be smaller"):
        F.one_hot(torch.tensor([3]), 2)


def test_empty_index():
    w = table()
    y = F.embedding(torch.zeros(0, 3, dtype=torch.int64), w)
    assert y.shape == (0, 3, 2)
    y.sum().backward()
    assert w.grad.abs().sum() == 0
