"""The memory that in-place methods take of a tensor of 128 MB, beside torch's: measured by the system, in processes of
their own. What computes element by element, copies or draws takes some pieces; the others compute a result, and write
it."""
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

#: The others, of a matrix `x` of 4096 x 8192; `row` is one row, `i` its number, `at` its places, `mask` is False.
OTHERS = {
    "addmm_": "x.addmm_(torch.ones(4096, 1), torch.ones(1, 8192))", "addr_": "x.addr_(torch.ones(4096), row[0])",
    "addbmm_": "x.addbmm_(torch.ones(1, 4096, 1), torch.ones(1, 1, 8192))",
    "baddbmm_": "x[None].baddbmm_(torch.ones(1, 4096, 1), torch.ones(1, 1, 8192))",
    "addmv_": "x.view(-1).addmv_(torch.ones(1 << 25, 1), torch.ones(1))", "cumsum_": "x.cumsum_(0)",
    "cumprod_": "x.cumprod_(1)", "tril_": "x.tril_()", "triu_": "x.triu_()", "renorm_": "x.renorm_(2, 0, 1.)",
    "fill_diagonal_": "x.fill_diagonal_(2.)", "index_add_": "x.index_add_(0, i, row)",
    "index_copy_": "x.index_copy_(0, i, row)", "index_fill_": "x.index_fill_(0, i, 2.)",
    "index_put_": "x.index_put_((i,), row)", "index_reduce_": "x.index_reduce_(0, i, row, 'amax')",
    "masked_scatter_": "x.masked_scatter_(mask, row)", "put_": "x.put_(i, torch.ones(1))",
    "scatter_": "x.scatter_(0, at, row)", "scatter_add_": "x.scatter_add_(0, at, row)",
    "scatter_reduce_": "x.scatter_reduce_(0, at, row, 'amax')", "__setitem__": "x.__setitem__(0, 2.)",
    "a mask": "x.__setitem__(mask, 2.)", "masked_fill_ of rows": "x.masked_fill_(mask[0], 2.)",
    "copy_ of a row": "x.copy_(row)", "add_ of a column": "x.add_(torch.ones(4096, 1))", "transposed": "x.t().add_(1)",
}
#: Those that make no result of the whole size, and those that make more than one.
IN_PIECES = {"fill_diagonal_", "index_put_", "__setitem__", "masked_fill_ of rows", "copy_ of a row",
             "add_ of a column", "transposed"}
TWO = {"renorm_", "tril_", "triu_"}

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
for name, text in json.loads(sys.argv[3]).items():
    known = dict(torch=torch, x=torch.ones(4096, 8192), row=torch.ones(1, 8192), i=torch.tensor([0]),
                 mask=torch.zeros(4096, 8192, dtype=torch.bool), at=torch.zeros(1, 8192, dtype=torch.int64))
    print(json.dumps([name, peak(lambda: eval(text, known))]), flush=True)
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
        ended = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM, library, json.dumps(todo),
                                json.dumps(OTHERS)], cwd=ROOT, capture_output=True, text=True,
                               env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert ended.returncode == 0, ended.stderr[-1500:]
        taken[library] = dict(map(json.loads, ended.stdout.splitlines()))
    assert len(taken["tinytorch"]) == len({name for name, *_ in todo}) + len(OTHERS) > 120

    def most(name):
        results = 0 if name not in OTHERS or name in IN_PIECES else 1 + (name in TWO)
        return taken["torch"][name] + results * (128 << 20) + MORE
    more = {name: f"{size >> 20} MB, torch {taken['torch'][name] >> 20} MB" for name, size in taken["tinytorch"].items()
            if size > most(name)}
    assert not more, more
