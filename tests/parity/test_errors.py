"""Bad input: torch's exception type, and a message that names the shapes or dtypes as torch's does.

Those of layers, losses and optimisers are in test_errors_nn.py.
"""
import re

import pytest
import torch

import tinytorch

from .adapter import error_of


def leaf(t, *shape):
    t.manual_seed(0)
    return t.rand(*shape).requires_grad_()


PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def second_backward(t):
    y = (leaf(t, 3) ** 2).sum()
    y.backward()
    y.backward()


@program
def second_backward_fused(t):
    y = t.nn.functional.cross_entropy(t.nn.Linear(3, 4)(leaf(t, 2, 3)), t.tensor([0, 1]))
    y.backward()
    y.backward()


@program
def backward_of_vector(t):
    (leaf(t, 3) * 2).backward()


@program
def backward_without_grad(t):
    t.ones(3).sum().backward()


@program
def backward_wrong_gradient_shape(t):
    (leaf(t, 3) * 2).backward(t.ones(4))


@program
def grad_of_unused(t):
    a, b = leaf(t, 2), leaf(t, 2)
    t.autograd.grad(a.sum(), b)


@program
def in_place_on_leaf(t):
    leaf(t, 3).add_(1)


@program
def in_place_on_view_of_leaf(t):
    leaf(t, 3)[0].mul_(2)


@program
def setitem_on_leaf(t):
    leaf(t, 3)[1] = 2.0


@program
def modified_after_saving(t):
    y = leaf(t, 3).exp()
    y.add_(1)
    y.sum().backward()


@program
def numpy_of_tracked(t):
    leaf(t, 3).numpy()


@program
def integer_requires_grad(t):
    t.tensor([1, 2], requires_grad=True)


@program
def item_of_vector(t):
    t.ones(3).item()


@program
def bool_of_vector(t):
    bool(t.ones(2))


@program
def broadcast_mismatch(t):
    t.ones(2, 3) + t.ones(4)


@program
def in_place_shape(t):
    t.ones(3).add_(t.ones(2, 3))


@program
def in_place_dtype(t):
    t.ones(3, dtype=t.int64).add_(0.5)


@program
def matmul_shapes(t):
    t.ones(2, 3) @ t.ones(4, 5)


@program
def matmul_dtypes(t):
    t.ones(2, 3) @ t.ones(3, 2, dtype=t.float64)


@program
def view_size(t):
    t.ones(6).view(4, 2)


@program
def view_of_transposed(t):
    t.ones(2, 3).t().view(6)


@program
def index_out_of_range(t):
    t.ones(3)[5]


@program
def index_tensor_out_of_range(t):
    t.ones(3)[t.tensor([0, 7])]


@program
def too_many_indices(t):
    t.ones(3)[0, 0]


@program
def mean_of_integers(t):
    t.ones(3, dtype=t.int64).mean()


@program
def dim_out_of_range(t):
    t.ones(2, 3).sum(2)


@program
def cat_shapes(t):
    t.cat([t.ones(2, 3), t.ones(2, 4)], 0)


@program
def stack_shapes(t):
    t.stack([t.ones(2), t.ones(3)])


@program
def cat_of_nothing(t):
    t.cat([])


@program
def max_of_empty(t):
    t.ones(0).max()


@program
def argmax_of_empty(t):
    t.ones(0).argmax()


@program
def max_dim_of_empty(t):
    t.ones(2, 0).max(1)


@program
def expand_impossible(t):
    t.ones(2, 3).expand(4, 3)


@program
def sin_of_number(t):
    t.sin(2.0)


@program
def add_string(t):
    t.ones(2) + "a"


@program
def tensor_of_string(t):
    t.tensor("a")


@program
def ragged(t):
    t.tensor([[1, 2], [3]])


@program
def negative_size(t):
    t.ones(-1)


@program
def no_such_device(t):
    t.ones(2, device="gpu")


@program
def integer_division_by_zero(t):
    t.tensor([1, 2]) // t.tensor([0, 1])


@program
def bool_subtraction(t):
    t.tensor([True]) - t.tensor([False])


@program
def out_of_wrong_dtype(t):
    t.add(t.ones(2), 1.5, out=t.ones(2, dtype=t.int64))


@program
def out_expanded(t):
    t.add(t.ones(3), 1, out=t.ones(1).expand(3))


@program
def out_overlaps_input(t):
    x = t.arange(4.)
    t.add(x[:3], 1, out=x[1:])


