"""Indexing and scatter against the real torch."""
import numpy as np
import pytest

from .adapter import same_outcome

INDICES = """
5; 0, 5; 0, 0, 0, 0; slice(None, None, -1); slice(None, None, 0); None; ..., ...; True; False; t.tensor(1); m; s, m
[0, 1]; [0, 1], [1, 2]; [[0, 1], [1, 0]]; [slice(0, 1), 0]; [True, False]; s, [True, False, True]; [[0, 1]]; [None, 0]
np.array([0, 1]); np.int64(1); np.array(1); np.array([True, False]); 1.0; 'a'; t.tensor([0.5]); t.tensor([5])
t.tensor([-3]); s, t.tensor([[5]]); i, s, i; 0, s, i; s, 0, i; i, t.tensor([0, 1, 2]); t.tensor(True)
t.tensor([1, 0], dtype=t.uint8); []; t.tensor([]); t.tensor([], dtype=t.long); s, m, 0; m, m
t.ones(2, 3, dtype=t.bool); t.ones(2, 4, dtype=t.bool); ..., 0; ..., None; None, ..., None, 0; ()
slice(t.tensor(1), None); slice(0.5, None); s, t.tensor(1), i; range(2); slice(0, 5, 2); i.int(); i.short(); True, 0
0, True; s, True; [0, 1], ..., [0, 1]; None, [0, 1]; [0, 1], None, [0, 1]; -3; {}; set(); x > 4
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("index", [text.strip() for text in INDICES if text.strip()])
def test_getitem(index):
    def program(t):
        x = t.arange(24.).reshape(2, 3, 4)
        names = dict(t=t, np=np, x=x, s=slice(None), i=t.tensor([0, 1]), m=t.tensor([True, False, True]))
        y = x[eval(f"({index})" if "," in index and index[0] != "[" else index, names)]
        return y, y._is_view()
    same_outcome(program)


@pytest.mark.parametrize("statement", [
    "x[0] = t.zeros(5)", "x[0] = t.zeros(2, 3, 4)", "x[0, 0] = t.zeros(1, 1, 4)", "x[0] = [1., 2, 3, 4]",
    "x[0] = np.zeros(4)", "x[i] = t.zeros(4, dtype=t.float64)", "x[0] = t.zeros(4, dtype=t.float64)",
    "x[:, m] = t.zeros(2, 2, 4)", "x[:, m] = t.zeros(7)", "x[x > 2] = t.zeros(3)", "x[x > 2] = t.zeros(21)",
    "x[x > 2] = 0", "x[i] = t.zeros(3, 3, 4)", "x[5] = 1", "x[0] = 'a'", "x[0] = None", "x[0] = True", "x[::-1] = 1",
    "x[True] = 5", "x[False] = 5", "x[...] = 5", "x[i, 0] = t.zeros(1, 1, 4)", "x[t.tensor([5])] = 0", "x[0] = x[1]",
    "x[1:, None, 2] = 7", "x[[0, 1], [1, 2]] = 3", "x[0] = t.tensor(2)", "x[i] = t.tensor(2.)", "x[..., 0] += 5",
    "x[:, [0, 0]] += 1"])
def test_setitem(statement):
    def program(t):
        x = t.arange(24.).reshape(2, 3, 4)
        exec(statement, dict(t=t, np=np, x=x, i=t.tensor([0, 1]), m=t.tensor([True, False, True])))
        return x, x._version
    same_outcome(program)


@pytest.mark.parametrize("expression", [
    "x.gather(0, i)", "x.gather(0, t.tensor([[5]]))", "x.gather(1, t.tensor([[0, 0], [2, 1]]))",
    "x.gather(0, t.tensor([[0.]]))", "x.scatter(0, t.tensor([[5]]), 1.)", "x.scatter(0, t.tensor([[0, 1, 0]]), x)",
    "x.scatter(0, t.tensor([[0]]), 1, reduce='add')", "x.scatter(1, t.tensor([[0], [2]]), 2., reduce='multiply')",
    "x.scatter(0, t.tensor([[0]]), 1, reduce='q')", "x.scatter(0, t.tensor([[0]]), t.tensor([[1]]))",
    "x.scatter_add(0, t.tensor([[0, 0, 0, 0]]), x)", "x.scatter_add(1, t.tensor([[0, 0, 1], [2, 2, 2]]), x)",
    "x.scatter_reduce(0, t.tensor([[0]]), x, 'q')",
    *[f"x.scatter_reduce(1, t.tensor([[0, 0, 1], [2, 2, 2]]), x + 1, '{how}', include_self={flag})"
      for how in ("sum", "prod", "mean", "amax", "amin") for flag in (True, False)],
    "x.index_select(0, t.tensor([5]))", "x.index_select(1, t.tensor([0, 0]))", "x.index_select(0, t.tensor([[0]]))",
    "x.index_select(0, t.tensor([0.]))", "x.index_add(0, t.tensor([0]), x)",
    "x.index_add(0, t.tensor([1, 1]), x, alpha=2)", "x.index_add(0, t.tensor([0, 5]), x)",
    "x.index_copy(0, t.tensor([0]), x)", "x.index_copy(0, t.tensor([1, 0]), x)", "x.index_fill(0, t.tensor([5]), 1)",
    "x.index_fill(1, t.tensor([1]), t.tensor([1.]))", "x.index_fill(1, t.tensor([-1]), 9)",
    "x.index_reduce(0, t.tensor([1, 1]), x, 'amax')", "x.take(t.tensor([6]))", "x.take(t.tensor([-1, 0]))",
    "x.take(t.tensor([0.]))", "x.take_along_dim(t.tensor([[0]]), 1)", "x.take_along_dim(t.tensor([0]))",
    "x.put(t.tensor([0, 1]), t.tensor([1.]))", "x.put(t.tensor([0, 0]), t.tensor([1., 2]), accumulate=True)",
    "x.masked_select(t.tensor([1]))", "x.masked_select(t.tensor([True]))", "x.masked_fill(t.tensor([1]), 1)",
    "x.masked_fill(x > 2, t.tensor([1.]))", "x.masked_fill(x > 2, t.tensor(1.))", "i.masked_fill(i > 1, 0.5)",
    "x.masked_scatter(x > 2, t.tensor([1.]))", "x.masked_scatter(x > 3, x)", "x.nonzero()", "x.nonzero(as_tuple=True)",
    "t.tensor(3).nonzero()", "t.argwhere(x)", "x.index_put((i, i), t.ones(3), accumulate=True)",
    "x.index_put_((i[:1],), 1.0)", "t.select_scatter(x, t.ones(3), 0, 1)", "t.slice_scatter(x, t.ones(1, 3), 0, 1)",
    "t.diagonal_scatter(x, t.ones(2))"])
def test_scatter(expression):
    same_outcome(lambda t: eval(expression, dict(t=t, x=t.arange(6.).reshape(2, 3), i=t.tensor([0, 1, 1]))))


@pytest.mark.parametrize("accumulate", [True, False])
@pytest.mark.parametrize("function", ["index_put", "index_put_"])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "bfloat16"])
def test_puts_into_columns(function, dtype, accumulate):
    def program(t):
        x = t.arange(12).to(getattr(t, dtype)).reshape(3, 4).t().clone()
        y = getattr(x, function)((t.tensor([0, 0, -1]),), t.tensor(2, dtype=x.dtype), accumulate)
        return x, y, y.stride()
    same_outcome(program)


@pytest.mark.parametrize("second", [[0, 1], [0, 1, 2]])
def test_index_is_looked_at_before_the_dtype(second):
    def program(t):
        x = t.zeros(2, 3)
        x[t.tensor([0, 1, 1]), t.tensor(second)] = t.ones(1, dtype=t.float64)
    same_outcome(program)


@pytest.mark.parametrize("size", [(0,), (0, 2), (2, 0, 1)])
def test_gathers_nothing(size):
    def program(t):
        x = t.zeros(size)
        y = x.gather(0, t.zeros(size, dtype=t.int64))
        return y, y._is_view(), y.stride()
    same_outcome(program)


@pytest.mark.parametrize("function", ["scatter_reduce", "index_reduce"])
@pytest.mark.parametrize("reduce", ["amax", "amin"])
@pytest.mark.parametrize("numbers, source", [
    ((np.nan, 1., 2.), (1., 2.)), ((1., 2., 3.), (np.nan, 2.)), ((1., 2., np.nan), (3., 2.)),
    ((1., 2., np.inf), (3., np.inf))])
def test_gradients_of_extremes_that_are_nan(function, reduce, numbers, source):
    def program(t):
        x, y = t.tensor(numbers, requires_grad=True), t.tensor(source, requires_grad=True)
        found = [getattr(x, function)(0, t.tensor([0, 0]), y, reduce, include_self=flag) for flag in (True, False)]
        return [(z, *t.autograd.grad(z.sum(), [x, y])) for z in found]
    same_outcome(program)


@pytest.mark.parametrize("call", ["select_scatter(x, y[0], 0, 1)", "slice_scatter(x, y, 0, 1, 2)",
                                  "select_scatter(x.detach(), y[0].detach(), 0, 1)"])
@pytest.mark.parametrize("of", "xy")
def test_no_gradients_of_complex_numbers(call, of):
    def program(t):
        x, y = t.ones(2, dtype=t.complex64), t.zeros(1, dtype=t.complex64)
        (x if of == "x" else y).requires_grad_()
        return eval("t." + call, dict(t=t, x=x, y=y))
    same_outcome(program)


@pytest.mark.parametrize("call", [
    lambda t: t.zeros(3)[2**63], lambda t: t.zeros(3)[-2**63 - 1], lambda t: t.zeros(3, 3)[0, 2**63],
    lambda t: t.zeros(3)[2**62], lambda t: t.zeros(3)[2**63:], lambda t: t.zeros(3, 2)[..., 2**63],
    lambda t: t.tensor(1.)[2**63], lambda t: t.tensor(1.)[1], lambda t: t.zeros(3).__setitem__(2**63, 1),
    lambda t: t.zeros(3).__setitem__((0, 2**63), 1), lambda t: t.arange(3)[[2**63]], lambda t: t.arange(3)[[2**64 - 1]],
    lambda t: t.tensor(1.).stride(0), lambda t: t.tensor(1.).stride(-1),
    lambda t: t.ones(2).stride(5)])
def test_numbers_that_64_bits_do_not_hold(call):
    same_outcome(call)


@pytest.mark.parametrize("index", """[np.uint8(0)]; [np.uint8(1)]; [[np.uint8(0)]]; [np.uint8(0), np.uint8(1)]
[np.int8(0)]; [np.uint8(0), np.int8(0)]; [np.bool_(0)]; [np.bool_(1), 0]; [True, 0]; [0.]; [np.float32(0)]
[np.uint16(0)]; [0, np.uint8(0)]; [t.tensor(0, dtype=t.uint8)]; [np.array([0], np.uint8)]; np.array(0, np.uint8)
np.array([0, 1], np.uint8); (np.uint8(0),); [t.tensor(True)]; [0, np.int64(0)]""".replace("\n", "; ").split("; "))
@pytest.mark.parametrize("size", [(1,), (2,), (2, 2)])
def test_lists_of_numbers_of_numpy(index, size):
    """Of uint8 alone they are a mask, otherwise places."""
    for write in False, True:
        def program(t):
            x, i = t.arange(4.)[:size[-1] ** len(size)].reshape(size).clone(), eval(index, {"t": t, "np": np})
            if not write:
                return x[i]
            x[i] = 5
            return x
        same_outcome(program, cut=lambda text: "")


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("index", [":", "...", "0:, :-1", ":1", "0:9", "-3:", ":, -5:", ":-1", "0:0", "::1"])
def test_view_written_through_an_index(index, size):
    """A view of what has just got a history is refused as a leaf where the index stands for the view itself."""
    def program(t):
        x = t.ones(1, 1, requires_grad=True)
        base = t.zeros(size, size)
        b = base[0:]
        exec(f"b[{index}] += x * 2", {"b": b, "x": x})
        return b, b.is_leaf, t.autograd.grad(b.sum(), x)[0]
    same_outcome(program)
