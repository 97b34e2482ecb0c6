"""torch.export and torch.onnx: what needs no graph is as in torch; what does refuses when it is used."""
import importlib

import pytest
import torch

import tinytorch

from .test_names_of_libraries import BOTH, part, told


def modes(t):
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = t.nn.Dropout()
    for start in (True, False):
        for mode in ("TRAINING", "EVAL", "PRESERVE"):
            net = Net().train(start)
            net.drop.train(not start)
            with t.onnx.select_model_mode_for_export(net, t.onnx.TrainingMode.__members__[mode]):
                inside = net.training, net.drop.training
            yield inside, net.training, net.drop.training


def dim(call):
    return lambda t: call(part(t, "export").Dim)


CHECKS = {
    "dim": dim(lambda D: (D("b"), D("b", max=7), D("b", min=2, max=7), D("b", min=0).max, D("b").__name__)),
    "hints": dim(lambda D: (D.AUTO, D.STATIC(min=3), D.DYNAMIC(max=4), D.AUTO(1, 2), D.AUTO == D.AUTO, D.AUTO.type)),
    "dims": lambda t: part(t, "export").dims("a", "b", min=1),
    "sums": dim(lambda D: (2 * D("x"), D("x") * 2 + 1, (D("x") + 3) * 2, D("x") - 1, 1 + D("x"), D("x") + -2)),
    "limits": dim(lambda D: ((D("x", min=2, max=9) * 2 + 1).max, (D("x", min=2) * 2 + 1).min, (D("x") * 2).max)),
    "roots": dim(lambda D: ((D("x") * 2 + 1).root, (D("x") * 2 + 1).fn(5))),
    "too small": dim(lambda D: (D("x", min=1) - 5).min), "no size": dim(lambda D: D("x", min=5, max=2)),
    "no name": dim(lambda D: D("1x")), "a half": dim(lambda D: D("x") + 1.5), "less": dim(lambda D: D("x") - D("y")),
    "negative": dim(lambda D: 3 - D("x")), "times": dim(lambda D: D("x") * -1), "by": dim(lambda D: D("x") / 2),
    "hint": dim(lambda D: D.AUTO(min=7, max=3)),
    "kinds": lambda t: [*part(t, "export.graph_signature").InputKind, *part(t, "export.graph_signature").OutputKind],
    "no dataclass": lambda t: part(t, "export").register_dataclass(int),
    "modes": lambda t: [*modes(t)],
    "enumerations": lambda t: [[(name, int(value), str(value), repr(value)) for name, value in kind.__members__.items()]
                               for kind in (t.onnx.TrainingMode, t.onnx.OperatorExportTypes,
                                            t.onnx.TensorProtoDataType)],
    "no mode": lambda t: t.onnx.select_model_mode_for_export(None, 3).__enter__(),
    **{f"register {name}": lambda t, name=name: (t.onnx.register_custom_op_symbolic(name, None, 9),
                                                 t.onnx.unregister_custom_op_symbolic(name, 9)) for name in (
        "a::b", "ab", "a::b::c", "1::x", "a::", "my-x::f", "a::_b", "a::b.c", "aten::add")},
    "unregister": lambda t: t.onnx.unregister_custom_op_symbolic("a::c", 9),
    "producer": lambda t: (t.onnx.producer_name, t.onnx.producer_version, t.onnx.is_in_onnx_export()),
    "errors": lambda t: [part(t, "onnx.errors").__dict__[name].__mro__[1].__name__ for name in (
        "OnnxExporterError", "OnnxExporterWarning", "SymbolicValueError", "UnsupportedOperatorError")],
    "sizes": lambda t: part(t, "onnx.operators").shape_as_tensor(t.ones(2, 3)),
    "shaped": lambda t: part(t, "onnx.operators").reshape_from_tensor_shape(t.ones(2, 3), t.tensor([3, 2])),
    "symbolic": lambda t: part(t, "onnx.symbolic_helper").parse_args("v", "i")(modes).__name__,
}


@pytest.mark.parametrize("name", CHECKS)
def test_as_torch(name):
    assert told(CHECKS[name], tinytorch) == told(CHECKS[name], torch)


@pytest.mark.parametrize("name", """export export.dynamic_shapes export.graph_signature export.exported_program
    export.decomp_utils onnx onnx.errors onnx.ops onnx.operators onnx.verification onnx.symbolic_opset11""".split())
def test_all_public_names_are_there(name):
    theirs, ours = [part(t, name) for t in BOTH]
    assert {n for n in getattr(theirs, "__all__", ()) if not hasattr(ours, n)} == set()


def test_what_needs_a_graph_refuses_when_it_is_used():
    for call in (lambda t: t.export.unflatten(None), lambda t: t.onnx.InputObserver(),
                 lambda t: t.onnx.ops.symbolic("a::b", []), lambda t: t.jit._get_trace_graph(None),
                 lambda t: importlib.import_module(f"{t.__name__}.onnx.verification").VerificationInfo()):
        with pytest.raises(NotImplementedError, match="not supported: .*(here|made|recorded|run|compares)"):
            call(tinytorch)
    assert isinstance(None, tinytorch.export.ExportedProgram) is False


def functions_of_modules(t):
    from_torch = importlib.import_module(f"{t.__name__}._functorch.make_functional")
    t.manual_seed(0)
    linear, norm = t.nn.Linear(2, 1), t.nn.BatchNorm1d(2)
    x = t.arange(4.0).reshape(2, 2)
    function, params = from_torch.make_functional(linear)
    yield function.param_names, [p.requires_grad for p in params], function([p * 2 for p in params], x).tolist()
    function, params, buffers = from_torch.make_functional_with_buffers(norm, disable_autograd_tracking=True)
    yield [p.requires_grad for p in params], [b.tolist() for b in buffers], function(params, buffers, x).shape
    function, params, buffers = from_torch.combine_state_for_ensemble([linear, t.nn.Linear(2, 1)])
    yield t.vmap(function, (0, 0, None))(params, buffers, x).tolist()


def test_modules_as_functions_in_the_way_of_functorch():
    theirs, ours = [list(functions_of_modules(t)) for t in BOTH]
    assert str(theirs) == str(ours).replace("tinytorch", "torch")
    for t in BOTH:
        make = importlib.import_module(f"{t.__name__}._functorch.make_functional")
        for call in (lambda: make.make_functional(t.nn.BatchNorm1d(2)),
                     lambda: make.combine_state_for_ensemble([])):
            with pytest.raises(RuntimeError, match="make_functional|combine_state"):
                call()


def test_a_counter_that_is_not_entered():
    for t in BOTH:
        counter = part(t, "utils.flop_counter").FlopCounterMode(display=False)
        assert counter.get_total_flops() == 0 and counter.get_flop_counts() == {"Global": {}}
    with pytest.raises(NotImplementedError, match="which counts operations"):
        counter.__enter__()
