"""Sparse tensors against torch: made of parts and of dense ones, looked at, taken apart, printed, put into files."""
import copy
import io
import pickle
import warnings

import pytest
import torch

import tinytorch

from .sparse_outcome import names, same

MADE = """
s.coalesce().indices()
s.indices()
s.values()
s._indices()
s._values()
sv._values()
sv.coalesce()
sv.coalesce().values()
sg.coalesce().values()
sg.to_dense()
sv.to_dense()
rg.to_dense()
r.crow_indices()
r.values()
rg.values()
rg.crow_indices()
s.crow_indices()
r.indices()
r._indices()
r._nnz()
s._nnz()
s.sparse_dim(), s.dense_dim(), r.sparse_dim(), r.dense_dim(), D.dense_dim(), D.sparse_dim()
s.is_sparse, s.is_sparse_csr, s.layout, r.is_sparse, r.is_sparse_csr, r.layout
D._nnz()
D.is_coalesced()
D.coalesce()
D.values()
D.indices()
D.crow_indices()
torch.sparse.sum(sg, 1, dtype=torch.float64)
torch.sparse.softmax(s, 1, dtype=torch.float64)
s.detach()
sg.detach()
sg.clone()
sg.double()
sg.to(torch.float64)
s.to('cpu') is s
s.int()
D.sparse_mask(c)
D.sparse_mask(s)
dg.t().sparse_mask(c)
s.is_contiguous()
s.shape, s.size(), s.size(0), s.dim(), s.numel(), s.dtype, s.device, s.element_size(), s.nbytes
s.type()
r.type()
torch.zeros_like(s)
torch.ones_like(s)
torch.empty_like(s)
torch.rand_like(s)
s.is_leaf
s.to_dense().to_sparse(1)
s.to_dense().to_sparse()
dg.to_sparse()
dg.to_sparse_csr()
dg.to_sparse(layout=torch.sparse_csr)
s.to_sparse()
s.to_sparse_csr()
r.to_sparse()
r.to_sparse_coo()
D.to_sparse_coo()
s.to_sparse(layout=torch.sparse_csr)
D.to_sparse_csc()
D.to_sparse(3)
D.to_sparse(-1)
D.to_sparse(0)
D.to_dense()
dg.to_dense()
D.to_dense(torch.float64)
s.to_dense(torch.float64)
torch.tensor(5.).to_sparse()
torch.sparse_coo_tensor(i, v)
torch.sparse_coo_tensor((2, 3))
torch.sparse_coo_tensor(size=(2, 3))
torch.sparse_coo_tensor([[0, 1]], [1., 2.])
torch.sparse_coo_tensor([[0, 1]], [1, 2])
torch.sparse_coo_tensor([[0, 1, 2]], [1., 2.], (3,))
torch.sparse_coo_tensor([0, 1], [1., 2.], (3,))
torch.sparse_coo_tensor([[0, 1]], [1., 2.], (3, 3))
torch.sparse_coo_tensor([[0.5, 1]], [1., 2.], (3,))
torch.sparse_coo_tensor([[0, 1]], [[1., 2.], [3, 4]])
torch.sparse_coo_tensor([[0, 1]], [[1., 2.], [3, 4]], (2, 3))
torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.long), torch.zeros(0), (2, 3))
torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.long), torch.zeros(0))
torch.sparse_coo_tensor(i, v, (2, 3), dtype=torch.float64)
torch.sparse_coo_tensor(i.int(), v, (2, 3))._indices().dtype
torch.sparse_coo_tensor(i, v, (2, 3), is_coalesced=True)
torch.sparse_csr_tensor([0, 2, 3], [0, 1, 1], [1., 2., 3.])
torch.sparse_csr_tensor([0, 2, 3], [0, 1, 1], [1., 2., 3.], (2, 2), dtype=torch.float64, requires_grad=True)
torch.sparse_csr_tensor([0, 2, 3], [1, 0, 1], [1., 2., 3.], (2, 2))
torch.sparse_csc_tensor([0, 2, 3], [0, 1, 1], [1., 2., 3.])
torch.sparse_compressed_tensor([0, 2, 3], [0, 1, 1], [1., 2., 3.], layout=torch.sparse_csr)
torch.sparse_compressed_tensor([0, 2, 3], [0, 1, 1], [1., 2., 3.])
r.clone()
rg.clone()
r.double()
r.coalesce()
r.is_coalesced()
torch.is_tensor(s)
torch.sparse.check_sparse_tensor_invariants.is_enabled()
bool(s)
s.int()*2.5
s.clone().mul_(2)
s.clone().add_(s)
D.clone().add_(s)
s.to_dense(masked_grad=False)
sg.to_dense(masked_grad=True)
torch.eye(3).to_sparse()
torch.sparse_coo_tensor(i, v, (2, 3)).requires_grad_()
torch.sparse_coo_tensor(i, v.long(), (2, 3)).requires_grad_()
s.dtype
torch.randn(30, 30).to_sparse().shape
torch.zeros(3, 3).to_sparse()
torch.zeros(3, 3, 0).to_sparse()
torch.zeros(3, 3, dtype=torch.int64).to_sparse()
torch.ones(3, dtype=torch.bool).to_sparse()
torch.ones(3, dtype=torch.complex64).to_sparse()
torch.arange(1, 2001).to_sparse()
torch.zeros(3, 3).to_sparse_csr()
(s.to(torch.complex64)*(1+2j)).t()
torch.ones(2, 3).double() + s
torch.ones(2, 3) + s.double()
torch.ones(2, 3).int() + s
s + s.double()
s.double() + s
s.int() + s
s + torch.ones(3, 3).to_sparse()
c + torch.eye(3)[:2].to_sparse()
c - torch.eye(3)[:2].to_sparse()
torch.add(c, torch.eye(3)[:2].to_sparse(), alpha=3)
c * torch.eye(3)[:2].to_sparse()
s * torch.eye(3)[:2].to_sparse()
torch.eye(3)[:2].to_sparse() * s
c * torch.tensor(2., dtype=torch.float64)
c.int() * 2.5
c.int() * 2
c.int() / 2
-c.int()
c.requires_grad_(False).neg()
torch.sparse.sum(torch.sparse_coo_tensor([[0, 2]], [[1., 2], [3, 4]], (3, 2)), 1)
torch.sparse.sum(torch.sparse_coo_tensor([[0, 2]], [[1., 2], [3, 4]], (3, 2)), 0)
torch.sparse.sum(torch.sparse_coo_tensor([[0, 2], [1, 1]], [[1., 2], [3, 4]], (3, 3, 2)), (0, 2))
torch.sparse.sum(s.int())
torch.sparse.sum(s.int(), 0)
s.int().sum()
s.int().sum(0)
torch.sparse.softmax(c.int(), 1)
torch.sparse.softmax(c.half(), 1)
torch.sparse.softmax(torch.sparse_coo_tensor([[0, 2]], [[1., 2], [3, 4]], (3, 2)), 0)
torch.sparse.softmax(torch.sparse_coo_tensor([[0, 2]], [[1., 2], [3, 4]], (3, 2)), 1)
torch.sparse.softmax(torch.sparse_coo_tensor([[0, 2], [1, 1]], [[1., 2], [3, 4]], (3, 3, 2)), -1)
torch.sparse_coo_tensor(torch.zeros(2, 0).long(), torch.zeros(0)).is_coalesced()
D.to_sparse(1)
h
h.transpose(0, 1)
torch.arange(12.).reshape(2, 3, 2).to_sparse(1).transpose(1, 2)
h.transpose(1, 2)
h.permute(1, 0, 2)
h.t()
h[0, 1]
h[0, 1, 1]
torch.cat([s, s.double()])
s.to_dense().dtype, s.half().to_dense(), s.bfloat16().to_dense(), s.bool().to_dense()
s.bool()
s.bool().coalesce()
s.half().coalesce()
s.char().coalesce()
s.to(torch.int64).to_dense()
s.to(torch.float32) is s
s.to(s) is s
s.to('cpu', torch.float64).dtype
s.type(torch.float64).dtype
s.type_as(d.double()).dtype
torch.is_floating_point(s), s.is_floating_point(), torch.numel(s), s.is_complex()
torch.detach(s)
torch.clone(s)
D.clone().sub_(s)
D.clone().add_(s, alpha=.5)
s.requires_grad, s.is_leaf, s.grad_fn, s.grad
torch.is_tensor(s), isinstance(s, torch.Tensor)
s.sparse_mask(c)
s.sparse_mask(torch.eye(3)[:2].to_sparse())
D.sparse_mask(d.to_sparse())
D.sparse_mask(r)
torch.zeros(2, 0).to_sparse()
torch.sparse_coo_tensor((2, 3)) + torch.sparse_coo_tensor((2, 3))
torch.sparse_coo_tensor(i, v, (2, 3), dtype=torch.float16)
torch.sparse_coo_tensor(i, v, (2, 3), requires_grad=True).is_leaf
torch.sparse_coo_tensor(i, v.clone().requires_grad_(), (2, 3), requires_grad=True).is_leaf
torch.sparse_coo_tensor(i, v, torch.Size([2, 3])).shape
torch.sparse_coo_tensor(i, v, [2, 3]).shape
torch.sparse_coo_tensor(i, v, size=(2, 3)).shape
torch.sparse_coo_tensor(indices=i, values=v, size=(2, 3)).shape
torch.sparse_coo_tensor(i.tolist(), v.tolist(), (2, 3)).shape
torch.sparse_coo_tensor(i, 5., (2, 3))
torch.sparse_coo_tensor(i.float(), v, (2, 3))
torch.sparse_coo_tensor()
torch.sparse_coo_tensor(i, v, (2, 3), device='cpu').device
torch.sparse_coo_tensor(i, v, (2, 3), (3,))
torch.sparse_coo_tensor(i, v, (2, 3), foo=1)
torch.sparse_csr_tensor([0, 1], [0], [1.], (1, 1)).dtype
torch.sparse_csr_tensor([0, 1], [0], [1], (1, 1)).dtype
torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([1.]), (1, 1), requires_grad=True)
torch.sparse_csr_tensor([0, 1], [0], [1.], (1, 1), layout=torch.sparse_csc)
torch.sparse_compressed_tensor([0, 1], [0], [1.], (1, 1), layout=torch.strided)
torch.sparse_compressed_tensor([0, 1], [0], [1.], (1, 1), layout=torch.sparse_csc)
c.to_sparse_csr().to_sparse_csc()
c.to_sparse_csr() + c.to_sparse_csr()
D + c.to_sparse_csr()
c.to_sparse_csr() * 3
c.to_sparse_csr() * c.to_sparse_csr()
c.to_sparse_csr().abs()
c.to_sparse_csr().sparse_mask(c.to_sparse_csr())
torch.sparse.sum(c.to_sparse_csr())
c.to_sparse_csr().values().requires_grad
sorted(a for a in dir(s) if a in ('indices', 'values', 'crow_indices', 'to_dense', 'coalesce'))
""".strip().split("\n")

