"""torch.fx: programs that run under both modules give the same code, the same text of graphs and the same results."""
import copy
import math
import operator
import pickle
from math import sqrt

import pytest

from .test_graph import both_agree


def scaled(x, n):
    return x * n


def written(lib, function, *args, **options):
    """(the code, the text of the graph) of what a function or a module computes, or its error."""
    try:
        traced = lib.fx.symbolic_trace(function, *args, **options)
    except Exception as error:
        return type(error).__name__, str(error)
    return traced.code.replace("torch._C._nn.", "torch.nn.functional."), str(traced.graph).replace(
        "torch._C._nn.", "torch.nn.functional.")


def typed(lib):
    def function(x: lib.Tensor, y: int, z: lib.Tensor | None = None, *rest, k: float = 1.0, **more) -> tuple:
        return x + y, rest[0], more["a"], k
    return function


def operators(x):
    a = x.relu()
    a += 1
    a = ~(a & 1) >> 1 | 3 ^ x
    b = 2 ** (x ** 2) // 2 % 3 - 1
    c = abs(b == 1), b != 1, b < 1, b >= x, 1 - x, 1 / x, -x, +x, x @ x
    return {"a": a[1:, None, ..., x], "b": [c, slice(1, x)], "c": b is None}


def methods(x):
    y = x.view(-1, x.size(1)).sum(dim=(0, 1), keepdim=True).float()[..., 0].max(0)[0]
    x.abs()
    x.dtype
    return y.T.shape[0], y.data


def functions(lib, x):
    F = lib.nn.functional
    return (F.max_pool2d(x, 2) + F.dropout(x) + F.conv2d(x, x) + F.linear(x, x) + F.softmax(x, -1) + F.gelu(x)
            + F.pad(x, (1, 1)) + F.interpolate(x, scale_factor=2) + F.relu(x) + F.cross_entropy(x, x)
            + lib.cat((x, x), 1) + lib.flatten(x, 1) + lib.split(x, 2)[0] + lib.zeros(x.shape[0])
            + lib.max(x, dim=0)[0] + lib.einsum("ij->i", x) + lib.arange(3.) + lib.arange(3.) * x + lib.pi)


def rooted(x):
    return x / math.sqrt(x.size(-1)) + sqrt(x.size(0)) + math.floor(2.5) + sqrt(4)


def unpacked(x):
    a, (b, c) = x
    return a + b * c


def model(lib):
    class Inner(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.p = lib.nn.Parameter(lib.arange(2.))
            self.register_buffer("b", lib.ones(2))
            self.scale = 3

        def forward(self, x, *, shift: float = 1.0):
            return x * self.p * self.scale + self.b + shift

    class Outer(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.layers = lib.nn.ModuleList([lib.nn.Linear(2, 2) for _ in range(2)])
            self.acts = lib.nn.ModuleDict({"a b": lib.nn.Sequential(lib.nn.ReLU())})
            self.kept = [self.layers[0]]

        def helper(self, x):
            return self.kept[0](x)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.acts["a b"](self.helper(x)) + self.inner(x, shift=2.) + self.inner.p * 2

    lib.manual_seed(0)
    return Outer()


def control(x):
    if x.sum() > 0:
        return x
    return -x


@pytest.mark.parametrize("function", [operators, methods, unpacked, rooted, control, lambda x: list(map(abs, x)),
                                      lambda x: len(x),
                                      lambda x: 1 if x in [1] else 2, lambda *a, **k: a[0] + k["b"],
                                      lambda x, y=2, *, z=3: (x, y), lambda: None, lambda x: x[0](x, a=1)])
def test_functions_are_written_alike(function):
    both_agree(lambda lib: written(lib, function))


def test_functions_of_torch_and_modules_are_written_alike():
    both_agree(lambda lib: written(lib, lambda x: functions(lib, x)))
    both_agree(lambda lib: [written(lib, model(lib)), str(lib.fx.symbolic_trace(model(lib))).partition("\n\n")[0],
                            sorted(lib.fx.symbolic_trace(model(lib)).state_dict())])
    both_agree(lambda lib: written(lib, lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Sequential(lib.nn.ReLU()))))
    both_agree(lambda lib: written(lib, typed(lib)))


def test_concrete_arguments():
    both_agree(lambda lib: written(lib, lambda x, y=None: x if y is None else y, concrete_args={"y": None}))
    both_agree(lambda lib: written(lib, lambda x, n: x * n if n else x, concrete_args={"n": 3}))


def test_a_traced_module_computes_the_same_and_learns():
    def act(lib):
        plain, x = model(lib), lib.tensor([[1., -2.]])
        traced = lib.fx.symbolic_trace(plain)
        traced(x).sum().backward()
        same = [p is q for p, q in zip(plain.parameters(), traced.parameters())]
        again = pickle.loads(pickle.dumps(lib.fx.symbolic_trace(lib.nn.Sequential(plain.layers[0], lib.nn.Tanh()))))
        copied = copy.deepcopy(traced)
        copied.inner.p.data += 1
        return (traced(x).tolist(), plain(x).tolist(), [p.grad.tolist() for p in traced.parameters()], len(same),
                again(x).tolist(), again.code, copied(x).tolist(), copied.code == traced.code, copy.copy(traced).code,
                "Linear" in str(plain), traced.training, lib.fx.symbolic_trace(plain.eval()).training)
    both_agree(act)


def test_a_graph_is_changed():
    def act(lib):
        traced = lib.fx.symbolic_trace(lambda x, y: (x + y, lib.add(x, y), x.add(y)))
        for node in traced.graph.nodes:
            if node.target in {operator.add, lib.add, "add"}:
                with traced.graph.inserting_after(node):
                    new = traced.graph.call_function(lib.bitwise_and, node.args, node.kwargs)
                    node.replace_all_uses_with(new)
                traced.graph.erase_node(node)
        traced.recompile()
        graph = traced.graph
        first = next(iter(graph.nodes))
        with graph.inserting_before(graph.output_node()):
            graph.call_method("neg", (first,))
            unused = graph.call_function(lib.relu, (first,), {})
        said = [graph.eliminate_dead_code(), len(graph.nodes), str(unused.users)]
        graph.output_node().args = (first.next,)
        graph.lint()
        traced.recompile()
        return str(graph), traced.code, traced(lib.tensor(3), lib.tensor(5)).tolist(), said, first.next.name, [
            n.name for n in reversed(graph.nodes)], [n.name for n in graph.find_nodes(op="placeholder")], str(
            first.users), first.next.all_input_nodes[0].name
    both_agree(act)


def test_errors_of_graphs():
    def act(lib):
        traced = lib.fx.symbolic_trace(lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.ReLU()))
        graph, said = traced.graph, []
        other = lib.fx.Graph()
        x = other.placeholder("x")
        y = other.call_function(lib.relu, (x,))
        x.prepend(y)
        for wrong in (lambda: graph.erase_node(list(graph.nodes)[1]), lambda: graph.call_module("no"),
                      lambda: graph.create_node("no", "x"), other.lint, lambda: list(graph.nodes)[1].args.append(1),
                      lambda: lib.fx.GraphModule({}, graph), lambda: lib.fx.Interpreter(traced).fetch_attr("a.b"),
                      lambda: lib.fx.map_arg(1, 2), lambda: lib.fx.wrap(3), lambda: traced()):
            try:
                said.append(wrong())
            except Exception as error:
                said.append((type(error).__name__, str(error)))
        return said
    both_agree(act)


