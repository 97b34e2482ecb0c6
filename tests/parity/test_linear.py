"""Matrix products, einsum and linear algebra against torch: values, gradients, second gradients, errors."""
import numpy as np
import pytest
import torch

import tinytorch

SHAPES = [((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)),
          ((2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)), ((2, 3), (2, 3)), ((5, 2, 3), (4, 3, 2)), ((), (2,)),
          ((0, 3), (3, 2)), ((2, 0), (0, 2))]
CALLS = {
    "matmul": lambda t, a, b: t.matmul(a, b), "mm": lambda t, a, b: t.mm(a, b), "bmm": lambda t, a, b: t.bmm(a, b),
    "mv": lambda t, a, b: t.mv(a, b), "dot": lambda t, a, b: t.dot(a, b), "inner": lambda t, a, b: t.inner(a, b),
    "outer": lambda t, a, b: t.outer(a, b), "kron": lambda t, a, b: t.kron(a, b),
    "tensordot": lambda t, a, b: t.tensordot(a, b, 1), "linear": lambda t, a, b: t.nn.functional.linear(a, b),
    "addmm": lambda t, a, b: t.addmm(t.ones(4, dtype=a.dtype), a, b, beta=0.5, alpha=2),
    "baddbmm": lambda t, a, b: t.baddbmm(t.ones(1, dtype=a.dtype), a, b, alpha=3),
    "operator": lambda t, a, b: a @ b,
}


def run(t, function, *arrays, weights=1.3):
    """Outputs, gradients, second gradients; or the error."""
    inputs = [t.from_numpy(a.copy()) for a in arrays]
    for x in inputs:
        if x.is_floating_point() or x.is_complex():
            x.requires_grad_()
    try:
        found = function(t, *inputs)
    except Exception as error:
        return "error", type(error).__name__.strip("_"), str(error).split("\n")[0]
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    results = [y.detach() for y in found]
    leaves = [x for x in inputs if x.requires_grad]
    if leaves:
        total = sum((y * y * weights + y).real.sum() if y.is_complex() else (y * y * weights + y).sum() for y in found)
        grads = t.autograd.grad(total, leaves, create_graph=True)
        total = sum((g * g).real.sum() if g.is_complex() else (g * g).sum() for g in grads)
        results += [g.detach() for g in grads] + list(t.autograd.grad(total, leaves))
    return [r.resolve_conj().numpy() if t is torch else r.numpy() for r in results]


def compare(function, *arrays):
    want, have = run(torch, function, *arrays), run(tinytorch, function, *arrays)
    if isinstance(want, tuple) or isinstance(have, tuple):
        assert want == have
        return
    tolerance = 1e-3 if any(a.dtype in (np.float32, np.complex64) for a in arrays) else 1e-8
    for w, h in zip(want, have, strict=True):
        assert w.dtype == h.dtype and w.shape == h.shape
        np.testing.assert_allclose(h, w, rtol=tolerance, atol=tolerance * max(1, np.abs(w).max(initial=0)))


