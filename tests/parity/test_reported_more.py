"""More calls that users reported, each a program that is to end the same under torch."""
import importlib
import typing

import numpy as np
import pytest

from .adapter import same_outcome
from .test_reported import same


def convolved(t, n, transposed, shape, weight, bias=True, **options):
    """What comes out of a convolution: sizes, numbers, gradients."""
    f = getattr(t.nn.functional, f"conv{'_transpose' * transposed}{n}d")
    x, w = t.ones(shape, requires_grad=True), t.ones(weight, requires_grad=True)
    b = t.ones(weight[0], requires_grad=True) if bias else None
    y = f(x, w, b, **options)
    y.sum().backward()
    return y.shape, y.detach(), x.grad.shape, w.grad.shape, b is not None and b.grad


CONVOLUTIONS = {
    f"{n}d, {(*batch, 0, *shape)}, {bias}": lambda t, n=n, shape=shape, batch=batch, bias=bias: convolved(
        t, n, False, (*batch, 0, *shape), (4, 0, *(2,) * n), bias, padding=1)
    for n in (1, 2, 3) for shape in ((5,) * n, (0,) * n, (1,) * n) for batch in ((), (0,), (2,))
    for bias in (True, False)}
CONVOLUTIONS |= {
    "in groups": lambda t: convolved(t, 1, False, (2, 0, 5), (4, 0, 2), groups=2),
    "layer": lambda t: [t.nn.Conv1d(0, 4, 2)(t.ones(2, 0, 5)).shape, t.nn.Conv2d(0, 4, 2)(t.ones(0, 5, 5)).shape],
    "transposed, to no channels": lambda t: convolved(t, 1, True, (0, 2, 5), (2, 0, 2), False),
    "transposed, from no channels": lambda t: convolved(t, 1, True, (2, 0, 5), (0, 2, 2), False),
    "transposed, too small": lambda t: convolved(t, 1, True, (2, 2, 1), (2, 2, 1), padding=1),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_without_channels(name):
    same(CONVOLUTIONS[name])


def expanded_and_strided(t, dtype, shape):
    """The gradient of a view that is itself a view of elements which lie at one place, and its own gradient."""
    x = t.arange(1, 6, dtype=getattr(t, dtype)).reshape(shape).requires_grad_()
    y = x.expand(5, 5).as_strided((2, 2), (1, 1))
    g, = t.autograd.grad(y.pow(2).sum().abs(), x, create_graph=True)
    return g.detach(), t.autograd.grad(g.sum().abs(), x)


def sparse_rows(t, dtype, size):
    """The sparse gradients of embeddings, in their dtype and without the rows of nothing."""
    found = []
    options = {"sparse": True, "dtype": dtype}
    for layer in (t.nn.Embedding(4, size, **options), t.nn.EmbeddingBag(4, size, **options),
                  t.nn.EmbeddingBag(4, size, mode="sum", **options)):
        layer(t.tensor([[1, 2], [2, 2]])).sum().backward()
        found.append((layer.weight.grad, layer.weight.grad.dtype, layer.weight.grad._nnz()))
    return found


def ranks(t, driver):
    """What a driver makes of an `rcond` that is no fraction. The solutions of gelsy depend in torch on memory that
    nothing set (docs/better.md)."""
    found = []
    A = t.tensor([[3., 1., 0.], [0., 2., 1.], [1., 0., 1.], [2., 2., 5.]], dtype=t.float64)
    for matrix in A, A.mT, A[:, :2] @ A[:2], t.zeros(4, 3, dtype=t.float64), t.stack([A, A + 1]), A * 1j:
        b = t.arange(matrix[..., 0].numel(), dtype=t.float64).reshape(*matrix.shape[:-1], 1).to(matrix.dtype)
        for rcond in (1., 2., 1e300) if driver == "gelsy" else (-1., 1., 2., 1e300):
            made = t.linalg.lstsq(matrix, b, rcond=rcond, driver=driver)
            found += [made.rank, made.residuals.shape, driver != "gelsy" and (made.solution * 1e5).real.round() + 0]
    return found


def materialized(t):
    """Zeros in the place of a gradient that there is not, which can be differentiated where the others can."""
    a, b = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    plain = t.autograd.grad((a * 2).sum(), [a, b], materialize_grads=True)
    taped = t.autograd.grad((a * a).sum(), [a, b], materialize_grads=True, create_graph=True)
    return plain, taped[1], taped[1].is_leaf, t.autograd.grad(taped[1].sum(), [a, b], materialize_grads=True)


def filled_by_nothing(t):
    """`empty` leaves what `out` holds."""
    x = t.ones(4)
    made = t.empty(2, out=t.ones(2), requires_grad=True)
    return made, t.empty(2, out=x) is x, x, t.zeros(2, out=x), t.empty(3, out=x).shape


def capsules(t):
    made = [t.asarray(t.utils.dlpack.to_dlpack(t.arange(3)), **options) for options in (
        {}, {"copy": True}, {"dtype": t.float64}, {"copy": False})]
    return made, t.asarray(t.utils.dlpack.to_dlpack(t.ones(2)), requires_grad=True)


def exponents(t):
    x = t.tensor([1., 2.], requires_grad=True)
    nodes = [(x ** 2).grad_fn, (x ** 2.5).grad_fn, x.pow(3).grad_fn, (x ** x).grad_fn]
    return [n._saved_exponent for n in nodes], nodes[0]._saved_self is x, sorted(
        name for name in dir(nodes[0]) if name.startswith("_saved"))


def orders_of_dimensions(t):
    found = []
    last = t.ones(2, 3, 4, 5).contiguous(memory_format=t.channels_last)
    for x in (t.ones(2, 3), t.ones(2, 3).t(), t.ones(2, 3, 4).permute(2, 0, 1), t.ones(1, 2, 3), t.ones(()), last,
              t.ones(3).expand(2, 3), t.ones(2, 6)[:, ::2], t.ones(1, 3).expand(1, 3), last[:, :1], last[:1],
              t.ones(3, 1, 1).expand(3, 2, 4), t.ones(90).as_strided((2, 3, 2), (1, 6, 1)),
              t.ones(90).as_strided((2, 3, 2, 2), (0, 1, 6, 3)), t.ones(2, 1, 4, 5),
              t.ones(2, 1, 4, 5).transpose(1, 3)):
        for check in (False, True, [t.contiguous_format], [t.contiguous_format, t.channels_last], "all", [1]):
            try:
                found.append(x.dim_order(ambiguity_check=check))
            except Exception as error:
                found.append((type(error).__name__, str(error)))
    return found


def timed(t):
    """A statement finds `torch` without being given it."""
    benchmark = importlib.import_module(f"{t.__name__}.utils.benchmark")
    return benchmark.Timer("torch.ones(2) + x", "x = torch.ones(2)").timeit(1).number_per_run


def time_first(t, *shapes, pad=1):
    x, w, b = (t.arange(float(t.Size(shape).numel())).reshape(shape).requires_grad_() for shape in shapes)
    y = t.nn.functional.conv_tbc(x, w, b, pad)
    return y.detach(), y.stride(), t.autograd.grad(y.square().sum(), [x, w, b])


PROGRAMS = {
    "materialize_grads": materialized, "empty with out": filled_by_nothing, "asarray of capsules": capsules,
    "exponents": exponents, "dim_order": orders_of_dimensions,
    "conv_tbc": lambda t: time_first(t, (5, 2, 3), (3, 3, 4), (4,)),
    "conv_tbc, no pad": lambda t: time_first(t, (5, 2, 3), (2, 3, 4), (4,), pad=0),
    **{f"conv_tbc of {shapes}": lambda t, shapes=shapes: time_first(t, *shapes) for shapes in [
        ((5, 3), (3, 3, 4), (4,)), ((5, 2, 3), (3, 4), (4,)), ((5, 2, 3), (3, 3, 4), (4, 1)),
        ((5, 2, 3), (3, 2, 4), (4,)), ((5, 2, 3), (3, 3, 4), (5,))]},
    "timer": timed,
    **{f"least squares by {driver}": lambda t, driver=driver: ranks(t, driver)
       for driver in ("gelsy", "gelsd", "gelss")},
    **{f"as_strided of expanded, {dtype}, {shape}": lambda t, dtype=dtype, shape=shape: expanded_and_strided(
        t, dtype, shape)
       for dtype in ("float32", "float64", "float16", "bfloat16", "complex64") for shape in ((5, 1), (5,))},
    **{f"sparse rows, {dtype}, {size}": lambda t, dtype=dtype, size=size: sparse_rows(t, getattr(t, dtype), size)
       for dtype in ("float32", "float16", "bfloat16") for size in (0, 3)},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    same(PROGRAMS[name])


# ------------------------------------------------------------------ custom operators, checkpoints, older files
def _custom(t, name, mutates, body):
    names = {"Tensor": t.Tensor, "List": list, "Optional": typing.Optional}
    exec(body, names)
    return t.library.custom_op(f"{t.__name__}_written::{name}", names["f"], mutates_args=mutates)


def _written_by_numpy(t):
    f = _custom(t, "numpy", {"o"}, "def f(x: Tensor, o: Tensor) -> None:\n    o.numpy()[:] = 5")
    x, o = t.ones(2), t.zeros(2)
    f(x, o)
    f(x, o=o)
    f(x=x, o=o)
    return x._version, o._version, o


def _written_list(t):
    f = _custom(t, "list", {"xs"}, "def f(k: float, xs: List[Tensor], y: Optional[Tensor] = None) -> None:\n"
                                   "    xs[0].mul_(k)")
    x, y = t.ones(2), t.ones(1)
    f(2., [x, y])
    f(3., [x], y)
    return x._version, y._version, x


def _written_before_backward(t):
    f = _custom(t, "saved", {"o"}, "def f(o: Tensor) -> None:\n    o.numpy()[:] = 5")
    x, a = t.ones(2, requires_grad=True), t.ones(2)
    y = x * a
    f(a)
    y.sum().backward()


def _recomputed_otherwise(t):
    calls = []

    def piece(x):
        calls.append(1)
        y = x.sin() if len(calls) == 1 else t.cat([x.sin(), x]).double()
        return y.exp() * 2
    importlib.import_module(f"{t.__name__}.utils.checkpoint").checkpoint(
        piece, t.ones(2, requires_grad=True), use_reentrant=False).sum().backward()


def _norm_of_an_old_file_on_meta(t):
    saved = t.nn.BatchNorm1d(3).state_dict()
    del saved["num_batches_tracked"]
    saved._metadata[""]["version"] = 1
    with t.device("meta"):
        module = t.nn.BatchNorm1d(3)
    module.load_state_dict(saved, assign=True)
    return [(key, str(x.device), x) for key, x in module.state_dict().items()]


@pytest.mark.parametrize("program", [_written_by_numpy, _written_list, _written_before_backward,
                                     _norm_of_an_old_file_on_meta])
def test_what_custom_operators_write_and_old_files_lack(program):
    same_outcome(program)


def test_what_a_checkpoint_that_changes_its_mind_says():
    same_outcome(_recomputed_otherwise, cut=lambda text: text.partition("\n\nTip")[0])


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("places", [(None, [0, 2]), ([0, 0], None), (None, [0, 0]), ([0], [1]), (None, [[0, 1]])])
@pytest.mark.parametrize("name", ["index_put", "index_put_", "_unsafe_index_put"])
def test_operators_that_put(name, places, accumulate):
    """With None for a dimension that is taken whole."""
    def program(t):
        x = t.arange(6.).reshape(2, 3).requires_grad_()
        y = getattr(t.ops.aten, name)(x * 1, [p and t.tensor(p) for p in places], t.tensor(9.), accumulate)
        y.square().sum().backward()
        return y.detach(), x.grad
    same_outcome(program)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("make", [lambda t, n: t.tensor(2), lambda t, n: [t.tensor(2)] * n,
                                  lambda t, n: t.tensor([2] * n), lambda t, n: np.array(2), lambda t, n: np.int64(2),
                                  lambda t, n: np.array([2] * n), lambda t, n: 2., lambda t, n: [2.] * n])
def test_sizes_to_interpolate_to(make, n):
    same_outcome(lambda t: t.nn.functional.interpolate(t.arange(4. ** n).reshape(1, 1, *[4] * n), size=make(t, n)))
