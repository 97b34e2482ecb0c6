"""Devices, foreign arrays and indices that are refused; tests/parity/test_arguments.py compares them with torch."""
import copy

import numpy as np
import pytest

import tinytorch as torch


@pytest.mark.parametrize("name", ["", "cpu:", "cpu:01", "cpu:-1", "cuda:1_0", " cpu", "foo", "cuda:99999999999", -1, 0])
def test_bad_device(name):
    with pytest.raises(RuntimeError):
        torch.device(name)
    with pytest.raises(RuntimeError):
        torch.zeros(1, device=name)


def test_fields_of_records_are_refused_unless_they_lie_whole():
    packed = np.zeros(4, [("a", "u1"), ("b", "f4")])
    with pytest.raises(ValueError, match="strides not a multiple"):
        torch.from_numpy(packed["b"])
    with pytest.raises(ValueError, match="strides not a multiple"):
        torch.tensor(packed["b"])
    odd = np.zeros(4, [("a", "u1"), ("b", "f4"), ("c", "u1", (3,))])       # every 8 bytes, but from the second on
    odd["b"] = range(4)
    x = torch.from_numpy(odd["b"])
    assert x.storage_offset() == 0 and x.as_strided((2,), (4,)).tolist() == [0, 2]
    x.add_(1)
    assert odd["b"].tolist() == [1, 2, 3, 4]


def test_memory_of_an_array_made_backwards():
    x = torch.from_numpy(np.asarray(memoryview(bytearray(range(8)))[::-1])[::-1])
    assert x.storage_offset() == 0 and x.as_strided((8,), (1,)).tolist() == list(range(8))


def test_copies_of_a_view_that_reaches_past_its_base():
    """The storage of a tensor made of part of an array is all of that array."""
    base = torch.from_numpy(np.arange(6.0)[2:4])
    for size, offset in ((4, 0), (4, 2), (2, 3)):
        view = base.as_strided((size,), (1,), offset)
        assert copy.deepcopy(view).tolist() == view.tolist() == list(range(offset, offset + size))
        first, second = copy.deepcopy([base, view])
        assert first.tolist() == [2, 3] and second.tolist() == view.tolist()


def test_an_index_below_the_first_row_does_not_reach_another():
    """-4 of three rows was taken for the last element but three."""
    for index in (-4, 3, 2 ** 62, -2 ** 62, -2 ** 63):
        x = torch.arange(12.0).reshape(3, 4)
        for places in ((torch.tensor([0, index]),), (torch.tensor([0, index]), torch.tensor([0, 1]))):
            with pytest.raises(IndexError, match="out of bounds for dimension 0 with size 3"):
                x.index_put_(places, torch.ones(()), accumulate=True)
            with pytest.raises(IndexError):
                x.index_put(places, torch.ones(()), accumulate=True)
        assert x.flatten().tolist() == list(range(12))


def test_index_add_out_of_range_is_an_index_error():
    x = torch.zeros(3)
    with pytest.raises(IndexError, match="index out of range in self"):
        x.index_add_(0, torch.tensor([0, 3]), torch.ones(2))
    with pytest.raises(IndexError, match="index out of range in self"):
        x.index_reduce_(0, torch.tensor([0, -1]), torch.ones(2), "prod")
    assert x.tolist() == [0, 0, 0]


def test_arrays_and_tensors_keep_their_own_shapes():
    x, a = torch.zeros(2, 3), np.ones((2, 3), np.float32)
    given, y = x.numpy(), torch.from_numpy(a)
    given[0, 0] = a[0, 0] = 5
    for array in given, a:
        array.shape = (6,)
        array.flags.writeable = False
    assert x.shape == y.shape == (2, 3)
    assert x.add_(1)[0, 0] == 6 == y.add_(1)[0, 0] and given[0] == a[0] == 6
