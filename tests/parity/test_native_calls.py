"""Layers and losses as torch's C++ has them, false quantisation, conv_tbc and rare names, as in torch."""
import numpy as np
import pytest
import torch

import tinytorch
import tinytorch.ops.nn.native_calls

from .test_names_of_libraries import BOTH, told

RNG = np.random.default_rng(3)
A, B, C = (RNG.normal(size=(4, 5)).astype(np.float32) for _ in range(3))
SIGNS, PROB, W, V = np.float32([1, -1, 1, -1]), RNG.random((4, 5), np.float32), RNG.random(5, np.float32), RNG.random(
    5, np.float32)
TIMES, KERNEL, BIAS = (RNG.normal(size=s).astype(np.float32) for s in ((6, 2, 3), (2, 3, 4), (4,)))
LOGITS = RNG.normal(size=(6, 2, 4)).astype(np.float32)

CALLS = {
    "batch_norm": (lambda t, x, w, b: t.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, False), A, W, V),
    "batch_norm of statistics": (lambda t, x, w, v: t.batch_norm(x, None, None, w, v, False, 0.1, 1e-5, True), A, W, V),
    "instance_norm": (lambda t, x: t.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, False), TIMES),
    "embedding": (lambda t, w: t.embedding(w, t.tensor([[0, 2], [1, 0]]), 1), A),
    "embedding without padding": (lambda t, w: t.embedding(w, t.tensor([0, 2, 0])), A),
    "kl_div": (lambda t, x, y: t.kl_div(x, y, 2), A, PROB), "kl_div none": (lambda t, x, y: t.kl_div(x, y, 0), A, PROB),
    "kl_div of logs": (lambda t, x, y: t.kl_div(x, y, log_target=True), A, B),
    "bce": (lambda t, x, y: t.binary_cross_entropy_with_logits(x, y, None, t.tensor(W), 2), A, PROB),
    "cosine": (lambda t, x, y, s: t.cosine_embedding_loss(x, y, s, 0.1, 0), A, B, SIGNS),
    "hinge": (lambda t, x: t.hinge_embedding_loss(x, t.tensor(SIGNS)[:, None].expand(4, 5), 0.5, 1), A),
    "ranking": (lambda t, x, y, s: t.margin_ranking_loss(x[:, 0], y[:, 0], s, 0.1, 2), A, B, SIGNS),
    "poisson": (lambda t, x, y: t.poisson_nll_loss(x, y, True, True, 1e-8, 1), A, PROB),
    "triplet": (lambda t, x, y, z: t.triplet_margin_loss(x, y, z, 1.0, 2, 1e-6, True, 0), A, B, C),
    "ctc_loss": (lambda t, x: t.ctc_loss(x.log_softmax(2), t.tensor([[1, 2], [3, 1]]), [6, 5], [2, 2], 0, 0), LOGITS),
    "ctc_loss of tensors": (lambda t, x: t.ctc_loss(x.log_softmax(2), t.tensor([[1, 2], [3, 1]]), t.tensor([6, 5]),
                                                    t.tensor([2, 2])), LOGITS),
    "frobenius_norm": (lambda t, x: t.frobenius_norm(x, 1), A),
    "frobenius_norm of matrices": (lambda t, x: t.frobenius_norm(x, [0, 2], True), TIMES),
    **{f"norm_except_dim {p} {d}": (lambda t, x, p=p, d=d: t.norm_except_dim(x, p, d), TIMES)
       for p in (1, 2) for d in (-1, 0, 1, 2)},
    **{f"conv_tbc {pad}": (lambda t, x, w, b, pad=pad: t.conv_tbc(x, w, b, pad), TIMES, KERNEL, BIAS)
       for pad in (0, 2, -1)},
    "F.conv_tbc": (lambda t, x, w, b: t.nn.functional.conv_tbc(x, w, b), TIMES, KERNEL, BIAS),
    "conv_tbc of nothing": (lambda t, x, w, b: t.conv_tbc(x[:1], w, b), TIMES, KERNEL, BIAS),
    "fake_quantize": (lambda t, x: t.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 20), A),
    "fake_quantize by tensors": (lambda t, x: t.fake_quantize_per_tensor_affine(
        x, t.tensor(0.1), t.tensor(3, dtype=t.int32), 0, 20), A),
    "fake_quantize of channels": (lambda t, x: t.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2, 0.3, 0.4]), t.tensor([0, 1, 2, -3], dtype=t.int32), 0, -5, 5), A),
    "fake_quantize of columns": (lambda t, x: t.fake_quantize_per_channel_affine(
        x, t.tensor(W), t.tensor([0.0, 0.5, 1.0, 2.0, -9.0]), 1, -5, 5), A),
}


