"""PyTorch's own tests of torch.fx, under torch and under tinytorch.

They are run as they are on a checkout of PyTorch's repository, or of a fork of it, which PYTORCH_TESTS names: the
folder that holds test/test_fx.py. Every test that passes under the installed torch passes here, but for those below.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = os.environ.get("PYTORCH_TESTS", "")
FILES = ("test_fx", "fx.test_fx_split", "fx.test_future", "test_fx_passes")
#: Tests of what is not here: {how their names begin: why}.
REASONS = {
    "TestFunctionalTracing.test_nn_functional_(adaptive_avg_pool1d|avg_pool|bilinear|celu_|channel_shuffle|conv|cosine"
    "_similarity|elu_|gelu|hardshrink|hardtanh_|leaky_relu_|linear$|logsigmoid|native_channel|one_hot|pairwise|pdist|"
    "pixel|prelu|relu_|rrelu_|scaled_dot|selu_|softplus|softshrink|threshold_)":
        "PyTorch has the function in C++ and cannot trace it by itself; here it is a function of Python",
    "TestFunctionalTracing.test_nn_functional_.*max_pool":
        "PyTorch dispatches on return_indices in Python, which a stand-in cannot decide; here the call is one node",
    "TestFunctionalTracing.test_nn_functional_(scaled_|)(grouped_|)mm": "products of groups and of float8 are refused",
    "TestFX.test_(native_callable|torchbind)": "a library of C++ is loaded",
    "TestFX.test_control_flow_tracing|TestSourceMatcher": "Dynamo records Python's bytecode",
    "TestFX.test_tracing_graphmodules_as_leaf_submodules":
        "super(type(self), self) is asked in a module that is traced: stand-ins for modules are of subclasses",
    "TestConstFold.test_check_skip_folding_quant|TestSubgraphRewriter.test_replace_pattern_with_filters":
        "there are no quantized tensors",
    "TestMatcher.test_variatic_arg_matching|TestSubgraphRewriter.test_matching_variable_arguments":
        "make_fx keeps max_pool2d whole",
    "TypeCheckerTest|AnnotationsTest.test_(annotat|broadcasting)": "types of graphs are not inferred",
}
pytestmark = pytest.mark.skipif(not Path(CHECKOUT, "test", "test_fx.py").is_file(),
                                reason="PYTORCH_TESTS names no checkout of PyTorch's repository")


def _outcomes(framework, folder):
    """{test: "ok", "skip: why" or what it raised} of the files."""
    found = folder / f"{framework}.json"
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("run.py")), framework, CHECKOUT,
               str(found), *FILES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=540, check=False,
                          env=os.environ | {"CUDA_VISIBLE_DEVICES": ""})
    assert found.is_file(), done.stderr[-2000:]
    return json.loads(found.read_text(encoding="utf-8"))


def test_what_passes_under_torch_passes_here(tmp_path, capsys):
    theirs, ours = _outcomes("torch", tmp_path), _outcomes("tinytorch", tmp_path)
    passed = [name for name, said in theirs.items() if said == "ok"]
    assert len(passed) > 300
    without = [name for name in passed if any([re.match(x, name) for x in REASONS])]
    wanted = [name for name in passed if name not in without]
    failed = {name: ours.get(name, "is not there") for name in wanted if ours.get(name) != "ok"}
    with capsys.disabled():
        print(f"\nPyTorch's tests of fx: {len(wanted) - len(failed)} of {len(passed)} pass, {len(without)} ask for "
              "what is not here")
    assert not failed, "\n".join([f"{name}: {said[-600:]}" for name, said in failed.items()])
    idle = [pattern for pattern in REASONS
            if not any([re.match(pattern, name) and ours.get(name) != "ok" for name in passed])]
    assert not idle, idle
