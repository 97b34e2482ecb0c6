"""Recorded calls: each graph computes what the function does, for other inputs too, or the recording says why not."""
import operator

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd.public import public
from tinytorch.autograd.torch_function import modes
from tinytorch.capture.schema import bind, form_for, forms_of
from tinytorch.capture.twice import BakedIn, TracerWarning, changed, difference, larger, leaves, record, record_twice
from tinytorch.fx import GraphModule
from tinytorch.fx.experimental.proxy_tensor import get_proxy_mode, make_fx

nn, F = torch.nn, torch.nn.functional


def rows(x):
    y = torch.zeros(4, 3)
    y[0] = x[0]
    y[1:3, :] = 2
    y[:, 1] += x[:, 1]
    y[y > 1] = -1
    y[[0, 3]] = x[1]
    return y


def views(x):
    y = x.clone()
    part = y[1:].t()
    part.add_(1)
    part[0].mul_(2)
    return y, part, y.view(-1)[::2]


def drawn(x):
    noise = torch.randn_like(x)
    noise[0].uniform_()
    return F.dropout(x, 0.5, True) + noise + torch.rand(3) * torch.randint(5, (4, 1)) + torch.bernoulli(x.sigmoid())


def operators(x):
    return (2 - x, 2 / x, 2 ** x, -x, abs(x), x == 1, x // 0.3, 3 // x, ~(x > 0), (x > 0) & (x < 1), x @ x.T, x.mT,
            x[..., None], x[None, 0, 1:], x[torch.tensor([1, 0]), 1], x[x > 0])


def made(x):
    return x + torch.tensor([1., 2., 3.]), torch.full((2,), 7), torch.arange(1, 6, 2), torch.eye(2, dtype=torch.float64)


def written(x):
    out = torch.empty(4, 3)
    torch.add(x, 1, out=out)
    return out * 2


def casts(x):
    return x.double(), x.to(torch.int64), x.float() + 1, x.type(torch.float16), x.bool()


def parts(x):
    a, b = x.chunk(2)
    c, d = x.split([1, 2], 1)
    values, places = x.max(1)
    return torch.cat([a, b]), torch.stack([c[:, 0], d[:, 1]]), values, places, x.topk(2), {"u": x.unbind(1)}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.rnn = nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.LSTM(6, 4)
        self.attend = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.)

    def forward(self, x):
        y = self.norm(self.conv(x[None, None])).relu_()
        y = F.interpolate(F.pad(y, (1, 1)), scale_factor=2.)
        y = F.adaptive_avg_pool2d(y, (4, 6)).flatten(0, 1)
        return self.attend(self.rnn(y)[0])


CASES = [rows, views, drawn, operators, made, written, casts, parts]


def replayed(function, inputs, attributes=None):
    recording = record(function, inputs, attributes=attributes)
    root = nn.Module() if attributes is None else function
    for name, tensor in recording.constants.items():
        setattr(root, name, tensor)
    recording.graph.lint()
    return GraphModule(root, recording.graph)


def same(results, expected):
    results, expected = list(leaves(results)), list(leaves(expected))
    assert len(results) == len(expected) > 0
    for a, b in zip(results, expected):
        assert a.shape == b.shape and a.dtype is b.dtype
        assert np.array_equal(a.detach().numpy(), b.detach().numpy(), equal_nan=a.dtype.is_floating_point)


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_graph_computes_what_the_function_does_for_other_inputs(function):
    torch.manual_seed(1)
    x, other = torch.randn(4, 3), torch.randn(4, 3)
    graph = replayed(function, (x,))
    for given in (x, other):
        torch.manual_seed(2)
        expected = function(given.clone())
        torch.manual_seed(2)
        same(graph(given.clone()), expected)


def test_layers_their_parameters_and_running_statistics():
    torch.manual_seed(3)
    net, x = Net(), torch.randn(4, 6)
    graph = replayed(net, (x,), {id(t): name for name, t in [*net.named_parameters(), *net.named_buffers()]})
    assert {"rnn.weight_hh_l0", "conv.bias", "norm.running_mean"} <= {n.target for n in graph.graph.nodes}
    before = net.norm.running_mean.clone()
    net.norm.running_mean.copy_(before)
    expected = net(x)
    after = net.norm.running_mean.clone()
    net.norm.running_mean.copy_(before)
    same(graph(x), expected)
    assert torch.equal(net.norm.running_mean, after) and not torch.equal(before, after)
    with torch.no_grad():
        net.conv.weight.mul_(2)
    expected = net(x)
    net.norm.running_mean.copy_(before)
    same(graph(x), expected)