def steps(x):
    return [step for step, n in zip(x.stride(), x.shape) if n > 1]


@pytest.mark.filterwarnings("ignore:at..frobenius_norm")
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name):
    call, *arrays = CALLS[name]
    found = []
    for t in BOTH:
        inputs = [t.tensor(x).requires_grad_("statistics" not in name or i == 0) for i, x in enumerate(arrays)]
        result = call(t, *inputs)
        (result * result).sum().backward()
        found.append((result, [x.grad for x in inputs]))
    (theirs, their_grads), (ours, our_grads) = found
    assert ours.shape == tuple(theirs.shape) and steps(ours) == steps(theirs)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=2e-5, atol=1e-5)
    for a, b in zip(our_grads, their_grads):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-4)


def fake(*args, dtype="float32"):
    return lambda t: t.fake_quantize_per_tensor_affine(
        t.tensor([-2.0, 0.25, 0.35, -0.05, float("inf"), -float("inf"), float("nan")]).to(getattr(t, dtype)), *args)


def channels(scale, zero, **options):
    return lambda t: t.fake_quantize_per_channel_affine(t.ones(3, 4), t.tensor(scale), t.tensor(
        zero, **{k: getattr(t, v) for k, v in options.items()}), 0, -5, 5)


def tbc(x, w, b, dtype="float32"):
    def call(t):
        x_, w_, b_ = [t.ones(s) for s in (x, w, b)]
        return t.conv_tbc(x_.to(getattr(t, dtype)), w_, b_)
    return call


