"""torch.export without torch: round trips, sizes that vary, files that are damaged."""
import io
import json
import math
import zipfile

import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.export.symbols import Expression, Range, fitted


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 3), nn.BatchNorm1d(3)
        self.register_buffer("scale", torch.full((3,), 2.), persistent=False)
        self.shift = torch.arange(3.)

    def forward(self, x, *, power: int = 1):
        y = self.norm(self.linear(x)) * self.scale ** power + self.shift
        return {"y": y, "rows": x.view(x.shape[0] * 2, -1), "masked": y.masked_fill(y > 0, -math.inf)}


def exported(**options):
    torch.manual_seed(0)
    model, x = Net().eval(), torch.randn(5, 4)
    options.setdefault("dynamic_shapes", {"x": {0: torch.export.Dim("batch", max=64)}})
    return model, x, torch.export.export(model, (x,), **options)


def saved(program, **options):
    file = io.BytesIO()
    torch.export.save(program, file, **options)
    return file.getvalue()


def test_a_program_runs_as_its_module_and_for_other_sizes():
    model, x, program = exported()
    for given in (x, torch.randn(1, 4), torch.randn(9, 4)):
        found, expected = program.module()(given), model(given)
        assert list(found) == list(expected)
        assert all([torch.equal(found[key], expected[key]) for key in expected])
    assert program.range_constraints == {"s0": Range(0, 64)}
    assert dict(program.named_parameters()).keys() == dict(model.named_parameters()).keys()
    assert dict(program.named_buffers()).keys() == dict(model.named_buffers()).keys()
    assert program.graph_signature.lifted_tensor_constants == ("shift",)
    assert program.graph_signature.non_persistent_buffers == ("scale",)


def test_gradients_reach_the_parameters():
    model, x, program = exported()
    module = program.module()
    module(x)["y"].sum().backward()
    assert module.linear.weight is model.linear.weight and model.linear.weight.grad is not None


def test_round_trip(tmp_path):
    model, x, program = exported()
    torch.export.save(program, tmp_path / "net.pt2", extra_files={"words.txt": "a b"})
    extra = {"words.txt": None, "missing": None}
    read = torch.export.load(tmp_path / "net.pt2", extra_files=extra)
    assert extra == {"words.txt": "a b", "missing": None}
    assert read.graph_signature == program.graph_signature
    assert [str(n.target) for n in read.graph.nodes] == [str(n.target) for n in program.graph.nodes]
    assert all([torch.equal(a, b) for a, b in zip(read.module()(x).values(), model(x).values())])
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[0\] <= 64"):
        read.module()(torch.ones(65, 4))
    assert saved(read) == saved(torch.export.load(io.BytesIO(saved(read))))
    assert list(tmp_path.iterdir()) == [tmp_path / "net.pt2"]


def test_the_example_is_saved_and_modules_are_as_before():
    model, x, program = exported()
    read = torch.export.load(io.BytesIO(saved(program)))
    assert torch.equal(read.example_inputs[0][0], x) and read.example_inputs[1] == {}
    count = nn.BatchNorm1d(2)
    torch.export.export(count, (torch.ones(3, 2),), dynamic_shapes={"input": {0: torch.export.Dim("b")}})
    assert count.num_batches_tracked == 0 and torch.equal(count.running_mean, torch.zeros(2))


def test_what_a_size_decides_is_refused():
    class Odd(nn.Module):
        def forward(self, x):
            return x if x.shape[0] % 2 else -x
    with pytest.raises(RuntimeError, match="Constraints violated"):
        torch.export.export(Odd(), (torch.ones(3),), dynamic_shapes={"x": {0: torch.export.Dim("n")}})


@pytest.mark.parametrize("options, said", [
    ({"strict": True}, "strict=True is not supported"),
    ({"preserve_module_call_signature": ("linear",)}, "preserve_module_call_signature is not supported")])
def test_options_that_are_not_supported(options, said):
    with pytest.raises(NotImplementedError, match=said):
        exported(**options)


def test_core_operators_of_some():
    model, x, program = exported()
    whole, table = program.run_decompositions(), torch.export.default_decompositions()
    linear = {key: rule for key, rule in table.items() if str(key) == "aten.linear.default"}
    some = program.run_decompositions(linear)
    for p in (whole, some, program.run_decompositions({})):
        assert all([torch.equal(a, b) for a, b in zip(p.module()(x).values(), model(x).values())])
    names = [[str(n.target) for n in p.graph.nodes if n.op == "call_function"] for p in (whole, some, program)]
    assert "aten.addmm.default" in names[0] and "aten.batch_norm.default" not in names[0]
    assert "aten.addmm.default" in names[1] and "aten.batch_norm.default" in names[1]
    assert "aten.linear.default" in names[2] and whole.dialect == "ATEN"
    with pytest.raises(NotImplementedError, match="custom rules"):
        program.run_decompositions({torch.ops.aten.linear.default: print})


def test_a_write_to_a_view_is_refused_by_core_operators():
    class Writing(nn.Module):
        def forward(self, x):
            y = x.clone()
            y[0].add_(1)
            return y
    program = torch.export.export(Writing(), (torch.ones(2, 2),))
    assert program.module()(torch.ones(2, 2)).tolist() == [[2, 2], [1, 1]]
    with pytest.raises(NotImplementedError, match="a write in place to a view"):
        program.run_decompositions()


