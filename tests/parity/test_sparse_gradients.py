"""Gradients through sparse tensors, and sparse gradients, against torch; what optimisers do with those; a GCN."""
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .sparse_outcome import names, parts, same

#: An expression and the leaves to differentiate it by.
PROGRAMS = [line.split(" | ") for line in """
torch.sparse.mm(sg, dg) | sg dg
torch.sparse.mm(cg, dg) | cg dg
torch.sparse.mm(rg, dg) | rg dg
torch.mm(sg, dg) | sg dg
torch.mm(cg, dg) | cg dg
torch.sparse.mm(torch.sparse_coo_tensor(i, vg, (2, 3)), dg) | vg dg
torch.sparse_coo_tensor(i, vg, (2, 3)) @ dg | vg dg
torch.sparse_coo_tensor(i, vg, (2, 3)).t() @ Dg | vg Dg
rg @ dg | rg dg
torch.mv(sg, w) | sg w
torch.mv(s, w) | w
torch.mv(rg, w) | rg w
torch.sparse.addmm(b, sg, dg, beta=2, alpha=3) | b sg dg
torch.addmm(b, sg, dg) | b sg dg
torch.addmm(b, s, dg, beta=.5, alpha=2) | b dg
torch.sparse.mm(sg, cg.t()) | sg cg
torch.mm(sg, s.t()) | sg
torch.sparse.mm(Dg, s.t()) | Dg
Dg @ s.t() | Dg
torch.sparse.sampled_addmm(rg, torch.arange(8.).reshape(2, 4), torch.ones(4, 3), beta=.5, alpha=2.) | rg
torch.sparse.sampled_addmm(r, b, Dg, alpha=2.) | b Dg
sg.to_dense() | sg
cg.to_dense() | cg
cg.to_dense(masked_grad=False) | cg
sg.to_dense(masked_grad=False) | sg
rg.to_dense() | rg
torch.sparse_coo_tensor(i, vg, (2, 3)).to_dense() | vg
torch.sparse_coo_tensor(i, vg, (2, 3)).coalesce().values() | vg
torch.sparse_coo_tensor(i, vg, (2, 3)) | vg
torch.sparse_coo_tensor(i, vg, (2, 3)) * 2 | vg
Dg.to_sparse() | Dg
Dg.to_sparse(1) | Dg
Dg.to_sparse_csr() | Dg
Dg.to_sparse().to_dense() | Dg
rg.values() | rg
cg.values() | cg
sg.t() | sg
sg.transpose(0, 1) | sg
sg.permute(1, 0) | sg
rg.transpose(0, 1) | rg
sg + cg | sg cg
sg - cg | sg cg
torch.add(sg, cg, alpha=3) | sg cg
cg + cg2 | cg cg2
rg + rg2 | rg rg2
Dg + sg | Dg sg
Dg - cg | Dg cg
sg * 2 | sg
rg * 2 | rg
sg / 2 | sg
sg * Dg | sg Dg
cg * Dg | cg Dg
Dg * s | Dg
sg * cg | sg cg
-sg | sg
cg ** 2 | cg
cg.relu() | cg
cg.abs() | cg
torch.sparse.sum(sg) | sg
torch.sparse.sum(sg, 0) | sg
torch.sparse.sum(cg, 1) | cg
torch.sparse.sum(sg, [0, 1]) | sg
sg.sum() | sg
rg.sum() | rg
torch.sparse.softmax(sg, 1) | sg
torch.sparse.softmax(cg, 1) | cg
torch.sparse.log_softmax(cg, 0) | cg
sg.coalesce() | sg
sg.clone() | sg
rg.clone() | rg
sg.double() | sg
rg.double() | rg
Dg.sparse_mask(c) | Dg
Dg.sparse_mask(s) | Dg
rg.to_sparse_coo() | rg
cg.to_sparse_csr() | cg
torch.sparse_csr_tensor([0, 2, 4], [0, 1, 1, 2], vg, (2, 3)) | vg
torch.sparse_csr_tensor([0, 2, 4], [0, 1, 1, 2], vg, (2, 3)) @ dg | vg dg
torch.sparse_csr_tensor([0, 2, 4], [0, 1, 1, 2], vg, (2, 3)).to_dense() | vg
torch.sparse_csr_tensor([0, 2, 4], [0, 1, 1, 2], vg, (2, 3)).values() | vg
sg.ceil() | sg
cg.ceil() | cg
rg.ceil() | rg
sg.floor() | sg
cg.floor() | cg
rg.floor() | rg
sg.round() | sg
cg.round() | cg
rg.round() | rg
sg.sign() | sg
cg.sign() | cg
rg.sign() | rg
sg.trunc() | sg
cg.trunc() | cg
rg.trunc() | rg
sg.deg2rad() | sg
cg.deg2rad() | cg
rg.deg2rad() | rg
sg.rad2deg() | sg
cg.rad2deg() | cg
rg.rad2deg() | rg
sg.frac() | sg
cg.frac() | cg
rg.frac() | rg
sg.log1p() | sg
cg.log1p() | cg
rg.log1p() | rg
sg.square() | sg
cg.square() | cg
torch.nn.functional.linear(sg, torch.ones(2, 3)) | sg
torch.nn.functional.linear(cg, torch.ones(2, 3), torch.ones(2)) | cg
torch.nn.functional.linear(s, Dg) | Dg
torch.nn.functional.linear(r, Dg, torch.ones(2)) | Dg
sg[0, 1] | sg
cg[-1, -1] | cg
rg[0, 1] | rg
sg[0, 1] * cg[0, 1] | sg cg
torch.stack([sg, sg]) | sg
torch.stack([sg, cg], 1) | sg cg
torch.stack([cg, s], -1) | cg
torch.stack([cg, cg]).to_dense() | cg
torch.stack([sg, cg]).to_dense(masked_grad=False) | sg cg
""".strip().split("\n")]


