"""The tensors of an index are saved: what becomes of backward after writes to them, and what hooks see of them."""
import pytest

from .test_graph import both_agree
from .test_graph_api import attempt

READS = ["x[i]", "x[:, i]", "x[i, i]", "x[[i, i]]", "x[[lib.tensor(0), lib.tensor(1)]]", "x[m]", "x[m, :2]",
         "x[..., i]", "x[None, i]", "x[1, i]", "x[i.numpy()]", "x[i.tolist()]", "x[i[:1]]", "x.take(i)",
         "x.masked_select(m[:, None])", "x.index_select(0, i)", "x.index_fill(0, i, 2.)", "lib.combinations(x[0])",
         "x.gather(1, i.reshape(2, 1))"]
WRITES = ["y[i, i] = v", "y[m] = 5.", "y[m, 0] = v", "y[:, i] = v", "y[0, i] = v", "y.index_put_((i, i), v)",
          "y.index_put_((m,), v[0])", "y.index_add_(0, i, x[:2])", "y.index_copy_(0, i, x[:2])", "y.put_(i, v)"]


def tensors(lib):
    return {"lib": lib, "x": lib.arange(12.).reshape(3, 4).requires_grad_(), "v": lib.ones(2, requires_grad=True),
            "i": lib.tensor([0, 1]), "m": lib.tensor([True, False, True])}


@pytest.mark.parametrize("written", ["i", "m"])
@pytest.mark.parametrize("expression", READS)
def test_read(expression, written):
    def program(lib):
        names = tensors(lib)
        y = eval(expression, names)
        names[written].copy_(names[written].clone())
        return attempt(lambda: lib.autograd.grad(y.sum(), names["x"]))
    both_agree(program)


@pytest.mark.parametrize("written", ["i", "m", "v"])
@pytest.mark.parametrize("statement", WRITES)
def test_write(statement, written):
    def program(lib):
        names = tensors(lib)
        names["y"] = names["x"].clone()
        exec(statement, names)
        with lib.no_grad():
            names[written].copy_(names[written].clone())
        return attempt(lambda: lib.autograd.grad(names["y"].sum(), names["x"]))
    both_agree(program)


@pytest.mark.parametrize("expression", [
    "x[i]", "x[:, i]", "x[m]", "x[:, i].grad_fn._saved_indices", "x.index_select(0, i)"])
def test_hooks(expression):
    def program(lib):
        packed = []
        with lib.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.tolist()) or t.clone(), lambda t: t):
            found = eval(expression, names := tensors(lib))
        names["i"].zero_()
        if isinstance(found, tuple):
            return packed, found
        return packed, lib.autograd.grad(found.sum(), names["x"])
    both_agree(program)


def test_allowed_mutation():
    def program(lib):
        names = tensors(lib)
        with lib.autograd.graph.allow_mutation_on_saved_tensors():
            y = names["x"][names["i"]]
            names["i"].zero_()
            return lib.autograd.grad(y.sum(), names["x"])
    both_agree(program)


def test_select_from_one_element():
    both_agree(lambda lib: [attempt(lambda: lib.tensor(3.).index_select(0, lib.tensor(index, dtype=lib.long)))
                            for index in ([], [0], [0, 0], 0)])


def test_combinations():
    both_agree(lambda lib: [lib.combinations(lib.arange(float(n)), r, again)
                            for n in range(5) for r in range(1, 5) for again in (False, True)])
