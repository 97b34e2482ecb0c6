"""The benchmarks' own code: that each workload runs, and what is computed from the times."""
import json
import sys
from pathlib import Path

import pytest

import tinytorch

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def _run(job):
    prepare, step = job if isinstance(job, tuple) else (None, job)
    return step(prepare()) if prepare else step()


def test_every_workload_runs():
    from workloads import WORKLOADS
    for build in WORKLOADS.values():
        _run(build(tinytorch))


def test_products_of_every_model_are_known():
    from floors import PRODUCTS, products_alone
    from workloads import MODELS
    assert set(PRODUCTS) == set(MODELS)
    assert products_alone(PRODUCTS["MLP 4-16-16-1"][0], 0.01) > 0


def test_each_curve_starts():
    from growth import CURVES
    for _, sizes, build in CURVES.values():
        assert list(sizes) == sorted(sizes)
        _run(build(tinytorch, sizes[0]))


def test_inference_records_nothing_and_leaves_dropout_out():
    from workloads import MODELS
    run = MODELS["CNN LeNet-size"](tinytorch)
    predict = run.inference()
    scores = predict()
    assert not scores.requires_grad
    assert tinytorch.equal(scores, predict())


@pytest.mark.parametrize("points, where, words", [
    ([(1, 0.5), (4, 0.9)], [], "tinytorch is faster at every size"),
    ([(1, 2.0), (4, 1.0)], [], "tinytorch is slower at every size"),
    ([(1, 0.5), (4, 2.0)], [2], "tinytorch is faster up to about 2 (batch), slower above"),
    ([(1, 0.5), (100, 2.0), (10000, 0.5)], [10, 1000],
     "tinytorch is faster up to about 10 (batch), slower up to about 1,000 (batch), faster above")])
def test_crossings(points, where, words):
    from growth import crossing, crossovers
    assert crossovers(points) == where
    assert crossing("batch", points) == words


def test_machine_is_said_from_json():
    import machine
    facts = json.loads(json.dumps(machine.facts()))
    said = machine.sentence(facts)
    assert f"BLAS kernels: {facts['blas kernels']}" in said and f"Python {facts['python']}" in said


def test_import_of_compare_is_light():
    """It measures what importing a library takes."""
    import subprocess
    code = "import sys, compare; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=BENCHMARKS, check=False).returncode == 0
