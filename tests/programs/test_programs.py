"""The list of programs is read, repositories are laid out, and runs that differ are told from runs that do not."""
import json
import re
import subprocess
import sys

import pytest

from . import exporting, listing, notebooks
from .listing import Program

running, page = [
    pytest.importorskip(f"tests.programs.{name}", reason="there is no `resource` on Windows", exc_type=ImportError)
    for name in ("running", "page")]


def test_the_list():
    rows = listing.programs()
    assert len(rows) >= 10 and len({program.name for program in rows}) == len(rows)
    for program in rows:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", program.repository) and re.fullmatch(r"[0-9a-f]{40}", program.commit)
        assert program.seed in ("own", "given") and 0 < program.seconds <= 60
        assert all([entry.count(":") == 1 for entry in program.data.split()])
        re.compile(program.without)


@pytest.mark.parametrize("ours, theirs, said", [
    ("loss: 0.5000 at 1", "loss: 0.5001 at 1", "equal (2 of 2)"),
    ("loss 1.0000001e3", "loss 1e3", "equal (1 of 1)"),
    ("loss 2.31", "loss 2.35", "number 1 is 2.31, torch's 2.35"),
    ("step 3", "step 4", "number 1 is 3, torch's 4"),
    ("loss nan", "loss 1.5", "number 1 is nan, torch's 1.5"),
    ("loss nan", "loss nan", "equal (1 of 1)"),
    ("loss 1.5", "cost 1.5", "other words between the numbers"),
    ("1 2", "1 2 3", "prints 2 numbers, torch 3"),
    ("done", "done", "equal (no numbers)"),
    ("done", "over", "other words, no numbers"),
    ("2.13.0+tinytorch <A at 0x7f> 1", "2.13.0+cpu <A at 0x8f> 1", "equal (2 of 2)"),
    ("took 3 s, loss 1.5", "took 9 s, loss 1.5", "equal (1 of 1)"),
    ("1 " * 25 + "2", "1 " * 25 + "3", "equal (25 of 26)"),
])
def test_comparison(ours, theirs, said):
    assert running.compared(ours, theirs, without=r"took \d+ s") == said


def test_outcomes_of_runs_that_stop():
    ended, cut = ("1 2 3", "", 1.0, False), ("1 2 4", "", 1.0, True)
    assert running.outcome(ended, cut) == "equal (2 of 2)"
    assert running.outcome(ended, ("done", "", 1.0, True)) == "prints no numbers"
    assert running.outcome(("1", "KeyError: 'x'", 1.0, False), ended) == "stops: KeyError: 'x'"
    assert running.outcome(ended, ("1", "KeyError: 'x'", 1.0, False)).startswith("stops under torch alone")
    assert running.outcome(*[("1", "KeyError: 'x'", 1.0, False)] * 2).startswith("stops under both")


def committed(tmp_path, **files):
    """The commit of a new repository owner/name with these files in the folder part."""
    work = tmp_path / "owner+name" / "repo"
    (work / "part").mkdir(parents=True)
    for name, text in files.items():
        (work / "part" / f"{name}.py").write_text(text)
    git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run(git + command, check=True, timeout=30)
    done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True, timeout=30)
    return done.stdout.strip()


def test_a_program_of_a_repository_runs(tmp_path):
    target = tmp_path / "target"
    source = "import sys\nprint(open('x.txt').read(), sys.argv[1], flush=True)\nwhile True:\n    pass\n"
    commit = committed(tmp_path, run=source, first="open('x.txt', 'a').write('!')\n")
    (tmp_path / "number.txt").write_text("0.5")
    program = Program("owner/name", commit, "part/run.py", "7", "part/first.py", "", 1,
                      "number.txt:x.txt", "own", "")
    exporting.export(tmp_path, program, target)
    assert (target / "part" / "run.py").read_text() == source
    printed, error, seconds, stopped = running.run(program, tmp_path, tmp_path, [sys.executable])
    assert (printed, error, stopped) == ("0.5! 7\n", "", True) and 0.9 <= seconds < 3


