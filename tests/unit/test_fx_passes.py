"""Passes over graphs: parts, patterns, what is computed twice or needs no argument."""
from collections import OrderedDict

import pytest

import tinytorch as torch
from tinytorch import fx, nn
from tinytorch.fx.experimental.const_fold import split_const_subgraphs
from tinytorch.fx.experimental.rewriter import RewritingTracer
from tinytorch.fx.operator_schemas import normalize_function
from tinytorch.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops
from tinytorch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from tinytorch.fx.passes.infra.pass_manager import PassManager, this_before_that_pass_constraint
from tinytorch.fx.passes.operator_support import OperatorSupport, chain, create_op_support
from tinytorch.fx.passes.split_module import split_module
from tinytorch.fx.passes.split_utils import split_by_tags
from tinytorch.fx.passes.utils.matcher_utils import SubgraphMatcher


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        y = torch.relu(self.first(x)) + self.weight * 2
        return torch.sin(self.second(y)) - y


def test_split_module_gives_parts_that_compute_the_same():
    torch.manual_seed(0)
    net, x = Net(), torch.randn(2, 3)
    numbers = {"first": 0, "relu": 0, "mul": 0, "add": 0, "second": 1, "sin_1": 1, "sin": 1, "sub": 2}
    names = {}
    split = split_module(fx.symbolic_trace(net), net, lambda node: numbers[node.name], names)
    assert [node.target for node in split.graph.nodes if node.op == "call_module"] == [
        "submod_0", "submod_1", "submod_2"]
    assert names == {"submod_0.first": "first", "submod_1.second": "second"}
    assert torch.equal(split(x), net(x))
    with pytest.raises(RuntimeError, match="cycle exists between partitions"):
        split_module(fx.symbolic_trace(net), net, lambda node: int(node.name in ("relu", "mul")))


def test_split_by_tags():
    torch.manual_seed(0)
    net, x = Net(), torch.randn(2, 3)
    traced = fx.symbolic_trace(net)
    for i, node in enumerate(traced.graph.nodes):
        node.tag = "a" if i < 6 else "b"
    split, names = split_by_tags(traced, ["a", "b"], return_fqn_mapping=True)
    assert [name for name, _ in split.named_children()] == ["a", "b"] and names["second"] == "b.second"
    assert torch.equal(split(x), net(x))


def test_partitioner():
    def f(a, b):
        c = a + b
        d = torch.relu(c)
        return d + c + a
    traced = fx.symbolic_trace(f)
    supported = chain(OperatorSupport({"_operator.add": None}),
                      create_op_support(lambda modules, node: node.op == "call_function"))
    partitioner = CapabilityBasedPartitioner(traced, supported)
    assert [[node.name for node in part.nodes] for part in partitioner.propose_partitions()] == [["add_1", "add_2"]]
    fused = partitioner.partition_and_fuse()
    assert [node.target for node in fused.graph.nodes if node.op == "call_module"] == ["fused_0"]
    x = torch.randn(3)
    assert torch.equal(fused(x, x), f(x, x))


def test_what_is_computed_twice_is_computed_once():
    def f(x):
        return torch.sin(x) * torch.sin(x) + torch.rand_like(x) * torch.rand_like(x)
    found = CSEPass()(fx.symbolic_trace(f))
    assert found.modified and [node.name for node in found.graph_module.graph.nodes if "sin" in node.name] == ["sin"]
    graph = fx.experimental.proxy_tensor.make_fx(f)(torch.ones(2))
    graph = CSEPass(get_CSE_banned_ops())(graph).graph_module.graph
    assert len([node for node in graph.nodes if "rand_like" in node.name]) == 2


def test_what_needs_no_argument_is_computed_once():
    net, x = Net(), torch.randn(2, 3)
    folded = split_const_subgraphs(net)
    assert torch.equal(folded(x), net(x))
    with torch.no_grad():
        net.weight.zero_()
    assert not torch.equal(folded(x), net(x)), "2 * weight was kept"


def test_a_pass_manager_orders_passes_and_names_the_one_that_raised():
    done = []

    def first(gm):
        done.append("first")
        return fx.passes.infra.pass_base.PassResult(gm, False)

    def second(gm):
        raise ValueError("second")
    manager = PassManager([second, first], [this_before_that_pass_constraint(first, second)])
    with pytest.raises(Exception, match=r"running the 'second' pass after the following passes: \['first'\]"):
        manager(fx.symbolic_trace(Net()))
    assert done == ["first"]
    manager.add_constraint(this_before_that_pass_constraint(second, first))
    with pytest.raises(RuntimeError, match="Circular dependency"):
        manager.solve_constraints()


def test_matcher_with_several_results_and_literals():
    def f(x, y):
        a = x + 1
        return a * y, torch.relu(a)
    graph = fx.symbolic_trace(f).graph
    pattern = fx.symbolic_trace(lambda x, y: ((x + 2) * y,)).graph
    assert not SubgraphMatcher(pattern).match(graph)
    assert not SubgraphMatcher(pattern, ignore_literals=True).match(graph), "relu uses what is computed on the way"
    pattern = fx.symbolic_trace(f).graph
    found, = SubgraphMatcher(pattern).match(graph)
    assert [node.name for node in found.returning_nodes] == ["mul", "relu"]


def test_nested_arguments_of_concrete_args():
    def f(pair, scale):
        return {"sum": pair["a"] + pair["b"][0] * scale}
    traced = fx.symbolic_trace(f, {"pair": {"a": fx.PH, "b": [fx.PH]}})
    x = torch.ones(2)
    assert traced({"a": x, "b": [x]}, 3)["sum"].tolist() == [4.0, 4.0]
    with pytest.raises(RuntimeError, match="different from expected"):
        fx._pytree.tree_flatten_spec((x, x), torch.utils._pytree.tree_structure(OrderedDict(a=1)))
    assert fx.Interpreter(traced).run({"a": x, "b": [x]}, 3)["sum"].tolist() == [4.0, 4.0]


def test_assertions_are_nodes():
    class Checked(nn.Module):
        def forward(self, x, n: int):
            assert n == 2, "n"
            return x
    tracer = RewritingTracer()
    graph = tracer.trace(Checked())
    traced = fx.GraphModule(tracer.root, graph)
    assert traced(1, 2) == 1
    with pytest.raises(AssertionError, match="n"):
        traced(1, 3)


def test_arguments_by_name():
    found = normalize_function(torch.add, (1, 2), normalize_to_only_use_kwargs=True)
    assert found.args == () and found.kwargs == {"input": 1, "other": 2, "alpha": 1}