def _gradients(m, program, leaves):
    found = names(m)
    y = eval(program, found)
    seed = m.arange(1., y.numel() + 1).reshape(y.shape).to(y.dtype) if y.layout == m.strided else y.detach().clone()
    return parts(m, (y, *m.autograd.grad(y, [found[name] for name in leaves.split()], seed)))


@pytest.mark.parametrize("program, leaves", PROGRAMS)
def test_gradients(program, leaves):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = _gradients(tinytorch, program, leaves), _gradients(torch, program, leaves)
    assert ours[0] == theirs[0]
    for one, two in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(one, two, 1e-6, 1e-7)


REFUSED = [line.split(" | ") for line in """
sg[1] | sg
rg[1] | rg
cg[1, :].to_dense() | cg
torch.cat([sg, cg]).to_dense(masked_grad=False) | sg cg
torch.cat([sg, s, cg], 1).to_dense(masked_grad=False) | sg cg
torch.cat([sg, cg]) | sg cg
torch.stack([sg, s, Dg]) | sg
torch.stack([rg, rg]) | rg
torch.stack([sg, sg[0]]) | sg
sg.unsqueeze(1).to_dense(masked_grad=False) | sg
sg.unsqueeze(0) | sg
""".strip().split("\n")]


@pytest.mark.parametrize("program, leaves", REFUSED)
def test_gradients_that_torch_refuses(program, leaves):
    said = []
    for m in tinytorch, torch:
        with warnings.catch_warnings(), pytest.raises((NotImplementedError, RuntimeError)) as caught:
            warnings.simplefilter("ignore")
            _gradients(m, program, leaves)
        said.append((caught.type, str(caught.value).partition(" with arguments")[0]))
    assert said[0] == said[1]


#: A program, and what torch is asked: through its sparse constructor torch loses a part of second gradients.
DENSE = "torch.zeros(2, 3).index_put((i[0], i[1]), vg, accumulate=True) @ dg"
SECOND = [("torch.sparse_coo_tensor(i, vg, (2, 3)) @ dg", DENSE),
          ("torch.sparse_coo_tensor(i, vg, (2, 3)).to_dense() @ dg", DENSE),
          ("s @ (dg * dg)", "s @ (dg * dg)"), ("torch.sparse.mm(c, dg * dg)", "torch.sparse.mm(c, dg * dg)")]


