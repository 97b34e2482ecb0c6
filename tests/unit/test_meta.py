"""The device `meta`: tensors without numbers take no memory, and none comes out of them."""
import copy
import pickle
import threading

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import dtypes as dt


def meta(*size, **options):
    return torch.empty(*size, device="meta", **options)


def test_tensors_share_no_memory_unless_they_are_views():
    a, b = meta(4, 4), meta(4, 4)
    twins = copy.deepcopy([a, a[1:], b])
    assert not np.may_share_memory(a._array, b._array) and np.may_share_memory(a._array, a[1:]._array)
    assert np.may_share_memory(twins[0]._array, twins[1]._array)
    assert not np.may_share_memory(twins[0]._array, twins[2]._array)
    assert a[1:].storage_offset() == 4 and a.data_ptr() == 0 and a.t().is_contiguous() is False


@pytest.mark.skipif(dt.NARROW, reason="no array of NumPy's is larger than memory can be")
def test_terabytes():
    x = meta(1 << 20, 1 << 20)
    y = (x @ x.t() + 1).relu().view(-1).sum()
    assert x.nbytes == 1 << 42 and y.is_meta and y.shape == ()
    with pytest.raises(RuntimeError, match="no room"):
        meta(1 << 30, 1 << 30)


@pytest.mark.parametrize("read", [
    lambda x: x.tolist(), lambda x: x.numpy(), lambda x: x.cpu(), lambda x: x[0, 0].item(), lambda x: float(x.sum()),
    lambda x: bool((x > 0).all()), lambda x: np.asarray(x), lambda x: torch.zeros(2, 3).copy_(x), lambda x: list(x[0])[
        0].item(), lambda x: x.untyped_storage().tolist(), lambda x: torch.tensor([x[0, 0]]), lambda x: x.to("cpu"),
    lambda x: torch.add(torch.ones(2, 3), x), lambda x: torch.ones(2, 3).add_(x), lambda x: torch.equal(x, x),
    lambda x: torch.zeros(2, 3).index_put_((torch.tensor([0]),), x[:1]), lambda x: torch.save(x.untyped_storage(), ""),
    lambda x: x._array.tobytes(), lambda x: memoryview(x._array), lambda x: np.add(x, 1), lambda x: x.nonzero(),
    lambda x: torch.nn.functional.linear(torch.ones(1, 3), x), lambda x: x.share_memory_(), lambda x: x.__dlpack__(),
    lambda x: torch.stack([x, torch.ones(2, 3)]), lambda x: torch.where(x > 0, torch.ones(2, 3), 0.0)])
def test_no_number_comes_out(read):
    with pytest.raises((BufferError, FileNotFoundError, NotImplementedError, RuntimeError, TypeError)):
        read(meta(2, 3))


def test_a_default_device_is_of_a_thread():
    seen = []
    with torch.device("meta"):
        thread = threading.Thread(target=lambda: seen.append(torch.zeros(1).is_meta))
        thread.start()
        thread.join(10)
        seen.append(torch.zeros(1).is_meta)
        with pytest.raises(ValueError), torch.device("cpu"):
            raise ValueError
        seen.append(torch.zeros(1).is_meta)
    assert seen == [False, True, True] and not torch.zeros(1).is_meta


def test_a_layer_pickled():
    layer = pickle.loads(pickle.dumps(torch.nn.Linear(3, 2, device="meta")))
    assert layer.weight.is_meta and layer.weight.stride() == (3, 1) and layer.weight.requires_grad


def test_gradients_have_the_shapes_of_the_parameters():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4), torch.nn.GELU()).to("meta")
    model(meta(5, 3)).sum().backward()
    assert all(p.grad.is_meta and p.grad.shape == p.shape for p in model.parameters())
