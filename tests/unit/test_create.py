"""New tensors and the legacy types."""
import numpy as np
import pytest

import tinytorch as torch


@pytest.mark.parametrize("data, dtype", [
    (1, torch.int64), (1., torch.float32), (True, torch.bool), (1j, torch.complex64), ([True, 2], torch.int64),
    ([True, 2.], torch.float32), ([], torch.float32), (np.float64(1), torch.float64), ([np.float64(1)], torch.float64),
    (np.arange(2, dtype=np.int16), torch.int16), (range(3), torch.int64)])
def test_inferred_dtypes(data, dtype):
    assert torch.tensor(data).dtype is dtype


@pytest.mark.parametrize("data, error, text", [
    ([[1, 2], [3, 4, 5]], ValueError, r"expected sequence of length 2 at dim 1 \(got 3\)"),
    ([[1, 2], 3], TypeError, "not a sequence"), ("a", TypeError, "invalid data type 'str'"),
    (None, RuntimeError, "Could not infer dtype of NoneType"),
    (2 ** 70, ValueError, "Overflow when unpacking long long")])
def test_bad_data(data, error, text):
    with pytest.raises(error, match=text):
        torch.tensor(data)


def test_tensors_inside_sequences():
    assert torch.tensor([torch.tensor(1.), 2]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="only one element tensors"):
        torch.tensor([torch.zeros(2)])


def test_sharing():
    array = np.zeros(2)
    torch.as_tensor(array)[0] = 1
    torch.from_numpy(array)[1] = 2
    torch.tensor(array)[0] = 9
    assert array.tolist() == [1, 2]


@pytest.mark.parametrize("args, values", [((3,), [0, 1, 2]), ((1, 3), [1, 2]), ((0, 1, .5), [0, .5]),
                                          ((3, 0, -1), [3, 2, 1])])
def test_arange(args, values):
    assert torch.arange(*args).tolist() == values


def test_like_and_new():
    x = torch.ones(2, 3, dtype=torch.float64).t()
    assert torch.zeros_like(x).stride() == x.stride() and torch.full_like(x, 2, dtype=torch.int32).dtype is torch.int32
    assert x.new_zeros(4).dtype is torch.float64 and x.new_tensor([1]).dtype is torch.float64
    assert x.new([1, 2]).dtype is torch.float64


def test_python_types_as_dtypes():
    assert torch.zeros(1, dtype=float).dtype is torch.float64 and torch.tensor([1.5], dtype=int).tolist() == [1]


def test_legacy_types():
    x = torch.LongTensor([[1, 2]])
    assert isinstance(x, torch.LongTensor) and not isinstance(x, torch.FloatTensor) and type(x) is torch.Tensor
    assert torch.FloatTensor(2, 3).shape == (2, 3) and torch.FloatTensor().shape == (0,)
    assert x.type(torch.FloatTensor).dtype is torch.float32
    with pytest.raises(TypeError, match="data must be a sequence"):
        torch.FloatTensor(2.5)


def test_resize():
    x = torch.arange(6).resize_(2, 2)
    assert x.tolist() == [[0, 1], [2, 3]] and x.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]


def test_other_layouts_are_refused():
    with pytest.raises(NotImplementedError, match="strided tensors only"):
        torch.zeros(2, layout=torch.layout("sparse_coo"))
