"""onnxruntime computes what exported models do: in opsets 13 to 21, for other numbers and for other sizes."""
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.capture.twice import leaves, mapped

from ..onnx_models import CASES

pytest.importorskip("onnx", reason="files of ONNX are written by the package onnx")
pytest.importorskip("onnxruntime", reason="what is compared is computed by onnxruntime")

pytestmark = pytest.mark.filterwarnings("ignore:Exporting a model while it is in training mode:UserWarning")
EXAMPLES = Path(__file__).parents[2] / "examples"


def resized(x, axes, more=3):
    """An input with other sizes where they may change: 2 n + more, of the numbers that it has."""
    if not axes:
        return x
    array = x.numpy()
    for dim in axes:
        n = array.shape[dim]
        array = np.take(array, np.arange(2 * n + more) % n, axis=dim)
    return torch.tensor(array)


def compare(model, program, inputs):
    """Both give the same for these inputs."""
    with torch.no_grad():
        expected = list(leaves(model(*mapped(inputs, torch.clone))))
    results = program(*inputs)
    assert len(results) == len(expected) > 0
    for a, b in zip(results, expected):
        a, b = a.numpy(), b.detach().numpy()
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def made(case, seed=0):
    """(the model of a case, its inputs)."""
    torch.manual_seed(seed)
    model = case.make(torch)
    if isinstance(model, torch.nn.Module):
        model.eval()
        for name, buffer in model.named_buffers():         # statistics as after training
            if name.endswith("running_mean"):
                buffer.uniform_(-0.2, 0.2)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 1.5)
    return model, case.inputs(torch)


@pytest.mark.parametrize("name", CASES)
def test_models(name):
    case = CASES[name]
    model, inputs = made(case)
    for opset in {case.since, 18, 21}:
        program = torch.onnx.export(model, inputs, opset_version=opset)
        assert program.model_proto.opset_import[0].version == opset
        compare(model, program, inputs)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.axes])
def test_models_of_other_sizes(name):
    case = CASES[name]
    model, inputs = made(case, 1)
    program = torch.onnx.export(model, inputs, dynamic_shapes=case.axes)
    named = [{dim: axis.dim_param for dim, axis in enumerate(x.type.tensor_type.shape.dim) if axis.dim_param}
             for x in program.model_proto.graph.input]
    assert named == [axes or {} for axes in case.axes]
    compare(model, program, inputs)
    more = 8 if "unet" in name else 3          # which halves its sizes and doubles them again
    compare(model, program, tuple([resized(x, axes, more) for x, axes in zip(inputs, case.axes)]))


def test_there_are_sixty_models():
    assert len(CASES) >= 60


def from_examples(name):
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(EXAMPLES))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(EXAMPLES))
    return module


@pytest.mark.parametrize("name", ["mnist_cnn", "mnist_gru", "mnist_rnn", "imdb_cnn", "nanogpt"])
def test_models_of_the_examples(name):
    pytest.importorskip("tqdm", reason="the examples show their progress by tqdm")
    torch.manual_seed(0)
    module = from_examples(name)
    if name == "nanogpt":
        model, x = module.GPT(11, 16, 12, 2, 2).eval(), torch.randint(0, 11, (2, 16))
    else:
        model = module.Net().eval()
        x = torch.randint(0, module.WORDS, (2, module.LENGTH)) if name == "imdb_cnn" else torch.rand(2, 28, 28)
    program = torch.onnx.export(model, (x,), dynamic_shapes=({0: "batch"},))
    compare(model, program, (x,))
    compare(model, program, (resized(x, {0: "batch"}),))