PARTS = """
sg.t()
sg.T
s.transpose(0, 1)
r.t()
rg.transpose(0, 1)
s.stride()
s.storage()
s.data_ptr()
s.numpy()
s.tolist()
s.item()
len(s)
s[0]
s[0, 2]
s[0:1]
r[0]
r[0, 1]
s.view(3, 2)
s.unsqueeze(0)
s.squeeze(0)
torch.cat([s, s])
torch.cat([s, s], 1)
torch.stack([s, s])
s.new_zeros(2)
s == s
s.index_select(0, torch.tensor([1]))
s.narrow(0, 0, 1)
s.permute(1, 0)
s.fill_(1)
torch.where(D>1, s, s)
torch.nn.Parameter(s)
torch.dot(s[0], s[0])
s.numel()
c % 2
s.transpose(0, 3)
s.permute(0, 0)
s.permute(0)
s[5]
s[0, 0, 0]
s.select(1, 2)
s.index_select(1, torch.tensor([2, 0, 2]))
torch.stack([s, s], 1)
c.unsqueeze(1)
s.float() is s
s.cpu() is s
torch.transpose(s, 0, 1)
torch.t(s)
torch.permute(s, (1, 0))
D.sub(s, alpha=2)
s.data
s.device
s.ndim
s.element_size()
s.storage_offset()
str(s)
f"{s}"
hash(s) == hash(s)
torch.nn.functional.dropout(c, 0.5)
""".strip().split("\n")

