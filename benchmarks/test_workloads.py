"""The workloads under pytest-benchmark, tinytorch beside torch: `pytest benchmarks --benchmark-enable`."""
import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from workloads import WORKLOADS  # noqa: E402


@pytest.mark.parametrize("library", ["tinytorch", "torch"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_workload(benchmark, name, library):
    torch = importlib.import_module(library)
    importlib.import_module(f"{library}.utils.data")
    torch.manual_seed(0)
    benchmark.group = name
    job = WORKLOADS[name](torch)
    if isinstance(job, tuple):
        prepare, run = job
        benchmark.pedantic(run, setup=lambda: ((prepare(),), {}), rounds=200)
    else:
        benchmark(job)
