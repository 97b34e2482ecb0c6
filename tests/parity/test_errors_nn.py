"""Bad input to layers, losses and optimisers: torch's exception type and message; and what looks bad but is not."""
import warnings

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


#: Programs of one line, by layer: F is nn.functional, `one(2, 3)` a tensor of ones, `c(0, 1)` int64 classes.
LINES = """
nn.Linear(3, 4)([1.]); nn.Linear(3, 4)(None); nn.Linear(3, 4)(t.tensor(1.)); F.layer_norm([1.], (1,))
nn.Sequential(nn.Embedding(5, 2))([1, 2]); nn.Embedding(5, 2)(1); F.embedding(one(3, 2), c(0)); F.one_hot([1])
F.relu([1.]); F.gelu([1.]); F.silu([1.]); F.elu([1.]); F.pad([1.], (1, 1)); F.kl_div([.5], [1.])
F.cross_entropy([1.], c(0)); F.cross_entropy(one(2, 3), [0, 1]); F.nll_loss(one(2, 3), [0, 1])
F.cross_entropy(one(2, 3), one(2, 3).long()); F.cross_entropy(t.tensor(1.), t.tensor(1))
F.cross_entropy(one(2, 3, 4, 5), one(2, 5, 4).long()); F.cross_entropy(one(2, 3), c(0, 1), label_smoothing=1.5)
F.nll_loss(t.tensor(1.), t.tensor(0)); F.nll_loss(one(2, 3, 2, 2), one(2, 2, 2).long(), weight=one(2))
F.binary_cross_entropy(one(3) / 2, one(3) * 2); F.binary_cross_entropy(one(1) / 2, t.tensor([float("nan")]))
F.binary_cross_entropy_with_logits(one(2).long(), one(2)); F.kl_div(one(2).long(), one(2).long())
F.multi_margin_loss(one(2, 3), c(0, 1), weight=one(2)); nn.BatchNorm1d(3)(one(2, 3).double())
nn.BatchNorm1d(3).eval()(one(2, 3).double()); nn.BatchNorm1d(3)(one(2, 3).long())
nn.BatchNorm1d(3).double()(one(2, 3)); nn.BatchNorm2d(3)(one(2, 3, 2, 2).double())
nn.LayerNorm(3)(one(2, 3).double()); nn.LayerNorm(3).double()(one(2, 3)); nn.LayerNorm(3)(one(2, 3).long())
nn.GroupNorm(1, 3)(one(2, 3).double()); nn.InstanceNorm1d(3, affine=True)(one(2, 3, 4).double())
F.layer_norm(one(2, 4), (4,), one(4), one(4).double()); F.layer_norm(one(2, 4), 4); F.rms_norm(one(2, 4), 4)
F.rms_norm(one(2, 4).long(), (4,)); nn.Conv1d(3, 4, 3)(one(2, 3, 8).double())
nn.Conv2d(3, 4, 3)(one(2, 3, 8, 8).long()); nn.Conv1d(4, 4, 0)(one(1, 4, 8))
nn.Conv2d(1, 1, 3, bias=False)(one(1, 1, 8, 8).double()); nn.Conv1d(4, 4, 3, dilation=0)(one(1, 4, 8))
F.conv2d(one(1, 1, 5, 5), one(1, 1, 0, 3)); nn.Conv1d(4, 4, (3, 3))(one(1, 4, 8))
nn.Conv2d(1, 4, 3, padding=2)(one(2, 1, 0, 8)); F.conv_transpose2d(one(1, 1, 0, 5), one(1, 1, 3, 3))
F.conv_transpose2d(one(1, 1, 5, 5).double(), one(1, 1, 3, 3), one(1)); F.max_pool1d(one(1, 0, 5), 2)
F.max_pool2d(one(1, 1, 4, 4), 2.5); F.max_pool2d(one(1, 1, 4, 4), 2, padding=.5); F.avg_pool2d(one(2, 2), 2)
F.avg_pool2d(one(1, 1, 1, 2, 2), 2); nn.ReflectionPad2d(4)(one(1, 1, 4, 4))
F.pad(one(1, 1, 4, 4), (0, 0, 4, 0), mode="reflect"); F.pad(one(2, 2), (1, 1, 1, 1), mode="reflect")
F.pad(one(2, 2), 1); F.pad(one(2, 2), (1.5, 1)); nn.EmbeddingBag(5, 2)(c(1, 2), c(0, 3))
nn.LSTMCell(3, 4)(one(2, 3), one(2, 4)); t.zeros(2, 3).scatter_add(1, c(0).view(1, 1), 1.)
t.arange(0, 5, float("nan")); one(3).__delitem__(0); t.bincount(one(2)); t.optim.Adam([one(2)], betas=(.9,))
"""


@pytest.mark.parametrize("line", LINES.strip().replace("\n", "; ").split("; "))
def test_same_error_of_line(line):
    same_error(lambda t: eval(line, {"t": t, "nn": t.nn, "F": t.nn.functional, "one": t.ones,
                                     "c": lambda *values: t.tensor(values)}))


def test_mixed_precision_norms():
    """A half-precision input may meet single-precision parameters; no other mixture."""
    for t in (torch, tinytorch):
        result = [t.nn.functional.layer_norm(t.arange(4).to(dtype), (4,), t.ones(4)).dtype
                  for dtype in (t.float16, t.bfloat16)]
        assert [str(d) for d in result] == ["torch.float16", "torch.bfloat16"]


@pytest.mark.parametrize("line", [
    "F.cross_entropy(x, c, label_smoothing=-0.5)", "F.mse_loss(x, x, reduction='elementwise_mean')",
    "F.dropout3d(x[0], 0.5)", "F.dropout3d(x, 0.5)", "x.softmax(axis=1)", "x.log_softmax(axis=0)",
    "F.conv1d(x.unsqueeze(1), x[:1, :2].unsqueeze(1), padding='same')"])
def test_accepted(line):
    """What torch lets pass: the same values and warnings."""
    results = []
    for t in (torch, tinytorch):
        t.manual_seed(0)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            torch.set_warn_always(True)        # some it gives once in a process
            value = eval(line, {"F": t.nn.functional, "x": t.arange(6.0).reshape(2, 3), "c": t.tensor([0, 2])})
            torch.set_warn_always(False)
        results.append((value.flatten().tolist(), [str(w.message).split(" (Trig")[0] for w in found]))
    assert results[0][0] == pytest.approx(results[1][0])
    assert results[0][1] == results[1][1]


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
