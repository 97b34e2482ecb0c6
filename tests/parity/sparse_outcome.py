"""What an expression about sparse tensors gives under torch and under tinytorch, in a form that can be compared."""
import functools
import warnings

import numpy as np
import torch

import tinytorch

SETUP = """
i = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])
v = torch.tensor([3., 4., 5., 6.])
s = torch.sparse_coo_tensor(i, v, (2, 3))
c = s.coalesce()
D = torch.arange(6.).reshape(2, 3)
d = torch.arange(6.).reshape(3, 2)
r = D.to_sparse_csr()
h = torch.arange(12.).reshape(2, 3, 2).to_sparse(2)
sg, cg, rg = s.clone().requires_grad_(), c.clone().requires_grad_(), r.clone().requires_grad_()
Dg, dg, vg = D.clone().requires_grad_(), d.clone().requires_grad_(), v.clone().requires_grad_()
w, b = torch.ones(3, requires_grad=True), torch.ones(2, 2, requires_grad=True)
cg2, rg2 = cg.detach().clone().requires_grad_(), rg.detach().clone().requires_grad_()
"""


@functools.cache
def names(m):
    """The names that programs use, under the module `m`. They are shared: no program changes what it finds."""
    found = {"torch": m}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")        # torch says that its CSR tensors are new, and that it checks nothing
        exec(SETUP, found)
    return found


def parts(m, x):
    """A result as (what must be equal, arrays of numbers)."""
    if isinstance(x, (tuple, list)):
        found = [parts(m, y) for y in x]
        return [equal for equal, _ in found], [array for _, arrays in found for array in arrays]
    if not isinstance(x, m.Tensor):
        return str(x).replace("tinytorch.", "torch."), []
    x_values = x.detach()
    shown = [str(x.layout), tuple(x.shape), str(x.dtype), x.requires_grad,
             None if x.grad_fn is None else x.grad_fn.name()]
    if x.layout == m.strided:
        return shown, [_array(x_values)]
    if x.layout == m.sparse_coo:
        return [*shown, x.is_coalesced(), x._indices().tolist()], [_array(x_values._values())]
    plan = (x.crow_indices(), x.col_indices()) if x.layout == m.sparse_csr else (x.ccol_indices(), x.row_indices())
    return [*shown, *[p.tolist() for p in plan], str(plan[0].dtype)], [_array(x_values.values())]


def _array(tensor):
    return tensor.numpy() if tensor.is_complex() else tensor.double().numpy()


def outcome(m, program):
    """(what must be equal, arrays) of an expression, or of the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return parts(m, eval(program, names(m)))
        except NotImplementedError:            # which names torch's own kernels
            return "NotImplementedError", []
        except Exception as error:
            return [type(error).__name__, str(error).partition(", but expected")[0].partition("\n")[0]], []


def same(program, rtol=1e-6):
    """The program gives the same under both."""
    ours, theirs = outcome(tinytorch, program), outcome(torch, program)
    assert ours[0] == theirs[0]
    for one, two in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(one, two, rtol, 1e-7)
    return theirs
