"""Times a step of every optimiser: tinytorch, and torch with foreach=False and foreach=True, in alternating processes.

    python benchmarks/optim_steps.py [--threads 1] [--json FILE] [--only REGEX] [--rounds 5] [--seconds 0.3]

The parameters are float32: twenty of 100x100 and one of 1000x1000, with constant gradients. LBFGS's closure only
returns a number, so that its time is that of two iterations with a full history of ten. Times are medians of the
processes' medians in ms; a ratio below one means that tinytorch is faster. torch has no foreach for LBFGS and Muon.
"""
import sys
from functools import partial

import machine
import numpy as np
from compare import alternate, finish, parser_of, print_times

LIBRARIES = ("tinytorch", "torch", "torch foreach")
#: The options of each row: the defaults, and some that take more time.
ROWS = {"SGD": {}, "SGD momentum": dict(momentum=0.9), "SGD nesterov, decay": dict(momentum=0.9, nesterov=True,
                                                                                  weight_decay=1e-4),
        "Adam": {}, "Adam amsgrad": dict(amsgrad=True), "AdamW": {}, "NAdam": {}, "RAdam": {}, "Adamax": {},
        "RMSprop": {}, "RMSprop centered, momentum": dict(centered=True, momentum=0.9), "Adagrad": {}, "Adadelta": {},
        "Rprop": {}, "ASGD": {}, "Adafactor": {}, "Muon": {},
        "LBFGS": dict(history_size=10, max_iter=2, tolerance_change=0, tolerance_grad=0)}


def step_of(library, row):
    """One step of an optimiser whose state exists already."""
    torch, name = __import__(library.split()[0]), row.split()[0]
    random = np.random.RandomState(0)

    def numbers(shape):
        return torch.from_numpy(random.standard_normal(shape).astype(np.float32))
    params = [numbers((100, 100)).requires_grad_() for _ in range(20)] + [numbers((1000, 1000)).requires_grad_()]
    scales = [numbers(p.shape).abs() for p in params]
    options = dict(ROWS[row])
    if name not in ("LBFGS", "Muon"):
        options["foreach"] = library.endswith("foreach")
    optimizer = getattr(torch.optim, name)(params, lr=1e-4, **options)
    for p in params:
        p.grad = numbers(p.shape)
    if name != "LBFGS":
        for _ in range(8):                     # RAdam's first steps are different
            optimizer.step()
        return optimizer.step

    def closure():
        return 1.0

    def gradients_at():
        """The gradients at other parameters, because the history needs positive curvature."""
        for p, scale in zip(params, scales):
            p.grad = scale * p.detach()
        return 1.0
    for _ in range(8):
        optimizer.step(gradients_at)
    return partial(optimizer.step, closure)


def main():
    args = parser_of(__doc__, LIBRARIES, threads=1, rounds=5, seconds=0.3).parse_args()
    if args.worker:
        torch = __import__(args.worker.split()[0])
        if args.threads:
            torch.set_num_threads(args.threads)
        rows = {row: partial(step_of, args.worker, row) for row in ROWS
                if not (args.worker.endswith("foreach") and row in ("LBFGS", "Muon"))}
        return print_times(rows, args.only, args.seconds)
    on = machine.facts("torch")
    print(f"{machine.sentence(on)}; {args.threads or 'any number of'} threads\n")
    found = alternate(__file__, LIBRARIES, args)
    print(f"| {'step':27}| tinytorch ms | torch ms | foreach ms | ratio | to foreach |\n|---|--:|--:|--:|--:|--:|")
    for row, times in found.items():
        ours, alone, together = (times.get(library) for library in LIBRARIES)
        ratios = [f"{ours / other:.2f}" if other else "" for other in (alone, together)]
        print(f"| {row:27}| {ours:.3f} | {alone:.3f} | {f'{together:.3f}' if together else ''} | {ratios[0]} "
              f"| {ratios[1]} |")
    finish(args, on, optim_steps=found)


if __name__ == "__main__":
    sys.exit(main())
