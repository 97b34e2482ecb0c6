"""all_reduce from 1 KB to 64 MB: tinytorch under mpirun beside torch with gloo, and a model of the cost.

    python benchmarks/distributed.py [--ranks 2] [--rounds 3] [--json FILE]

Runs of both libraries alternate. The model is fitted to the measured times, and extrapolated to more ranks. See
docs/distributed.md.
"""
import argparse
import importlib
import json
import math
import os
import socket
import statistics
import subprocess
import sys
import time

import machine
import numpy as np

SIZES = [1 << k for k in range(10, 27, 2)]     # bytes
#: Assumed networks, which were not measured: (seconds for each message, bytes in a second).
NETWORKS = {"1 Gbit Ethernet": (50e-6, 117e6), "10 Gbit Ethernet": (30e-6, 1.17e9), "100 Gbit InfiniBand": (2e-6, 12e9)}


# ------------------------------------------------------------------ in each rank
def measure(library):
    """Rank 0 prints {bytes: [median seconds of all_reduce, and of all_reduce with async_op and wait]} as JSON."""
    torch = importlib.import_module(library)
    dist = importlib.import_module(f"{library}.distributed")
    torch.set_num_threads(1)
    dist.init_process_group("gloo" if library == "torch" else "mpi")
    found = {}
    for size in SIZES:
        x, found[size] = torch.ones(size // 4), []
        for async_op in (False, True):
            times = []
            for _ in range(3 + max(7, min(200, (1 << 25) // size))):
                x.fill_(1.)
                dist.barrier()
                start = time.perf_counter()
                work = dist.all_reduce(x, async_op=async_op)
                if async_op:
                    work.wait()
                times.append(time.perf_counter() - start)
            found[size].append(statistics.median(times[3:]))
    if dist.get_rank() == 0:
        print("FOUND", json.dumps(found))
    dist.destroy_process_group()


# ------------------------------------------------------------------ launching the ranks
def started(library, ranks):
    """The output of `measure` under the library's own launcher."""
    here = os.path.abspath(__file__)
    root = os.path.dirname(os.path.dirname(here))
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    launcher = [sys.executable, "-m", f"{library}.distributed.run", "--nproc_per_node", str(ranks)]
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        launcher += ["--master_port", str(s.getsockname()[1])]
    done = subprocess.run([*launcher, here, "--worker", library], env=env, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    if not lines:
        raise RuntimeError(done.stdout + done.stderr)
    return {int(size): times for size, times in json.loads(lines[-1][6:]).items()}


CACHED = 1 << 22                               # up to so many bytes tensors stay in caches, with another bandwidth


def fitted(times):
    """(a, [b, c]) of the model of 2 ranks, a + bytes / b seconds up to CACHED bytes and a + bytes / c above, fitted by
    least squares of the relative errors."""
    sizes, seconds = np.array(list(times), float), np.array(list(times.values()))
    small = sizes <= CACHED
    weighted = np.stack([1 / seconds, sizes / seconds], 1)[small]
    (a, slope), *_ = np.linalg.lstsq(weighted, np.ones(len(weighted)), rcond=None)
    relative = (sizes / seconds)[~small]
    return max(a, 0.), [1 / slope, (relative @ relative) / relative.sum()]


def cost(size, ranks, latency, bandwidth, buckets=1):
    """The seconds of an all_reduce of `size` bytes in `buckets` successive pieces. For each piece it is the faster one
    of a ring (2 (N - 1) messages of an N-th part) and of doubling (log2 N messages of the whole)."""
    piece = size / buckets
    ring = 2 * (ranks - 1) * (latency + piece / ranks / bandwidth)
    doubling = math.ceil(math.log2(ranks)) * (latency + piece / bandwidth)
    return buckets * min(ring, doubling)


def shown(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def named(size):
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def main():
    """Measures, and prints the tables of docs/distributed.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        measure(args.worker)
        return
    runs = {"tinytorch": [], "torch": []}
    for _ in range(args.rounds):
        for library, found in runs.items():
            found.append(started(library, args.ranks))
    median = {library: {size: [statistics.median([run[size][i] for run in found]) for i in (0, 1)] for size in SIZES}
              for library, found in runs.items()}
    print(f"{args.ranks} ranks, {machine.processor()}, {os.cpu_count()} cores; medians of {args.rounds} runs\n")
    print("| bytes | tinytorch | torch, gloo | ratio | async: tinytorch | torch, gloo | ratio |")
    print("|---|---|---|---|---|---|---|")
    for size in SIZES:
        pairs = [(median["tinytorch"][size][i], median["torch"][size][i]) for i in (0, 1)]
        print(f"| {named(size)} | " + " | ".join([f"{shown(a)} | {shown(b)} | {a / b:.2f}" for a, b in pairs]) + " |")
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"machine": machine.facts("torch", "mpi4py"), "ranks": args.ranks, "seconds": runs}, file)
    if args.ranks != 2:
        return
    latency, speeds = fitted({size: times[0] for size, times in median["tinytorch"].items()})
    off = [abs(cost(size, 2, latency, speeds[size > CACHED]) / median["tinytorch"][size][0] - 1) for size in SIZES]
    print(f"\nFitted: {latency * 1e6:.1f} µs a message, {speeds[0] / 1e9:.2f} GB/s up to {named(CACHED)} and "
          f"{speeds[1] / 1e9:.2f} GB/s above; off by {max(off):.0%} at most\n")
    print("| | " + " | ".join([f"{n} ranks" for n in (2, 8, 64, 1024)]) + " |\n|---|---|---|---|---|")
    for name, (wait, speed) in {"measured here": (latency, speeds), **NETWORKS}.items():
        for size, buckets in ((241 << 10, 1), (100 << 20, 4)):
            one = speed[size / buckets > CACHED] if isinstance(speed, list) else speed
            cells = [shown(cost(size, n, wait, one, buckets)) for n in (2, 8, 64, 1024)]
            print(f"| {name}, {named(size)} in {buckets} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