@program
def out_overlaps_input_unary(t):
    x = t.arange(4.)
    t.sin(x[1:], out=x[:3])


@program
def out_is_input_of_gather(t):
    x = t.arange(3.)
    t.gather(x, 0, t.tensor([2, 1, 0]), out=x)


@program
def out_overlaps_input_of_cat(t):
    x = t.zeros(4, 6)
    t.cat((t.ones(4, 6), x), out=x[:2])


@program
def out_dtype_of_gather(t):
    t.gather(t.ones(3), 0, t.tensor([0]), out=t.ones(1, dtype=t.float64))


@program
def out_dtype_of_take(t):
    t.take(t.ones(3), t.tensor([0]), out=t.ones(1, dtype=t.float64))


@program
def out_dtype_of_index_select(t):
    t.index_select(t.ones(3), 0, t.tensor([0]), out=t.ones(1, dtype=t.float64))


@program
def out_dtype_of_multinomial(t):
    t.multinomial(t.ones(3), 1, out=t.ones(1))


@program
def store_too_large(t):
    t.zeros(3, dtype=t.int64)[0] = 2 ** 70


@program
def store_too_large_for_int32(t):
    t.zeros(3, dtype=t.int32)[0] = 2 ** 40


@program
def store_too_large_for_uint8(t):
    t.zeros(3, dtype=t.uint8)[:2] = -300


@program
def store_too_large_for_float(t):
    t.zeros(3).fill_(1e300)


@program
def store_complex(t):
    t.zeros(3)[0] = 1j


@program
def store_nan_in_integers(t):
    t.full((2,), float("nan"), dtype=t.int16)


@program
def full_too_large(t):
    t.full((2,), 2 ** 70)


@program
def masked_fill_too_large(t):
    t.zeros(2, dtype=t.int8).masked_fill(t.tensor([True, False]), 200)


@program
def add_too_large(t):
    t.zeros(2, dtype=t.int64) + 2 ** 70


@program
def subtract_mask(t):
    t.ones(2) - t.tensor([True, False])


@program
def subtract_from_mask(t):
    t.tensor([True, False]) - t.ones(2)


@program
def subtract_true(t):
    t.ones(2) - True


@program
def subtract_one_from_mask(t):
    t.tensor([True]) - 1


@program
def index_add_shape(t):
    t.zeros(3, 2).index_add(0, t.tensor([0, 2]), t.ones(2))


@program
def narrow_start(t):
    t.ones(3).narrow(0, t.tensor([1]), 1)


@program
def narrow_copy_dim(t):
    t.narrow_copy(t.ones(3, 3), 3, 1, 1)


@program
def arange_step_lost(t):
    t.arange(0, 64, 0.5, dtype=t.int64)


@program
def negative_size_random(t):
    t.rand(2, -3)


#: Where torch's words speak of its own C++ signatures and nothing is gained by repeating them.
OTHER_WORDS = {"add_string", "tensor_of_string", "sin_of_number", "cat_of_nothing", "modified_after_saving",
               "no_such_device"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_error(name):
    same_error(PROGRAMS[name], name not in OTHER_WORDS)


def same_error(function, words=True):
    """`function` raises torch's type of exception; with torch's text, if `words`."""
    theirs, _ = error_of(lambda: function(torch))
    ours, _ = error_of(lambda: function(tinytorch))
    assert theirs is not None, "torch raises nothing here"
    assert type(ours) is type(theirs), f"{ours!r} for {theirs!r}"
    if words:
        assert _plain(ours) == _plain(theirs)


def _plain(error):
    return re.sub(r"\s+", " ", str(error)).strip()


@pytest.mark.parametrize("name", ["in_place_shape", "in_place_dtype", "in_place_on_leaf", "setitem_on_leaf"])
def test_nothing_is_written(name):
    """A refused write leaves the tensor as it was."""
    x = tinytorch.zeros(3, requires_grad=True) if "leaf" in name else tinytorch.zeros(3, dtype=tinytorch.int64)
    attempts = {"in_place_shape": lambda: x.add_(tinytorch.ones(2, 3, dtype=tinytorch.int64)),
                "in_place_dtype": lambda: x.add_(0.5), "in_place_on_leaf": lambda: x.add_(1),
                "setitem_on_leaf": lambda: x.__setitem__(1, 2.0)}
    with pytest.raises(RuntimeError):
        attempts[name]()
    assert x.tolist() == [0, 0, 0] and x._version == 0