NAMES = {
    "ties": fake(0.1, 3, 0, 20), "half": fake(0.1, 3, 0, 20, dtype="float16"),
    "bfloat16": fake(0.1, 3, 0, 20, dtype="bfloat16"), "double": fake(0.1, 3, 0, 20, dtype="float64"),
    "int": fake(0.1, 3, 0, 20, dtype="int32"), "limits": fake(0.1, 3, 20, 0), "zero": fake(0.1, 33, 0, 20),
    "channels": channels([0.1, 0.2], [0, 1], dtype="int32"), "long": channels([0.1] * 3, [0, 1, 2]),
    "zero of channels": channels([0.1] * 3, [0, 1, 9], dtype="int32"),
    "flat": tbc((5, 2), (2, 3, 4), (4,)), "flat weight": tbc((5, 2, 3), (2, 3), (4,)),
    "bias": tbc((5, 2, 3), (2, 3, 4), (1, 4)), "in": tbc((5, 2, 3), (2, 2, 4), (4,)),
    "out": tbc((5, 2, 3), (2, 3, 4), (3,)), "long weight": tbc((5, 2, 3), (7, 3, 4), (4,)),
    "dtypes of conv_tbc": tbc((5, 2, 3), (2, 3, 4), (4,), "float64"),
    "no bias": lambda t: t.conv_tbc(t.ones(5, 2, 3), t.ones(2, 3, 4), None),
    "order": lambda t: [x.dim_order() for x in (
        t.ones(2, 3, 4, 5).to(memory_format=t.channels_last), t.ones(2, 3).t(), t.ones(2, 1, 3), t.ones(()),
        t.ones(2, 2).expand(3, 2, 2), t.ones(2, 3, 4).permute(2, 0, 1), t.ones(3, 1, 1, 4).transpose(0, 3))],
    "one order": lambda t: t.ones(2, 3, 4, 5).dim_order(ambiguity_check=True),
    "two orders": lambda t: t.ones(2, 1, 4, 5).dim_order(ambiguity_check=True),
    "two formats": lambda t: t.ones(2, 1, 4, 5).dim_order(ambiguity_check=[t.contiguous_format, t.channels_last]),
    "one format": lambda t: t.ones(2, 3, 4, 5).dim_order(ambiguity_check=[t.contiguous_format, t.channels_last]),
    "no formats": lambda t: t.ones(2).dim_order(ambiguity_check=[3]),
    "no check": lambda t: t.ones(2).dim_order(ambiguity_check="x"),
    "sparse": lambda t: t.eye(2).to_sparse().dim_order(),
    "loaded": lambda t: (lambda x: (x.module_load(t.ones(2)), x))(t.zeros(2)),
    "assigned": lambda t: t.zeros(2).module_load(t.nn.Parameter(t.ones(3)), assign=True),
    "loaded to another shape": lambda t: t.zeros(2).module_load(t.ones(3)),
    "devices": lambda t: (t.get_device(t.ones(1)), t.is_distributed(t.ones(1)), t.is_same_size(t.ones(1), t.ones(2))),
    "xpu": lambda t: t.ones(1).xpu(), "ipu": lambda t: t.ones(1).ipu(), "mtia": lambda t: t.ones(1).mtia(),
    "storage": lambda t: (t.ones(1).storage_type(), t.ones(1).bool().storage_type(),
                          t.ones(1).to(t.uint16).storage_type(), t.Storage),
    "resized": lambda t: t.ones(4).resize(2, 2), "resized as": lambda t: t.ones(4).resize_as(t.ones(2, 2)),
    "resized to more": lambda t: t.ones(3).resize(2, 2), "volatile": lambda t: t.ones(1).volatile,
    "in place": lambda t: (t.addmv_(t.ones(3), t.ones(3, 4), t.ones(4), beta=2),
                           t.as_strided_(t.arange(4.0), (2,), (2,))),
    "build": lambda t: (t.has_lapack, t.has_mkl, t.has_openmp, t.has_spectral, t.compiled_with_cxx11_abi(),
                        t.is_vulkan_available(), t.init_num_threads(), t.thread_safe_generator()),
    "anomalies": lambda t: (t.set_anomaly_enabled(True), t.is_anomaly_enabled(), t.set_anomaly_enabled(True, False),
                            t.is_anomaly_check_nan_enabled(), t.set_anomaly_enabled(False)),
    "symbols": lambda t: (t.sym_int(2.7), t.sym_int(-2.7), t.sym_float(3), t.sym_not(True), t.sym_max(2, 3.5),
                          t.sym_max(2, 3.0), t.sym_min(2, 3), t.sym_min(2, 3.0), t.sym_ite(True, 1, 2), t.sym_sqrt(4),
                          t.sym_sum([1, 2, 3]), t.sym_fresh_size(3), t.sym_constrain_range(3, min=2)),
    "below": lambda t: t.sym_constrain_range(1, min=2),
    "below a size": lambda t: t.sym_constrain_range_for_size(1, min=2),
    "small dtypes": lambda t: [(d, d.itemsize, d.is_signed, d.is_floating_point, d.is_complex) for d in (
        t.uint1, t.uint4, t.int3, t.int7, t.bit, t.float4_e2m1fn_x2)],
    "quantised": lambda t: [(d, d.itemsize) for d in (t.qint8, t.qint32, t.quint8, t.quint4x2, t.quint2x4)],
    "signed": lambda t: t.qint8.is_signed,
    "bits": lambda t: [(d, d.itemsize) for d in (t.bits8, t.bits1x8, t.bits16, t.bits2x4, t.bits4x2)],
    "signed bits": lambda t: t.bits8.is_signed, "dequantized": lambda t: (t.ones(2).half().dequantize(),
                                                                          t.dequantize(t.arange(2))),
    "schemes": lambda t: (t.per_tensor_affine, t.per_channel_symmetric, t.per_channel_affine_float_qparams,
                          isinstance(t.per_channel_affine, t.qscheme)),
    "errors": lambda t: (t.OutOfMemoryError.__mro__[1], t.AcceleratorError.__mro__[1], t.JITException is t.jit.Error),
    "autocast": lambda t: (t.get_autocast_ipu_dtype(), t.get_autocast_xla_dtype(), t.is_autocast_ipu_enabled(),
                           t.is_autocast_xla_enabled()),
    "fork": lambda t: t.wait(t.fork(lambda: 3)), "tags": lambda t: [(x, str(x), x.value) for x in (
        t.Tag.__members__.values())],
    "scalings": lambda t: [[(name, x.value) for name, x in kind.__members__.items()] for kind in (
        t.nn.functional.ScalingType, t.nn.functional.SwizzleType)],
    "pair": lambda t: t.nn.functional.assert_int_or_pair([1, 2, 3], "a", "no {}"),
    "dispatched": lambda t: t.nn.functional.boolean_dispatch(
        "high", 1, False, lambda x, high: (max(x), high), lambda x: min(x), "m", "end")([1, 2], high=True),
    "overrides": lambda t: (t.nn.functional.has_torch_function((t.ones(1),)),
                            t.nn.functional.has_torch_function_unary(t.ones(1))),
}


@pytest.mark.parametrize("name", NAMES)
def test_as_torch(name):
    assert told(NAMES[name], tinytorch) == told(NAMES[name], torch)


