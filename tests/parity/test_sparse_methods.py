"""Methods of sparse tensors, layout by layout, and the products of older names, against torch."""
import pytest

from .sparse_outcome import same

TRANSPOSES = "{x}.T {x}.mT {x}.H {x}.mH {x}.adjoint() {x}.t() {x}.transpose(-1,-2) {x}.movedim(0,1)".split()
#: For each of the layouts below.
EACH = """
{x}.conj()
{x}.conj_physical()
{x}.conj() is {x}
{x}.resolve_conj()
{x}.resolve_neg()
{x}.is_conj()
{x}.is_neg()
{x}.is_same_size({x})
+{x}
{x}.positive()
{x}.any()
{x}.any(0)
{x}.angle()
{x}.nan_to_num()
{x}.nan_to_num(1., 2., 3.)
{x}.float_power(2)
{x}.floor_divide(2)
{x} // 2
{x} // torch.tensor(2.)
{x}.div(2, rounding_mode="trunc")
{x}.unbind()
{x}.unbind(1)
{x}.unbind(-1)
list({x})
{x}.norm()
{x}.norm(1)
{x}.norm(float("inf"))
{x}.norm(dim=0)
torch.norm({x}, 3)
{x}.dist({x})
{x}.sum(0, keepdim=True)
{x}.sum(-1, keepdim=True)
{x}.sum((0, 1), keepdim=True)
{x}.sum_to_size([1] * {x}.ndim)
{x}.unsqueeze(0)
{x}.unsqueeze(-1)
{x}.index_select(0, torch.tensor([1, 0]))
{x}.index_select(-1, torch.tensor([0, 1]))
{x}.clone().mul_(2)
{x}.clone().mul_(torch.tensor(2.))
{x}.clone().multiply_({x})
{x}.clone().sub_({x})
{x}.clone().floor_divide_(2)
{x}.clone().conj_physical_()
{x}.clone().nan_to_num_()
""".strip().split("\n")
LAYOUTS = ["s", "c", "h", "b3", "r", "z", "rz", "empty"]
_SETUP = {"b3": "torch.arange(-10., 14.).reshape(2, 3, 4).relu().to_sparse()", "z": "(c * (1 + 2j))",
          "rz": "(r * (1 + 2j))", "empty": "torch.sparse_coo_tensor((2, 3))"}
#: What fails in torch, in other words than here or not here.
_OTHERWISE = {f"{{x}}.{call} {layout}" for call in ("any(0)", "norm(dim=0)") for layout in ("r", "rz")}
_OTHERWISE.add("{x}.clone().conj_physical_() z")

PRODUCTS = """
torch.dsmm(s, d)
torch.dsmm(sg, dg)
torch.dsmm(D, d)
torch.dsmm(r, d)
torch.smm(s, d)
torch.smm(sg, d)
torch.smm(s, dg)
c.smm(d)
torch.smm(c, mat2=d)
torch.smm(s, d.to_sparse())
torch.smm(s, D)
torch.smm(s, d[0])
torch.smm(s, d.double())
torch.smm(D, d)
torch.smm(r, d)
torch.smm(h, d)
torch.smm(s.bool(), d.bool())
torch.smm(s.half(), d.half())
torch.smm(s * 1j, d * 1j)
torch.smm(torch.zeros(3).to_sparse(), d)
torch.smm(torch.sparse_coo_tensor((2, 3)), d)
torch.smm(sg, d).to_dense().sum().backward()
torch.hsmm(s, d)
torch.hspmm(s, d)
torch.hspmm(sg, d)
torch.hspmm(c, dg)
torch.hspmm(mat1=c, mat2=d)
torch.hspmm(torch.tensor([[0., 0., 0.], [0., 2., 1.]]).to_sparse(), d)
torch.hspmm(torch.sparse_coo_tensor((2, 3)), d)
torch.hspmm(s, d, out=torch.sparse_coo_tensor((2, 2)))
torch.hspmm(s, d.to_sparse())
torch.hspmm(s, D)
torch.hspmm(s, d.double())
torch.hspmm(D, d)
torch.hspmm(r, d)
torch.hspmm(h, d)
torch.hspmm(s.bool(), d.bool())
torch.hspmm(sg, d).to_dense().sum().backward()
torch.sspaddmm(torch.eye(2).to_sparse(), s, d)
torch.eye(2).to_sparse().sspaddmm(s, d, beta=2, alpha=3)
torch.sspaddmm(torch.eye(2).to_sparse(), sg, d, beta=0)
torch.sspaddmm(2, torch.eye(2).to_sparse(), 3, s, d)
torch.sspaddmm(2, torch.eye(2).to_sparse(), s, d)
torch.sspaddmm(torch.eye(2).to_sparse().long(), c.long(), d.long(), alpha=2.5)
torch.sspaddmm(torch.eye(2).to_sparse(), s, d, out=torch.sparse_coo_tensor((2, 2)))
torch.sspaddmm(torch.eye(3).to_sparse(), s, d)
torch.sspaddmm(torch.eye(2).to_sparse().double(), s, d)
torch.sspaddmm(torch.eye(2).to_sparse(), D, d)
torch.sspaddmm(torch.eye(2).to_sparse(), r, d)
torch.sspaddmm(torch.eye(2).to_sparse_csr(), s, d)
torch.saddmm(torch.eye(2).to_sparse(), s, d, beta=2)
""".strip().split("\n")

OTHERS = """
torch.zeros(2, 3, 4).to_sparse().mT
h.movedim(0, 1)
h.moveaxis([0, 1], [1, 0])
c[0].mT
c[0].T
cg.H
(cg * 1j).mH
(rg * 1j).adjoint()
c.narrow_copy(0, 0, 1)
s.narrow_copy(1, 1, 2)
h.narrow_copy(2, 1, 1)
h.narrow_copy(-1, 0, 1)
c.narrow_copy(0, 0, 3)
r.narrow_copy(0, 0, 1)
r + D
D + r
rg + D
r.add(D, alpha=2)
r - r
r - D
r.new_zeros(2, 3)
r.new_zeros(2)
c.new_zeros(2, 3)
s.sparse_mask(s)
s.sparse_mask(s.clone())
c.new_tensor([1, 2])
r.new_tensor([1, 2])
cg.isnan()
cg.long()
rg.bool()
torch.permute(r, (1, 0))
""".strip().split("\n")


def _of(template, layout):
    return template.replace("{x}", _SETUP.get(layout, layout))


@pytest.mark.parametrize("program", [_of(template, layout) for template in TRANSPOSES + EACH for layout in LAYOUTS
                                     if f"{template} {layout}" not in _OTHERWISE])
def test_methods(program):
    same(program)


@pytest.mark.parametrize("program", PRODUCTS)
def test_products(program):
    same(program)


@pytest.mark.parametrize("program", OTHERS)
def test_others(program):
    same(program)
