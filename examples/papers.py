"""The systems of five papers, with tinytorch and with PyTorch: accuracy, time and memory.

    python examples/papers.py --data FOLDER [--page docs/papers.md]

FOLDER contains `mnist` and `imdb`. Each system runs in alternating processes of its own. If PyTorch is not installed
its columns stay empty. The results in the papers are printed too. differentiable_graphs.py compares the forms of the
fifth paper's GRU with each other.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

import common
import differentiable_graphs

import tinytorch

HERE = Path(__file__).resolve().parent
SWAPPED = HERE.parent / "benchmarks" / "swapped.py"

#: (title, example, its options, the folder of its data, the accuracies in the paper: (its system, the library with
#: which it compares), the number of epochs).
SYSTEMS = [
    ("RNN on MNIST: 4 steps of 196 pixels, 64 tanh units, batch 100, SGD 0.015 (two papers)", "mnist_rnn", [], "mnist",
     (0.917, 0.92), 5),
    ("Bias-free CNN on MNIST: conv 3x3 1->6, ReLU, max-pool 2, 84, 10", "mnist_cnn", [], "mnist", (0.978, None), 3),
    ("Text CNN on IMDB: Embedding, Conv1d, MaxPool, Dense; Adam", "imdb_cnn", [], "imdb", (0.869, 0.876), 5),
    ("Text CNN on IMDB: the same with SGD", "imdb_cnn", ["--optimizer", "sgd"], "imdb", (None, None), 5),
]


def run(library, example, options):
    """The result of one run from benchmarks/swapped.py: rows and megabytes. None if the library is not installed."""
    done = subprocess.run([sys.executable, str(SWAPPED), library, example, *options], capture_output=True, text=True)
    if done.returncode and f"No module named '{library}'" in done.stderr:
        return None
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def compare(example, options, rounds):
    """{library: (rows of a run, median seconds per epoch, peak megabytes)} from alternating runs."""
    found: dict[str, list] = {"tinytorch": [], "torch": []}
    for _ in range(rounds):
        for library, runs in found.items():
            result = run(library, example, options)
            if result is not None:
                runs.append(result)
    return {library: (runs[0]["rows"],
                      statistics.median(row[3] for result in runs for row in result["rows"]),
                      statistics.median(result["megabytes"] for result in runs))
            for library, runs in found.items() if runs}


def section(title, example, options, reported, found, count):
    """The section of one system, in Markdown."""
    head = ["", *[f"epoch {k}" for k in range(1, count + 1)], "seconds per epoch", "peak MB"]
    rows = [(library, *[f"{row[2]:.4f}" for row in epochs], f"{seconds:.2f}", f"{megabytes:.0f}")
            for library, (epochs, seconds, megabytes) in found.items()]
    own, other = ["not reported" if x is None else str(x) for x in reported]
    if len(found) == 2:
        rows.append(("ratio", *[""] * count, f"{found['tinytorch'][1] / found['torch'][1]:.2f}",
                     f"{found['tinytorch'][2] / found['torch'][2]:.2f}"))
    command = " ".join(["python", f"examples/{example}.py", "--data FOLDER", *options])
    return (f"## {title}\n\n`{command}`. Test accuracy in the papers: {own} (their system), {other} (what they compare "
            f"with).\n\n{common.table(head, rows)}\n")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder with mnist and imdb in it")
    parser.add_argument("--page", help="write the outcome to this file, and pictures to folders beside it")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each system (2)")
    parser.add_argument("--epochs", type=int, help="instead of the papers' numbers of epochs")
    parser.add_argument("--limit", type=int, help="use no more training examples than this")
    args = parser.parse_args(argv)
    threads = os.environ.get("OMP_NUM_THREADS", "default")
    parts = [f"# The papers' systems, measured\n\nWritten by `python examples/papers.py --data FOLDER --page FILE`: "
             f"Python {platform.python_version()}, tinytorch {tinytorch.__version__}, threads: {threads}; each system "
             f"{args.rounds} times in processes that take turns, medians of the epochs' times, seed 0. PyTorch runs "
             "the same file with its imports swapped.\n"]
    folder = Path(args.page or "").with_suffix("")
    for title, example, more, data, reported, epochs in SYSTEMS:
        epochs = args.epochs or epochs
        found = compare(example, [*options(args, data, epochs), *more], args.rounds)
        parts.append(section(title, example, more, reported, found, epochs))
        print(parts[-1], flush=True)
        if args.page:
            folder.mkdir(parents=True, exist_ok=True)
            name = "_".join([example, *[word.lstrip("-") for word in more]]) + ".png"
            common.picture(folder / name, found["tinytorch"][0])
            parts.append(f"![loss and accuracy]({folder.name}/{name})\n")
    parts.append(fifth(args, folder.parent))
    if args.page:
        with open(args.page, "w", encoding="utf-8") as f:
            f.write("\n".join(parts))


def options(args, data, epochs):
    """The options of an example."""
    limit = ["--limit", str(args.limit)] if args.limit else []
    return ["--data", os.path.join(args.data, data), "--epochs", str(epochs), *limit]


def fifth(args, folder):
    """The section of the paper that has an example and a page of its own, in Markdown."""
    out = ["--out", str(folder / "differentiable_graphs")] if args.page else []
    rows = differentiable_graphs.main([*options(args, "mnist", args.epochs or 2), *out])
    shown = ("![GRU, the reset gate before](differentiable_graphs/gru_before.svg)\n\n![GRU, the reset gate after]"
             "(differentiable_graphs/gru_after.svg)\n\nAll of it: [its own page](differentiable_graphs.md).\n")
    return ("## Optimizing RNNs with differentiable graphs\n\n"
            "`python examples/differentiable_graphs.py --data FOLDER`.\n\n"
            f"{differentiable_graphs.table_of_grus(rows)}\n\n{differentiable_graphs.claims(rows)}\n\n"
            + shown * bool(args.page))


if __name__ == "__main__":
    main()
