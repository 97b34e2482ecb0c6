"""Devices, foreign arrays and indices that are refused; tests/parity/test_arguments.py compares them with torch."""
import collections
import copy
import warnings

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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)        # of NumPy 2.5
            array.shape = (6,)
        array.flags.writeable = False
    assert x.shape == y.shape == (2, 3)
    assert x.add_(1)[0, 0] == 6 == y.add_(1)[0, 0] and given[0] == a[0] == 6


# ------------------------------------------------------------------ tensors as ints
def test_sizes_may_be_tensors_of_one_integer():
    x, two, truth = torch.arange(8.).reshape(2, 4), torch.tensor([[2]]), torch.tensor([True])
    assert torch.topk(x, two).values.shape == x.narrow(1, 0, two).shape == (2, 2)
    assert torch.zeros(two, 3).shape == torch.zeros([two, 3]).shape == (2, 3)
    assert torch.nn.functional.max_pool1d(x, two).shape == (2, 2)
    for refused in (lambda: torch.topk(x, truth), lambda: torch.zeros(truth), lambda: x.view(8, truth)):
        with pytest.raises(RuntimeError, match="isIntegral"):
            refused()
    assert x.sum(truth).tolist() == x.sum([truth]).tolist() == [6, 22]             # a list, or one for several
    for refused in (lambda: torch.topk(x, torch.tensor([1, 1])), lambda: torch.topk(x, True),
                    lambda: torch.topk(x, np.array([1])), lambda: x.cumsum(torch.tensor([0]))):
        with pytest.raises(TypeError):
            refused()


def test_dimensions_given_one_by_one():
    """A method whose list of ints is its last argument takes them one by one, the function does not; where torch has
    two functions, for an int and for a list, a tensor of one integer is a list to the method."""
    x, one = torch.zeros(4, 1, 4, 1), torch.tensor([1])
    assert [part.shape[1] for part in x.squeeze().hsplit(1, 3)] == [1, 2, 1] and x.squeeze(1, 3).shape == (4, 4)
    assert [part.shape[1] for part in torch.ones(4, 4).hsplit(one)] == [1, 3]
    assert x.count_nonzero(0, 1).shape == (4, 1) and x.squeeze(one).shape == (4, 4, 1)
    for refused in (lambda: torch.hsplit(x, 1, 3), lambda: torch.hsplit(x, one), lambda: torch.squeeze(x, one),
                    lambda: torch.squeeze(x, 1, 3), lambda: torch.count_nonzero(x, one), lambda: x.squeeze(dim=one)):
        with pytest.raises(TypeError):
            refused()


def test_lists_by_keyword_are_lists():
    x = torch.zeros(2, 3)
    assert x.flip(dims=(0,)).shape == x.expand(size=(2, 3)).shape == (2, 3)
    for refused in (lambda: x.flip(dims=0), lambda: x.repeat(repeats=2), lambda: x.permute(dims=0)):
        with pytest.raises(TypeError, match="must be tuple of ints"):
            refused()


def test_classes_made_of_tuples_are_tuples_as_indices():
    x = torch.arange(6).reshape(2, 3)
    Place = collections.namedtuple("Place", "row column")
    assert x[Place(1, 2)].item() == 5 and x[torch.Size([1, 1])].item() == 4
    assert x[Place(slice(None), 0)].tolist() == [0, 3]
    x[Place(0, 0)] = 9
    x[Place(torch.tensor([0, 1]), 1)] = torch.tensor([7, 8])
    assert x.tolist() == [[9, 7, 2], [3, 8, 5]]


def test_what_fits_goes_the_same_way_as_what_is_looked_at():
    """The first call of a door looks at arguments in a loop, later ones in a text that was made for it: with the same
    results and errors, by position and by keyword, of Parameters as of tensors."""
    from tinytorch.autograd.public import public

    def made(function):
        function.__annotations__ = {"input": "Tensor", "dim": "int", "sizes": "Ints | None", "p": "float",
                                    "flag": "bool", "out": "Tensor | None"}
        return public(dtypes="f", out="", widen=True)(function)

    def function(input, dim=0, sizes=None, p=1.0, *, flag=False, out=None):
        return torch.tensor([dim, *(sizes or ()), p, flag, *input.shape], dtype=torch.float64)

    x, big, long, out = torch.ones(2, 3), torch.ones(2, dtype=torch.bfloat16), 2 ** 70, torch.zeros(6)
    calls = [((x,), {}), ((x, 2), {}), ((x, 2, (3, 4)), {}), ((x, 2, [3], 4), {}), ((x, 2, torch.Size([3]), 4.5), {}),
             ((torch.nn.Parameter(x), 1), {}), ((x,), {"dim": 2}), ((x,), {"sizes": [1, 2]}), ((x,), {"flag": True}),
             ((x,), {"axis": 2}), ((), {"input": x}), ((x, 2), {"p": np.float32(2)}), ((x, np.int64(2)), {}),
             ((x,), {"out": out.clone()}), ((big,), {}), ((x.long(),), {}), ((3,), {}), ((x, 1.5), {}), ((x, True), {}),
             ((x, long), {}), ((x,), {"dim": long}), ((x, 1, (long,)), {}), ((x,), {"sizes": (1.5,)}), ((x, 1, 2), {}),
             ((x,), {"flag": 1}), ((x,), {"p": long}), ((x,), {"unknown": 1}), ((), {}), ((x, 1, (2,), 3., 4), {}),
             ((x, torch.tensor(2)), {}), ((x,), {"dim": 1.5}), ((x,), {"input": x})]

    def outcome(call, args, kwargs):
        try:
            result = call(*args, **kwargs)
            return result.dtype, result.tolist()
        except Exception as error:
            return type(error), str(error)
    later = made(function)
    later(x)
    assert "door of 4 arguments" in later.__code__.co_filename
    for args, kwargs in calls:
        looked_at = made(function)
        looked_at(x)
        fallback = looked_at.__closure__[looked_at.__code__.co_freevars.index("fallback")].cell_contents
        found = outcome(later, args, dict(kwargs))
        expected = outcome(lambda *args, **kwargs: fallback(None, args, kwargs), args, dict(kwargs))
        assert found == expected, (args, kwargs)
        assert found == outcome(made(function), args, dict(kwargs)), (args, kwargs)


def test_a_copy_of_a_door_has_its_own_text():
    """Methods and aliases are copies of one function: the first call of one exchanges its own text alone, whether
    handlers see it or not."""
    from tinytorch.autograd.public import public
    from tinytorch.seam import twin

    def function(input, dim=0):
        return input
    function.__annotations__ = {"input": "Tensor", "dim": "int"}
    function = public()(function)
    for seen in (True, False):
        copy = twin(function, "copy", seen)
        assert copy(torch.ones(1), 2).tolist() == [1]
        assert "door of 2 arguments" in copy.__code__.co_filename
        assert "door of" not in function.__code__.co_filename
