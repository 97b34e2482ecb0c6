"""Times models of sizes that are trained on CPUs, in tinytorch and torch: training and inference, on one thread and on
the libraries' default number of threads, and their peak memory.

    python benchmarks/medium.py [--threads 1,0] [--only REGEX] [--rounds 3] [--seconds 1] [--no-memory] [--json FILE]

Each row runs in processes of its own, alternately of both libraries, so that a row can run alone and no row depends on
the state that another leaves: `--only "MobileNet.*training" --rounds 1 --seconds 0` takes five steps of each. A ratio
below one means that tinytorch is faster (or smaller). Besides the ratio of the processes' medians there is that of
their least times, which other programs on the machine disturb less. Memory is the largest of the processes' peaks.
"""
import argparse
import json
import math
import re
import resource
import statistics

import machine
from compare import LIBRARIES, child, finish, times_of


def examine(library, name, seconds, threads):
    """Prints the median and the least time of a step, in ms, and the peak of resident memory, in MB."""
    torch = __import__(library)
    if library == "torch" and threads:
        torch.set_num_threads(threads)
    from medium_models import WORKLOADS
    torch.manual_seed(0)
    times = times_of(WORKLOADS[name](torch), seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([1000 * statistics.median(times), 1000 * min(times), peak]))


def compared(name, args, threads):
    """For a row, the medians of both libraries in ms, their least times, and their peaks of memory."""
    found = {library: [] for library in LIBRARIES}
    for _ in range(args.rounds):
        for library in LIBRARIES:
            found[library] += child(["--worker", library, "--row", name, "--seconds", str(args.seconds),
                                     "--threads", str(threads)], threads, __file__)
    columns = [list(zip(*found[library])) for library in LIBRARIES]
    return [[combine(of_library[i]) for of_library in columns]
            for i, combine in enumerate((statistics.median, min, max))]


def mean(ratios):
    """The geometric mean."""
    return math.exp(statistics.fmean(map(math.log, ratios)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,0",
                        help="numbers of threads, one after the other; 0 for the libraries' defaults (1,0)")
    parser.add_argument("--only", default="", help="rows whose name matches this")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each library and row (3)")
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="measuring time of each process; five steps are made in any case (1)")
    parser.add_argument("--no-memory", action="store_true", help="do not print the peaks of memory")
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--worker", choices=LIBRARIES, help=argparse.SUPPRESS)
    parser.add_argument("--row", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:                            # before anything else is imported
        return examine(args.worker, args.row, args.seconds, int(args.threads))

    from medium_models import WORKLOADS
    on, rows = machine.facts("torch"), []
    print(f"{machine.sentence(on)}\nmedians of {args.rounds} alternating processes each")
    for threads in map(int, args.threads.split(",")):
        print(f"\nthreads: {threads or 'default'}\n"
              f"{'row':34} {'tinytorch':>12} {'torch':>12} {'ratio':>6} {'of least':>8}"
              + ("" if args.no_memory else f" {'tinytorch':>12} {'torch':>12} {'ratio':>6}"), flush=True)
        ratios = {"training": [], "inference": []}
        for name in [name for name in WORKLOADS if re.search(args.only, name)]:
            (ours, theirs), least, peaks = compared(name, args, threads)
            ratios[name.rpartition(" ")[2]].append(ours / theirs)
            rows.append((threads, name, ours, theirs, *least, *peaks))
            print(f"{name:34} {ours:9.2f} ms {theirs:9.2f} ms {ours / theirs:6.2f} {least[0] / least[1]:8.2f}"
                  + ("" if args.no_memory else f" {peaks[0]:9.0f} MB {peaks[1]:9.0f} MB {peaks[0] / peaks[1]:6.2f}"),
                  flush=True)
        for kind, found in ratios.items():
            if len(found) > 1:
                print(f"geometric mean of {kind}: {mean(found):.2f}")
    finish(args, on, rows=rows)


if __name__ == "__main__":
    main()
