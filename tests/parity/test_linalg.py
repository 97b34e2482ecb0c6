"""torch.linalg where matrices are singular, empty, triangular or of two dtypes, and how results lie in memory."""
import pytest

from .adapter import same_outcome

PROGRAMS = """
l.slogdet(t.zeros(2, 2)); l.slogdet(-t.ones(2, 2)); l.slogdet(t.tensor([[1., 2], [2, 4]]))
l.slogdet(t.zeros(3, 0, 0)); l.slogdet(t.tensor([[0., 1], [0, 0]])); l.slogdet(t.tensor([[nan, 1], [0, 0]]))
l.slogdet(t.ones(2, 2, 2)); grad(t.ones(2, 2), lambda x: l.slogdet(x)[1])
grad(t.zeros(2, 2), lambda x: l.slogdet(x)[1]); grad(t.tensor([[1., 2], [2, 4]]), t.logdet)
grad(t.ones(2, 2, 2), lambda x: l.slogdet(x)[1].sum()); t.logdet(-t.ones(1, 1)); t.logdet(t.zeros(2, 2))
l.inv(t.full((2, 2), nan)); l.inv(t.tensor([[nan, 0], [0, 0]])); l.cond(t.zeros(0, 0)); l.cond(t.zeros(2, 0, 0))
l.cond(t.zeros(0, 2, 2)); l.cond(t.zeros(0, 0), -2); l.cond(t.zeros(3, 2, 2), 1)
l.cond(t.stack([t.eye(2), t.ones(2, 2)]), 1); l.cond(t.eye(2), 3); l.cond(t.ones(2, 3), 1); l.cond(h); l.cond(h, 1)
l.cond(t.full((2, 2), nan), 1); t.cholesky(t.zeros(0, 0).int()); l.cholesky(h); t.cholesky(h); l.det(h); l.svd(h)
l.svdvals(h); l.eigh(h); l.eigvalsh(h); l.solve(h, h); l.inv(h); l.eig(h); l.qr(h); l.slogdet(h); l.pinv(h)
l.pinv(t.ones(2, 2).int()); l.matrix_rank(h); l.matrix_rank(t.ones(2, 2).bool())
l.lstsq(t.ones(2, 2).int(), t.ones(2, 2).int()); l.svd(t.ones(0, 3).half()); l.inv(t.zeros(2, 2))
l.inv(t.stack([t.eye(2), t.ones(2, 2)])); l.solve(t.zeros(1, 2, 2), t.ones(1, 2)); l.cholesky(-t.eye(2))
l.cholesky(t.stack([t.eye(2), -t.eye(2)])); t.cholesky(-t.eye(2)[None]); l.cholesky(t.full((2, 2), nan))
l.svd(t.full((2, 2), nan)); l.pinv(t.full((2, 2), nan)); l.eig(t.full((2, 2), nan)); l.matrix_power(t.zeros(2, 2), -1)
t.cholesky_inverse(t.zeros(1, 2, 2)); l.solve_triangular(t.eye(2), t.ones(2, 2).double(), upper=True)
l.solve_triangular(t.eye(2).double(), t.ones(2, 2), upper=True)
l.solve_triangular(t.eye(2) + 0j, t.ones(2, 2), upper=True)
l.solve_triangular(t.eye(2), t.ones(2, 2) + 0j, upper=True)
l.solve_triangular(t.eye(2), t.ones(2, 2).int(), upper=True)
l.solve_triangular(t.zeros(2, 2), t.ones(2, 2), upper=True)
l.solve_triangular(t.zeros(2, 2), t.ones(2, 2), upper=False)
l.solve_triangular(t.tensor([[1., 2], [0, 0]]), t.ones(2, 2), upper=True)
l.solve_triangular(t.tensor([[1., nan], [0, 1]]), t.ones(2, 2), upper=False)
l.solve_triangular(t.ones(2, 2), t.ones(3, 2), upper=True)
l.solve_triangular(t.ones(2, 2), t.ones(3, 2), upper=True, left=False); t.cholesky_solve(t.ones(2, 2), t.zeros(2, 2))
t.cholesky_solve(t.ones(2, 2), t.ones(2, 2).double()); t.cholesky_solve(t.ones(3, 1), t.eye(2))
l.solve(t.eye(2), t.ones(2), left=False); l.qr(t.ones(3, 2, requires_grad=True), mode='r')[1].sum().backward()
""".strip().replace("\n", "; ").split("; ")


def test_one_infinite_matrix_leaves_the_others_alone():
    same_outcome(lambda t: t.matrix_exp(t.tensor([[[9., 1], [0, 9]], [[float("inf"), 0], [0, 1]]]))[0], tolerance=1e-5)


@pytest.mark.parametrize("expression", PROGRAMS)
def test_unusual(expression):
    def program(t):
        def grad(x, function):
            x.requires_grad_()
            return t.autograd.grad(function(x), x)[0].contiguous()
        result = eval(expression, dict(t=t, l=t.linalg, nan=float("nan"), grad=grad, h=t.zeros(0, 0).half()))
        return tuple(result) if isinstance(result, tuple) else result
    same_outcome(program, tolerance=1e-6, cut=lambda text: text.split(" is ill-cond")[0])


