"""Reductions, statistics, sorting and running results against torch: values, dtypes, gradients, errors."""
import platform
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome

warnings.filterwarnings("ignore")

RANDOM = np.random.default_rng(0)
ARRAYS = {
    "float32": RANDOM.normal(size=(3, 4, 5)).astype(np.float32),
    "float64": RANDOM.normal(size=(3, 4, 5)),
    "ties": RANDOM.integers(0, 3, (3, 4, 5)).astype(np.float64),
    "nan": np.where(RANDOM.random((3, 4, 5)) < 0.2, np.nan, RANDOM.normal(size=(3, 4, 5))),
    "int64": RANDOM.integers(-5, 5, (3, 4, 5)),
    "uint8": RANDOM.integers(0, 5, (3, 4, 5)).astype(np.uint8),
    "bool": RANDOM.random((3, 4, 5)) < 0.5,
    "complex64": (RANDOM.normal(size=(3, 4, 5)) + 1j * RANDOM.normal(size=(3, 4, 5))).astype(np.complex64),
    "scalar": np.array(1.5),
    "empty": np.zeros((3, 0, 5), np.float32),
}
BASIC = "sum mean prod amax amin all any argmax argmin max min median nanmedian std var nansum nanmean norm".split()
CALLS = [
    (name, args, options)
    for name in BASIC
    for args, options in [((), {}), ((1,), {}), ((-1, True), {}) if name not in ("std", "var", "norm") else ((), {}),
                          ((), {"dim": 0, "keepdim": True})]
] + [
    ("sum", ((0, 2),), {}), ("mean", ((0, -1), True), {}), ("amax", ((0, 1),), {}),
    ("std", ((0, 1),), {"correction": 0}),
    ("sum", (), {"dtype": "float64"}), ("sum", (), {"axis": 1, "keepdims": True}), ("var", (1, False, True), {}),
    ("logsumexp", (1,), {}), ("logsumexp", ((0, 2), True), {}), ("count_nonzero", (), {}), ("count_nonzero", (1,), {}),
    ("norm", (1,), {}), ("norm", (3, 1), {}), ("norm", (float("inf"), (0, 1), True), {}),
    ("norm", ("nuc", (0, 2)), {}),
    ("cumsum", (1,), {}), ("cumprod", (0,), {}), ("cummax", (1,), {}), ("cummin", (-1,), {}),
    ("logcumsumexp", (1,), {}),
    ("diff", (), {}), ("diff", (2, 0), {}), ("quantile", (0.3,), {}), ("quantile", (0.7, 1, True), {}),
    ("nanquantile", (0.5, 0), {}), ("quantile", (0.4, 2), {"interpolation": "nearest"}), ("mode", (), {}),
    ("sort", (), {"stable": True}), ("argsort", (), {"dim": 1, "stable": True}), ("sort", (0, True), {}),
    ("msort", (), {}), ("kthvalue", (2, 1), {}),
    ("topk", (3, 1), {}), ("topk", (1,), {"largest": False}), ("unique", (), {"return_counts": True}),
    ("unique", (), {"dim": 1, "return_inverse": True}), ("unique_consecutive", (), {"dim": 0}),
    ("aminmax", (), {"dim": 1}),
    ("aminmax", (), {}), ("renorm", (2, 0, 1.5), {}), ("histc", (5,), {}), ("dist_to_one", (), {}),
    ("var_mean", (1,), {}),
    ("max", (7,), {}), ("sum", ((0, 0),), {}), ("topk", (9,), {}),
]
# torch leaves open which of equal elements these take
TIED = {"sort", "quantile", "nanquantile"}