@pytest.mark.parametrize("program, reference", SECOND)
def test_second_gradients(program, reference):
    found = []
    for m, text in ((tinytorch, program), (torch, reference)):
        e = names(m)
        y = eval(text, e)
        leaves = [e["dg"], e["vg"]] if "vg" in program else [e["dg"]]
        first = m.autograd.grad((y * y).sum(), leaves, create_graph=True)
        found.append([g.numpy() for g in m.autograd.grad(sum((g * g).sum() for g in first), leaves)])
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, 1e-5)


@pytest.mark.parametrize("dtype, rtol", [("float16", 1e-3), ("bfloat16", 8e-3)])
def test_half_precision(dtype, rtol):
    rng = np.random.default_rng(0)
    places, values, other = rng.integers(0, 30, (2, 200)), rng.normal(size=200), rng.normal(size=(30, 40))
    found = []
    for m in (tinytorch, torch):
        v = m.tensor(values, dtype=getattr(m, dtype), requires_grad=True)
        x = m.tensor(other, dtype=getattr(m, dtype), requires_grad=True)
        y = m.sparse_coo_tensor(m.tensor(places), v, (30, 30)).coalesce() @ x
        y.backward(m.ones_like(y))
        found.append([t.detach().double().numpy() for t in (y, v.grad, x.grad)])
    np.testing.assert_array_equal(found[0][0], found[1][0])
    for one, two in zip(*found):
        np.testing.assert_allclose(one, two, rtol, 4 * rtol)


# ------------------------------------------------------------------ .grad
ACCUMULATED = ["(y * y).sum().backward()", "(y * y).sum().backward(); e(torch.tensor([2])).sum().backward()",
               "(y * y).sum().backward(); e(torch.tensor([2, 1])).exp().sum().backward()",
               "(y * y).sum().backward(); (e.weight * 2).sum().backward()",
               "(e.weight * 2).sum().backward(); (y * y).sum().backward()",
               "((y * y).sum() + e.weight.sum()).backward()",
               "((y * y).sum() + e(torch.tensor([2])).sum()).backward()",
               "((y * y).sum() + e(torch.tensor([2, 4, 2])).exp().sum()).backward()"]


