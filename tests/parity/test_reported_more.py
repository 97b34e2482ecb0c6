"""More calls that users reported, each a program that is to end the same under torch."""
import pytest

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


PROGRAMS = {
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
