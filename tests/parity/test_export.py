"""torch.export: programs that PyTorch exports run here, those exported here run in PyTorch, and errors are the same."""
import copy
import io

import numpy as np
import pytest
import torch

import tinytorch

from .export_models import dynamic_shapes, models

MODELS = list(models(tinytorch))
pytestmark = [pytest.mark.any_kernels, pytest.mark.filterwarnings("ignore")]


def converted(x, module):
    """Arguments with tensors of another module."""
    if isinstance(x, (torch.Tensor, tinytorch.Tensor)):
        return module.tensor(x.detach().numpy())
    if isinstance(x, dict):
        return {key: converted(y, module) for key, y in x.items()}
    return type(x)(converted(y, module) for y in x) if isinstance(x, (list, tuple)) else x


def flat(x):
    if isinstance(x, (torch.Tensor, tinytorch.Tensor)):
        return [x.detach().numpy()]
    if isinstance(x, (dict, list, tuple)):
        return [z for y in (x.values() if isinstance(x, dict) else x) for z in flat(y)]
    return [x]


def assert_close(found, expected):
    found, expected = flat(found), flat(expected)
    assert len(found) == len(expected)
    for x, y in zip(found, expected):
        if not isinstance(y, np.ndarray):
            assert x == y
            continue
        assert x.shape == y.shape and x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-6)


def pair(name):
    """(PyTorch's model, ours with the same values, PyTorch's arguments, which dimensions vary)."""
    torch.manual_seed(0)
    theirs, arguments, told = models(torch)[name]()
    ours = models(tinytorch)[name]()[0]
    ours.load_state_dict({key: tinytorch.tensor(x.numpy()) for key, x in theirs.state_dict().items()})
    ours.train(theirs.training)
    return theirs, ours, arguments, told


def written(module, program):
    file = io.BytesIO()
    module.export.save(program, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("name", MODELS)
def test_pytorch_runs_what_is_exported_here(name):
    theirs, ours, arguments, told = pair(name)
    expected = copy.deepcopy(theirs)(*arguments)
    program = tinytorch.export.export(ours, converted(arguments, tinytorch),
                                      dynamic_shapes=dynamic_shapes(tinytorch, told))
    read = torch.export.load(written(tinytorch, program))
    assert_close(read.module()(*arguments), expected)
    if told is not None:
        longer = tuple([torch.cat([x, x[:1]]) for x in arguments])
        assert_close(read.module()(*longer), copy.deepcopy(theirs)(*longer))


@pytest.mark.parametrize("name", MODELS)
def test_what_pytorch_exports_runs_here(name):
    theirs, _, arguments, told = pair(name)
    expected = copy.deepcopy(theirs)(*arguments)
    program = torch.export.export(copy.deepcopy(theirs), arguments, dynamic_shapes=dynamic_shapes(torch, told))
    read = tinytorch.export.load(written(torch, program))
    again = tinytorch.export.load(written(tinytorch, read))    # before a call writes to buffers
    assert_close(read.module()(*converted(arguments, tinytorch)), expected)
    assert list(read.graph_signature.parameters) == list(program.graph_signature.parameters)
    assert list(read.state_dict) == list(program.state_dict)
    assert_close(again.module()(*converted(arguments, tinytorch)), expected)


@pytest.mark.parametrize("name", ["mlp", "residual", "residual that trains", "counter", "containers", "text", "sizes"])
def test_the_signature_and_the_operators_are_pytorchs(name):
    theirs, ours, arguments, told = pair(name)
    programs = [module.export.export(model, converted(arguments, module), dynamic_shapes=dynamic_shapes(module, told))
                for module, model in ((torch, theirs), (tinytorch, ours))]
    theirs, ours = [[(s.kind.name, s.target, s.persistent) for s in p.graph_signature.input_specs] for p in programs]
    assert ours == theirs
    theirs, ours = [[s.kind.name for s in p.graph_signature.output_specs] for p in programs]
    assert ours == theirs
    apart = ("sym_size", "detach_", "_assert_tensor_metadata", "getitem")
    names = [[str(n.target).removeprefix("torch.ops.") for n in p.graph.nodes if n.op == "call_function"
              and not any([name in str(n.target) for name in apart])] for p in programs]
    if name != "sizes":                        # in which PyTorch asks for the size once
        assert names[1] == names[0]
    assert [list(p.state_dict) for p in programs][1] == list(programs[0].state_dict)
    assert sorted(map(str, programs[1].range_constraints.values())) == sorted(
        map(str, programs[0].range_constraints.values()))


#: Operators that are no core operators, and stay: what PyTorch leaves too, and recurrent layers.
STAY = {"aten._native_batch_norm_legit_functional.default", "aten._embedding_bag_forward_only.default",
        "aten.lstm.input", "aten.gru.input", "aten.rnn_relu.input"}


@pytest.mark.parametrize("name", MODELS)
def test_core_operators(name):
    theirs, ours, arguments, told = pair(name)
    with torch.no_grad():
        expected = copy.deepcopy(theirs)(*arguments)
        program = tinytorch.export.export(ours, converted(arguments, tinytorch),
                                          dynamic_shapes=dynamic_shapes(tinytorch, told)).run_decompositions()
        read = torch.export.load(written(tinytorch, program))
        assert_close(read.module()(*arguments), expected)
        assert_close(program.module()(*converted(arguments, tinytorch)), expected)
    called = [n.target for n in read.graph.nodes if n.op == "call_function" and hasattr(n.target, "tags")]
    assert {str(t) for t in called if torch.Tag.core not in t.tags} <= STAY
    assert not any([str(t).partition(".")[2].partition(".")[0].endswith("_") for t in called])
    if told is not None:
        longer = tuple([torch.cat([x, x[:1]]) for x in arguments])
        assert_close(read.module()(*longer), copy.deepcopy(theirs)(*longer))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "bilinear"])  # of which PyTorch makes _trilinear