# ------------------------------------------------------------------ sizes
def test_expressions():
    a, b = Expression.symbol("a"), Expression.symbol("b")
    assert repr(2 * a * b + a + 3) == "2*a*b + a + 3" and (a + b).at({"a": 2, "b": 3}) == 5
    for e in (a, 2 * a, a * b + 1, 3 * a * b + 2 * b + 7):
        assert Expression.read(e.written()) == e
    assert Expression.read("FloorDiv(Symbol('a'), Integer(2))") is None
    assert Expression.read("__import__('os')") is None and Expression.read("(") is None


def test_expressions_are_fitted():
    sizes = [{"a": 3, "b": 5}, {"a": 4, "b": 5}, {"a": 3, "b": 6}, {"a": 5, "b": 8}, {"a": 2, "b": 2}]

    def of(f):
        return fitted([f(s["a"], s["b"]) for s in sizes], sizes)
    assert of(lambda a, b: 7) == 7 and repr(of(lambda a, b: 2 * a + 1)) == "2*a + 1"
    assert repr(of(lambda a, b: 4 * a * b)) == "4*a*b" and repr(of(lambda a, b: a + b)) == "a + b"
    assert of(lambda a, b: a // 2) is None and of(lambda a, b: a * a) is None


# ------------------------------------------------------------------ files
def changed(content, change):
    """The file with another graph."""
    source, file = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("models/model.json"):
                model = json.loads(data)
                change(model)
                data = json.dumps(model).encode()
            made.writestr(name, data)
    return file.getvalue()


def node(model, k=0):
    return model["graph_module"]["graph"]["nodes"][k]


def deep(model):
    x = {}
    model["graph_module"]["module_call_graph"][0]["signature"]["in_spec"] = "[" * 100000
    return x


CHANGES = {
    "a function of Python's": (lambda m: node(m).update(target="os.system"), "not an operator that is known"),
    "an attribute on the way": (lambda m: node(m).update(target="torch.ops.aten.__class__.default"), "not an operator"),
    "a form that there is not": (lambda m: node(m).update(target="torch.ops.aten.linear.other"), "not an operator"),
    "a higher order operator": (lambda m: node(m).update(target="torch.ops.higher_order.cond"), "not an operator"),
    "an unknown node": (lambda m: node(m)["inputs"][0].update(arg={"as_tensor": {"name": "nobody"}}), "nobody"),
    "a name twice": (lambda m: node(m, 1)["outputs"][0]["as_tensor"].update(
        name=node(m, 0)["outputs"][0]["as_tensor"]["name"]), "two nodes are called"),
    "a name that is code": (lambda m: m["graph_module"]["signature"]["input_specs"][-1]["user_input"]["arg"][
        "as_tensor"].update(name="x=print()"), "not a valid name of a node"),
    "missing values": (lambda m: m["graph_module"]["signature"]["input_specs"][0]["parameter"].update(
        parameter_name="else"), "are missing"),
    "an argument of another kind": (lambda m: node(m)["inputs"][0].update(arg={"as_graph": {}}), "as_graph"),
    "no tree": (lambda m: m["graph_module"].update(module_call_graph=[]), "tree of the arguments is missing"),
    "no nodes": (lambda m: m["graph_module"]["graph"].update(nodes=5), "not a list of nodes"),
    "another schema": (lambda m: m["schema_version"].update(major=9), "version 9"),
    "deep": (deep, "nests too deeply"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_hostile_graphs_are_refused(name):
    change, said = CHANGES[name]
    with pytest.raises(RuntimeError, match=said):
        torch.export.load(io.BytesIO(changed(saved(exported()[2]), change)))


def test_tensors_lie_within_their_bytes():
    source, file = zipfile.ZipFile(io.BytesIO(saved(exported()[2]))), io.BytesIO()
    for key, value in (("sizes", [{"as_int": 3}, {"as_int": 4000}]), ("storage_offset", {"as_int": 1}),
                       ("strides", [{"as_int": -4}, {"as_int": 1}]), ("dtype", 99)):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as made:
            for name in source.namelist():
                data = source.read(name)
                if name.endswith("model_weights_config.json"):
                    config = json.loads(data)
                    config["config"]["linear.weight"]["tensor_meta"][key] = value
                    data = json.dumps(config).encode()
                made.writestr(name, data)
        with pytest.raises(RuntimeError, match=r"linear\.weight"):
            torch.export.load(file)


def test_a_file_that_is_cut_anywhere_is_refused():
    content = saved(exported()[2])
    for n in range(0, len(content), 997):
        with pytest.raises(RuntimeError):
            torch.export.load(io.BytesIO(content[:n]))
    with pytest.raises(RuntimeError, match="holds no exported program"):
        file = io.BytesIO()
        torch.save({"a": torch.ones(2)}, file)
        torch.export.load(file)


def test_a_value_that_decides_the_path_raises_the_error_of_symbolic_shapes():
    class Branching(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode, match="data-dependent"):
        torch.export.export(Branching(), (torch.ones(2),))
