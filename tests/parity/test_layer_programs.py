"""Layers, losses and norms where memory orders, dtypes and special values meet: programs run under both libraries and
compared line by line, strides included."""
import pytest
import torch

import tinytorch

from .adapter import skip_without_avx512
from .fuzz.program import run


def _numbers(shape, dtype="float32"):
    n = 1
    for m in shape:
        n *= m
    return f"((T.arange({n}.) * 7 % 23 - 11) / 4).reshape({shape}).to(T.{dtype})"


def _gradient(wrt, of="y", create_graph=False):
    first = f"T.autograd.grad(loss({of}), [{wrt}], create_graph={create_graph}, allow_unused=True)"
    if not create_graph:
        return ["g = " + first]
    squares = ", ".join(f"{name} * {name}" for name in wrt.split(", "))
    return [f"h = {first}", "g = [e.detach() for e in h]", f"gg = T.autograd.grad(loss({squares}, *h), [{wrt}])",
            "h = None"]


POOLS = ["avg_pool1d(x, 3, 2)", "max_pool1d(x, 3, 2)", "adaptive_avg_pool1d(x, 2)", "adaptive_max_pool1d(x, 2)",
         "lp_pool1d(x, 2., 2, 1)", "lp_pool1d(x, np.inf, 2, 1)"]


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("call, sizes", [
    *[(call, sizes) for call in POOLS for sizes in [(1, 5, 3), (2, 5, 3)]],
    *[(call, (2, 1, 3)) for call in POOLS if "adaptive" in call]])
def test_pools_by_pixel(call, sizes, dtype, grad):
    """One axis, whose memory has the channels last."""
    lines = [f"x = {_numbers(sizes, dtype)}.transpose(1, 2)"]
    run([*lines, *["x.requires_grad_()"] * grad, f"y = F.{call}", *_gradient("x") * grad])


@pytest.mark.parametrize("indices", [False, True])
@pytest.mark.parametrize("gradient", ["T.ones_like(y)", "T.ones(y.shape)"])
def test_max_pool3d_of_one_example(gradient, indices):
    run([f"x = {_numbers((2, 2, 3, 6, 4))}.to(memory_format=T.channels_last_3d)[0].detach().requires_grad_()",
         f"y = F.max_pool3d(x, (3, 3, 1), (3, 2, 1), return_indices={indices})", *["y, i = y"] * indices,
         f"g = T.autograd.grad(y, [x], {gradient})"])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("batch, groups, padding", [(2, 1, 1), (1, 1, 1), (1, 2, 1), (2, 1, 2)])
def test_transposed_convolutions_without_elements(n, dtype, batch, groups, padding):
    skip_without_avx512(dtype == "bfloat16" and padding == 1)
    sizes = (batch, 2) + (1,) * n
    run([f"x = {_numbers(sizes, dtype)}.requires_grad_()", f"w = {_numbers((2, 1) + (2,) * n, dtype)}.requires_grad_()",
         f"y = F.conv_transpose{n}d(x, w, None, padding={padding}, groups={groups})", *_gradient("x, w")])


@pytest.mark.parametrize("channels", [1, 2])
def test_convolutions_of_pixels(channels):
    run([f"x = {_numbers((2, 5, 3))}.transpose(1, 2).requires_grad_()",
         f"w = {_numbers((channels, 3, 2))}.requires_grad_()", "y = F.conv1d(x, w)", *_gradient("x, w")])


# ------------------------------------------------------------------ norms
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("last", [False, True])
def test_group_norm(last, groups, create_graph):
    run([f"x = {_numbers((2, 4, 3, 5))}{'.to(memory_format=T.channels_last)' * last}.requires_grad_()",
         "w = (T.arange(4.) + 1).requires_grad_()", "b = T.arange(4.).requires_grad_()",
         f"y = F.group_norm(x, {groups}, w, b)", *_gradient("x, w, b", create_graph=create_graph)])


