"""Every operator of torch's op_db, of tensors whose memory begins at no multiple of their elements: one argument after
the other, all of them, and the incoming gradients. The bits are those of aligned tensors, in place and in `out=` as
well."""
import numpy as np
import pytest
import torch

import tinytorch

from .adapter import OPS, Untranslatable, convert, described, error_of, in_place_method, namesake, samples, tensors
from .test_op_db import FOR_GPUS, HERE, NO_VALUES

#: Of one byte: no address is odd.
DTYPES = [torch.float32, torch.int64, torch.complex64, torch.bfloat16, torch.float64]
#: The numbers of new memory.
UNSET = {"empty_like", "new_empty", "new_empty_strided", "empty", "empty_permuted"}

#: (entry, dtype): why its bits may differ.
LEFT_OUT = {("linalg.vecdot", torch.complex64): "of its sample of one element: NumPy rounds the product of two complex "
                                                "numbers in two dimensions one way where it copies them, one where not"}


def odd(t):
    """A copy of all the memory that a tensor is a view of, one byte further on, seen as it sees that."""
    if t.layout is not tinytorch.strided or t.itemsize == 1 or not t.numel() or t.is_conj() or t.is_neg():
        return t
    storage = t.detach().untyped_storage()
    count = storage.nbytes() // t.itemsize
    memory = tinytorch.frombuffer(bytearray(count * t.itemsize + 1), dtype=t.dtype, offset=1)
    memory.copy_(tinytorch.as_strided(t.detach(), (count,), (1,), 0))
    result = memory.as_strided(t.shape, t.stride(), t.storage_offset()).detach()
    assert result.data_ptr() % t.itemsize
    if isinstance(t, tinytorch.nn.Parameter):
        return tinytorch.nn.Parameter(result, requires_grad=t.requires_grad)
    return result.requires_grad_(t.requires_grad)


