"""Times steps under torch.compile: CPU time of tinytorch, compiled and eager, and of PyTorch, on one thread.

    python benchmarks/compiled.py [--rounds 5] [--seconds 1] [--only REGEX] [--mode default] [--json FILE] [--check]
                                  [--jax PYTHON] [--grow]

A ratio is to PyTorch eager. `--check` fails where one is above what TARGETS say. CPU time, and processes that take
turns, because machines have other things to do: read ratios, not times. `--jax`: the same steps by jax.jit as well, in
a Python that has JAX. `--grow`: how the times grow with the size of a model, instead.
"""
import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: The largest ratio of a compiled step to PyTorch's eager one: (with the same bits as eager, by native kernels alone).
TARGETS = {"MLP 4-16-16-1": (0.08, 0.015), "300 tiny ops": (0.20, 0.01), "RNN 4x196-64": (0.36, 0.22),
           "CNN 1-6, batch 1": (0.36, 0.11), "MLP 784-256-128": (0.45, 0.30), "GPT 2 blocks": (0.72, 0.60),
           "MLP, batch 1, inference": (0.40, 0.30), "CNN 1-6, batch 1, inference": (0.45, 0.15)}
WAYS = ("torch", "eager", "compiled")


def whole_step(torch, run):
    """A training step as one function. The caller reads the number of the loss that it returns."""
    model, inputs, targets, optimizer, loss = run.model, run.inputs, run.targets, run.optimizer, run.loss

    def step(x, y):
        optimizer.zero_grad()
        value = loss(model(x), y)
        value.backward()
        optimizer.step()
        return value
    return step, (inputs, targets)


def chain(torch):
    """300 operations on 4x4 tensors, forward and backward."""
    w, b, x = (torch.rand(4, 4, requires_grad=True) for _ in range(3))

    def step(x, w, b):
        h = x
        for _ in range(100):
            h = (h * w + b).tanh()
        return torch.autograd.grad(h.sum(), (w, b, x))
    return step, (x, w, b)


def mlp_of_one(torch):
    """Inference of an MLP for one image."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    return _predicting(torch, model, torch.rand(1, 784))


def _predicting(torch, model, inputs):
    def predict(x):
        with torch.no_grad():
            return model(x)
    return predict, (inputs,)


def mlp_of(torch, width, batch):
    """A step of training of an MLP of three layers of so many units."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
    optimizer = torch.optim.Adam(model.parameters())

    def step(x, y):
        optimizer.zero_grad()
        value = nn.functional.mse_loss(model(x), y)
        value.backward()
        optimizer.step()
        return value
    return step, (torch.rand(batch, width), torch.rand(batch, 1))


def job(torch, name):
    """(function, arguments) for a workload."""
    import workloads
    if name.startswith("width "):
        return mlp_of(torch, *[int(n) for n in name.split() if n.isdigit()])
    if name == "300 tiny ops":
        return chain(torch)
    if name == "MLP, batch 1, inference":
        return mlp_of_one(torch)
    if name.endswith(", inference"):
        run = workloads.MODELS[name.removesuffix(", inference")](torch)
        return _predicting(torch, run.model.eval(), run.inputs)
    return whole_step(torch, workloads.MODELS[name](torch))


def job_in_jax(name):
    """A function that does a step of a workload in JAX."""
    import in_jax
    import workloads

    import tinytorch as torch
    torch.manual_seed(0)

    def arrays(model):
        return {key: value.detach().numpy() for key, value in model.named_parameters()}
    if name == "300 tiny ops":
        return in_jax.chain(*[torch.rand(4, 4).numpy() for _ in range(3)])
    if name == "MLP, batch 1, inference":
        nn = torch.nn
        model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
        return in_jax.inference(name, arrays(model), torch.rand(1, 784).numpy())
    run = workloads.MODELS[name.removesuffix(", inference")](torch)
    if name.endswith(", inference"):
        return in_jax.inference(name.removesuffix(", inference"), arrays(run.model), run.inputs.numpy())
    return in_jax.training(name, arrays(run.model), run.inputs.numpy(), run.targets.numpy())


def _nothing(x):
    return x * 2


