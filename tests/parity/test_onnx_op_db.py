"""torch's samples of its operators, exported: onnxruntime gives the results, or the export says why there are none."""
import numpy as np
import pytest

import tinytorch
from tests.parity.sampled import converted, samples_of
from tinytorch.capture.twice import leaves

pytest.importorskip("onnx", reason="files of ONNX are written by the package onnx")
runtime = pytest.importorskip("onnxruntime", reason="what is compared is computed by onnxruntime")

pytestmark = [pytest.mark.any_kernels, pytest.mark.filterwarnings("ignore")]
OPERATORS = samples_of(("bernoulli",), 2)  # whose few numbers may be drawn alike
#: Operators of which every sample that is looked at must be written.
WRITTEN = """add sub mul div pow exp log clamp sum mean amax var std cumsum sort topk gather scatter cat stack split
    chunk transpose permute reshape expand flip matmul bmm baddbmm nn.functional.relu nn.functional.gelu
    nn.functional.linear nn.functional.conv2d nn.functional.layer_norm nn.functional.group_norm
    nn.functional.avg_pool2d nn.functional.softmax softmax log_softmax masked_fill index_select tril triu
    nn.functional.pixel_shuffle nn.functional.mse_loss linalg.vector_norm nn.functional.pad narrow unfold diff
    nn.functional.cosine_similarity nn.functional.pairwise_distance trapezoid floor_divide remainder isin""".split()


class Place(int):
    """Stands for the tensor of this number."""


def parted(x, tensors):
    """x with places for its tensors, which go into the list."""
    if isinstance(x, tinytorch.Tensor):
        tensors.append(x)
        return Place(len(tensors) - 1)
    if isinstance(x, (list, tuple)) and not isinstance(x, tinytorch.Size):
        return type(x)([parted(y, tensors) for y in x])
    return {key: parted(y, tensors) for key, y in x.items()} if isinstance(x, dict) else x


def joined(x, given):
    """The same with given tensors in their places."""
    if isinstance(x, Place):
        return given[x]
    if isinstance(x, (list, tuple)) and not isinstance(x, tinytorch.Size):
        return type(x)([joined(y, given) for y in x])
    return {key: joined(y, given) for key, y in x.items()} if isinstance(x, dict) else x


@pytest.mark.parametrize("name, draw", OPERATORS, ids=[name for name, _ in OPERATORS])
def test_onnxruntime_gives_the_operators_results(name, draw):
    if name.startswith(("empty", "new_empty")):
        pytest.skip("the numbers are what the memory held before, so nothing can be compared")
    function, seen = tinytorch, 0
    for part in name.split("."):
        function = getattr(function, part)
    runtime.set_default_logger_severity(4)
    for sample in draw():
        try:
            args, kwargs = converted([sample.input, *sample.args]), converted(sample.kwargs)
        except (KeyError, AttributeError):
            continue
        tensors = []
        parts = parted([args, kwargs], tensors)

        def call(*given, parts=parts):
            args, kwargs = joined(parts, given)
            return function(*args, **kwargs)
        try:
            expected, again = [[x.detach().numpy() for x in leaves(call(*[x.clone() for x in tensors]))]
                               for _ in range(2)]
        except Exception:                      # what is not here
            continue
        if not expected or any([x.dtype.kind == "c" or not x.size for x in [*expected, *map(np.asarray, tensors)]]):
            continue
        if not all([np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(expected, again)]):
            continue                           # drawn, or memory as it is
        try:
            program = tinytorch.onnx.export(call, tuple(tensors))
        except tinytorch.onnx.OnnxExporterError:
            assert name not in WRITTEN
            continue
        seen += 1
        results = program(*tensors)
        assert len(results) == len(expected)
        for a, b in zip(results, expected):
            assert (a.shape, a.numpy().dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-4, atol=1e-5)
    assert seen or name not in WRITTEN
