"""The cost of shipping a model: installed bytes, processor time until the first answer, memory.

    python benchmarks/shipping.py [--rounds 7] [--page FILE]      --page: writes the table into docs/shipping.md
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from machine import facts

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("tinytorch", "torch")
MARK = "<!-- figures: benchmarks/shipping.py -->"
CHILD = """
import json, resource, sys, time
start = time.process_time()
torch = __import__(sys.argv[1])
imported = time.process_time()
nn = torch.nn
{network}
if len(sys.argv) > 3:
    torch.save(net.state_dict(), sys.argv[2])
net.load_state_dict(torch.load(sys.argv[2]))
with torch.inference_mode():
    net({inputs})
print(json.dumps([imported - start, time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
MODELS = {
    "MLP 784-256-10": ("net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)).eval()",
                       "torch.ones(1, 784)"),
    "CNN": ("net = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),"
            " nn.Linear(2704, 10)).eval()", "torch.ones(1, 1, 28, 28)"),
}


def _requirements(name, found):
    """The names of a distribution and of all distributions that it needs on this system."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    if name in found:
        return found
    try:
        needed = distribution(name).requires or []
    except PackageNotFoundError:               # needed on another system
        return found
    found.add(name)
    for text in needed:
        if "extra ==" not in text:
            _requirements(re.match(r"[\w.-]+", text)[0], found)
    return found


def installed(library):
    """(bytes, number of distributions) of a library and its requirements, without bytecode."""
    if library == "tinytorch":
        own = sum(path.stat().st_size for path in (ROOT / "tinytorch").rglob("*")
                  if path.is_file() and "__pycache__" not in path.parts)
        needed = _requirements("numpy", set())
    else:
        own, needed = 0, _requirements(library, set())
    files = {path.locate() for name in needed for path in distribution(name).files or ()}
    size = sum(path.stat().st_size for path in map(Path, files) if path.suffix != ".pyc" and path.is_file())
    return own + size, len(needed) + (library == "tinytorch")


def measured(model, rounds, folder):
    """{library: medians over alternating processes}: the processor seconds of the import, and from the start of Python
    to the first answer, and the peak of resident memory in MB."""
    network, inputs = MODELS[model]
    code = CHILD.format(network=network, inputs=inputs)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": os.path.join(folder, "bytecode"),
                    "OMP_NUM_THREADS": "1"}

    def child(library, *more):
        weights = os.path.join(folder, f"{library}.pt")
        return json.loads(subprocess.check_output([sys.executable, "-c", code, library, weights, *more],
                                                  env=environment))
    for library in LIBRARIES:
        child(library, "write")                # writes the bytecode too
    found = [[child(library) for library in LIBRARIES] for _ in range(rounds)]
    return {library: [statistics.median(column) for column in zip(*numbers, strict=True)]
            for library, numbers in zip(LIBRARIES, zip(*found, strict=True), strict=True)}


def table(rounds):
    """The lines of the table."""
    sizes = [installed(library) for library in LIBRARIES]
    rows = [("installed, with all that it needs", *[f"{size / 1e6:.0f} MB in {n} distributions" for size, n in sizes],
             sizes[0][0] / sizes[1][0])]
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            found = measured(model, rounds, folder)
            for i, (what, unit, factor) in enumerate([("import", "ms", 1000), ("start to first answer", "ms", 1000),
                                                      ("peak memory", "MB", 1)]):
                ours, theirs = (found[library][i] * factor for library in LIBRARIES)
                if what != "import" or model == next(iter(MODELS)):
                    name = what if what == "import" else f"{model}: {what}"
                    rows.append((name, f"{ours:.0f} {unit}", f"{theirs:.0f} {unit}", ours / theirs))
    lines = ["| | tinytorch | torch | ratio |", "|---|---|---|---|"]
    lines += [f"| {name} | {ours} | {theirs} | {ratio:.2f} |" for name, ours, theirs, ratio in rows]
    known = facts("torch")
    versions = known["versions"]
    return "\n".join([*lines, "", f"Times are the processor's, of {rounds} processes (medians), bytecode written "
                      f"before. Measured on {known['processor']}, {known['system']}, Python {known['python']}, NumPy "
                      f"{versions['numpy']}, torch {versions['torch']}, one thread."])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--page")
    options = parser.parse_args()
    found = table(options.rounds)
    print(found)
    if options.page:
        head, _, rest = Path(options.page).read_text(encoding="utf-8").partition(MARK)
        tail = rest.partition(MARK)[2]
        Path(options.page).write_text(f"{head}{MARK}\n{found}\n{MARK}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