def worker(way, name, seconds, mode):
    """Prints the CPU time of a step, and of the first two calls."""
    if way == "jax":
        step, args = job_in_jax(name), ()
    else:
        torch = __import__("torch" if way == "torch" else "tinytorch")
        torch.set_num_threads(1)
        torch.manual_seed(0)
        step, args = job(torch, name)
        for _ in range(5):                     # what a process does once, imports among it, is no part of compiling
            step(*args)
    if way == "compiled":
        step = torch.compile(step, mode=mode)
        torch.compile(_nothing, mode=mode)(args[0])
    first = time.process_time()
    step(*args), step(*args)
    first = time.process_time() - first
    times, end = [], time.process_time() + seconds
    for _ in range(30):                        # what is to be lowered is lowered
        step(*args)
    start = time.process_time()
    step(*args)
    several = max(1, int(0.002 / max(time.process_time() - start, 1e-6)))
    while time.process_time() < end or len(times) < 5:
        start = time.process_time()
        for _ in range(several):
            step(*args)
        times.append((time.process_time() - start) / several)
    print(json.dumps([statistics.median(times), first]))


def measured(way, name, seconds, mode, python=sys.executable):
    """What a worker prints."""
    import os
    one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    room = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "XLA_FLAGS": one,
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE), os.environ.get("PYTHONPATH", "")])}
    out = subprocess.run([python, __file__, "--worker", way, name, str(seconds), mode], capture_output=True,
                         text=True, env=room, check=True).stdout
    return json.loads(out.splitlines()[-1])


#: Widths and batches of the MLPs by which `--grow` shows how times grow.
SIZES = [(8, 8), (32, 8), (128, 8), (512, 8), (32, 64), (128, 64), (512, 64)]


def grow(options):
    """Prints the times of MLPs of several sizes, and those of their first two calls."""
    print(f"{'':20}{'torch':>10}{'eager':>10}{'compiled':>10}{'in C':>10}{'first two calls':>18}    (microseconds)")
    for width, batch in SIZES:
        name, times = f"width {width} batch {batch}", {}
        for _ in range(options.rounds):
            for way, mode in [("torch", ""), ("eager", ""), ("compiled", "default"), ("compiled", "max-autotune")]:
                times.setdefault((way, mode), []).append(measured(way, name, options.seconds, mode))
        found = [1e6 * statistics.median([t for t, _ in x]) for x in times.values()]
        first = 1e6 * statistics.median([t for _, t in times["compiled", "default"]])
        print(f"{name:20}" + "".join([f"{x:10.1f}" for x in found]) + f"{first:18.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jax")
    parser.add_argument("--grow", action="store_true")
    options = parser.parse_args()
    if options.grow:
        return grow(options)
    found, late = {}, []
    print(f"{'':28}{'torch':>10}{'eager':>10}{'compiled':>10}   ratio  target  first two calls in eager steps"
          + ("; JAX, its ratio" if options.jax else ""))
    for name in [name for name in TARGETS if re.search(options.only, name)]:
        times = {way: [] for way in WAYS}
        for _ in range(options.rounds):
            for way in WAYS:
                times[way].append(measured(way, name, options.seconds, options.mode))
        steps = {way: statistics.median([t for t, _ in times[way]]) for way in WAYS}
        ratio = statistics.median([c[0] / t[0] for c, t in zip(times["compiled"], times["torch"])])
        first = statistics.median([c[1] for c in times["compiled"]]) / steps["eager"]
        target = TARGETS[name][options.mode != "default"]
        found[name] = {**steps, "ratio": ratio, "first": first}
        beside = ""
        if options.jax:
            jax = statistics.median([measured("jax", name, options.seconds, "", options.jax)[0]
                                     for _ in range(options.rounds)])
            found[name]["jax"] = jax
            beside = f"{jax * 1e6:10.1f}{jax / steps['torch']:8.3f}"
        late += [name] * (ratio > target)
        print(f"{name:28}" + "".join([f"{steps[way] * 1e6:10.1f}" for way in WAYS]) +
              f"{ratio:8.3f}{target:8.3f}{first:8.1f}{beside}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))
    if options.check and late:
        sys.exit(f"above their targets: {', '.join(late)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5])
    else:
        main()