def array(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * random.normal(size=shape)
    return np.asarray(5 * x if np.dtype(dtype).kind == "i" else x, order="C").astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
@pytest.mark.parametrize("name", CALLS)
def test_products(name, dtype):
    for a, b in SHAPES:
        if not a and name not in ("matmul", "operator") or name == "linear" and len(b) != 2:
            continue
        if name == "baddbmm" and not len(a) == len(b) == 3:
            continue
        compare(CALLS[name], array(a, dtype), array(b, dtype, 1))


def test_mixed_dtypes_are_refused_alike():
    for name in ("matmul", "addmm", "linear"):
        compare(CALLS[name], array((2, 2), "float32"), array((2, 2), "float64"))
    compare(CALLS["dot"], array((2,), "float32"), array((2,), "float64"))
    compare(CALLS["matmul"], array((2,), "float32"), array((2,), "float64"))


@pytest.mark.parametrize("equation, shapes", [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,kj", [(2, 3), (4, 3)]), ("ii->i", [(3, 3)]), ("ij->", [(2, 3)]),
    ("...ij,...jk->...ik", [(7, 2, 3), (3, 4)]), ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("i,ij,j->", [(2,), (2, 3), (3,)]), ("iij,jk->ik", [(2, 2, 3), (3, 4)]), ("a...b,b->...a", [(2, 5, 6, 3), (3,)]),
    ("ij,jk->ik", [(2, 1), (3, 4)]), ("bn,anm,bm->ba", [(2, 3), (4, 3, 5), (2, 5)]),
    ("ij,jk->ik", [(2, 3), (2, 3)]), ("ij->ik", [(2, 3)]), ("ijk->i", [(2, 3)]), ("ij,jk", [(2, 3)]),
    ("i1->i", [(2, 3)]), ("ij->ii", [(2, 3)]), ("ii->i", [(2, 3)]), ("...i->i", [(2, 3)]), ("i->i", [(3,)]),
])
def test_einsum(equation, shapes):
    compare(lambda t, *x: t.einsum(equation, *x), *[array(s, "float64", i) for i, s in enumerate(shapes)])


LINALG = {
    "inv": lambda t, A: t.linalg.inv(A), "det": lambda t, A: t.det(A), "slogdet": lambda t, A: t.linalg.slogdet(A)[1],
    "solve": lambda t, A: t.linalg.solve(A, A.mT[..., :2]), "cholesky": lambda t, A: t.linalg.cholesky(A @ A.mH),
    "qr": lambda t, A: t.linalg.qr(A[..., :2]), "wide qr": lambda t, A: t.linalg.qr(A[..., :2, :])[1],
    "svd": lambda t, A: t.linalg.svd(A[..., :2], full_matrices=False)[1], "svdvals": lambda t, A: t.linalg.svdvals(A),
    "singular vectors": lambda t, A: [x.abs() for x in t.linalg.svd(A, full_matrices=False)][::2],
    "eigh": lambda t, A: [x.abs() for x in t.linalg.eigh(A + A.mH)], "eigvalsh": lambda t, A: t.linalg.eigvalsh(A),
    "pinv": lambda t, A: t.linalg.pinv(A[..., :2]), "matrix_exp": lambda t, A: t.matrix_exp(A * 0.2),
    "power": lambda t, A: t.matrix_power(A, -3), "multi_dot": lambda t, A: t.linalg.multi_dot([A[..., :1].mT, A, A]),
    "norm": lambda t, A: [t.linalg.matrix_norm(A, p) for p in ("fro", "nuc", 2, -2, 1, -1, float("inf"))],
    "cond": lambda t, A: t.linalg.cond(A),
    "lstsq": lambda t, A: t.linalg.lstsq(A, A[..., :1])[0],
    "triangular": lambda t, A: t.linalg.solve_triangular(A, A, upper=True),
    "vector_norm": lambda t, A: t.linalg.vector_norm(A, 3),
    "eig": lambda t, A: [x.abs() for x in t.linalg.eig(A)],
    "cross": lambda t, A: t.linalg.cross(A, A.mT), "trace": lambda t, A: A.trace(),
    "rank": lambda t, A: t.linalg.matrix_rank(A.detach()) + A.real.sum() * 0,
}


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
@pytest.mark.parametrize("name", LINALG)
def test_linalg(name, dtype):
    A = array((3, 3), dtype, 3) + 2 * np.eye(3, dtype=dtype)
    compare(LINALG[name], A)
    if name not in ("multi_dot", "trace"):
        compare(LINALG[name], np.stack([A, A.T * 2 + np.eye(3, dtype=dtype)]))


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "solve", "cholesky", "power"])
def test_linalg_refuses_alike(name):
    for bad in (array((2, 3), "float64"), array((3,), "float64"), np.ones((3, 3), np.int64)):
        compare(LINALG[name], bad)