PRINTED = """
s
sg
c
r
rg
h
-sg
torch.sparse_coo_tensor(i, vg, (2, 3))
c.to_sparse_csc()
c.double()
c.int()
c.to(torch.complex64)
torch.sparse_coo_tensor((2, 3))
torch.arange(1, 2001).to_sparse()
torch.eye(70).to_sparse()
torch.zeros(2, 2).to_sparse_csr()
torch.ones(12, dtype=torch.bool).to_sparse()
""".strip().split("\n")

LEGACY = """
torch.sparse.FloatTensor(i, v, torch.Size([2, 3]))
torch.sparse.FloatTensor(i, v)
torch.sparse.FloatTensor(i, vg, (2, 3))
torch.sparse.FloatTensor(2, 3)
torch.sparse.LongTensor(torch.Size([2, 3]))
torch.sparse.FloatTensor()
torch.sparse.FloatTensor((2, 3))
torch.sparse.FloatTensor(i, v.double(), (2, 3))
torch.sparse.FloatTensor(i.int(), v, (2, 3))
isinstance(s, torch.sparse.FloatTensor), isinstance(D, torch.sparse.FloatTensor), isinstance(s, torch.FloatTensor)
torch.sparse.FloatTensor
torch.sparse.FloatTensor.dtype
D.is_sparse_csr, D.is_sparse, D.layout
""".strip().split("\n")