_TRAINING = """import random
import torch
from factors import of_loss, of_rate
layer = torch.nn.Linear(3, 2)
optimiser = torch.optim.SGD(layer.parameters(), lr=1.)
for step in range(5):
    layer(torch.rand(7, 3)).square().sum().mul(of_loss).backward()
    for p in layer.parameters():
        p.data.sub_(p.grad, alpha=of_rate)
print(torch.rand(1).dtype, torch.zeros(1, dtype=torch.float).dtype, torch.ones(2).int().float().dtype)
"""
_HERE = [sys.executable, "-m", "tinytorch"]


@pytest.mark.parametrize("of_loss, of_rate, wrong", [
    (1.0, 0.01, []), (1.001, 0.01, ["gradients", "losses"]), (1.0, 0.02, ["updates"])])
def test_steps_show_where_training_goes_apart(tmp_path, of_loss, of_rate, wrong):
    """Each from the other's parameters: an error of one does not make others."""
    program = Program("owner/name", committed(tmp_path, run=_TRAINING), "part/run.py", "", "", "", 20, "", "given", "")
    sides = []
    for name, numbers in (("theirs", (1.0, 0.01)), ("ours", (of_loss, of_rate))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "factors.py").write_text("of_loss, of_rate = {}, {}".format(*numbers))
        sides.append((_HERE, [str(running.ROOT), str(tmp_path / name)]))
    said = running.steps_of(program, tmp_path, tmp_path, sides, 4)
    assert said.startswith("4 steps from torch's own: losses ")
    far = {what: float(number) for what, number in re.findall(r"(\w+) (\d\S*?)(?:,| |$)", said.partition(": ")[2])}
    assert sorted(what for what, distance in far.items() if distance) == wrong, said
    if not wrong:
        printed, error, _, _ = running.run(program, tmp_path, tmp_path, *sides[0], in_double=True)
        assert (printed, error) == ("torch.float64 torch.float64 torch.float64\n", "")


def test_programs_that_make_a_rounding_grow_are_counted():
    rows = ["a: x | equal (3 of 3) |", "b: x | prints no numbers |", "b: y | stops under both: E |",
            "c: x | number 1 is 2; torch's other kernels: number 2 is 3; in double precision: number 1 is 2 |",
            "c: y | number 1 is 2; torch's other kernels: equal (3 of 3); in double precision: equal (3 of 3) |",
            "c: z | number 1 is 2; torch's other kernels: equal (3 of 3); in double precision: number 1 is 2 |"]
    said = page._counted(rows)
    assert "5 of 6 programs run" in said and "1 are equal. 3 print other numbers: 1 of them" in said
    assert "1 more are equal in double precision. So 3 of 4 " in said and "75.0 %" in said


_CELLS = ["%matplotlib inline\nx = 2", "# a title", "!pip install x\nx + 1", "x * 3;", "%%bash\nls",
          "%%time\nfor i in range(2):\n    x += i",
          "print 'an older Python'", "None", "def f(y):\n    %time y\n    return y\nf?\n(x +\n 4)  # shown"]


def test_a_notebook_is_a_program(tmp_path, capsys):
    cells = [{"cell_type": "code", "source": x.splitlines(keepends=True)} for x in _CELLS]
    cells.insert(1, {"cell_type": "markdown", "source": "x = 100"})
    for text in (json.dumps({"cells": cells}),
                 json.dumps({"worksheets": [{"cells": [x | {"input": x["source"]} for x in cells]}]})):
        exec(notebooks.as_program(text), {})
        assert capsys.readouterr().out == "3\n7\n"


def test_a_notebook_is_laid_out_beside_itself(tmp_path):
    program = Program("owner/name", "", "part/a.ipynb", "", "", "", 1, "", "own", "")
    assert exporting.script(program, tmp_path) == tmp_path / "part" / "a.ipynb.py"
