"""Writes docs/benchmarks.md, its pictures, and the table of the README.

    python benchmarks/report.py [--rounds 3] [--seconds 1] [--from ONE.json DEFAULT.json]
                                [--plain ONE.json DEFAULT.json] [--growth ONE.json TWO.json]
                                [--serial SERIAL.json] [--medium MEDIUM.json] [--peers PEERS.json]
                                [--floors FLOORS.json]

ONE and DEFAULT are files that `compare.py --json` writes, with --threads 1 and without. If they are not given, it runs
compare.py. The files of --plain were measured with TINYTORCH_NATIVE=0 in the environment. The other files come from
growth.py (on one thread and on two), serial.py, medium.py, peers.py and floors.py. If one is not given,
docs/benchmarks.md has no section for it.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from growth import REASONS, crossing
from machine import sentence
from serial import THREADS

ROOT = Path(__file__).resolve().parent.parent
#: Attempts to speed up workloads that are near to torch's time or above it. This text is written by hand, and put under
#: the table of floors.
TRIED = """Where the ratio is high, and what was tried (with AVX2, on a restless machine: 3 % is within its noise):

- MLP, inference: the products alone take .8 to 1.1 of PyTorch's time. OpenBLAS multiplied 64 rows up to a tenth quicker
  than our own there; up to 800 terms of a sum at a time instead of 384 made ours the quicker one (.89 of OpenBLAS's
  time), tiles of six rows by two vectors before that came near to it.