@pytest.mark.parametrize("program", LEGACY)
def test_old_names(program):
    same(program)


@pytest.mark.parametrize("program", MADE)
def test_made(program):
    same(program)


@pytest.mark.parametrize("program", PARTS)
def test_parts(program):
    same(program)


@pytest.mark.parametrize("program", PRINTED)
def test_text(program):
    ours, theirs = [repr(eval(program, names(m))) for m in (tinytorch, torch)]
    assert ours == theirs


# ------------------------------------------------------------------ files, copies
def _saved(m):
    found = names(m)
    return {name: eval(program, found) for name, program in {
        "uncoalesced": "s", "coalesced": "c", "csr": "r", "csc": "r.to_sparse_csc()", "dense": "h",
        "leaf": "sg"}.items()}


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("writer, reader", [(torch, tinytorch), (tinytorch, torch), (tinytorch, tinytorch)])
def test_files_go_both_ways(writer, reader, weights_only):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer.save(_saved(writer), file)
        file.seek(0)
        found = reader.load(file, weights_only=weights_only)
        expected = _saved(reader)
    expected["leaf"] = expected["leaf"].detach()           # torch does not keep whether it required gradients
    assert repr(found) == repr(expected)
    assert [found[name].is_coalesced() for name in ("uncoalesced", "coalesced")] == [False, True]


def test_copies():
    for m in (tinytorch, torch):
        s = names(m)["sg"]
        for twin in (copy.deepcopy(s), copy.copy(s).requires_grad_(), pickle.loads(pickle.dumps(s)).requires_grad_()):
            assert repr(twin) == repr(s) and twin.is_leaf and twin is not s
        module = m.nn.Linear(2, 2)
        module.register_buffer("adjacency", names(m)["c"].clone())
        other = copy.deepcopy(module).double()
        assert list(other.state_dict()) == ["weight", "bias", "adjacency"]
        assert other.adjacency.dtype == m.float64 and module.adjacency.dtype == m.float32
        module.adjacency.zero_()
        assert module.adjacency._nnz() == 0 and other.adjacency._nnz() == 3
        assert not module.load_state_dict(copy.deepcopy(other).float().state_dict()).missing_keys
        assert module.adjacency.to_dense().tolist() == [[0, 0, 9], [4, 0, 5]]
