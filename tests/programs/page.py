"""docs/programs.md: every program of the list and what came of it."""
import re

from tests.libraries.running import ROOT

from .listing import programs
from .running import NUMBERS, STEPS, TOLERANCE

PAGE = ROOT / "docs" / "programs.md"

_HEAD = f"""# Public programs, as they are

Written by `python -m tests.programs`: programs of public repositories at the commit that `tests/programs/programs.csv`
names, unmodified, under `python -m tinytorch` and under torch, on one core. A notebook is the program of its cells, one
after the other, without commands to the notebook, and the value that a cell ends with is printed. A program that does
not end by itself is stopped after the seconds of its row, of processor time, under both. Compared are the numbers that
both print and the words between them: a number is the same within {TOLERANCE:g} of torch's, relative to it, or one unit
of the last printed digit. "equal (n of m)": of the m numbers that both printed the first n are the same, at least
{NUMBERS} or all;
"equal (no numbers)": both end and print the same words. Rounding grows as training goes on, so n may be less than m.
Seed "own": the program sets its seed; "given": the runner sets it before.

Where numbers differ, the page says where they come from (`python -m tests.programs --rounding`):

- "torch's other kernels": torch with its kernels for other processors (ATEN_CPU_CAPABILITY=avx2,
  MKL_CBWR=COMPATIBLE, ONEDNN_MAX_CPU_ISA=SSE41), compared with torch in the same way.
- "in double precision": both once more, with torch.float64 for every number in single precision, to a millionth. A
  rounding is then a billion times smaller, and a fault as large as before.
- "{STEPS} steps from torch's own": before each step parameters and buffers are set to torch's, and after each backward
  pass gradients are, so that nothing grows. Told is the largest distance of a loss, of a gradient and of a parameter
  after the optimiser's step, relative to the largest number of each. Single precision is as good as 6e-08.

A program that differs in torch's other kernels as well, or not in double precision, makes a rounding grow. Rows that
were last run before there were the other two have the first alone.

"""
_TABLE = """| program | arguments | seed | s, tinytorch | s, torch | outcome |
|---|---|---|---|---|---|
"""


def _key(program):
    link = f"https://github.com/{program.repository}/blob/{program.commit}/{program.path}"
    link = link.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    arguments = f"`{program.arguments}`" if program.arguments else ""
    return f"| [{program.repository}: {program.path}]({link}) | {arguments} | {program.seed} |"


def _counted(rows):
    """What there is to say of all rows."""
    run = [row for row in rows if not re.search(r"\| stops under |; under torch: ", row)]
    equal = [row for row in run if "| equal (" in row]
    differ = [row for row in run if "; torch's other kernels: " in row]
    elsewhere = [row for row in differ if "torch's other kernels: equal (" not in row]
    in_double = [row for row in differ if row not in elsewhere and "in double precision: equal (" in row]
    cut = [row for row in run if "| prints no numbers" in row]
    repositories = {row.partition(":")[0] for row in run}
    as_torch = len(equal) + len(elsewhere) + len(in_double)
    compared = len(run) - len(cut)
    return (f"{len(run)} of {len(rows)} programs run under torch 2.13 here, of {len(repositories)} repositories; the "
            f"others stop under both. Of these {len(cut)} print nothing to compare before they are stopped. "
            f"{len(equal)} are equal. {len(differ)} print other numbers: {len(elsewhere)} of them where torch with "
            f"other kernels does too, and {len(in_double)} more are equal in double precision. So {as_torch} of "
            f"{compared} run as on torch but for rounding, {100 * as_torch / max(compared, 1):.1f} %.\n\n")


def write(found):
    """Puts outcomes (outcome, seconds, torch's seconds) by program into the page; the others' stay."""
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    rows = {}
    for program in programs():
        key = _key(program)
        rows[key] = next((line for line in lines if line.startswith(key)), "")
    for program, (said, ours, theirs) in found.items():
        rows[_key(program)] = f"{_key(program)} {ours:.0f} | {theirs:.0f} | {said.replace('|', '/')[:600]} |"
    done = [row for row in rows.values() if row]
    PAGE.write_text(_HEAD + _counted(done) + _TABLE + "".join(f"{row}\n" for row in done), encoding="utf-8")
