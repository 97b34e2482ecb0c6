"""Arithmetic, sums, softmax and products of sparse tensors against torch."""
import pytest

from .sparse_outcome import same

ELEMENTS = """
s+s
sg+sg
s+D
D+s
torch.add(D, s, alpha=2)
D+sg
s-s
D-s
s-D
s*2
2*s
s/2
sg*2
s*D
D*s
sg*D
s*s
sg*sg
-s
-sg
s**2
s.pow(2)
torch.exp(s)
torch.relu(s)
torch.sin(s)
torch.sqrt(s)
torch.abs(s)
torch.sparse.sum(s)
torch.sparse.sum(sg)
torch.sparse.sum(sg, 0)
torch.sparse.sum(sg, [0, 1])
s.sum()
sg.sum()
s.sum(0)
sg.sum(0)
s.mean()
r.sum()
torch.sparse.softmax(sg, 1)
torch.sparse.log_softmax(sg, 0)
torch.softmax(s, 1)
torch.isnan(s)
s.max()
r+r
r*2
r*D
r.sin()
-r
torch.sparse.softmax(r, 1)
s.eq(s)
torch.equal(s, s)
torch.allclose(s, s)
torch.mul(s, 2.5)
s.softmax(0)
s.abs()
s + 1
1 + s
s - 1
s + torch.ones(3)
s + torch.ones(())
s + s.t()
s + c
c + s
s * c
c * s
c * torch.ones(3)
c * torch.ones(2, 1)
c * torch.tensor(2.)
c * 2j
c * True
c / torch.tensor(2.)
c / torch.ones(2, 3)
c / c
2 / c
c ** 2
c ** 0
c ** -1
c.pow(0.5)
c.abs()
torch.sparse.sum(c, dim=())
torch.sparse.sum(c, 5)
torch.sparse.sum(c, (0, 0))
torch.sparse.sum(D)
torch.sparse.sum(c, -1)
torch.sparse.softmax(c, 2)
torch.sparse.softmax(D, 1)
s[-1]
torch.stack([c, c], -1)
c.unsqueeze(-1)
torch.nn.functional.relu(c)
c.relu()
torch.neg(s)
torch.mul(D, s)
D.mul(s)
D.add(s)
D * c
torch.sum(s), torch.sum(s, 0)
s.sum((0, 1))
s.sum(-1)
torch.sparse.log_softmax(c, 1)
c.log_softmax(1)
""".strip().split("\n")

PRODUCTS = """
torch.sparse.mm(sg, d)
torch.sparse.mm(s, dg)
torch.mm(sg, dg)
sg @ dg
sg.matmul(d)
torch.mm(D, s.t())
torch.mm(s.t(), D)
torch.mv(sg, torch.ones(3))
sg @ torch.ones(3)
torch.spmm(sg, d)
torch.sparse.mm(s, s.t())
torch.sparse.mm(sg, s.t())
torch.mm(sg, s.t())
s @ s.t()
r @ d
rg @ dg
torch.sparse.mm(rg, dg)
torch.mv(r, torch.ones(3))
torch.sparse.addmm(torch.ones(2, 2), sg, dg)
torch.sparse.addmm(torch.ones(2, 2), sg, dg, beta=2, alpha=3)
torch.addmm(torch.ones(2, 2), sg, dg)
torch.nn.functional.linear(torch.ones(1, 3), s)
s.half() @ d.half()
s.bfloat16() @ d.bfloat16()
s.int() @ d.int()
s @ d.double()
torch.sparse.mm(d, s)
torch.sparse.mm(D, s.t())
s.double() @ d
torch.mm(s, torch.ones(2, 2))
torch.sparse.mm(s, torch.ones(2, 2))
torch.sparse.mm(D, d)
torch.sparse.addmm(D, D, d)
torch.mv(s, torch.ones(3, 2))
torch.mv(s, torch.ones(3).double())
s.bool() @ d.bool()
c.half() @ d.half()
s.to(torch.complex64) @ d.to(torch.complex64)
torch.matmul(s, d)
torch.matmul(D, s.t())
D @ s.t()
D @ c.t()
d.t()[0] @ c.t()
c @ c.t() @ torch.ones(2, 1)
D.matmul(s.t())
torch.zeros(2, 2).to_sparse() @ torch.ones(2, 2)
torch.sparse_coo_tensor((2, 3)) @ torch.ones(3, 2)
c.to_sparse_csr() @ c.to_sparse_csr().t().to_dense()
c.to_sparse_csc() @ d
(D @ c.t()).stride()
(c @ d).stride()
torch.addmm(D, torch.ones(2, 2), c)
torch.sparse.addmm(D, torch.ones(2, 2), c)
D @ torch.ones(2, 3).to_sparse()
""".strip().split("\n")


@pytest.mark.parametrize("program", ELEMENTS)
def test_elements(program):
    same(program)


@pytest.mark.parametrize("program", PRODUCTS)
def test_products(program):
    same(program)
