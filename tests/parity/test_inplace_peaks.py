"""The memory that in-place methods take of a tensor of 128 MB, beside torch's: measured by the system, in processes of
their own. Without arguments but tensors of its size, or numbers: see unit/test_inplace_memory.py."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Bytes that may be taken beyond what torch takes: a dozen pieces of numbers of eight bytes.
MORE = 14 << 20
#: Their series take minutes at this size; the unit test measures them at a smaller one.
SLOW = {"igamma_", "igammac_", "erfinv_", "i0_", "polygamma_", "digamma_", "lgamma_"}

PROGRAM = """
import json, sys
library, names = sys.argv[1], json.loads(sys.argv[2])
torch = __import__(library)
torch.set_num_threads(1)
SIZE = 1 << 25
def state(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) << 10
def peak(call):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")                        # the peak begins anew
    before = state("VmRSS")
    call()
    return state("VmHWM") - before
for name, dtype, kinds in names:
    dtype = getattr(torch, dtype)
    x = torch.ones(SIZE, dtype=dtype)
    made = {"y": lambda: torch.full((SIZE,), 3, dtype=dtype), "n": lambda: .5 if x.is_floating_point() else 1,
            "m": lambda: x > 0, "i": lambda: 1, "p": lambda: .5}
    arguments = [made[kind]() for kind in kinds]
    small = torch.ones(4, dtype=dtype)
    getattr(small, name)(*[a[:4].clone() if hasattr(a, "dtype") else a for a in arguments])      # what is loaded once
    print(json.dumps([name, peak(lambda: getattr(x, name)(*arguments))]), flush=True)
"""


def methods():
    """(name, dtype, kinds of its arguments) of the in-place methods that compute element by element, and of draws."""
    import tinytorch
    from tests.unit.test_inplace_memory import ARGUMENTS, DRAWS, ELEMENTWISE, dtypes, operands
    found = []
    for name in ELEMENTWISE:
        dtype = dtypes(name)
        given = operands(name, tinytorch.ones(4, dtype=dtype))
        found.append((name, str(dtype)[6:], ARGUMENTS.get(name, "y" * len(given))))
    draws = [(name, "float32", "p" * len(arguments)) for name, arguments in DRAWS.items()]
    return [entry for entry in found + draws + [("copy_", "float32", "y")] if entry[0] not in SLOW]


@pytest.mark.sweep
@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the system tells no peak from a point on")
def test_peaks():
    todo, taken = methods(), {}
    for library in ("torch", "tinytorch"):
        ended = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM, library, json.dumps(todo)], cwd=ROOT,
                               capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert ended.returncode == 0, ended.stderr[-1500:]
        taken[library] = dict(map(json.loads, ended.stdout.splitlines()))
    assert len(taken["tinytorch"]) == len({name for name, *_ in todo}) > 90
    more = {name: f"{size >> 20} MB, torch {taken['torch'][name] >> 20} MB" for name, size in taken["tinytorch"].items()
            if size > taken["torch"][name] + MORE}
    assert not more, more
