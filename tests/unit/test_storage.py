"""Storages: which tensors share memory, and writing to it past them."""
import pytest

import tinytorch as torch


def test_views_share_one_storage():
    x = torch.arange(12.).reshape(3, 4)
    for view in (x[1], x.t(), x[:, ::2], x.expand(2, 3, 4), x.view(-1), x.detach(), x.unfold(1, 2, 1), x.diagonal()):
        assert view.untyped_storage() == x.untyped_storage()
        assert view.untyped_storage().data_ptr() == x.data_ptr() and view.untyped_storage().nbytes() == 48
    assert x.clone().untyped_storage() != x.untyped_storage()


def test_distinct_storages_are_counted_once():
    layer = torch.nn.Linear(2, 3)
    tensors = [layer.weight, layer.bias, layer.weight.t(), layer.bias.detach()]
    assert len({t.untyped_storage() for t in tensors}) == 2
    assert sum(s.nbytes() for s in {t.untyped_storage() for t in tensors}) == 36


def test_writes_reach_the_tensor():
    x = torch.zeros(3)
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        s = x.storage()
    s[0], s[-1] = 5, 7
    assert x.tolist() == [5, 0, 7] and s.tolist() == [5, 0, 7]
    x.untyped_storage().fill_(0)
    assert x.tolist() == [0, 0, 0] and x._version == 0


def test_a_storage_keeps_its_size():
    with pytest.raises(NotImplementedError, match="Tensor.resize_"):
        torch.zeros(3).untyped_storage().resize_(100)
    storage = torch.UntypedStorage([1, 2, 3])
    x = torch.empty(0, dtype=torch.uint8).set_(storage)        # who would not follow
    for size in 0, 2, 100:
        with pytest.raises(NotImplementedError, match="Tensor.resize_"):
            storage.resize_(size)
    del x
    assert storage.resize_(5).tolist() == [1, 2, 3, 0, 0]


def test_set_shares_memory():
    x, y = torch.zeros(2), torch.arange(4.)
    x.set_(y.untyped_storage(), 1, (2,), (2,))
    x.add_(10)
    assert y.tolist() == [0, 11, 2, 13] and x._version == 2
