"""Bad input to layers, losses and optimisers: torch's exception type and message; and what looks bad but is not."""
import pytest
import torch

import tinytorch
from .test_errors import same_error


def linear_shapes(t):
    t.nn.Linear(3, 4)(t.ones(2, 5))


def linear_dtypes(t):
    t.nn.Linear(3, 4)(t.ones(2, 3, dtype=t.float64))


def conv_channels(t):
    t.nn.Conv2d(3, 4, 3)(t.ones(2, 1, 8, 8))


def conv_kernel_too_large(t):
    t.nn.Conv2d(1, 4, 5)(t.ones(2, 1, 3, 3))


def embedding_out_of_range(t):
    t.nn.Embedding(5, 2)(t.tensor([1, 9]))


def embedding_of_floats(t):
    t.nn.Embedding(5, 2)(t.ones(2))


def target_out_of_range(t):
    t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 3]))


def target_of_floats(t):
    t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0.0, float("nan")]))


def target_batch(t):
    t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 1, 2]))


def bce_sizes(t):
    t.nn.functional.binary_cross_entropy(t.full((3,), 0.5), t.ones(2))


def bce_outside(t):
    t.nn.functional.binary_cross_entropy(t.full((3,), 1.5), t.ones(3))


def nll_dtype(t):
    t.nn.functional.nll_loss(t.ones(2, 3), t.tensor([0, 1], dtype=t.int32))


def batch_norm_one_value(t):
    t.nn.BatchNorm1d(3)(t.ones(1, 3))


def batch_norm_dims(t):
    t.nn.BatchNorm2d(3)(t.ones(2, 3))


def layer_norm_shape(t):
    t.nn.LayerNorm(4)(t.ones(2, 3))


def rnn_input_size(t):
    t.nn.RNN(3, 4)(t.ones(5, 2, 7))


def gru_hidden_size(t):
    t.nn.GRU(3, 4)(t.ones(5, 2, 3), t.ones(1, 3, 4))


def dropout_probability(t):
    t.nn.Dropout(1.5)


def load_wrong_state(t):
    t.nn.Linear(2, 3).load_state_dict({"weight": t.ones(4, 2), "extra": t.ones(1)})


def optimise_nothing(t):
    t.optim.SGD([], lr=0.1)


def linear_dtypes_no_bias(t):
    t.nn.functional.linear(t.ones(2, 3), t.ones(4, 3, dtype=t.float64))


def linear_dtypes_weight(t):
    t.nn.functional.linear(t.ones(2, 3), t.ones(4, 3, dtype=t.float64), t.ones(4))


def conv_weight_dims(t):
    t.nn.functional.conv1d(t.ones(1, 2, 3), t.ones(2))


def embedding_weight_dims(t):
    t.nn.functional.embedding(t.tensor([0]), t.ones(2))


def huber_delta(t):
    t.nn.HuberLoss(delta=1j)


PROGRAMS = [linear_shapes, linear_dtypes, conv_channels, conv_kernel_too_large, embedding_out_of_range,
            embedding_of_floats, target_out_of_range, target_of_floats, target_batch, bce_sizes, bce_outside,
            nll_dtype, batch_norm_one_value, batch_norm_dims, layer_norm_shape, rnn_input_size, gru_hidden_size,
            dropout_probability, load_wrong_state, optimise_nothing, linear_dtypes_no_bias, linear_dtypes_weight,
            conv_weight_dims, embedding_weight_dims, huber_delta]

#: Where torch's words speak of its own C++ signatures and nothing is gained by repeating them.
OTHER_WORDS = {embedding_of_floats, target_of_floats, nll_dtype}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_error(program):
    same_error(program, program not in OTHER_WORDS)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_empty_batch(reduction):
    """An empty batch goes through a model and a loss as in torch (a mean of nothing is NaN)."""
    for t in (torch, tinytorch):
        t.manual_seed(0)
        model = t.nn.Sequential(t.nn.Conv2d(1, 2, 3), t.nn.ReLU(), t.nn.MaxPool2d(2), t.nn.Flatten(),
                                t.nn.Linear(18, 4))
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