def replaced(tree, wanted, seen):
    """The tree with those tensors of it at odd addresses whose numbers are `wanted` (None: all), as they come."""
    if isinstance(tree, tinytorch.Tensor):
        seen.append(tree)
        return odd(tree) if wanted is None or len(seen) - 1 in wanted else tree
    if isinstance(tree, dict):
        return {key: replaced(x, wanted, seen) for key, x in tree.items()}
    if isinstance(tree, (list, tuple)) and not isinstance(tree, tinytorch.Size):
        parts = [replaced(x, wanted, seen) for x in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return tree


def bits(tree):
    return [(t.dtype, t.shape, t.stride(), bytes(t.detach().resolve_conj().resolve_neg().clone().untyped_storage()))
            for t in tensors(tree) if t.layout is tinytorch.strided]


def outcome(call, sample, wanted, process=None):
    """(the bits of the result, of gradients and of the arguments afterwards, or error; how many tensors there are)."""
    seen = []
    input, args, kwargs = replaced(convert(sample), wanted, seen)
    tinytorch.manual_seed(0)
    error, result = error_of(lambda: call(input, *args, **kwargs))
    if error is not None:
        return repr(error), len(seen)
    outputs = [t for t in tensors(process(result) if process else result) if t.requires_grad]
    leaves = [t for t in tensors((input, args, kwargs)) if t.requires_grad and t.is_leaf]
    grads = None
    if outputs and leaves:
        weights = [tinytorch.randn(t.shape, dtype=t.dtype) for t in outputs]
        weights = replaced(weights, wanted and (), [])
        error, grads = error_of(lambda: tinytorch.autograd.grad(outputs, leaves, weights, allow_unused=True))
        grads = repr(error) if error is not None else bits(list(grads))
    return (bits(result), grads, bits([input, args, kwargs])), len(seen)


def compare(name, call, requires_grad=True):
    compared = 0
    op = OPS[name]
    for dtype in DTYPES:
        if not op.supports_dtype(dtype, "cpu") or (name, dtype) in LEFT_OUT:
            continue
        inexact = dtype.is_floating_point or dtype.is_complex
        for *sample, process in samples(op, dtype, 3, requires_grad=requires_grad and inexact and op.supports_autograd):
            try:
                expected, count = outcome(call, sample, (), process)
            except Untranslatable:
                continue
            for wanted in [*[(i,) for i in range(count)][:6], None]:
                found, _ = outcome(call, sample, wanted, process)
                assert found == expected, f"{name} {dtype} {described(*sample)}: {wanted} at odd addresses"
                compared += 1
    return compared


@pytest.mark.parametrize("name", [n for n in HERE if n not in FOR_GPUS and n not in UNSET])
def test_values_and_gradients(name):
    op = OPS[name]
    assert compare(name, namesake(op.op, op.name)) or not any(op.supports_dtype(d, "cpu") for d in DTYPES)


@pytest.mark.parametrize("name", [n for n in HERE if in_place_method(OPS[n])])
def test_in_place(name):
    method = in_place_method(OPS[name])
    assert compare(name, lambda input, *args, **kwargs: getattr(input, method)(*args, **kwargs), False) or not any(
        OPS[name].supports_dtype(d, "cpu") for d in DTYPES)


@pytest.mark.parametrize("name", [n for n in HERE if OPS[n].supports_out and not NO_VALUES.match(n)])
def test_out(name):
    op = OPS[name]
    function = namesake(op.op, op.name)
    for dtype in DTYPES:
        for *sample, _ in samples(op, dtype, 3) if op.supports_dtype(dtype, "cpu") else ():
            try:
                input, args, kwargs = convert(sample)
            except Untranslatable:
                continue
            results = []
            for place in (tinytorch.zeros_like, lambda t: odd(tinytorch.zeros_like(t))):
                tinytorch.manual_seed(0)
                error, found = error_of(lambda: function(input, *args, **kwargs))
                if error is None and all(t.numel() for t in tensors(found)):
                    out = [place(t) for t in tensors(found)]
                    tinytorch.manual_seed(0)
                    error, _ = error_of(lambda: function(
                        input, *args, **kwargs, out=out[0] if isinstance(found, tinytorch.Tensor) else tuple(out)))
                    results.append(repr(error) if error is not None else bits(out))
            assert len(results) != 2 or results[0] == results[1], f"{name} {dtype} {described(*sample)}"


MODULES = {
    "RNN": lambda nn: (nn.RNN(40, 50), [(9, 8, 40)]),
    "LSTM": lambda nn: (nn.LSTM(40, 50, 2), [(9, 8, 40)]),
    "GRU": lambda nn: (nn.GRU(40, 50, bidirectional=True), [(9, 8, 40)]),
    "LSTM to project": lambda nn: (nn.LSTM(40, 50, proj_size=20), [(9, 8, 40)]),
    "RNNCell": lambda nn: (nn.RNNCell(40, 50), [(30, 40)]),
    "GRUCell": lambda nn: (nn.GRUCell(40, 50), [(30, 40)]),
    "LSTMCell": lambda nn: (nn.LSTMCell(40, 50), [(30, 40)]),
    "Linear": lambda nn: (nn.Linear(300, 200), [(100, 300)]),
    "Conv1d": lambda nn: (nn.Conv1d(5, 12, 5), [(4, 5, 900)]),
    "Conv2d": lambda nn: (nn.Conv2d(3, 8, 3), [(5, 3, 40, 40)]),
    "Conv3d": lambda nn: (nn.Conv3d(2, 4, 3), [(2, 2, 9, 20, 20)]),
    "ConvTranspose2d": lambda nn: (nn.ConvTranspose2d(3, 8, 3), [(5, 3, 40, 40)]),
    "MultiheadAttention": lambda nn: (nn.MultiheadAttention(48, 4), [(30, 5, 48)] * 3),
    "TransformerEncoderLayer": lambda nn: (nn.TransformerEncoderLayer(48, 4, 96, 0.), [(30, 5, 48)]),
    "BatchNorm2d": lambda nn: (nn.BatchNorm2d(6), [(5, 6, 30, 30)]),
    "LayerNorm": lambda nn: (nn.LayerNorm(96), [(70, 96)]),
    "GroupNorm": lambda nn: (nn.GroupNorm(3, 6), [(5, 6, 30, 30)]),
    "MaxPool2d": lambda nn: (nn.MaxPool2d(2), [(4, 3, 60, 60)]),
    "Embedding": lambda nn: (nn.Embedding(70, 64), ["places"]),
    "EmbeddingBag": lambda nn: (nn.EmbeddingBag(70, 64), ["places"]),
    "CrossEntropyLoss": lambda nn: (nn.CrossEntropyLoss(), [(400, 70), "classes"]),
    "NLLLoss": lambda nn: (nn.NLLLoss(), [(400, 70), "classes"]),
    "GELU": lambda nn: (nn.GELU(), [(100, 300)]),
    "SiLU": lambda nn: (nn.SiLU(), [(100, 300)]),
    "ReLU": lambda nn: (nn.ReLU(), [(100, 300)]),
    "Softmax": lambda nn: (nn.Softmax(-1), [(100, 300)]),
    "LogSoftmax": lambda nn: (nn.LogSoftmax(-1), [(100, 300)]),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    """At sizes where the native kernels are the quicker ones; each input, each parameter, each incoming gradient."""
    def run(wanted):
        tinytorch.manual_seed(0)
        module, shapes = MODULES[name](tinytorch.nn)
        sizes = {"places": (40, 50), "classes": (400,)}
        given = [tinytorch.randn(s, requires_grad=True) if isinstance(s, tuple) else tinytorch.randint(0, 70, sizes[s])
                 for s in shapes]
        seen = []
        given = replaced(given, wanted, seen)
        for owner in module.modules():
            for key in list(owner._parameters):
                owner._parameters[key] = replaced(owner._parameters[key], wanted, seen)
        outputs = [t for t in tensors(module(*given)) if t.requires_grad]
        leaves = [t for t in [*given, *module.parameters()] if t.requires_grad]
        weights = replaced([tinytorch.randn(t.shape) for t in outputs], wanted, seen)
        return bits([*outputs, *tinytorch.autograd.grad(outputs, leaves, weights, allow_unused=True),
                     *module.buffers()]), len(seen)
    expected, count = run(())
    for wanted in [*[(i,) for i in range(count)], None]:
        assert run(wanted)[0] == expected, wanted


@pytest.mark.parametrize("index", ["int64", "int32"])
def test_index_functions(index):
    """Of indices at odd addresses, and of sources, targets and gradients, large enough for C."""
    def run(wanted):
        tinytorch.manual_seed(0)
        i = tinytorch.randint(0, 300, (300, 400)).to(getattr(tinytorch, index))
        x, y = (tinytorch.randn(300, 400) for _ in range(2))
        i, x, y, g = replaced([i, x, y, tinytorch.randn(300, 400)], wanted, [])
        row = i[:, 0]
        results = [x.index_select(0, row), x.index_add(0, row, y), tinytorch.nn.functional.embedding(row, x)]
        if index == "int64":
            x.requires_grad_()
            results += [x.gather(0, i), x.scatter_add(0, i, y), x.scatter(0, i, y), x.take(i), x[row], x[:, row],
                        x.index_copy(0, tinytorch.arange(300), y),
                        x.index_put((row,), y, accumulate=True), x.scatter_reduce(0, i, y, "prod"),
                        tinytorch.nn.functional.cross_entropy(x, row, reduction="none")[:, None].expand(300, 400)]
            results += [tinytorch.autograd.grad(r, x, replaced(g, wanted, []) if r.shape == g.shape else r.detach())[0]
                        for r in results[3:]]
            results.append(x.detach().scatter_add_(0, i, y).index_add_(0, row, y).masked_fill_(y > 0, 2.))
        return bits(results)
    expected = run(())
    for wanted in [(0,), (1,), (2,), (3,), None]:
        assert run(wanted) == expected, wanted


@pytest.mark.parametrize("array, said", [
    (np.arange(4.)[::-1], None), (np.arange(4.).astype(">f8"), None), (np.zeros((2, 3))[:, ::-1], None),
    (np.zeros(4, [("a", "u1"), ("x", "f4")])["x"], None), (np.zeros(4, "u1, f4, V3")["f1"], 1)])
def test_arrays(array, said):
    """Those that torch refuses are refused alike: turned around, byte-swapped, of other steps than elements."""
    for function in ("from_numpy", "as_tensor", "tensor", "asarray"):
        (error, theirs), (our_error, ours) = (error_of(lambda: getattr(m, function)(array)) for m in (torch, tinytorch))
        assert repr(our_error) == repr(error) and (error is None) == (said is not None)
        assert error is not None or ours.tolist() == theirs.tolist() and ours.stride() == theirs.stride()
