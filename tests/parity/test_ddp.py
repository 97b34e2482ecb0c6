"""DistributedDataParallel, SyncBatchNorm and ZeroRedundancyOptimizer: one program under both libraries, torch's in
processes with gloo, ours under mpirun."""
import functools
import re
import subprocess
import sys

import numpy as np
import pytest
import torch

from tinytorch.vision.digits import draw_digits

from . import ranks
from .test_distributed import PROGRAMS, is_error

pytestmark = [pytest.mark.any_kernels, pytest.mark.skipif(bool(ranks.missing()), reason=ranks.missing())]
SIZES = 2, 3


@functools.cache
def ours(program, size):
    return ranks.run(PROGRAMS / f"{program}.py", "tinytorch", size)


@functools.cache
def theirs(program, size):
    return ranks.run(PROGRAMS / f"{program}.py", "torch", size)


def differences(a, b, tolerance, where=""):
    """Where two outcomes differ: tensors by more than the tolerance, anything else at all."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) == 4 and isinstance(a[3], bytes):
        if a[:3] != b[:3]:
            return [(where, a[:3], b[:3])]
        x, y = [torch.frombuffer(bytearray(t[3]), dtype=getattr(torch, t[0].removeprefix("torch."))).double()
                if t[3] else torch.empty(0) for t in (a, b)]
        worst = (x - y).abs().max().item() if x.numel() else 0
        return [] if worst <= tolerance else [(where, worst)]
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        return [d for i, (c, e) in enumerate(zip(a, b)) for d in differences(c, e, tolerance, f"{where}.{i}")]
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return [d for key in a for d in differences(a[key], b[key], tolerance, f"{where}.{key}")]
    return [] if a == b else [(where, a, b)]


def compared(program, size):
    """{name: (torch's outcome, ours)} by rank; both have the same cases, but for those of ours alone."""
    pairs = []
    for mine, other in zip(ours(program, size), theirs(program, size)):
        assert {name for name in mine if not name.startswith("ours")} == other.keys()
        pairs.append({name: (other[name], mine[name]) for name in other})
    return pairs


def told(error):
    """An error without what the bindings of torch say, and without the name of the library."""
    text = re.sub(r"^Unable to cast Python instance .* for details\)\. ", "", error[2])
    return *error[:2], text.replace("tinytorch.", "torch.")


def tolerance(name, size):
    """float64 to 1e-10; parameters in float32 to their rounding. Sums in half precision of three are rounded in an
    order that neither library tells."""
    return 2e-3 if name.startswith("half") and size > 2 else 1e-6 if name == "two dtypes" else 1e-10


@pytest.mark.parametrize("size", SIZES)
def test_ddp(size):
    found, failed = [], set()
    for rank, cases in enumerate(compared("ddp", size)):
        assert len(cases) > 80
        for name, (other, mine) in cases.items():
            assert is_error(other) <= name.startswith("error"), (name, other)
            if is_error(other) or is_error(mine):
                failed.add(name)
                if not is_error(other) or not is_error(mine) or told(other) != told(mine):
                    found.append((rank, name, other, mine))
            else:
                found += [(rank, name, *d) for d in differences(other, mine, tolerance(name, size))][:1]
    assert not found, [str(f)[:600] for f in found[:12]]
    assert failed == {name for name in cases if name.startswith("error")}


@pytest.mark.parametrize("size", SIZES)
def test_bfloat16_hook(size):
    """torch has it on accelerators alone. It is near the averages that are not rounded, and not equal to them."""
    for cases in ours("ddp", size):
        assert not is_error(cases["ours bf16"]), cases["ours bf16"]
        assert not differences(cases["ours bf16"], cases["hook allreduce"], 2e-2)
        assert differences(cases["ours bf16"], cases["hook allreduce"], 1e-6)


@pytest.mark.parametrize("size", [pytest.param(2, marks=pytest.mark.sweep), 3])
def test_zero_redundancy_optimizer(size):
    for cases in compared("zero", size):
        assert len(cases) > 20
        for name, (other, mine) in cases.items():
            assert is_error(other) == name.startswith("error"), (name, other)
            if is_error(other):
                assert is_error(mine) and told(other) == told(mine), (name, other, mine)
            else:
                assert not differences(other, mine, 1e-10), (name, differences(other, mine, 1e-10)[:5])


@pytest.mark.parametrize("size", SIZES)
def test_sync_batch_norm(size):
    """Of all samples together it does what batch normalisation does in one process."""
    for cases in ours("zero", size):
        names = [name for name in cases if " norm" in name]
        assert len(names) == 10
        for name in names:
            assert not is_error(cases[name]) and max(cases[name]) < (1e-5 if "single" in name else 1e-10), cases[name]


def test_example(tmp_path):
    """examples/mnist_ddp.py: the same file under torchrun and under mpirun, and by one rank the same losses."""
    for part, count, seed in (("train", 400, 0), ("t10k", 100, 1)):
        images, labels = draw_digits(count, seed)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels.astype(np.uint8))):
            header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            (tmp_path / f"{part}-{kind}-ubyte").write_bytes(header + array.tobytes())
    example = ranks.ROOT / "examples" / "mnist_ddp.py"
    options = ["--data", str(tmp_path), "--epochs", "2", "--batch", "40"]
    launcher = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", str(ranks.free_port())]
    runs = [subprocess.run([sys.executable, *launcher, example, "--module", "torch", *options], capture_output=True,
                           text=True, env=ranks.environment(), timeout=ranks.LIMIT)]
    runs += [ranks.under_mpi(size, example, *options) for size in (2, 1)]
    # Of PyTorch's run the table is asked, not the status: its threads of gloo may abort a process that ends.
    assert not any([run.returncode for run in runs[1:]]), [run.stdout + run.stderr for run in runs]
    tables = [np.array([line.split()[:3] for line in run.stdout.splitlines() if line.strip()[:1].isdigit()], float)
              for run in runs]
    for table in tables:                       # float32; losses are printed with four digits, accuracies of 100 samples
        assert table.shape == (2, 3), [run.stdout + run.stderr for run in runs]
        assert np.allclose(table, tables[0], atol=3e-4), tables
