"""DistributedDataParallel's step, tinytorch under mpirun beside torch with gloo, and an epoch by one rank and by two.

    python benchmarks/distributed_training.py [--ranks 2] [--rounds 3] [--data FOLDER] [--json FILE]

Runs of both libraries alternate, and each rank has one thread. Each run also measures the share of the cores that other
programs took: if it is more than a little, ranks wait for one that has no core, and the figures mean nothing. See
docs/distributed.md.
"""
import argparse
import importlib
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import machine
import workloads

HERE = Path(__file__).resolve().parent
LIBRARIES = "tinytorch", "torch"
MODELS = {"LeNet": workloads.lenet, **workloads.SEEDS}
QUIET = 0.1                                    # the share of a core that other programs may take
BATCH = 128


# ------------------------------------------------------------------ in each rank
def measure(library, seconds=1.5):
    """Rank 0 prints {model: median seconds of a step} as JSON."""
    torch = importlib.import_module(library)
    dist = importlib.import_module(f"{library}.distributed")
    torch.set_num_threads(1)
    dist.init_process_group("gloo" if library == "torch" else "mpi")
    found = {}
    for name, build in MODELS.items():
        run = build(torch)
        run.model = torch.nn.parallel.DistributedDataParallel(run.model)
        step, times = run.training(), []
        for _ in range(5):
            step()
        start = time.perf_counter()
        step()
        count = torch.tensor([max(5, int(seconds / (time.perf_counter() - start)))])
        dist.broadcast(count, 0)
        dist.barrier()
        for _ in range(int(count)):
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        found[name] = statistics.median(times)
    if dist.get_rank() == 0:
        print("FOUND", json.dumps(found), flush=True)
    dist.barrier()
    dist.destroy_process_group()


# ------------------------------------------------------------------ launching the ranks
def busy():
    """The seconds so far in which cores were not idle, summed over all cores; 0 where the system does not tell."""
    try:
        fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    except OSError:
        return 0.
    return (sum(fields[:8]) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def started(library, ranks, *command):
    """(the output of the command under the library's own launcher, the share of a core that other programs took)."""
    path = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    launcher = [sys.executable, "-m", f"{library}.distributed.run", "--nproc_per_node", str(ranks)]
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        launcher += ["--master_port", str(s.getsockname()[1])]
    before, own, start = busy(), resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*launcher, *map(str, command)], env=env, capture_output=True, text=True)
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    mine = after.ru_utime + after.ru_stime - own.ru_utime - own.ru_stime
    return done.stdout, max(0., busy() - before - mine) / took


def wait_for_quiet(seconds):
    """Waits until the cores have been idle for two seconds, but at most `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = busy()
        time.sleep(2)
        if busy() - before < 2 * QUIET:
            return


def epoch(text):
    """The seconds of the last epoch in the output of examples/mnist_ddp.py."""
    return float(text.split()[-1])


def main():
    """Measures, and prints the tables of docs/distributed.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", help="the folder with MNIST's files; without it no epochs are measured")
    parser.add_argument("--patience", type=float, default=0., help="seconds to wait for a quiet machine, each time (0)")
    parser.add_argument("--json")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        measure(args.worker)
        return
    steps, epochs, others = {library: [] for library in LIBRARIES}, {}, []

    def run(*command):
        wait_for_quiet(args.patience)
        text, share = started(*command)
        others.append(share)
        print(f"# {command[0]}, {command[1]} ranks: others took {share:.2f} of a core", file=sys.stderr, flush=True)
        return text
    for _ in range(args.rounds):
        for library in LIBRARIES:
            text = run(library, args.ranks, Path(__file__).resolve(), "--worker", library)
            steps[library].append(json.loads(text.split("FOUND ")[1].splitlines()[0]))
        for library in LIBRARIES if args.data else ():
            for ranks, batch in ((1, BATCH), (args.ranks, BATCH), (args.ranks, args.ranks * BATCH)):
                text = run(library, ranks, HERE.parent / "examples" / "mnist_ddp.py", "--module", library, "--data",
                           args.data, "--epochs", 2, "--batch", batch)
                epochs.setdefault((library, ranks, batch), []).append(epoch(text))
    print(f"{args.ranks} ranks of one thread, {machine.processor()}, {os.cpu_count()} cores; medians of {args.rounds} "
          f"runs; others took {max(others):.2f} of a core at most\n")
    print("| step of | tinytorch | torch, gloo | ratio |\n|---|---|---|---|")
    for name in MODELS:
        ours, theirs = [1e3 * statistics.median([found[name] for found in steps[library]]) for library in LIBRARIES]
        print(f"| {name} | {ours:.2f} ms | {theirs:.2f} ms | {ours / theirs:.2f} |")
    if epochs:
        print(f"\n| epoch of the MNIST CNN | 1 rank, batch {BATCH} | {args.ranks} ranks, {BATCH} each | ratio "
              f"| {args.ranks} ranks, {BATCH} together | ratio |\n|---|---|---|---|---|---|")
        for library in LIBRARIES:
            one, together, each = [statistics.median(epochs[library, ranks, batch]) for ranks, batch in (
                (1, BATCH), (args.ranks, BATCH), (args.ranks, args.ranks * BATCH))]
            print(f"| {library} | {one:.2f} s | {each:.2f} s | {each / one:.2f} | {together:.2f} s "
                  f"| {together / one:.2f} |")
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"machine": machine.facts("torch", "mpi4py"), "ranks": args.ranks, "others": others,
                       "steps": steps, "epochs": {" ".join(map(str, k)): found for k, found in epochs.items()}}, file)


if __name__ == "__main__":
    main()
