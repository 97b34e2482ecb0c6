"""Times tinytorch and torch side by side, in alternating processes, and prints medians and ratios.

    python benchmarks/compare.py [--threads N] [--json FILE] [--only REGEX] [--rounds 3] [--seconds 1]

A ratio below one means that tinytorch is faster (or smaller). Run it on an otherwise idle machine.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBRARIES = ("tinytorch", "torch")


def times_of(job, seconds):
    """Times of single steps, in seconds, after a warm-up. `job`: step, or (untimed preparation, step)."""
    prepare, run = job if isinstance(job, tuple) else (None, job)

    def once():
        given = (prepare(),) if prepare else ()
        start = time.perf_counter()
        run(*given)
        return time.perf_counter() - start
    end = time.perf_counter() + seconds / 3
    while time.perf_counter() < end:
        once()
    found, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 5:
        found.append(once())
    return found


def print_times(jobs, only, seconds):
    """Prints the median time of each job. `jobs`: name -> function that makes the job."""
    for name, build in jobs.items():
        if re.search(only, name):
            print(json.dumps([name, statistics.median(times_of(build(), seconds))]), flush=True)


def worker(library, workloads, only, seconds, threads):
    """`print_times` for workloads, name -> function(torch) -> job, with this library. It runs in a process of its
    own."""
    torch = __import__(library)
    if library == "torch":
        import torch.utils.data  # noqa: F401
        if threads:
            torch.set_num_threads(threads)
    torch.manual_seed(0)
    print_times({name: partial(build, torch) for name, build in workloads.items()}, only, seconds)


def peak(library, name, steps=100):
    """Prints the peak resident memory, in MB, of importing the library and training one model."""
    import resource
    if name != "import":
        from workloads import TRAINING
        step = TRAINING[name](__import__(library))
        for _ in range(steps):
            step()
    else:
        __import__(library)
    print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def environment_of_children():
    """The environment of this process, with the checkout on PYTHONPATH, and with bytecode written, as torch's bytecode
    was written when it was installed."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")]))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def child(arguments, threads, script=__file__):
    """The JSON values that the script prints, one in each line, when it runs with `arguments` in a new process."""
    environment = environment_of_children()
    if threads:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            environment[name] = str(threads)
    done = subprocess.run([sys.executable, script, *arguments], env=environment, cwd=HERE,
                          stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def alternate(script, libraries, args, *options):
    """{workload: {library: median of its processes' medians, in ms}}, from workers of `script` in alternating
    processes. `options`: arguments of each worker in addition to those in `args`."""
    samples = {}
    for _ in range(args.rounds):
        for library in libraries:
            for name, median in child(["--worker", library, "--only", args.only, "--seconds", str(args.seconds),
                                       "--threads", str(args.threads), *options], args.threads, script):
                samples.setdefault(name, {}).setdefault(library, []).append(median)
    return {name: {library: 1000 * statistics.median(medians) for library, medians in found.items()}
            for name, found in samples.items()}


def import_seconds(library, repeats=5):
    """The median wall time of a process that imports the library, minus that of a process that does nothing."""
    def wall(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], env=environment_of_children(), check=True)
        return time.perf_counter() - start
    wall(f"import {library}")
    return statistics.median(wall(f"import {library}") for _ in range(repeats)) - statistics.median(
        wall("pass") for _ in range(repeats))


def parser_of(doc, libraries, threads=0, rounds=3, seconds=1.0):
    """A parser with the options of all scripts that compare libraries."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=threads,
                        help=f"threads of BLAS and the libraries, 0 for their defaults ({threads})")
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--only", default="", help="workloads whose name matches this")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"processes of each library ({rounds})")
    parser.add_argument("--seconds", type=float, default=seconds,
                        help=f"measuring time per workload and process ({seconds})")
    parser.add_argument("--worker", choices=libraries, help=argparse.SUPPRESS)
    return parser


def finish(args, on, **figures):
    """Writes the --json file, if one is asked for. `on`: machine.facts."""
    if args.json:
        Path(args.json).write_text(json.dumps({"machine": on, "threads": args.threads, **figures}, indent=1))


def main():
    parser = parser_of(__doc__, LIBRARIES)
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peak:                   # before anything else is imported
        return peak(*args.peak)
    from workloads import TRAINING, WORKLOADS
    if args.worker:
        return worker(args.worker, WORKLOADS, args.only, args.seconds, args.threads)

    import machine
    on = machine.facts("torch")
    print(f"{machine.sentence(on)}\nthreads: {args.threads or 'default'}; "
          f"medians of {args.rounds} alternating processes each\n", flush=True)
    rows = [(name, "ms", *(found[library] for library in LIBRARIES))
            for name, found in alternate(__file__, LIBRARIES, args).items()]
    if not args.only:
        rows.append(("import", "ms", *(1000 * import_seconds(library) for library in LIBRARIES)))
        rows += [(f"peak memory: {name}", "MB",
                  *(child(["--peak", library, name], args.threads)[0] for library in LIBRARIES))
                 for name in ("import", *TRAINING)]
    print(f"{'workload':28} {'tinytorch':>12} {'torch':>12} {'ratio':>7}")
    for name, unit, ours, theirs in rows:
        print(f"{name:28} {ours:9.3f} {unit} {theirs:9.3f} {unit} {ours / theirs:7.2f}")
    finish(args, on, rows=rows)


if __name__ == "__main__":
    main()
