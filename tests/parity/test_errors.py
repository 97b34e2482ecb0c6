"""Bad input: torch's exception type, and a message that names the shapes or dtypes as torch's does."""
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
def linear_shapes(t):
    t.nn.Linear(3, 4)(t.ones(2, 5))


@program
def linear_dtypes(t):
    t.nn.Linear(3, 4)(t.ones(2, 3, dtype=t.float64))


@program
def conv_channels(t):
    t.nn.Conv2d(3, 4, 3)(t.ones(2, 1, 8, 8))


@program
def conv_kernel_too_large(t):
    t.nn.Conv2d(1, 4, 5)(t.ones(2, 1, 3, 3))


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
def embedding_out_of_range(t):
    t.nn.Embedding(5, 2)(t.tensor([1, 9]))


@program
def embedding_of_floats(t):
    t.nn.Embedding(5, 2)(t.ones(2))


@program
def target_out_of_range(t):
    t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 3]))


@program
def target_of_floats(t):
    t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0.0, float("nan")]))


@program
def target_batch(t):
    t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 1, 2]))


@program
def bce_sizes(t):
    t.nn.functional.binary_cross_entropy(t.full((3,), 0.5), t.ones(2))


@program
def bce_outside(t):
    t.nn.functional.binary_cross_entropy(t.full((3,), 1.5), t.ones(3))


@program
def nll_dtype(t):
    t.nn.functional.nll_loss(t.ones(2, 3), t.tensor([0, 1], dtype=t.int32))


@program
def batch_norm_one_value(t):
    t.nn.BatchNorm1d(3)(t.ones(1, 3))


@program
def batch_norm_dims(t):
    t.nn.BatchNorm2d(3)(t.ones(2, 3))


@program
def layer_norm_shape(t):
    t.nn.LayerNorm(4)(t.ones(2, 3))


@program
def rnn_input_size(t):
    t.nn.RNN(3, 4)(t.ones(5, 2, 7))


@program
def gru_hidden_size(t):
    t.nn.GRU(3, 4)(t.ones(5, 2, 3), t.ones(1, 3, 4))


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
def dropout_probability(t):
    t.nn.Dropout(1.5)


@program
def load_wrong_state(t):
    t.nn.Linear(2, 3).load_state_dict({"weight": t.ones(4, 2), "extra": t.ones(1)})


@program
def no_such_device(t):
    t.ones(2, device="gpu")


@program
def optimise_nothing(t):
    t.optim.SGD([], lr=0.1)


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
def linear_dtypes_no_bias(t):
    t.nn.functional.linear(t.ones(2, 3), t.ones(4, 3, dtype=t.float64))


@program
def linear_dtypes_weight(t):
    t.nn.functional.linear(t.ones(2, 3), t.ones(4, 3, dtype=t.float64), t.ones(4))


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
def conv_weight_dims(t):
    t.nn.functional.conv1d(t.ones(1, 2, 3), t.ones(2))


@program
def embedding_weight_dims(t):
    t.nn.functional.embedding(t.tensor([0]), t.ones(2))


@program
def arange_step_lost(t):
    t.arange(0, 64, 0.5, dtype=t.int64)


@program
def negative_size_random(t):
    t.rand(2, -3)


@program
def huber_delta(t):
    t.nn.HuberLoss(delta=1j)


#: Where torch's words speak of its own C++ signatures and nothing is gained by repeating them.
OTHER_WORDS = {"add_string", "tensor_of_string", "sin_of_number", "cat_of_nothing", "modified_after_saving",
               "embedding_of_floats", "target_of_floats", "nll_dtype", "no_such_device"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_error(name):
    theirs, _ = error_of(lambda: PROGRAMS[name](torch))
    ours, _ = error_of(lambda: PROGRAMS[name](tinytorch))
    assert theirs is not None, "torch raises nothing here"
    assert type(ours) is type(theirs), f"{ours!r} for {theirs!r}"
    if name not in OTHER_WORDS:
        assert _plain(ours) == _plain(theirs)


def _plain(error):
    return re.sub(r"\s+", " ", str(error)).strip()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_empty_batch(reduction):
    """An empty batch goes through a model and a loss as in torch (a mean of nothing is NaN)."""
    for t in (torch, tinytorch):
        t.manual_seed(0)
        model = t.nn.Sequential(t.nn.Conv2d(1, 2, 3), t.nn.ReLU(), t.nn.MaxPool2d(2), t.nn.Flatten(), t.nn.Linear(18, 4))
        out = model(t.ones(0, 1, 8, 8))
        loss = t.nn.functional.cross_entropy(out, t.zeros(0, dtype=t.int64), reduction=reduction)
        result = tuple(out.shape), tuple(loss.shape), str(loss.tolist())
        if t is torch:
            expected = result
    assert result == expected


def test_nan_labels_of_probabilities():
    """Class probabilities that are NaN give a NaN loss, no error."""
    for t in (torch, tinytorch):
        loss = t.nn.functional.cross_entropy(t.ones(2, 3), t.full((2, 3), float("nan")))
        assert str(loss.item()) == "nan"


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
