"""Programs on torch.fx, under torch and under tinytorch: extractors of features of torchvision and timm, and PyTorch's
examples of fx, which PYTORCH_EXAMPLES names: the folder that holds fx/invert.py."""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs.running import near, numbers

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
EXAMPLES = Path(os.environ.get("PYTORCH_EXAMPLES", ""), "fx")
NAMES = ["custom_tracer", "inline_function", "invert", "module_tracer", "primitive_library", "profiling_tracer",
         "proxy_based_graph_creation", "replace_op", "subgraph_rewriter_basic_use", "wrap_output_dynamically"]


def _run(*command, cwd=None):
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run([sys.executable, "-W", "ignore", *map(str, command)], capture_output=True, text=True, cwd=cwd,
                          timeout=300, check=False, env=os.environ | {"PYTHONPATH": paths, "CUDA_VISIBLE_DEVICES": ""})


def test_extractors_of_features(tmp_path):
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")
    found = []
    for framework in ("torch", "tinytorch"):
        done = _run(HERE / "extractors.py", framework, tmp_path / framework)
        assert done.returncode == 0, done.stderr[-2000:]
        found.append(json.loads((tmp_path / framework).read_text(encoding="utf-8")))
    theirs, ours = found
    assert len(theirs) >= 11 and theirs.keys() == ours.keys()
    for name, (nodes, features) in theirs.items():
        # what PyTorch has in C++ alone is called by its public name here
        assert [line.replace("torch._C._nn.", "torch.nn.functional.") for line in nodes] == ours[name][0], name
        for (shape, total), (our_shape, our_total) in zip(features, ours[name][1], strict=True):
            assert shape == our_shape and our_total == pytest.approx(total, 1e-5), name


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="PYTORCH_EXAMPLES names no checkout of PyTorch's examples")
@pytest.mark.parametrize("name", NAMES)
def test_pytorchs_examples(name):
    script = f"{name}.py"
    theirs = _run(ROOT / "tests" / "libraries" / "under_torch.py", EXAMPLES / script, cwd=EXAMPLES)
    if theirs.returncode:
        pytest.skip(f"does not run under torch: {theirs.stderr.strip().splitlines()[-1]}")
    ours = _run("-m", "tinytorch", EXAMPLES / script, cwd=EXAMPLES)
    assert ours.returncode == 0, ours.stderr[-2000:]
    if name == "profiling_tracer":             # prints times
        assert "foo" in ours.stdout and "foo" in theirs.stdout
        return
    (told, words), (known, known_words) = numbers(ours.stdout), numbers(theirs.stdout)
    assert words == known_words and len(told) == len(known)
    assert all([near(a, b, 1e-5) for a, b in zip(told, known)])
