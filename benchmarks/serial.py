"""The part of a training step that runs on one thread however many there are, and the limit that it sets.

    python benchmarks/serial.py [--json FILE] [--only REGEX] [--rounds 3] [--seconds 0.5]

It measures, on one thread, the time inside the calls of native kernels that last longer than a piece of work (`PIECE`):
threads share these calls. The rest of the step, Python and NumPy, is its serial share s. On n threads a step takes at
least s + (1 - s) / n of its time (Amdahl). The gain of two threads is measured too, in alternating processes. `python
benchmarks/report.py --serial FILE` puts the figures that --json writes into the docs.
"""
import json
import re
import statistics
import time
from types import FunctionType

import machine
from compare import child, finish, parser_of, times_of
from workloads import MODELS, TRAINING

PIECE = 20e-6                                  # seconds: 2^20 multiplications, or 16,384 elements of a slow function
THREADS = (2, 4, 8, 16)


def timed(function, inside):
    """A function that calls `function`, and adds the time of long calls to inside[0]."""
    def call(*args):
        start = time.perf_counter()
        result = function(*args)
        taken = time.perf_counter() - start
        if taken > PIECE:
            inside[0] += taken
        return result
    return call


def examine(name, seconds):
    """Prints the median time of a step, in ms, and the part of it inside long calls of kernels."""
    import tinytorch as torch
    from tinytorch.kernels import native
    step, inside, found = TRAINING[name](torch), [0.0], []
    whole = statistics.median(times_of(step, seconds))
    for kernel in native._known.values():
        if not isinstance(kernel, FunctionType):
            continue                           # the steps did not call this kernel
        scope = kernel.__globals__
        scope["enter"] = timed(scope["enter"], inside)
    for _ in range(max(5, int(seconds / whole))):
        inside[0] = 0.0
        step()
        found.append(inside[0])
    print(json.dumps([1000 * whole, 1000 * statistics.median(found)]))


def most(share, threads):
    """The largest possible speed-up of `threads` threads over one."""
    return 1 / (share + (1 - share) / threads)


def main():
    parser = parser_of(__doc__, ("tinytorch",), seconds=0.5)
    args, examined = parser.parse_known_args()
    if examined[:1] == ["--examine"]:
        return examine(examined[1], args.seconds)
    on, rows = machine.facts(), []
    print(f"{machine.sentence(on)}\n\n{'model':28} {'1 thread':>11} {'2 threads':>11} {'serial':>7} "
          + " ".join(f"{f'x{n}':>5}" for n in THREADS), flush=True)
    for name in [name for name in MODELS if re.search(args.only, name)]:
        runs = [[child(["--examine", name, "--seconds", str(args.seconds)], n, __file__)[0] for n in (1, 2)]
                for _ in range(args.rounds)]
        one, two = (statistics.median(run[i][0] for run in runs) for i in (0, 1))
        share = statistics.median(1 - inside / whole for (whole, inside), _ in runs)
        rows.append((name, one, two, share))
        print(f"{name:28} {one:8.3f} ms {two:8.3f} ms {share:7.0%} "
              + " ".join(f"{most(share, n):5.2f}" for n in THREADS), flush=True)
    finish(args, on, rows=rows)


if __name__ == "__main__":
    main()
