"""Exported models compute what torch's models of the same seed do, in onnxruntime; the files of both are alike."""
import importlib.util
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

import tinytorch
from tinytorch.capture.twice import leaves

from ..onnx_models import CASES, module
from ..unit.test_onnx_models import made

onnx = pytest.importorskip("onnx", reason="files of ONNX are written by the package onnx")
pytest.importorskip("onnxruntime", reason="what is compared is computed by onnxruntime")

pytestmark = [pytest.mark.any_kernels, pytest.mark.filterwarnings("ignore")]
BOTH = torch, tinytorch
ROOT = Path(__file__).parents[2]


def results_of(x):
    """The tensors in what a model gives."""
    if isinstance(x, torch.Tensor):
        yield x.detach()
    elif isinstance(x, (list, tuple, dict)):
        for y in x.values() if isinstance(x, dict) else x:
            yield from results_of(y)


def theirs(case):
    """torch's model of the case, and its inputs, of the same seed."""
    torch.manual_seed(0)
    model = case.make(torch)
    if isinstance(model, torch.nn.Module):
        model.eval()
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.uniform_(-0.2, 0.2)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 1.5)
    return model, case.inputs(torch)


@pytest.mark.parametrize("name", CASES)
def test_onnxruntime_computes_what_torchs_model_does(name):
    case = CASES[name]
    model, inputs = theirs(case)
    ours, our_inputs = made(case)
    assert [x.tolist() for x in results_of(inputs)] == [x.tolist() for x in leaves(our_inputs)]
    program = tinytorch.onnx.export(ours, our_inputs, dynamic_shapes=case.axes)
    with torch.no_grad():
        expected = list(results_of(model(*inputs)))
    results = program(*our_inputs)
    assert len(results) == len(expected) > 0
    for a, b in zip(results, expected):
        assert str(a.dtype) == str(b.dtype)
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-5)


# ------------------------------------------------------------------ the files of both
def described(model):
    """Inputs and outputs with their types and sizes, weights and opsets of a model."""
    def values(items):
        return [(x.name, x.type.tensor_type.elem_type, [dim.dim_param or dim.dim_value for dim in
                                                        x.type.tensor_type.shape.dim]) for x in items]
    weights = [(x.name, x.data_type, list(x.dims)) for x in model.graph.initializer if "." in x.name]
    return (values(model.graph.input), values(model.graph.output), weights, model.producer_name, model.graph.name,
            [(x.domain, x.version) for x in model.opset_import])


def net(t):
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(4, 3), t.nn.ReLU(), t.nn.Linear(3, 3)).eval()


FILES = {
    "plain": {}, "names": {"input_names": ["in"], "output_names": ["out"]}, "opset": {"opset_version": 17},
    "axes": {"dynamic_axes": {"in": {0: "batch"}, "out": {0: "batch"}}},
    "weights as inputs": {"keep_initializers_as_inputs": True}, "no weights": {"export_params": False},
    "no names of axes": {"dynamic_axes": {"in": [0]}},
    "more names": {"output_names": ["a", "b"]}, "a name that is none": {"dynamic_axes": {"other": {0: "n"}}},
    "no such dimension": {"dynamic_axes": {"in": {7: "n"}}}, "shapes": {"dynamic_shapes": ({0: "n"},)},
}


def written(t, told):
    """What a script that names a file gets: the model, or its error and message."""
    buffer = io.BytesIO()
    told = {"input_names": ["in"], "output_names": ["out"], **told}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            t.onnx.export(net(t), (t.ones(2, 4),), buffer, dynamo=False, **told)
        except (RuntimeError, ValueError, IndexError) as error:
            return type(error).__name__, str(error)
    return described(onnx.load_from_string(buffer.getvalue()))


@pytest.mark.parametrize("name", FILES)
def test_files_are_described_alike(name):
    pytest.importorskip("onnxscript", reason="torch's own export needs it")
    a, b = [written(t, FILES[name]) for t in BOTH]
    assert a == b


@pytest.mark.parametrize("name", ["mlp", "lenet", "residual_mlp"])
def test_torchs_program_has_the_same_inputs_and_outputs(name):
    pytest.importorskip("onnxscript", reason="torch's own export needs it")
    case = CASES[name]
    model, inputs = theirs(case)
    a = torch.onnx.export(model, inputs, dynamic_shapes=case.axes, verbose=False)
    b = tinytorch.onnx.export(*made(case), dynamic_shapes=case.axes)
    for x, y in ((a.model_proto.graph.input, b.model_proto.graph.input),
                 (a.model_proto.graph.output, b.model_proto.graph.output)):
        assert [[dim.dim_param or dim.dim_value for dim in v.type.tensor_type.shape.dim] for v in x] == [
            [dim.dim_param or dim.dim_value for dim in v.type.tensor_type.shape.dim] for v in y]
    assert [x.name for x in a.model_proto.graph.input] == [x.name for x in b.model_proto.graph.input]


def test_errors_of_operators_are_called_as_torchs():
    for t in BOTH:
        def forward(self, x):
            return t.linalg.svdvals(x)         # noqa: B023
        with pytest.raises(t.onnx.errors.UnsupportedOperatorError) as found:
            t.onnx.export(module(t, forward), (t.ones(2, 2),), io.BytesIO(), dynamo=False, opset_version=18)
        text = "Exporting the operator 'aten::linalg_svdvals' to ONNX opset version 18 is not supported"
        assert str(found.value).startswith(text)
    a, b = [str(t.onnx.errors.UnsupportedOperatorError("aten::x", 13, 16)) for t in BOTH]
    assert a == b


def test_models_of_torchvision(tmp_path):
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("torchvision, whose models these are, is not installed")
    program = Path(__file__).parent / "_children" / "onnx_torchvision.py"
    variables = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(ROOT)] + [
        path for path in sys.path if path.endswith("-packages")])}
    found = []
    for command in ([sys.executable], [sys.executable, "-m", "tinytorch"]):
        path = tmp_path / f"{len(command)}.npz"
        done = subprocess.run([*command, str(program), str(path)], env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        found.append(np.load(path))
    theirs, ours = found
    assert len(theirs.files) >= 14 and theirs.files == ours.files
    for name in theirs.files:
        largest = max(1.0, np.abs(theirs[name]).max())
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-5 * largest, err_msg=name)
        assert theirs[name].std() > 1e-4, name
