"""What torch's functions warn of, beside torch: the same words, as often."""
import re
import warnings

import pytest
import torch

import tinytorch

CALLS = """
t.cholesky(t.eye(2)); t.eye(2).cholesky(); t.linalg.cholesky(t.eye(2)); t.qr(t.eye(2)); t.eye(2).qr()
t.lu(t.eye(2)); t.eye(2).lu(); t.lu(t.eye(2), get_infos=True); t.linalg.lu_factor(t.eye(2))
t.lu_solve(t.eye(2), *t.linalg.lu_factor(t.eye(2))); t.triangular_solve(t.eye(2), t.eye(2)); t.nuclear_norm(t.eye(2))
t.chain_matmul(t.eye(2), t.eye(2)); t.linalg.multi_dot([t.eye(2), t.eye(2)]); t.cross(t.ones(2, 3), t.ones(2, 3))
t.cross(t.ones(2, 3), t.ones(2, 3), dim=1); t.ones(2, 3).cross(t.ones(2, 3)); t.linalg.cross(t.ones(3), t.ones(3))
t.stft(t.ones(20), 8, return_complex=True); t.stft(t.ones(20), 8, window=t.ones(8), return_complex=True)
t.istft(t.stft(t.ones(20), 8, return_complex=True, window=t.ones(8)), 8)
t.eye(2).index_reduce(0, t.tensor([0]), t.ones(1, 2), "amax"); t.eye(2).scatter_reduce(0, i(t), t.ones(1, 1), "sum")
t.eye(2).index_reduce_(0, t.tensor([0]), t.ones(1, 2), "amax"); t.eye(2).scatter(0, i(t), t.ones(1, 1), reduce="add")
t.eye(2).scatter_(0, i(t), 1., reduce="add"); t.eye(2).scatter_(0, i(t), t.ones(1, 1), reduce="multiply")
t.eye(2).to_sparse_csr(); t.eye(2).to_sparse_csc(); t.eye(2).to_sparse_coo(); t.eye(2).to_sparse(layout=t.sparse_csr)
t.meshgrid(t.ones(2)); t.meshgrid(t.ones(2), indexing="ij"); t.combinations(t.ones(3))
t.cartesian_prod(t.ones(2), t.ones(2))
t.searchsorted(t.arange(10.)[::2], t.ones(1)); t.range(1, 2); t.ones(2, 2, 2).T; t.ones(2, 2, 2).mT; t.std(t.ones(1))
t.tensor(t.ones(1)); t.ones(2).new_tensor(t.ones(1)); t.as_tensor(t.ones(1)); t.where(u(t), 1., 2.)
t.where(u(t).bool(), 1., 2.); t.ones(2)[u(t)]; t.ones(2, requires_grad=True).clone().grad
t.ones(2, 2)[[[0, 1], [0, 1]]]
t.tensor(1j).to(t.float32); t.tensor([1j]).float(); t.tensor([1j]).long(); t.tensor([1j]).bool(); t.tensor([1j]).real
t.tensor([1j]).to(t.complex128); t.ones(2).copy_(t.tensor([1j, 1])); t.ones(2, dtype=t.cfloat).copy_(t.ones(2))
t.set_default_tensor_type(t.FloatTensor); t.is_autocast_cpu_enabled(); t.autograd.Variable(t.ones(1), volatile=True)
t.autograd.Variable(t.ones(1)); t.nn.functional.softmax(t.ones(2)); t.nn.functional.mse_loss(t.ones(2), t.ones(1))
""".strip().replace("\n", "; ").split("; ")

NAMES = dict(i=lambda t: t.tensor([[0]]), u=lambda t: t.tensor([1, 0], dtype=t.uint8))


def words(call, t):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        eval(call, {**NAMES, "t": t})
    return [(w.category, re.split(r" \(Triggered", str(w.message).replace("tinytorch", "torch"))[0]) for w in found]


@pytest.fixture(autouse=True)
def every_time():
    """torch warns of most of it once in a process."""
    for t in torch, tinytorch:
        t.set_warn_always(True)
    yield
    for t in torch, tinytorch:
        t.set_warn_always(False)


@pytest.mark.parametrize("call", CALLS)
def test_warnings(call):
    assert words(call, tinytorch) == words(call, torch)


def test_once_unless_always():
    """What `set_warn_always` switches."""
    call = "t.chain_matmul(t.eye(2), t.eye(2))"
    assert len(words(call, tinytorch)) == len(words(call, tinytorch)) == 1 and tinytorch.is_warn_always_enabled()
    tinytorch.set_warn_always(False)
    assert words(call, tinytorch) == [] and not tinytorch.is_warn_always_enabled()


def test_layouts_are_warned_of_together():
    tinytorch.set_warn_always(False)
    words("t.eye(2).to_sparse_csr()", tinytorch)
    assert words("t.eye(2).to_sparse_csc()", tinytorch) == []