def test_what_pytorch_takes_apart_runs_here(name):
    theirs, _, arguments, told = pair(name)
    with torch.no_grad():
        expected = copy.deepcopy(theirs)(*arguments)
    program = torch.export.export(theirs, arguments, dynamic_shapes=dynamic_shapes(torch, told)).run_decompositions()
    read = tinytorch.export.load(written(torch, program))
    assert_close(read.module()(*converted(arguments, tinytorch)), expected)


def test_what_is_written_is_an_output_of_core_operators():
    signatures = []
    for module in (torch, tinytorch):
        model, arguments, _ = models(module)["counter"]()
        program = module.export.export(model, arguments).run_decompositions()
        signatures.append([(s.kind.name, s.target) for s in program.graph_signature.output_specs])
        program.module()(*arguments)
        assert model.count.tolist() == [1, 1] and model.norm.num_batches_tracked == 1
    assert sorted(map(str, signatures[0])) == sorted(map(str, signatures[1]))


def classes(torch):
    class View(torch.nn.Module):
        def forward(self, x):
            return x.view(2, 12)

    class Branching(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    class Keywords(torch.nn.Module):
        def forward(self, x, k=2, *, y):
            return x * k + y
    return View, Branching, Keywords


def calls(torch):
    """{name: a call that raises}."""
    View, Branching, Keywords = classes(torch)
    Linear, Dim, export = torch.nn.Linear, torch.export.Dim, torch.export.export
    x = torch.ones(4, 6)
    batch = Dim("b", min=3, max=10)
    program = export(Keywords(), (x, 3), {"y": x})
    sized = export(Linear(6, 2), (x,), dynamic_shapes={"input": {0: batch}})
    return {
        "a fixed size": lambda: program.module()(x[:2], 3, y=x), "a value": lambda: program.module()(x, 4, y=x),
        "keywords": lambda: program.module()(x), "the program itself": lambda: program(x),
        "too small": lambda: sized.module()(x[:2]), "too large": lambda: sized.module()(torch.ones(11, 6)),
        "train": lambda: sized.module().train(), "eval": lambda: sized.module().eval(),
        "a size that cannot vary": lambda: export(View(), (x,), dynamic_shapes=({0: batch},)),
        "a dimension of weights": lambda: export(Linear(6, 2), (x,), dynamic_shapes={"input": {1: Dim("c")}}),
        "other names": lambda: export(Linear(6, 2), (x,), dynamic_shapes={"y": {0: batch}}),
        "too few": lambda: export(Linear(6, 2), (x,), dynamic_shapes={"input": [batch]}),
        "a function": lambda: export(lambda x: x, (x,)), "a list": lambda: export(Linear(6, 2), [x]),
        "no arguments": lambda: export(Linear(6, 2), ()),
        "no program": lambda: torch.export.save(sized.module(), "x.pt2"),
        "no file": lambda: torch.export.load("/there/is/none.pt2"),
    }


@pytest.mark.parametrize("name", list(calls(tinytorch)))
def test_errors_are_pytorchs(name):
    caught = []
    for module in (torch, tinytorch):
        with pytest.raises(Exception) as info:
            calls(module)[name]()
        caught.append((type(info.value).__name__, str(info.value)))
    assert caught[0] == caught[1]


def test_a_value_that_decides_is_refused_with_pytorchs_class():
    names = []
    for module in (torch, tinytorch):
        with pytest.raises(RuntimeError, match="Could not guard on data-dependent expression") as info:
            module.export.export(classes(module)[1](), (module.ones(2),))
        names.append(type(info.value).__name__)
        assert "test_export.py" in str(info.value)
    assert names[0] == names[1]


def test_sizes_that_may_vary_if_they_can():
    for module in (torch, tinytorch):
        View, _, _ = classes(module)
        hint = module.export.Dim
        x = module.ones(4, 6)
        assert not module.export.export(View(), (x,), dynamic_shapes={"x": {0: hint.AUTO}}).range_constraints
        program = module.export.export(module.nn.Linear(6, 2), (x,), dynamic_shapes={"input": {0: hint.DYNAMIC}})
        assert [str(r) for r in program.range_constraints.values()] == ["VR[2, int_oo]"]
        twice = module.export.export(module.nn.Linear(6, 2), (x,), dynamic_shapes={"input": {0: 2 * hint("half")}})
        assert twice.module()(module.ones(6, 6)).shape == (6, 2)