#: With arguments that are wrong, at the ends of what is taken, or of another kind.
LINES = [f"t.ones(1).{device}({given})" for device in ("cuda", "ipu", "mtia", "xpu") for given in (
    "'cpu'", "'meta'", f"'{device}'", "t.device('cpu')", "[]", "3", "'abc'", "True", "None, 3", "non_blocking=1",
    "memory_format=3")] + [f"t.nn.Linear(1, 1).{device}()" for device in ("cuda", "ipu", "mtia", "xpu")] + """
t.ones(1).to_padded_tensor("a")
t.ones(1).to_padded_tensor(1, "a")
t.ones(1).to_mkldnn(3)
t.ones(1, dtype=t.int64).to_mkldnn()
t.ones(1, dtype=t.float64).to_mkldnn()
t.ones(1).record_stream(3)
t.sym_constrain_range(2.5, max=2)
t.sym_constrain_range(7, max=2)
t.sym_constrain_range(7, min=2.5)
t.sym_constrain_range(7, min=8, max=2)
t.sym_constrain_range("a")
t.sym_constrain_range(3j)
t.sym_constrain_range(1e30)
t.sym_constrain_range(float("nan"))
t.sym_constrain_range(t.tensor(3), max=2)
t.sym_constrain_range_for_size(-7)
t.sym_constrain_range_for_size(7, max=2)
t.sym_constrain_range_for_size(5, min=4, max=3)
t.sym_max(2 ** 62 + 1, 1.0)
t.sym_max(np.float32(2), 1)
t.sym_max(1, "a")
t.sym_min(None, 1)
t.sym_sum(1, 2, 3)
t.sym_sum((1, 2.5))
t.sym_sum(3)
t.sym_fresh_size([1])
t.sym_fresh_size([1, 2])
t.sym_fresh_size("a")
t.set_anomaly_enabled(1)
t.set_anomaly_enabled(False, 1)
t.is_vulkan_available(1, a=2)
t.wait(None)
t.wait(3)
t.fork(lambda: 1 / 0)
t.jit.wait(t.jit.fork(lambda a: a * 2, a=3))
t.nn.functional.boolean_dispatch("a", 0, False, max, lambda: 1, None, None).__doc__ == max.__doc__
t.nn.functional.boolean_dispatch("a", 0, False, max, min, "m", "n")
t.nn.functional.boolean_dispatch("a", 0, False, lambda: 1, lambda: 2, "m", "n").__doc__
""".strip().splitlines()


@pytest.mark.parametrize("line", LINES)
def test_lines_as_torch(line):
    assert told(lambda t: eval(line, {"t": t, "np": np}), tinytorch) == told(
        lambda t: eval(line, {"t": t, "np": np}), torch)


def test_what_is_of_quantised_tensors_and_other_orders_refuses():
    for name in ("int_repr", "q_scale", "q_zero_point", "qscheme", "q_per_channel_axis", "to_padded_tensor"):
        for t in BOTH:
            with pytest.raises(NotImplementedError, match=f"Could not run 'aten::{name}"):
                getattr(t.ones(2), name)(*[0.0] * (name == "to_padded_tensor"))
    for call in (lambda t: t.zeros(2, dtype=t.uint4), lambda t: t.ones(2).to_mkldnn(), lambda t: t.AnyType(),
                 lambda t: t.ones(2).record_stream(t.Stream("cpu")), lambda t: t.nn.functional.grouped_mm(None, None)):
        with pytest.raises(NotImplementedError):
            call(tinytorch)
    for name in ("eig", "lstsq", "solve", "symeig"):
        with pytest.raises(RuntimeError, match="This function was deprecated since version 1.9 and is now removed"):
            getattr(tinytorch.eye(2), name)(*[tinytorch.eye(2)] * (name in ("lstsq", "solve")))
    with pytest.raises(RuntimeError, match="was removed"):
        tinytorch.ones(1).reinforce(1)
    with pytest.raises(RuntimeError, match="reduction"):
        tinytorch.kl_div(tinytorch.ones(1), tinytorch.ones(1), 3)


def test_names_at_the_top_are_those_of_their_files():
    for part in ("_rare", "ops.nn.native_calls", "ops.nn.conv_tbc", "ops.nn.fake_quantize", "_removed"):
        names = {name for name, where in tinytorch._OF.items() if where == part}
        module = __import__(f"tinytorch.{part}", fromlist=["x"])
        assert names == set(module.__all__), part
