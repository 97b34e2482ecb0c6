"""Times steps under torch.compile: CPU time of tinytorch, compiled and eager, and of PyTorch, on one thread.

    python benchmarks/compiled.py [--rounds 5] [--seconds 1] [--only REGEX] [--mode default] [--json FILE] [--check]

Ratios are to PyTorch's eager time. `--check` fails if one is above its target in TARGETS. CPU time is measured, in
alternating processes, because a machine may do other work: read the ratios, not the times.
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


def job(torch, name):
    """(function, arguments) for a workload."""
    import workloads
    if name == "300 tiny ops":
        return chain(torch)
    if name == "MLP, batch 1, inference":
        return mlp_of_one(torch)
    if name.endswith(", inference"):
        run = workloads.MODELS[name.removesuffix(", inference")](torch)
        return _predicting(torch, run.model.eval(), run.inputs)
    return whole_step(torch, workloads.MODELS[name](torch))


def _nothing(x):
    return x * 2


def worker(way, name, seconds, mode):
    """Prints the CPU time of a step, and of the first two calls."""
    torch = __import__("torch" if way == "torch" else "tinytorch")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    step, args = job(torch, name)
    for _ in range(5):                         # imports and other first work of a process are not timed
        step(*args)
    if way == "compiled":
        step = torch.compile(step, mode=mode)
        torch.compile(_nothing, mode=mode)(args[0])
    first = time.process_time()
    step(*args), step(*args)
    first = time.process_time() - first
    times, end = [], time.process_time() + seconds
    for _ in range(10):
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


def measured(way, name, seconds, mode):
    """The figures that a worker prints."""
    import os
    room = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE), os.environ.get("PYTHONPATH", "")])}
    out = subprocess.run([sys.executable, __file__, "--worker", way, name, str(seconds), mode], capture_output=True,
                         text=True, env=room, check=True).stdout
    return json.loads(out.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found, late = {}, []
    print(f"{'':28}{'torch':>10}{'eager':>10}{'compiled':>10}   ratio  target  first two calls in eager steps")
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
        late += [name] * (ratio > target)
        print(f"{name:28}" + "".join([f"{steps[way] * 1e6:10.1f}" for way in WAYS]) +
              f"{ratio:8.3f}{target:8.3f}{first:8.1f}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))
    if options.check and late:
        sys.exit(f"above their targets: {', '.join(late)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5])
    else:
        main()
