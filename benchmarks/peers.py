"""Times training steps of the seed models in tinytorch, torch, JAX (jax.jit) and tinygrad (TinyJit), on one thread.

    python benchmarks/peers.py [--json FILE] [--only REGEX] [--rounds 3] [--seconds 1]

Libraries that this interpreter does not have are left out. All start from the same weights, and their first losses are
compared, which shows that all compute the same. Processes of all libraries alternate, as in compare.py. JAX is also
limited to one core of the machine, because its settings do not limit it to one thread. tinygrad computes in one thread,
and a second thread waits for it. `python benchmarks/report.py --peers FILE` draws the figures that --json writes.
"""
import argparse
import importlib
import importlib.util
import json
import os
import re
import shutil
import tempfile
from functools import partial
from pathlib import Path

import machine
import numpy as np
from compare import alternate, child, finish, parser_of, print_times
from workloads import SEEDS

LIBRARIES = ("tinytorch", "torch", "jax", "tinygrad")
STEPS = 5                   # the number of steps whose losses are compared
TOLERANCE = 1e-4            # relative to the loss: float32 sums in another order differ


def missing(library):
    """The reason why a library cannot be measured, or None."""
    if library != "tinytorch" and importlib.util.find_spec(library) is None:
        return "not installed"
    if library == "tinygrad" and not shutil.which(os.environ.get("CC", "clang")):
        return "needs clang to compile its kernels"


def dump(folder):
    """Writes the initial weights and the data of each model to folder/NAME.npz."""
    import tinytorch
    for name, build in SEEDS.items():
        tinytorch.manual_seed(0)
        run = build(tinytorch)
        np.savez(Path(folder, f"{name}.npz"), inputs=run.inputs.numpy(), targets=run.targets.numpy(),
                 **{f"w.{key}": value.numpy() for key, value in run.model.state_dict().items()})


def training(library, name, folder):
    """A training step of the model `name` from the weights in the folder. It returns the loss."""
    saved = np.load(Path(folder, f"{name}.npz"))
    weights = {key[2:]: saved[key] for key in saved if key.startswith("w.")}
    if library in ("jax", "tinygrad"):
        return importlib.import_module(f"in_{library}").training(name, weights, saved["inputs"], saved["targets"])
    torch = importlib.import_module(library)
    run = SEEDS[name](torch)
    run.model.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()})
    return run.training()


def hold(library):
    """Limits a library that is not imported yet to one thread, where the environment from compare.child does not."""
    if library == "jax":
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        os.environ["JAX_PLATFORMS"] = "cpu"
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    elif library == "tinygrad":
        # With atomics the gradients of embeddings are added to their rows, without them they are a product with one-hot
        # rows.
        os.environ.update(NUM_CPU_THREADS="1", DEV="CPU", USE_ATOMICS="1")


def check(libraries, only, folder):
    """{model: {library: its first losses}}. An error if losses differ from those of tinytorch."""
    found = {}
    for library in libraries:
        for name, losses in child(["--losses", library, "--only", only, "--folder", folder], 1, __file__):
            found.setdefault(name, {})[library] = losses
    for name, losses in found.items():
        for library in libraries:
            apart = max(abs(a / b - 1) for a, b in zip(losses[library], losses["tinytorch"]))
            print(f"{name:16} {library:10} first losses {' '.join(f'{loss:.6f}' for loss in losses[library])}")
            if apart > TOLERANCE:
                raise SystemExit(f"{name}: {library} computes something else")
    return found


def main():
    parser = parser_of(__doc__, LIBRARIES, threads=1)
    parser.add_argument("--losses", choices=LIBRARIES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--dump", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.threads != 1:
        parser.error("JAX can be held to one core only, and so all run on one thread")
    if args.dump:
        return dump(args.folder)
    library = args.worker or args.losses
    if library:
        hold(library)
        jobs = {name: partial(training, library, name, args.folder) for name in SEEDS
                if re.search(args.only, name)}
        if args.worker:
            return print_times(jobs, args.only, args.seconds)
        for name, build in jobs.items():
            step = build()
            print(json.dumps([name, [step() for _ in range(STEPS)]]), flush=True)
        return None

    libraries = [library for library in LIBRARIES if not missing(library)]
    on = machine.facts(*libraries[1:])
    print(f"{machine.sentence(on)}\n1 thread; medians of {args.rounds} alternating processes each", flush=True)
    for library in LIBRARIES:
        if missing(library):
            print(f"{library} left out: {missing(library)}")
    with tempfile.TemporaryDirectory() as folder:
        child(["--dump", "--folder", folder], 1, __file__)
        losses = check(libraries, args.only, folder)
        times = alternate(__file__, libraries, args, "--folder", folder)
    print(f"\n{'workload':16}" + "".join(f"{library:>14}" for library in libraries))
    for name, found in times.items():
        print(f"{name:16}" + "".join(f"{found[library]:11.3f} ms" for library in libraries))
    finish(args, on, libraries=libraries, times=times, losses=losses)


if __name__ == "__main__":
    main()