- GPT: some 57 % of a step are products, at 72 to 88 of some 90 GFLOPS, a fifth is Python, in 4,000 calls whose code and
  data the arrays have driven out of the cache. Tiles of six by two, packed memory on lines and tiles of transposed
  operands together brought 3 %; the last alone cost a little with 64 columns, and is not done there. With 64 columns
  the other operand in panels took as long (1.16 of OpenBLAS's time), and fewer terms at a time hardly less. Copies of
  heads from one layout to another in C and a quicker exp in softmax and gelu brought 3 %, of inference 5 %; sums and
  products of large arrays in C 2 % on two threads; memory in huge pages (glibc.malloc.hugetlb=1) nothing.
- GPT's serial share: the same program with 8 numbers for 64 and two tokens for 1,024, which is little but Python's
  calls with all that they need in the cache, takes 2.1 ms, which is 12 % of a step (PyTorch takes 3.6 ms, 14 % of its
  step). Ten per cent would leave no time for them.
- RNN of the papers: two fifths of a step are products at 92 to 115 GFLOPS, a third is Python, in 460 calls, with all in
  the cache still 0.25 ms. The input among the rows of the state, so that one product has all gradients, and products as
  above: together 3 to 5 %, not told apart; sums of the batch as products and shorter ways in backward 6 %; rows joined
  in C, gradients of the weights in the call that has those of the steps, and no copy of all outputs 9 % (RNN 28 12 %).
  Rows on lines of memory, to be read without packing, would be 10 of the 160 us of the largest product.
- GRU 28, RNN 28: products alone take .54 to .6 of PyTorch's time, of inference .46 to .67. The gradients of the GRU's
  weights in three products, the largest of all rows, take .86 to .95 of the time of two (and .7 to .8 of that of two
  with the operands exchanged); with up to 800 terms of a sum at a time they take .93 to .98 of that with 384.
- 60 ops: two fifths are NumPy's calls, the rest Python's interpreter. Slopes of tanh and relu in fewer passes gained 0
  to 3 %, grad mode read in half the time nothing that shows. After a first vmap every operation of a process takes a
  quarter longer, for batches pass through all of them from then on: these rows are measured before.
- CNN at batch 1: the gradient of the convolution in C gained some 8 %, shorter ways in backward 2 to 7 %. NumPy's
  product of the outer product of the largest layer takes 24 us; np.multiply took 30.
- Inference of small models: some 2 us of each layer are the two calls of NumPy. No edges where nothing is recorded, and
  grad mode read in half the time, gained 2 to 5 %.
- Text CNN, inference: one product per image instead of one for all was 13 % quicker on two threads and 11 % slower on
  one; products of windows in C, instead of either, took two thirds of the time of the convolution on one thread and a
  third on two."""
#: The same for larger models, under their table.
LARGER = """What was tried for larger models and is not done (AVX-512, one thread, processor time, the least of many):

- Weights packed once and kept between calls: a product of weights that lie in memory as the kernel reads them takes .90
  of the time with 1,040 rows, .78 to .87 with 64, .40 with 8. Now one thread packs each panel once a call, which takes
  .86 to .92 of the time before (.80 for 1,024 rows of 5,000 words): with 1,040 rows nothing is left to gain, with 64 a
  tenth. The copy would take as much memory as the model, 500 MB for GPT-2, whose step has 15 % less than PyTorch's.
- Batch norm folded into the weights of the convolution before it: ResNet-18 takes .93 to .96 of its time, VGG-11 .98,
  U-Net .89, MobileNetV2 .87, and without its activations .80. In eager mode calls come one by one: only Sequential
  knows the next module, and would have to look for it in every model, small ones too; a ResNet calls its layers by
  itself. The folded weights would have other bits, and would have to be made again when statistics or weights change.
  Instead the batch norm is one call of C, which also computes scale and shift: .91 to .93 of the time of ResNet-18.
- Convolution, batch norm and relu of a few pictures at a time, so that they stay in the cache, in programs of
  `torch.compile`, which know what follows: 1.00 to 1.04 of the time, because batch norm and relu are only 2 to 9 % of
  these models. There the batch norm limits its result itself, and programs of up to 64 MiB share planned memory:
  compiled MobileNet takes .79 of eager's time, ResNet-18 .91 to .96.
- Batch norm in the memory of its input, in eager mode: .93 to .98 at most. Reference counts do not tell whether anybody
  needs the input: a caller may lend the only reference that it has. Activations with `inplace=True` write straight to
  their input, which saves MobileNet a tenth."""
BEFORE = """Without them a step takes as long as it did before there were any: .8 to 1.04 of that time (medians of 4 to
8 alternating processes, one thread; five models on two threads: 1.00 to 1.04)."""
MARK = "<!-- figures: benchmarks/report.py -->"
IN_README = ("RNN 4x196-64", "CNN 1-6", "text CNN", "GRU 28x28-128", "LSTM 28x28-128", "MLP 784-256-128",
             "GPT 2 blocks", "60 ops 4x4, forward", "60 ops 4x4, backward", "import", "peak memory: CNN 1-6")


def measure(threads, rounds, seconds):
    """The figures of compare.py as a dict."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "figures.json")
        options = ["--threads", str(threads)] if threads else []
        subprocess.run([sys.executable, str(ROOT / "benchmarks" / "compare.py"), *options, "--rounds", str(rounds),
                        "--seconds", str(seconds), "--json", path], check=True)
        return json.loads(Path(path).read_text())


def machine(figures):
    """The machine of some figures in words: processor, BLAS, versions."""
    return sentence(figures["machine"])


def of(figures):
    """The number of threads of some figures, in words."""
    n = figures["threads"]
    if n == 0:
        return "default threads"
    return "1 thread" if n == 1 else f"{n} threads"


def measured(figures):
    """The machine and the number of threads of some figures, in words."""
    return f"{machine(figures)}; {of(figures)}"


def canvas(rows, columns, **options):
    """matplotlib's figure and axes; they are saved as SVG."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot.subplots(rows, columns, layout="constrained", **options)


def _both(ours, theirs, unit):
    """Two times and their ratio, as columns."""
    return f" {ours:.3g} {unit} | {theirs:.3g} {unit} | **{ours / theirs:.2f}** |"


def table(one, default, names=None):
    """Markdown: a row for each workload, with both numbers of threads."""
    rest = {name: times for name, _, *times in default["rows"]}
    lines = ["| | tinytorch, 1 thread | torch, 1 thread | ratio | tinytorch, default | torch, default | ratio |",
             "|---|---|---|---|---|---|---|"]
    lines += [f"| {name} |{_both(*times, unit)}{_both(*rest[name], unit)}" for name, unit, *times in one["rows"]
              if names is None or name in names]
    return "\n".join(lines)


def plain_table(one, default, plain_one, plain_default):
    """Markdown: a row for each workload, with its ratios to torch with and without native kernels, by number of
    threads."""
    ratios = [{name: (ours, ours / theirs) for name, _, ours, theirs in figures["rows"]}
              for figures in (one, plain_one, default, plain_default)]
    lines = ["| | with, 1 thread | without, 1 thread | with, default | without, default |", "|---" * 5 + "|"]
    for name in ratios[1]:
        said = (f"{ours:.3g} ms, **{ratio:.2f}**" for ours, ratio in (found[name] for found in ratios))
        lines.append(f"| {name} | " + " | ".join(said) + " |")
    return "\n".join(lines)


def serial_table(serial):
    """Markdown: a row for each model, with the gain of two threads, and the gains that the model expects of more."""
    lines = ["| | 1 thread | 2 threads | gain | serial share | " + " | ".join(
        f"expected, {n} threads" for n in THREADS) + " |", "|---" * (5 + len(THREADS)) + "|"]
    for name, first, second, share, gains in serial["rows"]:
        measured = f"{second:.3g} ms | {first / second:.2f}" if second else "not measured | "
        lines.append(f"| {name} | {first:.3g} ms | {measured} | {share:.0%} | "
                     + " | ".join(f"{gain:.2f}" for gain in gains) + " |")
    return "\n".join(lines)


def serial_text(serial):
    """The section on more threads."""
    return ("\n## More threads\n\nTraining steps by `benchmarks/serial.py`. The serial share is the part of a step on "
            "one thread that is spent outside of long calls of native kernels, in Python and NumPy. What two threads "
            "gain is measured, what more gain is expected by a model of the time on n threads: the serial part takes "
            "as long as on one; a call that takes t takes t divided by the number of threads, of which none gets less "
            "than 20 us of work, but at least the time in which memory delivers the call's arrays; and each further "
            f"thread of a call costs {serial['wait'] * 1e6:.1f} us of waiting, as measured with two. Memory delivers "
            f"{serial['rate'] / 1e9:.0f} GB/s to one thread, measured by a copy, and the model assumes as much more "
            "for each thread up to eight. It does not know that a kernel may cut its work into fewer pieces than there "
            f"are threads. {machine(serial)}.\n\n{serial_table(serial)}\n")


def medium_table(medium):
    """Markdown: a row for each number of threads and larger model, with times, their ratio, and peaks of memory."""
    lines = ["| | threads | tinytorch | torch | ratio | ratio of least | tinytorch | torch | ratio |", "|---" * 9 + "|"]
    for threads, name, ours, theirs, least, their_least, peak, their_peak in medium["rows"]:
        lines.append(f"| {name} | {threads or 'default'} | {ours:.3g} ms | {theirs:.3g} ms | **{ours / theirs:.2f}** | "
                     f"{least / their_least:.2f} | {peak:.0f} MB | {their_peak:.0f} MB | **{peak / their_peak:.2f}** |")
    return "\n".join(lines)


def medium_means(medium):
    """The geometric means of the ratios, for each number of threads."""
    found = {}
    for threads, name, ours, theirs, *_ in medium["rows"]:
        found.setdefault((threads, name.rpartition(" ")[2]), []).append(math.log(ours / theirs))
    where = {0: "the default threads", 1: "one thread"}
    return "Geometric means: " + ", ".join([f"{math.exp(statistics.fmean(logs)):.2f} for {kind} on {where[threads]}"
                                            for (threads, kind), logs in found.items()]) + "."


def picture(one, default, path):
    """A picture of the ratios of all times as bars."""
    rows = [row for row in one["rows"] if row[1] == "ms"]
    second = {row[0]: row[2] / row[3] for row in default["rows"]}
    figure, axes = canvas(1, 1, figsize=(8, 0.32 * len(rows) + 1.2))
    places = range(len(rows))
    axes.barh([p - 0.2 for p in places], [r[2] / r[3] for r in rows], 0.4, label="1 thread")
    axes.barh([p + 0.2 for p in places], [second[r[0]] for r in rows], 0.4, label="default threads")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(list(places), [r[0] for r in rows])
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("time of tinytorch / time of torch (below 1: tinytorch is faster)")
    axes.legend()
    figure.savefig(path)


def growth_table(growth):
    """Markdown: a row for each point of each curve, and the sizes at which the ratio passes one. `growth`: figures by
    number of threads."""
    parts = []
    for curves in zip(*(figures["curves"] for figures in growth)):
        name, what = curves[0]["curve"], curves[0]["grows"]
        lines = [f"### {name}: {what}", "", f"| {what} |" + "".join(
            f" tinytorch, {of(figures)} | torch, {of(figures)} | ratio |" for figures in growth),
            "|---" * (1 + 3 * len(growth)) + "|"]
        lines += [f"| {points[0][0]:,} |" + "".join(_both(*times, "ms") for _, *times in points)
                  for points in zip(*(curve["points"] for curve in curves))]
        said = ". On ".join(f"{of(figures)} " + crossing(what, [
            (size, ours / theirs) for size, ours, theirs in curve["points"]]) for figures, curve in zip(growth, curves))
        parts.append("\n".join([*lines, "", f"On {said}. {REASONS.get(name, '')}".rstrip()]))
    return "\n\n".join(parts)


def growth_picture(growth, path, columns=4):
    """A picture with a panel for each curve: the times above (on the first number of threads), their ratio below."""
    curves = growth[0]["curves"]
    rows = -(-len(curves) // columns)
    figure, axes = canvas(2 * rows, columns, figsize=(3.4 * columns, 4 * rows), height_ratios=[2, 1] * rows,
                          squeeze=False)
    for panel in axes.flat:
        panel.set_visible(False)
    for i, curve in enumerate(curves):
        times, ratio = axes[2 * (i // columns), i % columns], axes[2 * (i // columns) + 1, i % columns]
        sizes, ours, theirs = zip(*curve["points"])
        times.loglog(sizes, ours, "o-", label="tinytorch")
        times.loglog(sizes, theirs, "s--", label="torch")
        times.set_title(curve["curve"], fontsize="medium")
        times.set_ylabel("ms per step")
        times.legend()
        ratios = [[a / b for _, a, b in figures["curves"][i]["points"]] for figures in growth]
        for figures, found, color in zip(growth, ratios, ("black", "tab:red")):
            ratio.semilogx(sizes, found, "o-", color=color, label=of(figures))
        ratio.axhline(1, color="gray", linewidth=1)
        ratio.set_ylim(0, 1.1 * max(1, *(max(found) for found in ratios)))
        ratio.legend()
        ratio.set_ylabel("ratio")
        ratio.set_xlabel(curve["grows"])
        for panel in (times, ratio):
            panel.set_visible(True)
            panel.set_xticks(sizes, [f"{size:,}" for size in sizes] if panel is ratio else [], rotation=30)
            panel.minorticks_off()
    figure.savefig(path)


def peers_table(peers):
    """Markdown: a row for each model, with the times of all libraries, and tinytorch's time divided by each of them."""
    libraries = peers["libraries"]
    lines = ["| | " + " | ".join([*libraries, *(f"tinytorch / {library}" for library in libraries[1:])]) + " |",
             "|---" * 2 * len(libraries) + "|"]
    for name, found in peers["times"].items():
        lines.append(f"| {name} | " + " | ".join([
            *(f"{found[library]:.3g} ms" for library in libraries),
            *(f"**{found['tinytorch'] / found[library]:.2f}**" for library in libraries[1:])]) + " |")
    return "\n".join(lines)


def peers_picture(peers, path):
    """A picture with bars from one: the other libraries' times divided by that of tinytorch."""
    others, times = peers["libraries"][1:], peers["times"]
    figure, axes = canvas(1, 1, figsize=(8, 0.25 * len(others) * len(times) + 1.2))
    height = 0.8 / len(others)
    for i, library in enumerate(others):
        axes.barh([place + (i + 0.5) * height - 0.4 for place in range(len(times))],
                  [found[library] / found["tinytorch"] - 1 for found in times.values()], height, 1, label=library)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(times)), times)
    axes.invert_yaxis()
    axes.set_xlabel("time of a training step / that of tinytorch (above 1: tinytorch is faster)")
    axes.legend()
    figure.savefig(path)


