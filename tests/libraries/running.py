"""How the programs of this folder are run and compared."""
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
PAGE = ROOT / "docs" / "libraries.md"
PROGRAMS = sorted(path.stem.removeprefix("with_") for path in FOLDER.glob("with_*.py"))
#: What a library is called where it is installed, if it is not the program's name.
DISTRIBUTIONS = {"lion_pytorch": "lion-pytorch", "torch_optimizer": "torch-optimizer", "torch_ema": "torch-ema",
                 "x_transformers": "x-transformers", "ignite": "pytorch-ignite", "pyro": "pyro-ppl",
                 "stable_baselines3": "stable-baselines3", "torch_geometric": "torch-geometric",
                 "pytorch_metric_learning": "pytorch-metric-learning", "pytorch_lightning": "pytorch-lightning",
                 "blitz": "blitz-bayesian-pytorch", "ot": "POT", "torchcrf": "pytorch-crf",
                 "kan": "pykan", "laplace": "laplace-torch", "neuralop": "neuraloperator",
                 "open_clip": "open-clip-torch", "art": "adversarial-robustness-toolbox", "avalanche": "avalanche-lib",
                 "pina": "pina-mathlab", "scvi": "scvi-tools"}
#: How far results may be from torch's, relative to the largest of them.
TOLERANCE = 1e-4

_HEAD = """# Libraries made for torch, as they are

Written by `python -m tests.libraries`: each program `tests/libraries/with_*.py` runs under
`python -m tinytorch`, where its `import torch` and the library's give tinytorch, and beside torch with the same seed.
"equal": every number it reports is within 1e-4 of torch's, relative to the largest; texts are the same.

| library | version | what it does | outcome |
|---|---|---|---|
"""


def installed(name):
    """Whether the library of a program is."""
    return importlib.util.find_spec(name) is not None


def environment(paths):
    """The variables of a program that runs on one core and imports from these folders. Sets of texts have one order."""
    return os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths), "CUDA_VISIBLE_DEVICES": "",
                         "PYTHONHASHSEED": "0"}


def run(name, *command, timeout=300):
    """(what the program of a library reports, or None; the last line of its errors)."""
    return run_program(f"with_{name}", *command, timeout=timeout)


def run_program(name, *command, timeout=300):
    """The same of any program of this folder."""
    variables = environment([str(ROOT)] + [p for p in sys.path if p.endswith("-packages")])
    try:
        done = subprocess.run([*command, str(FOLDER / f"{name}.py")], env=variables, capture_output=True,
                              text=True, timeout=timeout, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return None, f"no end after {timeout} s"
    for line in done.stdout.splitlines():
        if line.startswith("OUTCOME "):
            return json.loads(line.removeprefix("OUTCOME ")), ""
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith(" ")]
    return None, without_addresses(lines[-1]) if lines else "no result"


def without_addresses(message):
    """A message without what differs from one process to the next: where an object lies.

    >>> without_addresses("no rule for <Conv2d object at 0x7f95cd617910>")
    'no rule for <Conv2d object>'
    """
    return re.sub(" at 0x[0-9a-f]+", "", message)


def difference(ours, theirs):
    """The largest difference relative to the largest number, inf for results of another form."""
    if isinstance(theirs, list):
        if not isinstance(ours, list) or len(ours) != len(theirs):
            return float("inf")
        if theirs and all([isinstance(x, float) for x in ours + theirs]):
            size = max([abs(x) for x in theirs] + [1e-12])
            return max([0.0 if a == b or a != a and b != b else abs(a - b) / size for a, b in zip(ours, theirs)])
        return max([difference(a, b) for a, b in zip(ours, theirs)], default=0.0)
    if isinstance(theirs, float) and isinstance(ours, float):
        return difference([ours], [theirs])
    return 0.0 if ours == theirs else float("inf")


def outcome(name, torch_python):
    """(whether it ran, what to say) of a program."""
    if not installed(name):
        return False, "not tried: not installed"
    ours, error = run(name, sys.executable, "-W", "ignore", "-m", "tinytorch")
    if ours is None:
        return False, f"does not run: {error[:160]}"
    theirs, error = run(name, torch_python, "-W", "ignore", str(FOLDER / "under_torch.py"))
    if theirs is None:
        return True, f"runs; not compared: {error[:120]}"
    return True, compared(ours, theirs)


def compared(ours, theirs):
    """What to say of two reports: "equal", or what differs."""
    if ours.keys() != theirs.keys():
        return "runs; reports other things than under torch"
    far = {key: difference(ours[key], theirs[key]) for key in theirs}
    worst = max(far, key=far.get)
    return "equal" if far[worst] <= TOLERANCE else (
        f"runs; `{worst}` differs by {far[worst]:.1e}" if far[worst] < float("inf") else f"runs; `{worst}` is another")


def page(found):
    """The page of all outcomes."""
    lines = []
    for name, (_, said) in found.items():
        distribution = DISTRIBUTIONS.get(name, name)
        version = importlib.metadata.version(distribution) if installed(name) else ""
        subject = (FOLDER / f"with_{name}.py").read_text(encoding="utf-8").splitlines()[0].strip('"').partition(": ")[2]
        lines.append(f"| {distribution} | {version} | {subject} | {said.replace('|', '/')} |\n")
    return _HEAD + "".join(lines)