@pytest.mark.parametrize("sizes", [(2, 4, 0, 3), (0, 4, 2, 3)])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("norm", ["group_norm(x, 2, w, b)", "batch_norm(x, T.ones(4), T.ones(4), w, b, True)"])
def test_norms_of_nothing(norm, create_graph, sizes):
    run([f"x = T.zeros({sizes}).requires_grad_()", "w = (T.arange(4.) + 1).requires_grad_()",
         "b = T.arange(4.).requires_grad_()", f"y = F.{norm}", *_gradient("x, w, b", create_graph=create_graph)])


@pytest.mark.parametrize("kept", ["same", "float32"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_layer_norm_adds_up_rows(dtype, kept):
    """The gradients of weight and bias are rounded after each row."""
    kept = dtype if kept == "same" else kept
    run([f"x = {_numbers((40, 5), dtype)}.requires_grad_()", f"w = T.ones(5, dtype=T.{kept}).requires_grad_()",
         f"b = T.ones(5, dtype=T.{kept}).requires_grad_()", "y = F.layer_norm(x, (5,), w, b)",
         f"g = T.autograd.grad(y, [w, b], ((T.arange(200.) * 11 % 37 - 15) / 7).reshape(40, 5).to(T.{dtype}))"])


@pytest.mark.parametrize("order", [(2, 0, 3, 1), (0, 2, 1, 3), (0, 3, 2, 1), (3, 0, 2, 1)])
@pytest.mark.parametrize("sizes", [(1, 3, 4, 5), (2, 3, 1, 5), (2, 3, 4, 1)])
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_by_channels_last(training, sizes, order):
    """The strides of sizes of 1 do not count."""
    back = [order.index(d) for d in range(4)]
    run([f"x = {_numbers(tuple(sizes[d] for d in order))}.permute({back}).requires_grad_()",
         f"y = F.batch_norm(x, T.zeros(3), T.ones(3), training={training})",
         "g = T.autograd.grad(y, [x], T.ones(y.shape))"])      # torch reads some others in a wrong order


@pytest.mark.parametrize("dtype, affine", [("float16", False), ("float16", True), ("bfloat16", True)])
def test_instance_norm_moves_statistics(dtype, affine):
    run([f"x = {_numbers((2, 3, 4), dtype)}", "m, v = T.zeros(3) + .123, T.ones(3) * .777",
         f"w = {'T.ones(3)' if affine else None}", "y = F.instance_norm(x, m, v, w, w)", "s = [m, v]"])


@pytest.mark.parametrize("kept", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rms_norm_of_two_dtypes(dtype, kept):
    run([f"x = {_numbers((2, 3), dtype)}.requires_grad_()", f"w = T.arange(3.).to(T.{kept}).requires_grad_()",
         "y = F.rms_norm(x, (3,), w)", "g = T.autograd.grad(y.double().sum(), [x, w])"])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_local_response_norm_takes_views(dtype):
    run([f"x = {_numbers((2, 3, 2, 4, 2), dtype)}.transpose(4, 3)", "y = F.local_response_norm(x, 2)"])


# ------------------------------------------------------------------ losses
LOSSES = ["binary_cross_entropy_with_logits(x, t.sigmoid(), reduction=R)", "huber_loss(x, t, reduction=R)",
          "binary_cross_entropy_with_logits(x, t.sigmoid(), pos_weight=T.tensor(2.), reduction=R)",
          "binary_cross_entropy_with_logits(x, t.sigmoid(), T.tensor(2., dtype=T.float64), reduction=R)",
          "smooth_l1_loss(x, t, reduction=R)", "soft_margin_loss(x, t.sign(), reduction=R)",
          "hinge_embedding_loss(x, t.sign(), reduction=R)", "kl_div(x, t, log_target=True, reduction=R)",
          "poisson_nll_loss(x, t.abs(), reduction=R)", "gaussian_nll_loss(x, t, t.abs(), reduction=R)",
          "margin_ranking_loss(x, x * 2, t.sign(), reduction=R)"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("which", ["x", "t", "both"])
@pytest.mark.parametrize("call", LOSSES)
def test_losses_in_order(call, which, dtype):
    """Those that are not added up lie in memory by the operand that torch's formula reads first."""
    plain, turned = _numbers((3, 4), dtype), f"{_numbers((4, 3), dtype)}.t()"
    run([f"x = {plain if which == 't' else turned}", f"t = {plain if which == 'x' else turned}",
         f"y = F.{call.replace('R', repr('none'))}"])


@pytest.mark.parametrize("dtypes", [("float64", "bfloat16"), ("bfloat16", "float32"), ("float32", "float16")])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("call", LOSSES[:4])
def test_losses_of_two_dtypes(call, reduction, dtypes):
    run([f"x = {_numbers((3, 4), dtypes[0])}", f"t = {_numbers((3, 4), dtypes[1])}", "x.requires_grad_()",
         f"y = F.{call.replace('R', repr(reduction))}", "d = y.dtype == x.dtype, y.dtype == t.dtype",
         *(["g = T.autograd.grad(loss(y), [x])"] if "huber" in call else [])])


@pytest.mark.parametrize("call", ["huber_loss(x, t, delta=1.)", "smooth_l1_loss(x, t, beta=1.)"])
def test_curvature_at_the_edge(call):
    run(["x = T.tensor([0., 1., -1., .5, 3., float('nan')]).requires_grad_()", "t = T.zeros(6)",
         f"y = F.{call[:-1]}, reduction='sum')", *_gradient("x", create_graph=True)])


# ------------------------------------------------------------------ activations, dropout, recurrent layers
@pytest.mark.parametrize("value", ["0.", "float('nan')", "float('inf')", "1.", "-1.", "-0."])
def test_prelu_twice(value):
    """At 0 the second derivative is that of positive numbers, at NaN of negative ones."""
    run([f"x = T.tensor([{value}]).requires_grad_()", "w = T.tensor([.25]).requires_grad_()",
         "o = T.tensor([3.]).requires_grad_()", "y = F.prelu(x, w)",
         "gh = T.autograd.grad(y, [x, w], o, create_graph=True)",
         "gg = T.autograd.grad(gh[0], [x, w, o], retain_graph=True)",
         "ggg = T.autograd.grad(gh[1], [x, o], retain_graph=True)"] if value != "float('inf')" else [
         f"x = T.tensor([{value}]).requires_grad_()", "w = T.tensor([.25]).requires_grad_()", "y = F.prelu(x, w)",
         "g = T.autograd.grad(y, [x, w])"])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_numbers_beside_expanded(dtype):
    run([f"x = T.ones(1, 2, dtype=T.{dtype}).expand(3, 2)", "y = x * 2", "z = x * .5", "w = F.relu_(x * 1)"])


@pytest.mark.parametrize("layer", ["Dropout2d(.5)", "FeatureAlphaDropout()", "AlphaDropout()", "LogSigmoid()",
                                   "RReLU()"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_layers_in_order(layer, dtype):
    run(["T.manual_seed(3)", f"x = {_numbers((4, 2, 3, 5), dtype)}.transpose(0, 1)", f"m = T.nn.{layer}", "y = m(x)"])


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_packed_sequences_of_another_dtype(kind):
    run([f"m = T.nn.{kind}(1, 2)", "x = T.nn.utils.rnn.pack_padded_sequence(T.ones(2, 1, 1).double(), [2])",
         "y = m(x)[0]"])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_lstm_of_half_precision(dtype, packed):
    """Which of them is computed step by step shows in what the gradients are rounded to."""
    given = "T.nn.utils.rnn.pack_padded_sequence(x, [2, 1])" if packed else "x"
    run(["T.manual_seed(3)", f"m = T.nn.LSTM(3, 2).to(T.{dtype})", "p = list(m.parameters())",
         f"x = {_numbers((2, 2, 3), dtype)}.requires_grad_()", f"y = m({given})[0]", *["y = y.data"] * packed,
         *_gradient("x, *p")])


@pytest.mark.parametrize("call", ["multi_margin_loss(x, t, reduction='none')",
                                  "multi_margin_loss(x, t, p=2, weight=w, reduction='none')",
                                  "multilabel_margin_loss(x, u, reduction='none')"])
def test_margins_of_special_values(call):
    """NaN is beyond no margin."""
    run(["e = float('nan'); f = float('inf')",
         "x = T.tensor([[e, 0., 1.], [0., e, 1.], [1., 0., e], [f, 1., 0.], [1., -f, f]]).requires_grad_()",
         "t = T.tensor([0, 1, 0, 0, 1])", "w = T.tensor([.5, 2., 1.])",
         "u = T.tensor([[0, -1, -1], [1, 0, -1], [2, -1, -1], [1, -1, -1], [0, 1, -1]])",
         f"y = F.{call}", "g = T.autograd.grad(loss(y), x)"])


@pytest.mark.parametrize("call", ["multi_margin_loss(x, t, weight=w)", "nll_loss(x, t, weight=w)"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64"])
def test_class_weights_of_another_dtype(call, dtype):
    run(["x = T.eye(2)", "t = T.tensor([1, 1])", f"w = T.ones(2, dtype=T.{dtype})", f"y = F.{call}"])


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "complex64"])
@pytest.mark.parametrize("sizes", ["(2,)", "(1, 2)", "(3, 2)"])
@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_bce_weight_of_another_dtype(dtype, sizes, reduction):
    """The loss is multiplied in place: it keeps its dtype and its shape."""
    run(["x = T.full((3, 2), .3).requires_grad_()", f"w = ((T.arange(6.) + 1)[:int(np.prod({sizes}))] / 4)",
         f"w = w.reshape({sizes}).to(T.{dtype})", f"y = F.binary_cross_entropy(x, x.detach() + .1, w, "
         f"reduction={reduction!r})", *_gradient("x", create_graph=True)])
    run(["x = T.tensor([.3, .6])", f"w = T.ones(2, 2, dtype=T.{dtype})", "y = F.binary_cross_entropy(x, x, w)"])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("parameters", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [(3, 2, 2, 4), (3, 2, 2, 4, 2)])
def test_rms_norm_with_channels_last(sizes, parameters, dtype):
    last = "channels_last" + "_3d" * (len(sizes) == 5)
    for n in range(1, len(sizes) + 1):
        run([f"x = {_numbers(sizes, dtype)}.to(memory_format=T.{last})",
             f"w = {_numbers(sizes[-n:], parameters)}.requires_grad_()", f"y = F.rms_norm(x, {sizes[-n:]}, w, .1)"])


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64"])
def test_adaptive_pools_of_nothing(n, kind, dtype):
    """Which sizes may be 0, and of what dtypes nothing can be pooled."""
    for lead in ((0,), (2,), (0, 0), (0, 2), (2, 0), (2, 2)):
        for size in ((0,) * n, (2,) * n, (2,) * (n - 1) + (0,)):
            for out in (0, 1, 2):
                run([f"x = T.zeros({lead + size}, dtype=T.{dtype})", f"y = F.adaptive_{kind}_pool{n}d(x, {out})"])


@pytest.mark.parametrize("mode", ["reflect", "replicate", "constant"])
@pytest.mark.parametrize("sizes, last", [((2, 3, 3, 1, 3), "channels_last_3d"), ((2, 3, 1, 3), "channels_last")])
def test_gradients_of_pads_to_nothing(mode, sizes, last):
    run([f"x = T.ones({sizes}).to(memory_format=T.{last}).requires_grad_()",
         f"y = F.pad(x, {(0, 0, 0, -1) + (0, 0) * (len(sizes) == 5)}, {mode!r})", *_gradient("x")])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("exponent", ["1 / 3", "-2 / 3", ".7", "1.3", "-1.5", "3.", "2.5"])
def test_derivatives_of_powers_of_half_precision(dtype, exponent):
    """They are those of the number itself, not of what the dtype keeps of it: equal to the last bit."""
    run([f"x = (T.arange(1, 600.) * 3.7).to(T.{dtype}).requires_grad_()", f"y = x.pow({exponent})",
         "g, = T.autograd.grad(y.sum(), x)", f"e = {exponent} * x.detach().pow({exponent} - 1)"])
    for t in (torch, tinytorch):
        x = (t.arange(1, 600.) * 3.7).to(getattr(t, dtype)).requires_grad_()
        number = eval(exponent)
        g, = t.autograd.grad(x.pow(number).sum(), x)
        assert t.equal(g, number * x.detach().pow(number - 1))