def floors_table(floors):
    """Markdown: a row for each workload, with its matrix products alone, its step, and its heaviest operations."""
    lines = ["| | tinytorch | torch | ratio | products alone | / torch | results | heaviest operations |",
             "|---|---|---|---|---|---|---|---|"]
    for name, ours, theirs, floor, count, megabytes, heaviest in floors["rows"]:
        said = ", ".join(f"{key} {share:.0%}" for key, _, share in heaviest)
        lines.append(f"| {name} | {ours:.3g} ms | {theirs:.3g} ms | **{ours / theirs:.2f}** | {floor:.2g} ms ({count}) "
                     f"| {floor / theirs:.2f} | {megabytes:.2g} MB | {said} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--from", dest="files", nargs=2, metavar="JSON")
    parser.add_argument("--plain", nargs=2, metavar="JSON")
    parser.add_argument("--growth", nargs="+", metavar="JSON")
    parser.add_argument("--serial", metavar="JSON")
    parser.add_argument("--medium", metavar="JSON")
    parser.add_argument("--peers", metavar="JSON")
    parser.add_argument("--floors", metavar="JSON")
    args = parser.parse_args()
    if args.files:
        one, default = (json.loads(Path(f).read_text()) for f in args.files)
    else:
        one, default = measure(1, args.rounds, args.seconds), measure(0, args.rounds, args.seconds)
    docs = ROOT / "docs"
    docs.mkdir(exist_ok=True)
    picture(one, default, docs / "benchmarks.svg")
    text = ("# Benchmarks\n\nMade by `python benchmarks/report.py`; nothing here is typed by hand but reasons "
            f"and what was tried. {machine(one)}.\nMedians of alternating processes of both libraries; a ratio below "
            "one means that tinytorch is faster or smaller.\nThe workloads are in `benchmarks/workloads.py`; times are "
            "per training step unless the name says otherwise.\n\n"
            f"{table(one, default)}\n\n![ratios](benchmarks.svg)\n")
    if args.plain:
        plain = [json.loads(Path(f).read_text()) for f in args.plain]
        text += ("\n## With native kernels and without\n\nThe time of tinytorch, and its ratio to torch's in the same "
                 "run; without: `TINYTORCH_NATIVE=0`, at another time and in an earlier state, so that small "
                 f"differences say nothing.\n\n{plain_table(one, default, *plain)}\n\n{BEFORE}\n")
    if args.serial:
        serial = json.loads(Path(args.serial).read_text())
        text += serial_text(serial)
    if args.medium:
        medium = json.loads(Path(args.medium).read_text())
        text += ("\n## Larger models\n\nBy `benchmarks/medium.py`, whose models are those that people train on a CPU. "
                 f"{machine(medium)}. {medium_means(medium)}\n\n{medium_table(medium)}\n\n{LARGER}\n")
    if args.growth:
        growth = [json.loads(Path(f).read_text()) for f in args.growth]
        growth_picture(growth, docs / "growth.svg")
        text += ("\n## How the time grows\n\nA training step while one size grows, by `benchmarks/growth.py`; "
                 f"crossings are interpolated between the points. {machine(growth[0])}.\n\n![curves](growth.svg)\n\n"
                 f"{growth_table(growth)}\n")
    if args.peers:
        peers = json.loads(Path(args.peers).read_text())
        peers_picture(peers, docs / "peers.svg")
        text += ("\n## Beside JAX and tinygrad\n\nTraining steps from the same weights, by `benchmarks/peers.py`: JAX "
                 "under `jax.jit`, on one core; tinygrad under `TinyJit`, its kernels compiled by clang and not "
                 f"searched for (no BEAM). {measured(peers)}.\n\n{peers_table(peers)}\n\n![peers](peers.svg)\n")
    if args.floors:
        floors = json.loads(Path(args.floors).read_text())
        text += ("\n## What a step cannot do without\n\nBy `benchmarks/floors.py`: the matrix products of a step "
                 "alone, one after another (how many in brackets), as NumPy's BLAS does them; the bytes of all results "
                 "of operations; and the operations that take most of the time spent inside operations. "
                 f"{measured(floors)}.\n\n{floors_table(floors)}\n\n{TRIED}\n")
    (docs / "benchmarks.md").write_text(text)
    readme = ROOT / "README.md"
    before, _, after = readme.read_text().split(MARK)
    readme.write_text(f"{before}{MARK}\n{table(one, default, IN_README)}\n\nMeasured on {machine(one)}, with `python "
                      f"benchmarks/report.py` ([all workloads](docs/benchmarks.md)).\n{MARK}{after}")


if __name__ == "__main__":
    main()
