"""Every in-place method of a tensor on sparse ones: it writes what torch writes, or refuses."""
import pytest
import torch

import tinytorch

NAMES = sorted(name for name in dir(torch.Tensor) if name[-1] == "_" and name[0] != "_" and name not in (
    "apply_", "bernoulli_", "map2_", "map_", "normal_", "requires_grad_", "resize_as_sparse_", "retain_grad_",
    "share_memory_"))
#: What torch writes to sparse tensors and tinytorch refuses.
REFUSED = {"conj_physical_", "fill_", "floor_divide_", "ldexp_", "nan_to_num_", "resize_as_"}


def made(t, kind):
    dense = t.tensor([[0.0, 0.5, 0.0], [-0.25, 0.0, 0.75]])
    return {"coo": dense.to_sparse, "csr": dense.to_sparse_csr, "csc": dense.to_sparse_csc,
            "integers": (dense * 4).long().to_sparse,
            "uncoalesced": lambda: t.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [0.5, 0.25, -0.75], (2, 3))}[kind]()


ARGUMENTS = {"nothing": lambda t, x: (), "number": lambda t, x: (2,), "fraction": lambda t, x: (1.5,),
             "itself": lambda t, x: (x.clone(),), "dense": lambda t, x: (t.ones(2, 3),), "dims": lambda t, x: (0, 1),
             "tensor": lambda t, x: (t.tensor(2.0),)}


def outcome(t, name, kind, arguments):
    x = made(t, kind)
    try:
        result = getattr(x, name)(*ARGUMENTS[arguments](t, x))
    except (RuntimeError, TypeError, NotImplementedError, ValueError, IndexError, AttributeError) as error:
        return error
    return result is x, str(x.dtype).split(".")[1], tuple(x.shape), x.to_dense().tolist()


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("kind", ["coo", "uncoalesced", "csr", "csc", "integers"])
def test_in_place(kind):
    written, wrong = 0, []
    for name in NAMES:
        for arguments in ARGUMENTS:
            ours, expected = (outcome(t, name, kind, arguments) for t in (tinytorch, torch))
            where = name, arguments
            if isinstance(ours, Exception):
                if not isinstance(expected, Exception) and name not in REFUSED:
                    wrong.append((where, ours))
                continue
            assert ours[0], where
            if not isinstance(expected, Exception):            # torch lacks some for compressed layouts
                assert ours[:3] == expected[:3], where
                for a, b in zip(ours[3], expected[3]):
                    assert a == pytest.approx(b, rel=1e-6, nan_ok=True), where
                written += 1
    assert not wrong and written > 20


@pytest.mark.parametrize("name", ["neg", "abs", "sqrt", "sin", "mul", "add", "sub", "div", "pow"])
def test_out(name):
    more = {"mul": (2,), "div": (2,), "pow": (2,), "add": None, "sub": None}.get(name, ())
    for shape in ((2, 3), (5, 5)):
        found = []
        for t in (torch, tinytorch):
            x, out = made(t, "coo"), t.sparse_coo_tensor(shape)
            assert getattr(t, name)(x, *((x,) if more is None else more), out=out) is out
            found.append(out.to_dense().tolist())
        for a, b in zip(*found):
            assert a == pytest.approx(b, rel=1e-6, nan_ok=True)
    with pytest.raises((RuntimeError, NotImplementedError)):
        tinytorch.neg(made(tinytorch, "coo"), out=tinytorch.ones(2, 3))
