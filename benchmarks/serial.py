"""The part of a training step that runs on one thread however many there are, and a model of the time on more threads.

    python benchmarks/serial.py [--json FILE] [--only REGEX] [--rounds 3] [--seconds 0.5] [--one]

It measures, on one thread, the time inside the calls of native kernels that last longer than a piece of work (`PIECE`):
threads share these calls. The rest of the step, Python and NumPy, is its serial share. The gain of two threads is
measured too, in alternating processes, unless `--one` is given, with which the time on one thread is processor time.

The model of a step on n threads (`expected`): the serial part takes as long as on one thread. A call of time t takes t
divided by the number of threads that get a piece, but at least the time in which memory delivers its arrays. To it
comes the time in which a loop wakes the threads and waits for them. `python benchmarks/report.py --serial FILE` puts
the figures that --json writes into the docs.
"""
import importlib.util
import json
import re
import statistics
import sys
import time
from pathlib import Path

import machine
import numpy as np
from compare import child, finish, parser_of, times_of
from medium_models import WORKLOADS as MEDIUM
from workloads import TRAINING

PIECE = 20e-6                                  # seconds: 2^20 multiplications, or 16,384 elements of a slow function
THREADS = (2, 4, 8, 16, 32, 64)
ROWS = {**TRAINING, **{name: build for name, build in MEDIUM.items() if name.endswith("training")}}


def watched():
    """A list to which each long call of a native kernel adds its time and the bytes of its arrays. To be called before
    tinytorch is imported: it loads the module that makes the functions of the library, and wraps them."""
    name, calls = "tinytorch.kernels.native.objects", []
    place = Path(importlib.util.find_spec("tinytorch").origin).parent / "kernels" / "native" / "objects.py"
    spec = importlib.util.spec_from_file_location(name, place)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def noting(function):
        def call(*args):
            start = time.thread_time()
            result = function(*args)
            taken = time.thread_time() - start
            if taken > PIECE:
                calls.append((taken, sum([x.nbytes for x in (*args, result) if isinstance(x, np.ndarray)])))
            return result
        return call

    def watching(make):
        return lambda self, *args: noting(make(self, *args))
    for door in ("checking", "walking", "entering"):
        setattr(module.Doors, door, watching(getattr(module.Doors, door)))
    return calls


def examine(name, seconds, watch):
    """Prints the median time of a step in ms, the least processor time of one in ms, and the long calls of that one if
    they are to be watched."""
    calls = watched() if watch else []
    import tinytorch as torch
    torch.manual_seed(0)
    step, found = ROWS[name](torch), []
    whole = statistics.median(times_of(step, seconds))
    for _ in range(max(5, int(seconds / whole))):
        calls.clear()
        start = time.thread_time()
        step()
        found.append((time.thread_time() - start, list(calls)))
    least, made = min(found, key=lambda pair: pair[0])
    print(json.dumps([1000 * whole, 1000 * least, made]))


def bandwidth():
    """Bytes per second of a copy of memory that no cache holds, reads and writes counted."""
    x = np.zeros(1 << 26, np.float32)
    to = np.empty_like(x)
    np.copyto(to, x)
    times = []
    for _ in range(8):
        start = time.thread_time()
        np.copyto(to, x)
        times.append(time.thread_time() - start)
    return 2 * x.nbytes / min(times)


def barrier():
    """Seconds that a loop on two threads takes longer than half of that on one: the least of many."""
    import tinytorch as torch
    from tinytorch.kernels import native
    x = np.zeros(1 << 16, np.float32)
    out, least = np.empty_like(x), []
    for count in (1, 2):
        torch.set_num_threads(count)
        times = []
        for _ in range(4000):
            start = time.perf_counter()
            native.run("add_each", x.size, x.size, x, x, out)
            times.append(time.perf_counter() - start)
        least.append(min(times))
    return max(0.0, least[1] - least[0] / 2)


def expected(step, calls, threads, rate, wait):
    """The time of a step, in seconds, on so many threads. `step`: that on one; `rate`: bytes per second that all
    threads together get from memory; `wait`: seconds for each further thread of a loop."""
    total = step - sum([taken for taken, _ in calls])
    for taken, size in calls:
        used = min(threads, max(1, int(taken / PIECE)))
        total += min(taken, max(taken / used, size / rate)) + wait * (used - 1)
    return total


def main():
    parser = parser_of(__doc__, ("tinytorch",), seconds=0.5)
    parser.add_argument("--one", action="store_true", help="do not measure steps on two threads")
    args, examined = parser.parse_known_args()
    if examined[:1] == ["--examine"]:
        return examine(examined[1], args.seconds, "--watch" in examined)
    if examined[:1] == ["--machine"]:
        return print(json.dumps([bandwidth(), barrier()]))
    on, rows = machine.facts(), []
    rate, wait = child(["--machine"], 2, __file__)[0]
    print(f"{machine.sentence(on)}\nmemory: {rate / 1e9:.1f} GB/s on one thread; a loop on two threads: "
          f"{wait * 1e6:.1f} us more than half its time\n\n{'model':34} {'1 thread':>11} {'2 threads':>11} "
          f"{'serial':>7} " + " ".join(f"{f'x{n}':>5}" for n in THREADS), flush=True)
    for name in [name for name in ROWS if re.search(args.only, name)]:
        given = ["--examine", name, "--seconds", str(args.seconds)]
        kinds = ((1, []), (1, ["--watch"]), (2, []))[:3 - args.one]
        runs = [[child([*given, *more], n, __file__)[0] for n, more in kinds] for _ in range(args.rounds)]
        one = statistics.median(run[0][args.one] for run in runs)      # not of the process that watches calls
        two = None if args.one else statistics.median(run[2][0] for run in runs)
        _, cpu, calls = min((run[1] for run in runs), key=lambda found: found[1])
        cpu /= 1000
        share = 1 - sum(taken for taken, _ in calls) / cpu
        # Every thread of a machine brings about as much bandwidth as this one, up to eight.
        gains = [cpu / expected(cpu, calls, n, rate * min(n, 8), wait) for n in THREADS]
        rows.append((name, one, two, share, gains))
        print(f"{name:34} {one:8.3f} ms " + (f"{two:8.3f} ms" if two else " " * 11) + f" {share:7.0%} "
              + " ".join(f"{gain:5.2f}" for gain in gains), flush=True)
    finish(args, on, rows=rows, rate=rate, wait=wait)


if __name__ == "__main__":
    main()