def test_arguments_are_not_written_to_and_the_seam_is_down_after():
    x = torch.ones(2)
    recording = record(lambda x: x.add_(1), (x,))
    assert x.tolist() == [1, 1] and not modes()
    assert [n.target for n in recording.graph.nodes][1] is torch.ops.aten.add_.Tensor
    with pytest.raises(ZeroDivisionError):
        record(lambda x: 1 / 0, (x,))
    assert not modes() and get_proxy_mode() is None


def test_writes_and_draws_are_not_dead():
    def function(x):
        torch.rand(3)
        x[0] = 1
        x.exp()
        return x + 0
    graph = record(function, (torch.zeros(2),)).graph
    assert graph.eliminate_dead_code()
    assert [n.name for n in graph.nodes] == ["x", "rand", "select", "fill_", "add", "output"]


def test_sizes_are_nodes_where_they_are_asked_for():
    def function(x):
        n, m = x.shape
        return x.reshape(m * n // 2, -1) + torch.zeros(x.size(0) * m - n * m + 1, 2)
    recording = record(function, (torch.ones(4, 3),), sizes=True)
    assert {operator.mul, operator.floordiv, operator.sub} <= {n.target for n in recording.graph.nodes}
    graph = GraphModule(nn.Module(), recording.graph)
    for shape in ((4, 3), (2, 5), (6, 1)):
        same(graph(torch.ones(shape)), function(torch.ones(shape)))
    assert not [n for n in record(function, (torch.ones(4, 3),)).graph.nodes if n.target is operator.mul]


count = [0]


def counted(x):
    count[0] += 1
    return x * count[0]


held = []


def listed(x):
    held.append(1)
    return x[:len(held)]


def squared(x):
    return x * torch.from_numpy(np.sqrt(np.arange(3, dtype=np.float32) + count[0])) * counted(x)


@pytest.mark.parametrize("function, said", [
    (counted, r"mul.Tensor\]\(args = \(%x, \d+\)"), (listed, "slice"), (squared, "not recorded"),
    (lambda x: x * 2 if x.sum() > 0 else x, "Python boolean"), (lambda x: x * float(x[0]), "Python float"),
    (lambda x: x * x.sum().item(), "Python number"), (lambda x: x * x.tolist()[0], "Python list"),
    (lambda x: x + torch.from_numpy(np.tanh(x.numpy())), "NumPy array"), (lambda x: x * int(x[0]), "Python integer"),
    (lambda x: x[:[1, 2, 3][x.argmax()]], "Python index"), (lambda x: x * len(x), "len"),
    (lambda x: x * torch.tensor([float(x[0])]), "Python float")])
def test_what_is_baked_in_is_refused_or_warned_of(function, said):
    x = torch.tensor([3., 1., -7.])
    with pytest.raises(BakedIn, match=said):
        record_twice(function, (x,))
    with pytest.warns(TracerWarning, match=said):
        record_twice(function, (x,), strict=False)


def test_other_shapes_find_shapes_that_are_baked_in():
    def function(x):
        return x * x.shape[0]
    x = torch.ones(3)
    record_twice(function, (x,))
    with pytest.raises(BakedIn, match="mul"):
        record_twice(function, (x,), others=((torch.ones(4),), {}))


def test_what_computes_out_of_sight_is_refused_by_name():
    x = torch.rand(3, 3)
    w = torch.rand(3, 3, requires_grad=True)
    for function, said in ((lambda x: torch.autograd.grad((x * w).sum(), w)[0], "grad"),
                           (lambda x: torch.func.vmap(lambda y: y.sum())(x), "Batched|cannot be recorded"),
                           (lambda x: torch.unique(x), "unique"), (lambda x: setattr(x, "data", x * 2), "data"),
                           (lambda x: F.max_unpool1d(*F.max_pool1d(x[None], 2, return_indices=True), 2), "_unpool1d")):
        with pytest.raises(NotImplementedError, match=said):
            record(function, (x,))
    with pytest.raises(RuntimeError, match="requires grad as a constant"):
        v = w * 2
        record(lambda x: x + v, (x,))


def test_make_fx():
    graph = make_fx(lambda a, b: {"sum": a["x"] + b[0]})({"x": torch.ones(2)}, [torch.ones(2)])
    assert [n.name for n in graph.graph.nodes] == ["a_1", "b_1", "add", "output"]
    assert graph({"x": torch.ones(2)}, [torch.ones(2)])["sum"].tolist() == [2, 2]
    assert make_fx(nn.Linear(2, 2))(torch.ones(1, 2)).state_dict().keys() == {"_param_constant0", "_param_constant1"}
    with pytest.raises(RuntimeError, match="trying to get value out of a tracing tensor"):
        make_fx(lambda x: x if x.sum() > 0 else -x)(torch.ones(2))
    with pytest.raises(NotImplementedError, match="symbolic"):
        make_fx(torch.relu, tracing_mode="symbolic")


def test_schemas():
    form, values = bind("dropout", F.dropout, (torch.ones(1), 0.25), {})
    assert str(form) == "aten::dropout(Tensor input, float p, bool train) -> Tensor" and values[1:] == [0.25, True]
    assert bind("conv2d", F.conv2d, (torch.ones(1, 1, 3, 3), torch.ones(1, 1, 1, 1)), {"padding": "same"})[0].form == (
        "padding")
    assert bind("sum", torch.sum, (torch.ones(1),), {"nonsense": 1}) is None
    assert form_for("max", (torch.ones(2), 0), {})[0].results == ["Tensor", "Tensor"]
    assert forms_of("no_such_operator") == () and torch.ops.aten.add_.Tensor._schema.mutates
    assert [a.default for a in torch.ops.aten.randint.low._schema.arguments][3:5] == [torch.int64, None]
    with pytest.raises(TypeError, match="do not fit"):
        torch.ops.aten.add.Tensor("a", 2)


def test_operators_take_the_arguments_in_atens_order():
    weight, indices = torch.arange(6.).view(3, 2), torch.tensor([2, 0])
    assert torch.ops.aten.embedding(weight, indices).tolist() == [[4, 5], [0, 1]]
    assert torch.ops.aten.embedding.default(weight, indices).tolist() == [[4, 5], [0, 1]]
    assert torch.ops.aten.mse_loss(weight, weight + 1, 2).item() == 6
    normed = torch.ops.aten.batch_norm.default(weight, None, None, torch.zeros(2), torch.ones(2), False, .1, 0., True)
    assert normed.equal(weight)
    assert torch.ops.aten.slice.Tensor(weight, 0, 1, 9, 1).equal(weight[1:])


def test_other_inputs():
    x, i, b = torch.randn(3, 2), torch.tensor([4, 0, 2]), torch.tensor([True, False, True])
    a = changed(((x, [i]), {"b": b}))
    assert a[0][0].shape == x.shape and not torch.equal(a[0][0], x)
    assert sorted(a[0][1][0].tolist()) == [0, 2, 4] and a[1]["b"].tolist() == [False, True, False]
    assert [t.shape[0] for t in leaves(larger((x, i, torch.ones(5))))] == [4, 4, 5]
    assert larger((torch.tensor(1.),)) is None


@pytest.mark.parametrize("name", ["silu", "hardswish", "mish", "hardsigmoid"])
def test_activations_in_place(name):
    def function(x):
        y = x + 1
        return getattr(F, name)(y, inplace=True) * 2, y
    graph = replayed(function, (torch.randn(3),))
    assert [n.name for n in graph.graph.nodes] == ["x", "add", name + "_", "mul", "output"]
    x = torch.randn(3)
    same(graph(x), function(x))


def test_what_is_written_out_of_sight_is_refused():
    @public(python=True)
    def zeroed(input: torch.Tensor) -> torch.Tensor:
        y = input + 1                          # which is seen; the write is not
        input._array[:] = 0
        input._version_counter[0] += 1
        return y
    with pytest.raises(NotImplementedError, match="no recording sees its computation"):
        record(lambda x: zeroed(x * 2), (torch.ones(2),))


def test_parts_of_shapes_are_sizes_too():
    def function(x):
        height, width = x.shape[1:]
        return x.new_zeros(x.shape[:1] + (width, height)) + F.interpolate(
            x[None], size=x.shape[1:])[0].reshape(-1, *x.shape[:0:-1])
    first, second = [record(function, (torch.ones(2, n, 4),), sizes=True) for n in (3, 5)]
    assert difference(first, second) is None
    ends = [record(lambda x: x[:, -x.shape[0]:], (torch.ones(n, 4),), sizes=True) for n in (2, 3)]
    assert difference(*ends) is None and ends[0].result.shape == (2, 2)
    assert [int(n) for n in [*torch.Size([2, 3])[1:]]] == [3]


@pytest.mark.parametrize("function, names", [
    (lambda x: F.dropout3d(x[None, None], 0.5, True), ["feature_dropout"]),
    (lambda x: F.dropout1d(x, 0.5, True), ["feature_dropout"]),
    (lambda x: torch.tensordot(x, x, ([0, 1], [0, 1])), ["tensordot"]),
    (lambda x: torch.tensordot(x.T, x, 1), ["numpy_T", "tensordot"]),
    (lambda x: F.embedding_bag((x * 0).long(), torch.ones(3, 2)), ["to", "size", "size", "embedding_bag"])])
def test_functions_whose_operator_takes_other_arguments(function, names):
    found = [n.target.overloadpacket.__name__ for n in record(function, (torch.ones(2, 3),), sizes=True).graph.nodes
             if hasattr(n.target, "overloadpacket")]
    assert [name for name in found if name in names] == names