@pytest.mark.parametrize("program", ACCUMULATED)
@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}])
def test_embedding(program, options):
    _compare_embedding(program, options, "float32", 1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_embedding_in_half_precision(dtype):
    _compare_embedding(ACCUMULATED[0], {}, dtype, 1e-2)


def _compare_embedding(program, options, dtype, rtol):
    found = []
    for m in (tinytorch, torch):
        table = m.arange(10.).reshape(5, 2).to(getattr(m, dtype)) / 10
        e = m.nn.Embedding(5, 2, sparse=True, _weight=table, **options)
        y = e(m.tensor([[1, 3], [1, 0]]))
        exec(program, {"torch": m, "e": e, "y": y})
        found.append(parts(m, (y, e.weight.grad)))
    assert found[0][0] == found[1][0]
    for one, two in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_allclose(one, two, rtol)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_embedding_bag(mode):
    found = []
    for m in (tinytorch, torch):
        e = m.nn.EmbeddingBag(5, 2, sparse=True, mode=mode, _weight=m.arange(10.).reshape(5, 2))
        y = e(m.tensor([1, 3, 1, 0]), m.tensor([0, 3]))
        (y * y).sum().backward()
        found.append(parts(m, (y, e.weight.grad)))
    assert found[0][0] == found[1][0]
    for one, two in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_allclose(one, two, 1e-6)


@pytest.mark.parametrize("program", [
    "torch.sparse.mm(a, d).sum().backward(); torch.sparse.mm(a, d).sum().backward()", "(a * 2).sum().backward()",
    "(a * 2).sum().backward(); a.to_dense().sum().backward()", "a.to_dense().sum().backward(); a.sum().backward()"])
def test_leaves_accumulate(program):
    found = []
    for m in (tinytorch, torch):
        a = names(m)["s"].clone().requires_grad_()
        exec(program, {**names(m), "a": a})
        found.append(parts(m, a.grad))
    assert found[0][0] == found[1][0]
    for one, two in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_array_equal(one, two)


# ------------------------------------------------------------------ optimisers
OPTIMIZERS = """
SGD(p, 0.1)
SGD(p, 0.1, momentum=0.9)
SGD(p, 0.1, momentum=0.9, nesterov=True)
SGD(p, 0.1, momentum=0.9, dampening=0.5, maximize=True)
SGD(p, 0.1, weight_decay=0.9)
Adagrad(p, 0.1)
Adagrad(p, 0.1, weight_decay=0.1)
Adagrad(p, 0.1, lr_decay=0.1, maximize=True)
SparseAdam(p, 0.1)
SparseAdam(p, 0.1, betas=(0.8, 0.9), maximize=True)
Adam(p, 0.1)
AdamW(p, 0.1)
RMSprop(p, 0.1)
Adadelta(p)
Adamax(p)
""".strip().split("\n")


def _trained(m, optimizer):
    tables = [m.nn.Embedding(5, 2, sparse=True, _weight=m.arange(10.).reshape(5, 2) * k) for k in (1, 2)]
    optimizer = eval(optimizer, {**vars(m.optim), "p": [table.weight for table in tables]})
    try:
        for k in range(3):
            optimizer.zero_grad(set_to_none=k != 1)
            sum([(table(m.tensor([[1, 3], [1, k]])) ** 2).sum() for table in tables]).backward()
            optimizer.step()
    except RuntimeError as error:
        return str(error), []
    state = [list(entry.items()) for entry in optimizer.state_dict()["state"].values()]
    return parts(m, (*[table.weight for table in tables], state))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_optimisers(optimizer):
    ours, theirs = _trained(tinytorch, optimizer), _trained(torch, optimizer)
    assert ours[0] == theirs[0]
    for one, two in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(one, two, 1e-5, 1e-6)


@pytest.mark.parametrize("program", [
    "torch.optim.SparseAdam([s])", "torch.optim.SparseAdam([d], lr=-1)", "torch.optim.SparseAdam([d], lr=0)",
    "torch.optim.SparseAdam([d], eps=0)", "torch.optim.SparseAdam([d], betas=(1, 0))", "torch.optim.SparseAdam([d])",
    "torch.optim.SparseAdam([d.to(torch.complex64)])", "torch.optim.SparseAdam([torch.ones(2), torch.ones(2)], 0.5)"])
def test_sparse_adam_options(program):
    same(program)


# ------------------------------------------------------------------ a graph network
def _gcn(m, layout):
    rng = np.random.default_rng(0)
    n, edges = 40, rng.integers(0, 40, (2, 160))
    edges = np.concatenate([edges, edges[::-1], np.arange(n)[None].repeat(2, 0)], 1)
    values = m.ones(edges.shape[1])
    a = m.sparse_coo_tensor(m.tensor(edges), values, (n, n)).coalesce()
    degree = m.sparse.sum(a, 1).to_dense()
    scale = degree.pow(-0.5)
    i = a.indices()
    a = m.sparse_coo_tensor(i, a.values() * scale[i[0]] * scale[i[1]], (n, n)).coalesce()
    a = a.to_sparse_csr() if layout == "csr" else a
    x = m.tensor(rng.normal(size=(n, 8)), dtype=m.float32)
    labels = m.tensor(rng.integers(0, 3, n))
    weights = [m.tensor(rng.normal(size=size) * 0.3, dtype=m.float32, requires_grad=True)
               for size in ((8, 16), (16, 3))]
    optimizer = m.optim.Adam(weights, lr=0.01, weight_decay=5e-4)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        hidden = m.relu(a @ (x @ weights[0]))
        out = m.sparse.mm(a, hidden @ weights[1])
        loss = m.nn.functional.cross_entropy(out, labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_gcn(layout):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = _gcn(tinytorch, layout), _gcn(torch, layout)
    np.testing.assert_allclose(ours, theirs, 1e-4)
    assert ours[-1] < 0.8 * ours[0]