def test_proxies_in_another_graph():
    def act(lib):
        graph = lib.fx.Graph()
        x = lib.fx.Proxy(graph.placeholder("x"))
        z = lib.cat([x, x]).tanh() + 2 - x.shape[0]
        graph.output(z.node)
        return str(graph), repr(z), lib.fx.GraphModule(lib.nn.Module(), graph)(lib.ones(1)).tolist()
    both_agree(act)


def test_a_tracer_of_ones_own():
    def act(lib):
        seen = []

        class Tracer(lib.fx.Tracer):
            def is_leaf_module(self, m, module_qualified_name):
                seen.append((module_qualified_name, type(m).__name__))
                return type(m).__name__ == "Inner"

            def call_module(self, m, forward, args, kwargs):
                seen.append(self.path_of_module(m))
                return super().call_module(m, forward, args, kwargs)

            def create_node(self, kind, *args, **kwargs):
                seen.append(kind)
                return super().create_node(kind, *args, **kwargs)

        return str(Tracer().trace(model(lib))).replace("torch._C._nn.", "torch.nn.functional."), seen
    both_agree(act)


def test_interpreters_and_transformers():
    def act(lib):
        class Counting(lib.fx.Interpreter):
            def run_node(self, n):
                seen.append(n.name)
                return super().run_node(n)

        class Negating(lib.fx.Transformer):
            def call_module(self, target, args, kwargs):
                return super().call_module(target, args, kwargs).neg()

        seen, traced, x = [], lib.fx.symbolic_trace(model(lib)), lib.ones(1, 2)
        changed = Negating(traced).transform()
        return (Counting(traced).run(x).tolist(), seen, changed(x).tolist(), changed.code,
                lib.fx.Interpreter(traced).boxed_run([x]).tolist())
    both_agree(act)


def test_patterns():
    def act(lib):
        def program(x, w1, w2):
            m1 = lib.cat([lib.neg(w1), w2]).sum()
            m2 = lib.cat([lib.neg(w1), w2]).sum()
            return x + lib.max(m1) + lib.max(m2)

        def pattern(a1, a2):
            return lib.cat([lib.neg(a1), a2]).sum()

        traced = lib.fx.symbolic_trace(program)
        found = lib.fx.replace_pattern(traced, pattern, lambda a, b: lib.stack([a, b]))
        used = lib.fx.symbolic_trace(lambda x: (lib.neg(x), lib.neg(x) + 1))
        lib.fx.replace_pattern(used, lambda x: lib.neg(x) + 1, lambda x: lib.sub(1, x))
        return traced.code, len(found), str(found[0].anchor), used.code, traced(*[lib.ones(1)] * 3).tolist()
    both_agree(act)


def test_submodules():
    def act(lib):
        traced = lib.fx.symbolic_trace(lib.nn.Sequential(lib.nn.Linear(2, 2)))
        said = [traced.add_submodule("q.r", lib.nn.ReLU()), str(traced), traced.delete_submodule("a.b")]
        traced.delete_all_unused_submodules()
        return said, str(traced), traced.delete_submodule("0"), str(traced).partition("\n")[0]
    both_agree(act)


def test_wrapped_functions():
    def act(lib):
        exec("lib.fx.wrap('scaled')", globals(), {"lib": lib})
        return [x.replace(f"{__name__.replace('.', '_')}_scaled", "scaled").replace(f"{__name__}.scaled", "scaled")
                for x in written(lib, lambda x: scaled(x, 2) + scaled(3, 4))]
    both_agree(act)