LAID_OUT = """
l.inv(x); l.inv(c); t.inverse(x); l.solve(x, y); l.solve(x, y, left=False); l.solve(x, y[..., 0]); l.cholesky(p)
l.cholesky(p, upper=True); t.cholesky(p); t.cholesky(p, upper=True); l.qr(x); l.qr(y); l.qr(y, mode='complete')
l.svd(x); l.svd(y, full_matrices=False); l.svd(y); t.svd(x); l.svdvals(x); l.eigh(p); l.eigvalsh(p); l.eig(x)
l.eigvals(x); l.pinv(x); l.solve_triangular(x, y, upper=True)
l.solve_triangular(x, y, upper=False, unitriangular=True); t.cholesky_solve(y, p); t.cholesky_solve(y, p, upper=True)
t.cholesky_inverse(p); l.cond(x); l.cond(x, 1); t.logdet(p); l.vecdot(x, x); l.vecdot(x[0, 0], x[0, 1])
l.matrix_power(x, 2); l.matrix_power(x, -1); l.matrix_power(x, 3)
""".strip().replace("\n", "; ").split("; ")


@pytest.mark.parametrize("expression", LAID_OUT)
def test_strides_and_names(expression):
    """Columns in one piece, as LAPACK leaves them; the names of the nodes as well."""
    def program(t):
        t.manual_seed(0)
        x = t.randn(2, 3, 3, dtype=t.float64, requires_grad=True)
        y, c = t.randn(2, 3, 3, dtype=t.float64)[..., :2].clone(), x + 1j
        result = eval(expression, dict(t=t, l=t.linalg, x=x, y=y.requires_grad_(), c=c, p=x @ x.mT + t.eye(3)))
        results = list(result) if isinstance(result, tuple) else [result]
        return [(r.stride(), r.grad_fn.name(), r._is_view()) for r in results]
    same_outcome(program)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("expression", [
    "l.solve_triangular(a, b, upper=upper)", "l.solve_triangular(a, b.mT, upper=upper, left=False)",
    "l.solve_triangular(a, b, upper=upper, unitriangular=True)", "l.solve_triangular(a[0], b, upper=upper)",
    "l.solve_triangular(a, b[0], upper=upper)", "t.cholesky_solve(b, a, upper)", "t.cholesky_inverse(real, upper)",
    "l.solve(a, b)", "l.solve(a, b.mT, left=False)", "l.solve(a, b[..., 0])", "l.cholesky(a @ a.mH, upper=upper)"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients(expression, upper, dtype):
    """First and second ones; of a matrix of which one triangle is read, torch has that of both."""
    def program(t):
        t.manual_seed(0)
        kind = getattr(t, dtype)
        a = (t.randn(2, 3, 3, dtype=kind) + 3 * t.eye(3)).requires_grad_()
        b = t.randn(2, 3, 2, dtype=kind).requires_grad_()
        result = eval(expression, dict(t=t, l=t.linalg, a=a, b=b, upper=upper,
                                       real=a - 1j * t.diag_embed(a.diagonal(0, 1, 2).imag) if a.is_complex() else a))
        inputs = [a, b] if "b" in expression.replace("cholesky", "") else [a]
        first = t.autograd.grad(result, inputs, t.ones_like(result) * 1.5, create_graph=True)
        total = sum((g.abs() ** 2).sum() for g in first)
        return [x.detach().resolve_conj() for x in (result, *first, *t.autograd.grad(total, inputs))]
    same_outcome(program, tolerance=1e-9)


#: Losses that depend on the phases of complex vectors, which are refused, and some that do not; a wide qr; least
#: squares by the solution and by the residuals.
LOSSES = """
l.eig(c)[1].real.sum(); (l.eig(x)[1] * c).abs().sum(); l.eig(c)[1].abs().sum(); l.eig(x)[0].abs().sum()
(l.eigh(c + c.mH)[1] * c.detach()).real.sum(); l.eigh(c + c.mH)[1].abs().sum(); l.eigh(x + x.mT)[0].sum()
(l.svd(c)[0] * c.detach()).real.sum(); (l.svd(c)[2] * c.detach()).real.sum(); l.svd(c)[1].sum()
(l.svd(c)[0] @ l.svd(c)[2]).abs().sum(); l.svd(c, False)[2].abs().sum(); (l.qr(w)[0] + l.qr(w)[1][:, 2:]).abs().sum()
(l.qr(w)[1] * w.detach()).sum(); l.lstsq(w.mT, y).solution.sum(); l.lstsq(w.mT, w.mT[:, 0]).solution.sum()
l.lstsq(w.mT, y, driver='gelsd').residuals.sum(); l.lstsq(w.mT, y[:, 0], driver='gelss').residuals.sum()
(l.lstsq(w.mT, y, driver='gels').residuals * l.lstsq(w.mT, y, driver='gels').solution[0]).sum()
l.multi_dot([x, x, x]).sum(); t.kron(w, x).square().sum(); t.tensordot(x, x.mT, 2); t.tensordot(x, x, 2)
""".strip().replace("\n", "; ").split("; ")


@pytest.mark.parametrize("expression", LOSSES)
def test_gradients_of_losses(expression):
    def program(t):
        numbers = t.tensor([[2., -1, .5], [1, 3, -2], [.5, 1, -4]], dtype=t.double)
        wide = t.tensor([[2., -1, .5, 1], [1, 3, -2, .5]], dtype=t.double)
        x, c, w, y = [z.clone().requires_grad_() for z in (numbers, numbers + numbers.mT * .3j, wide, wide.mT.sin())]
        loss = eval(expression, dict(t=t, l=t.linalg, x=x, c=c, w=w, y=y))
        gradients = t.autograd.grad(loss, (x, c, w, y), retain_graph=True, allow_unused=True)
        used = [z for z, g in zip((x, c, w, y), gradients) if g is not None]
        grads = t.autograd.grad(loss, used, create_graph=True)
        again = t.autograd.grad(sum(g.abs().square().sum() for g in grads), used, allow_unused=True)
        return [g.detach().contiguous() for g in (*grads, *again) if g is not None]
    same_outcome(program, tolerance=1e-9)
