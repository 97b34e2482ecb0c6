"""Writes docs/benchmarks.md, its picture, and the table of the README, from one run of compare.py.

    python benchmarks/report.py [--rounds 3] [--seconds 1] [--from ONE.json DEFAULT.json]

The two files are what `compare.py --json` writes, with --threads 1 and without; left out, it runs them.
"""
import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = "<!-- figures: benchmarks/report.py -->"
IN_README = ("RNN 4x196-64", "CNN 1-6", "text CNN", "GRU 28x28-128", "LSTM 28x28-128", "MLP 784-256-128", "GPT 2 blocks",
             "60 ops 4x4, forward", "60 ops 4x4, backward", "import", "peak memory: CNN 1-6")


def measure(threads, rounds, seconds):
    """The figures of compare.py as a dict."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "figures.json")
        options = ["--threads", str(threads)] if threads else []
        subprocess.run([sys.executable, str(ROOT / "benchmarks" / "compare.py"), *options, "--rounds", str(rounds),
                        "--seconds", str(seconds), "--json", path], check=True)
        return json.loads(Path(path).read_text())


def machine():
    """What it was measured on: processor, cores, versions."""
    import numpy
    import torch
    name = platform.processor()
    if os.path.exists("/proc/cpuinfo"):
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        name = found.group(1) if found else name
    return (f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
            f"NumPy {numpy.__version__}, torch {torch.__version__}")


def table(one, default, names=None):
    """Markdown: a row per workload, both numbers of threads."""
    rest = {name: (ours, theirs) for name, _, ours, theirs in default["rows"]}
    lines = ["| | tinytorch, 1 thread | torch, 1 thread | ratio | tinytorch, default | torch, default | ratio |",
             "|---|---|---|---|---|---|---|"]
    for name, unit, ours, theirs in one["rows"]:
        if names is None or name in names:
            ours2, theirs2 = rest[name]
            lines.append(f"| {name} | {ours:.3g} {unit} | {theirs:.3g} {unit} | **{ours / theirs:.2f}** "
                         f"| {ours2:.3g} {unit} | {theirs2:.3g} {unit} | **{ours2 / theirs2:.2f}** |")
    return "\n".join(lines)


def picture(one, default, path):
    """Ratios of all times as bars."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    rows = [row for row in one["rows"] if row[1] == "ms"]
    second = {row[0]: row[2] / row[3] for row in default["rows"]}
    figure, axes = pyplot.subplots(figsize=(8, 0.32 * len(rows) + 1.2), layout="constrained")
    places = range(len(rows))
    axes.barh([p - 0.2 for p in places], [r[2] / r[3] for r in rows], 0.4, label="1 thread")
    axes.barh([p + 0.2 for p in places], [second[r[0]] for r in rows], 0.4, label="default threads")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(list(places), [r[0] for r in rows])
    axes.invert_yaxis()
    axes.set_xlabel("time of tinytorch / time of torch (below 1: tinytorch is faster)")
    axes.legend()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--from", dest="files", nargs=2, metavar="JSON")
    args = parser.parse_args()
    if args.files:
        one, default = (json.loads(Path(f).read_text()) for f in args.files)
    else:
        one, default = measure(1, args.rounds, args.seconds), measure(0, args.rounds, args.seconds)
    docs = ROOT / "docs"
    docs.mkdir(exist_ok=True)
    picture(one, default, docs / "benchmarks.svg")
    (docs / "benchmarks.md").write_text(
        f"# Benchmarks\n\nMade by `python benchmarks/report.py`; nothing here is typed by hand. {machine()}.\n"
        "Medians of alternating processes of both libraries; a ratio below one means that tinytorch is faster or "
        "smaller.\nThe workloads are in `benchmarks/workloads.py`; times are per training step unless the name says "
        f"otherwise.\n\n{table(one, default)}\n\n![ratios](benchmarks.svg)\n")
    readme = ROOT / "README.md"
    before, _, after = readme.read_text().split(MARK)
    readme.write_text(f"{before}{MARK}\n{table(one, default, IN_README)}\n\nMeasured on {machine()}, with `python "
                      f"benchmarks/report.py` ([all workloads](docs/benchmarks.md)).\n{MARK}{after}")


if __name__ == "__main__":
    main()
