"""Sequences that hold themselves or are nested deep: torch's error at once, where there was no end."""
import pytest

import tinytorch as torch
from tinytorch.kernels.memory import DIMENSIONS


def nested(depth, leaf=1.0):
    for _ in range(depth):
        leaf = [leaf]
    return leaf


def in_itself():
    x = []
    x.append(x)
    return x


def in_each_other():
    x = [1.0]
    x.append([x])
    return x


def further_on():
    x = [[1.0, 2.0], None]
    x[1] = x
    return x


class Mirror:
    def __len__(self):
        return 1

    def __getitem__(self, i):
        if i:
            raise IndexError(i)
        return self


MAKERS = {"tensor": torch.tensor, "as_tensor": torch.as_tensor, "asarray": torch.asarray, "Tensor": torch.Tensor,
          "FloatTensor": torch.FloatTensor, "new_tensor": torch.ones(1).new_tensor, "new": torch.ones(1).new,
          "TypedStorage": torch.TypedStorage, "with a dtype": lambda x: torch.tensor(x, dtype=torch.float32)}


@pytest.mark.parametrize("make", MAKERS)
def test_a_list_in_itself(make):
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        MAKERS[make](in_itself())


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("data", [in_each_other, further_on])
def test_a_list_in_itself_further_on(make, data):
    with pytest.raises(TypeError):
        MAKERS[make](data())


@pytest.mark.parametrize("data", [Mirror(), [Mirror()], (Mirror(), 1.0)])
def test_other_sequences_in_themselves(data):
    with pytest.raises(ValueError, match="too many dimensions 'Mirror'"):
        torch.tensor(data)


@pytest.mark.parametrize("depth", [DIMENSIONS + 1, 100, 128])
@pytest.mark.parametrize("leaf", [1, 1.0, True, "a", [], torch.tensor(1.0)])
def test_more_dimensions_than_an_array_has(depth, leaf):
    with pytest.raises((RuntimeError, ValueError), match=f"up to {DIMENSIONS} dims|too many dimensions"):
        torch.tensor(nested(depth, leaf))


@pytest.mark.parametrize("depth", [129, 1000, 100_000])
def test_too_deep(depth):
    data = nested(depth)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        torch.tensor(data)


def test_as_deep_as_an_array_goes():
    assert torch.tensor(nested(DIMENSIONS)).shape == (1,) * DIMENSIONS


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("index", [in_itself, lambda: (in_itself(),), lambda: ([0, in_itself()],)])
def test_as_an_index(index):
    x = torch.ones(2)
    with pytest.raises((TypeError, ValueError)):
        x[index()]
    with pytest.raises((TypeError, ValueError)):
        x[index()] = 5.0
    assert x.tolist() == [1, 1]


def test_as_a_value():
    x = torch.ones(2)
    with pytest.raises(TypeError, match="can't assign a list"):
        x[0] = in_itself()
    assert x.tolist() == [1, 1]
    with pytest.raises(TypeError):
        torch.scalar_tensor(in_itself())