def call(t, array, name, args, options):
    """The outputs as a list, and the gradient of a weighted sum of those that have one; or the error."""
    x = t.from_numpy(array.copy())
    if array.dtype.kind in "fc" and not name.startswith("unique"):
        x.requires_grad_()
    options = {k: getattr(t, v) if k == "dtype" else v for k, v in options.items()}
    try:
        if name == "dist_to_one":
            found = t.dist(x, t.ones_like(x), 3)
        else:
            found = getattr(t, name)(x, *args, **options)
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    if not any(y.requires_grad and y.grad_fn is not None for y in found):
        return found, None
    total = sum((y * y.detach().cos().conj()).real.sum() if y.is_complex() else (y * y.detach().cos()).sum()
                for y in found if y.requires_grad)
    if isinstance(total, t.Tensor) and total.numel():
        total.backward()
    return found, x.grad


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("name, args, options", CALLS, ids=lambda v: str(v).replace(" ", ""))
def test_against_torch(name, args, options, kind):
    array = ARRAYS[kind]
    with warnings.catch_warnings():            # which torch gives once in a process
        warnings.simplefilter("ignore")
        expected, gradient = call(torch, array, name, args, options)
        found, ours = call(tinytorch, array, name, args, options)
    if isinstance(expected, str) or isinstance(found, str):
        # torch's parser rejects arguments by its own list of signatures; the type of error is what a program can use
        assert str(expected) == str(found), (expected, gradient, found, ours)
        return
    assert len(expected) == len(found)
    tolerance = 1e-9 if array.dtype == np.float64 else 2e-5
    tolerance = {"rtol": tolerance, "atol": tolerance}
    for k, (want, have) in enumerate(zip(expected, found, strict=True)):
        assert repr(want.dtype) == repr(have.dtype) and tuple(want.shape) == tuple(have.shape)
        if k == 1 and name in TIED or name == "mode" and kind == "nan":
            continue
        np.testing.assert_allclose(have.detach().numpy(), want.detach().numpy(), **tolerance)
    assert (gradient is None) == (ours is None)
    # with NaN gradients, it is open how far they spread
    spoilt = kind == "nan" and name in ("max", "min", "median", "quantile", "renorm", "mode")
    if gradient is not None and not (name in TIED and kind == "ties") and not spoilt:
        np.testing.assert_allclose(ours.numpy(), gradient.resolve_conj().numpy(), **tolerance)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_cdist(p):
    results = []
    for t in (torch, tinytorch):
        a, b = (t.from_numpy(ARRAYS["float64"][i, :, :3].copy()).requires_grad_() for i in (0, 1))
        y = t.cdist(a, b, p)
        y.cos().sum().backward()
        results.append([v.numpy() for v in (y.detach(), a.grad, b.grad)])
    for want, have in zip(*results, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize("dim", [(), (0,), (1, True)])
def test_medians_of_bfloat16(name, dim):
    same_outcome(lambda t: getattr(t.tensor([[3., 1, 2], [float("nan"), 5, 4]]).bfloat16(), name)(*dim))


@pytest.mark.parametrize("call", [
    lambda x: x.max(0), lambda x: x.min(-1, True), lambda x: x.max(7), lambda x: x[:, :0].max(1), lambda x: x.max(),
    lambda x: x.median(0), lambda x: x.median(), lambda x: x.topk(1), lambda x: x.sort()])
def test_complex_numbers_have_no_order(call):
    same_outcome(lambda t: call(t.ones(2, 3) * 1j))


def test_text_of_named_tuples():
    texts = [repr(t.tensor([[1.0, 3.0, 2.0]]).sort(1)) + repr(t.tensor([1.0, 2.0]).max(0)) for t in (torch, tinytorch)]
    assert texts[0] == texts[1]


in_eights = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"),
                               reason="torch adds up as many squares at once as its vectors hold")


@in_eights
@pytest.mark.parametrize("shape, dim", [
    ((200_003,), None), ((300, 1), 1), ((300, 3), 1), ((300, 7), -1), ((300, 8), 1), ((300, 17), (0, 1)),
    ((40, 6, 23), (1, 2)), ((40, 6, 23), 2), ((40, 1, 23), (1, 2)), ((6, 4, 5, 7), (0, 1, 2, 3)),
])
@pytest.mark.parametrize("turned", [False, True], ids=["as it lies", "turned"])
def test_norms_add_up_in_torchs_order(shape, dim, turned):
    """A long sum of squares of floats is off by 3e-4, and every clipped gradient of a large model with it: the same
    bits, for rows that lie in one run of memory, also where they are the columns of a transposed matrix."""
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    x.flat[:len(x)] *= 100
    found = []
    for t in torch, tinytorch:
        y = t.from_numpy(x)
        over = dim
        if turned:
            y = y.permute(*reversed(range(y.ndim)))
            over = tuple([y.ndim - 1 - d % y.ndim for d in (dim if isinstance(dim, tuple) else (dim,))]) if dim else dim
        found.append(t.linalg.vector_norm(y, 2, over).numpy())
    np.testing.assert_array_equal(*found)


@in_eights
def test_a_gradient_is_clipped_to_torchs_bits():
    gradients = [np.random.default_rng(i).standard_normal(shape).astype(np.float32) * 10.0 ** i
                 for i, shape in enumerate([(3000, 64), (64,), (5, 3, 3, 3), (1,), (256, 64)])]
    found = []
    for t in torch, tinytorch:
        parameters = [t.nn.Parameter(t.zeros(g.shape)) for g in gradients]
        for p, g in zip(parameters, gradients):
            p.grad = t.from_numpy(g.copy())
        norm = t.nn.utils.clip_grad_norm_(parameters, 0.25)
        found.append([norm.numpy(), *[p.grad.numpy() for p in parameters]])
    for ours, theirs in zip(*found):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("text", ["x.all({})", "t.all(x, {})", "t.any(x, dim={})", "x.any({})", "x.sum({})",
                                  "x.count_nonzero({})", "x.amax({})"])
@pytest.mark.parametrize("dim", ["t.tensor(1)", "t.tensor([1])", "t.tensor([[1]])", "[1]", "(t.tensor(1),)"])
def test_dimensions_given_as_tensors(text, dim):
    """A tensor of one element stands for an int where torch has one function for one and several."""
    found = []
    for t in torch, tinytorch:
        try:
            found.append(eval(text.format(dim), {"t": t, "x": t.ones(2, 3)}).tolist())
        except Exception as error:
            found.append(type(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("value", [.5, -.27, 256., 300., 0., complex(.5, 2)])
@pytest.mark.parametrize("size", [(), (1,), (1, 1), (2,), (1, 2), (0,), (0, 1)])
@pytest.mark.parametrize("name", ["any", "all"])
def test_truth_in_bytes(name, size, value):
    """Into uint8 the truth of one element is that of the number, of several that of their bytes."""
    def program(t):
        x = t.full(size, value)
        return [getattr(t, name)(x, *dims, out=t.empty(0, dtype=t.uint8)) for dims in ((), (0,), (-1,))]
    same_outcome(program)
