"""gradcheck and gradgradcheck themselves, and with them the first and second derivatives of the common operations."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd import gradcheck, gradgradcheck
from tinytorch.autograd.gradcheck import GradcheckError

F = torch.nn.functional
RANDOM = np.random.default_rng(0)


def normal(*shape):
    return torch.from_numpy(RANDOM.normal(size=shape)).requires_grad_()


def positive(*shape):
    return torch.from_numpy(RANDOM.uniform(0.5, 1.5, shape)).requires_grad_()


def distinct(*shape):
    """No two elements closer than a step of the differences."""
    values = RANDOM.permutation(int(np.prod(shape))).reshape(shape) / 3.0 + 0.1
    return torch.from_numpy(values).requires_grad_()


def cnormal(*shape):
    return torch.from_numpy(RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)).requires_grad_()


def symmetric(n):
    a = RANDOM.normal(size=(n, n))
    return torch.from_numpy(a @ a.T + n * np.eye(n)).requires_grad_()


INDEX = torch.tensor([[0, 2], [1, 1], [2, 0]])
LABELS = torch.tensor([1, 0, 3])
WEIGHT = torch.arange(1.0, 5.0).double()
STATISTICS = torch.zeros(2).double(), torch.ones(2).double()
CASES = {
    # element by element
    "add": (lambda a, b: a + 2 * b, normal(2, 3), normal(3)),
    "mul": (torch.mul, normal(2, 1), normal(3)),
    "div": (torch.div, normal(2, 3), positive(2, 3)),
    "pow": (torch.pow, positive(3), normal(3)),
    "exp sin": (lambda x: x.exp() * x.sin(), normal(3)),
    "log sqrt": (lambda x: x.log() / x.sqrt(), positive(3)),
    "tanh sigmoid": (lambda x: x.tanh() + x.sigmoid(), normal(3)),
    "atan2": (torch.atan2, positive(3), positive(3)),
    "erf": (torch.erf, normal(3)),
    "gelu": (F.gelu, normal(3)),
    "gelu tanh": (lambda x: F.gelu(x, approximate="tanh"), normal(3)),
    "silu mish": (lambda x: F.silu(x) + F.mish(x), normal(3)),
    "elu softplus": (lambda x: F.elu(x) + F.softplus(x), normal(4)),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.1), normal(4)),
    "prelu": (F.prelu, normal(2, 3), positive(3)),
    "where": (lambda a, b: torch.where(torch.tensor([True, False, True]), a * a, b), normal(3), normal(3)),
    "clamp": (lambda x: x.clamp(-0.5, 0.7) * x, normal(5)),
    "maximum": (lambda a, b: torch.maximum(a, b) * a, distinct(4), normal(4)),
    "lerp": (torch.lerp, normal(3), normal(3), normal(3)),
    "addcmul": (torch.addcmul, normal(3), normal(3), normal(3)),
    # reductions and running results
    "sum mean": (lambda x: x.sum(0) * x.mean(), normal(2, 3)),
    "prod": (lambda x: x.prod(1), normal(2, 3)),
    "var std": (lambda x: x.var(0) + x.std(), normal(3, 2)),
    "norm": (lambda x: x.norm(dim=1), normal(2, 3)),
    "norm 3": (lambda x: x.norm(3), normal(4)),
    "logsumexp": (lambda x: x.logsumexp(1), normal(2, 3)),
    "max": (lambda x: x.max(1).values * x.min(), distinct(2, 3)),
    "median": (lambda x: x.median(1)[0] ** 2, distinct(2, 3)),
    "cumsum": (lambda x: (x * x).cumsum(1), normal(2, 3)),
    "cumprod": (lambda x: x.cumprod(0), normal(3, 2)),
    "logcumsumexp": (lambda x: x.logcumsumexp(0), normal(3)),
    "cummax": (lambda x: x.cummax(0)[0] ** 2, distinct(4)),
    "sort": (lambda x: x.sort(1)[0] * x, distinct(2, 3)),
    "topk": (lambda x: x.topk(2)[0] ** 2, distinct(2, 4)),
    "kthvalue": (lambda x: x.kthvalue(2)[0] ** 2, distinct(2, 3)),
    # products
    "matmul": (torch.matmul, normal(2, 3), normal(3, 2)),
    "matmul batch": (torch.matmul, normal(2, 2, 3), normal(3)),
    "bmm": (torch.bmm, normal(2, 2, 3), normal(2, 3, 1)),
    "addmm": (torch.addmm, normal(2, 2), normal(2, 3), normal(3, 2)),
    "linear": (F.linear, normal(2, 3), normal(2, 3), normal(2)),
    "bilinear": (F.bilinear, normal(2, 2), normal(2, 3), normal(1, 2, 3), normal(1)),
    "outer dot": (lambda a, b: torch.outer(a, b) * torch.dot(a, b), normal(3), normal(3)),
    "einsum": (lambda a, b: torch.einsum("bij,bjk->ik", a, b), normal(2, 2, 3), normal(2, 3, 2)),
    "kron": (torch.kron, normal(2, 2), normal(1, 2)),
    "cross": (torch.linalg.cross, normal(2, 3), normal(2, 3)),
    "cdist": (torch.cdist, normal(2, 3), normal(3, 3)),
    # shapes and indices
    "views": (lambda x: x.t().reshape(2, 3)[:, 1:].permute(1, 0).flatten() ** 2, normal(3, 2)),
    "cat stack": (lambda a, b: torch.cat([a, b * b]).unsqueeze(0) * torch.stack([a, b]).sum(), normal(2), normal(2)),
    "split": (lambda x: torch.mul(*(x * x).split(2)), normal(4, 2)),
    "unbind": (lambda x: torch.atan2(*(x * x).unbind(1)), normal(3, 2)),
    "flip roll": (lambda x: x.flip(0) * x.roll(1, 0), normal(4)),
    "pad": (lambda x: F.pad(x * x, (1, 2), mode="reflect"), normal(1, 1, 4)),
    "pad constant": (lambda x: F.pad(x * x, (1, -1, 2, 0), value=2.0), normal(2, 3)),
    "expand": (lambda x: x.expand(3, 2) ** 2, normal(1, 2)),
    "unfold": (lambda x: x.unfold(0, 2, 1) ** 2, normal(4)),
    "diagonal tril": (lambda x: x.diagonal() * x.tril().sum(0), normal(3, 3)),
    "index": (lambda x: x[INDEX, 0] * x[x.shape[0] - 1, 1], normal(3, 2)),
    "index_select": (lambda x: x.index_select(1, torch.tensor([1, 1, 0])) ** 2, normal(2, 2)),
    "gather": (lambda x: x.gather(1, INDEX) ** 2, normal(3, 3)),
    "take_along": (lambda x: torch.take_along_dim(x * x, INDEX, 1), normal(3, 3)),
    "scatter": (lambda x, s: x.scatter(1, torch.tensor([[0, 2], [1, 0], [2, 0]]), s) ** 2, normal(3, 3), normal(3, 2)),
    "scatter_add": (lambda x, s: x.scatter_add(1, INDEX, s) ** 2, normal(3, 3), normal(3, 2)),
    "index_add": (lambda x, s: x.index_add(0, torch.tensor([0, 0]), s) ** 2, normal(3, 2), normal(2, 2)),
    "index_put": (lambda x, s: x.index_put((torch.tensor([0, 2]),), s, True) ** 2, normal(3, 2), normal(2, 2)),
    "masked": (lambda x: x.masked_fill(torch.tensor([True, False]), 0.5) ** 2 * x.masked_select(
        torch.tensor([[True, False], [True, True]])).sum(), normal(2, 2)),
    "in place": (lambda x: (x * 1).mul_(x).index_fill_(0, torch.tensor([1]), 2.0).add_(x.sum()), normal(3)),
    "write to a view": (lambda x, y: _written(x, y), normal(2, 3), normal(3)),
    # neural networks
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, padding=1, stride=2), normal(2, 2, 5), normal(2, 2, 3), normal(2)),
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding=1), normal(1, 2, 3, 3), normal(2, 2, 2, 2), normal(2)),
    "conv2d groups": (lambda x, w: F.conv2d(x, w, groups=2, dilation=2), normal(1, 2, 4, 4), normal(2, 1, 2, 2)),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, stride=2), normal(1, 2, 2, 2), normal(2, 1, 2, 2)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2) ** 2, distinct(1, 1, 4, 4)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x * x, 2, padding=1), normal(1, 1, 4, 4)),
    "adaptive pools": (lambda x: F.adaptive_avg_pool2d(x, 2) * F.adaptive_max_pool2d(x, 2), distinct(1, 1, 3, 3)),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), normal(4, 2), normal(2), normal(2)),
    "batch_norm eval": (lambda x, w: F.batch_norm(x, *STATISTICS, w), normal(3, 2), normal(2)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (3,), w, b), normal(2, 3), normal(3), normal(3)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), normal(2, 4, 2), normal(4), normal(4)),
    "instance_norm": (lambda x: F.instance_norm(x), normal(2, 2, 3)),
    "rms_norm": (lambda x, w: F.rms_norm(x, (3,), w), normal(2, 3), normal(3)),
    "softmax": (lambda x: F.softmax(x, 1), normal(2, 3)),
    "log_softmax": (lambda x: F.log_softmax(x, 0), normal(2, 3)),
    "cross_entropy": (lambda x: F.cross_entropy(x, LABELS), normal(3, 4)),
    "cross_entropy all": (lambda x: F.cross_entropy(x, LABELS, WEIGHT, label_smoothing=0.1, reduction="none"),
                          normal(3, 4)),
    "cross_entropy soft": (lambda x, t: F.cross_entropy(x, t), normal(3, 4), positive(3, 4)),
    "nll_loss": (lambda x: F.nll_loss(x * x, LABELS), normal(3, 4)),
    "mse smooth_l1": (lambda x, y: F.mse_loss(x, y) + F.smooth_l1_loss(x, y), normal(3), normal(3)),
    "bce": (lambda x, y: F.binary_cross_entropy_with_logits(x, y), normal(3), positive(3)),
    "bce probabilities": (lambda x: F.binary_cross_entropy(x.sigmoid(), WEIGHT[:3] / 4), normal(3)),
    "kl_div": (lambda x, y: F.kl_div(x, y, reduction="sum"), normal(3), positive(3)),
    "cosine": (lambda a, b: F.cosine_similarity(a, b), normal(2, 3), normal(2, 3)),
    "embedding": (lambda w: F.embedding(INDEX, w) ** 2, normal(3, 2)),
    "embedding_bag": (lambda w: F.embedding_bag(INDEX, w, mode="mean") ** 2, normal(3, 2)),
    "glu": (lambda x: F.glu(x), normal(2, 4)),
    # linear algebra
    "inv det": (lambda x: torch.linalg.inv(x) * torch.linalg.det(x), symmetric(3)),
    "solve": (torch.linalg.solve, symmetric(3), normal(3, 2)),
    "cholesky": (lambda x: torch.linalg.cholesky(x + x.mT), symmetric(3)),
    "slogdet": (lambda x: torch.linalg.slogdet(x)[1], symmetric(3)),
    "eigvalsh": (lambda x: torch.linalg.eigvalsh(x + x.mT), symmetric(3)),
    "eigh": (lambda x: torch.linalg.eigh(x + x.mT)[1].abs(), symmetric(3)),
    "svd": (lambda x: torch.linalg.svd(x, full_matrices=False)[1], normal(3, 2)),
    "svdvals": (torch.linalg.svdvals, normal(3, 2)),
    "qr": (lambda x: torch.linalg.qr(x)[1].abs(), normal(3, 2)),
    "pinv": (torch.linalg.pinv, normal(3, 2)),
    "matrix_power": (lambda x: torch.linalg.matrix_power(x, 3), normal(2, 2)),
    # complex numbers
    "complex mul": (lambda a, b: a * b.conj() / (b * b), cnormal(2), cnormal(2)),
    "complex exp": (lambda z: z.exp() + z.sin(), cnormal(2)),
    "complex abs": (lambda z: z.abs() * z.real + z.imag, cnormal(3)),
    "complex angle": (lambda z: z.angle(), cnormal(3)),
    "view_as_real": (lambda z: torch.view_as_real(z) ** 2, cnormal(2)),
    "complex matmul": (torch.matmul, cnormal(2, 2), cnormal(2, 2)),
    "complex from real": (lambda a, b: torch.complex(a, b) ** 2, normal(2), normal(2)),
}


def _written(x, y):
    z = x * 1
    z[0] = y
    z[:, 1:].mul_(y[:2])
    return z * z


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, *inputs = CASES[name]
    assert gradcheck(f, inputs, fast_mode=True, check_forward_ad=True, check_grad_dtypes=True)
    if name == "cdist":                        # whose gradient torch does not derive
        return
    assert gradgradcheck(f, inputs, fast_mode=True, check_fwd_over_rev=True, atol=1e-4)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_recurrent_modules(kind):
    module = getattr(torch.nn, kind)(2, 2, bidirectional=True).double()
    f = lambda x, *weights: module(x)[0]
    inputs = [normal(3, 2, 2), *module.parameters()]
    assert gradcheck(f, inputs[:1], check_forward_ad=True)
    assert gradgradcheck(f, inputs[:1], fast_mode=True)
    assert gradcheck(f, inputs, fast_mode=True) and gradgradcheck(f, inputs, fast_mode=True)


@pytest.mark.parametrize("fast", [False, True])
def test_wrong_derivatives_are_found(fast):
    def half(x):
        return x.detach() * x
    x, z = normal(3), cnormal(3)
    for inputs, text in ((x, "Jacobian mismatch for output 0 with respect to input 0,"),
                         (z, "While considering the imaginary part of complex outputs only, Jacobian mismatch")):
        with pytest.raises(GradcheckError, match=text):
            gradcheck(half, inputs, fast_mode=fast)
        assert not gradcheck(half, inputs, fast_mode=fast, raise_exception=False)
        with pytest.raises(GradcheckError, match="computed with forward mode mismatch"):
            gradcheck(half, inputs, fast_mode=fast, check_forward_ad=True, check_backward_ad=False)
    with pytest.raises(GradcheckError):
        gradgradcheck(lambda x: x * x.detach() ** 2, x, fast_mode=fast)


def test_jacobians_of_a_mismatch_are_shown():
    with pytest.raises(GradcheckError) as error:
        gradcheck(lambda x: x.detach() * x, torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True))
    assert "numerical:tensor([[2.0000, 0.0000]," in str(error.value)
    assert "analytical:tensor([[1., 0.]," in str(error.value)


def test_functions_without_derivative():
    x = distinct(3)
    assert gradcheck(lambda x: x.argmax(), x)
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, x)


def test_refused_inputs():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(torch.sin, torch.ones(2, dtype=torch.double))
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(torch.sin, normal(3).expand(2, 3))
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        gradcheck(lambda x: x * 2, torch.ones(2, requires_grad=True), atol=1, eps=1e-3)


def test_flags_that_contradict_each_other():
    x = normal(2)
    for flags in ({"check_backward_ad": False}, {"check_batched_grad": True, "check_backward_ad": False,
                  "check_forward_ad": True}, {"check_batched_forward_grad": True}):
        with pytest.raises(AssertionError):
            gradcheck(torch.sin, x, **flags)
    with pytest.raises(AssertionError):
        gradgradcheck(torch.sin, x, check_rev_over_rev=False)


def test_inputs_are_left_as_they_were():
    x = normal(3)
    before, version = x.tolist(), x._version
    gradcheck(lambda x: x[1:] ** 2, x)
    assert x.tolist() == before and x._version == version and x.grad is None


def test_given_and_scattered_gradients_of_outputs():
    x = normal(2, 2)
    assert gradgradcheck(lambda x: x ** 3, x, torch.ones(2, 2, dtype=torch.double, requires_grad=True))
    assert gradgradcheck(lambda x: x ** 3, x, gen_non_contig_grad_outputs=True)
