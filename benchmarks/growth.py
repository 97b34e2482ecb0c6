"""The growth of a training step's time with one size of the model or the data, in tinytorch and in torch.

    python benchmarks/growth.py [--threads 1] [--json FILE] [--only REGEX] [--rounds 3] [--seconds 0.3]

Processes of both libraries alternate, as in compare.py. A ratio below one means that tinytorch is
faster. `python benchmarks/report.py --growth FILE` draws the figures that --json writes.
"""
import math
from functools import partial
from itertools import pairwise

import machine
import numpy as np
from compare import LIBRARIES, alternate, finish, parser_of, worker
from workloads import Run, cnn_seed, gru_seed, mlp


def convolution(torch, channels):
    """A 3x3 convolution alone, forward and backward, batch 16 of 16x16 maps."""
    random = np.random.RandomState(0)
    x, g = (torch.from_numpy(random.randn(16, channels, 16, 16).astype(np.float32)) for _ in range(2))
    x.requires_grad_()
    layer = torch.nn.Conv2d(channels, channels, 3, padding=1)

    def step():
        x.grad = layer.weight.grad = layer.bias.grad = None
        layer(x).backward(g)
    return step


def words(torch, vocabulary, optimizer):
    """The sum of the embeddings (50 numbers each) of 130 words, and a classifier, batch 64."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.out = nn.Embedding(vocabulary, 50), nn.Linear(50, 2)

        def forward(self, x):
            return self.out(self.embedding(x).sum(1))
    random = np.random.RandomState(0)
    x = torch.from_numpy(random.randint(0, vocabulary, (64, 130), np.int64))
    y = torch.from_numpy(random.randint(0, 2, 64, np.int64))
    model = Net()
    return Run(torch, model, x, y, getattr(torch.optim, optimizer)(model.parameters(), 1e-3)).training()


BATCHES = (1, 4, 16, 64, 256, 1024)
VOCABULARIES = (1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000)

#: Curve -> (the quantity that grows, its sizes, function(torch, size) -> job).
CURVES = {
    "MLP 784-256-128-10, Adam": ("batch", BATCHES, lambda torch, n: mlp(torch, batch=n).training()),
    "CNN 1-6, SGD": ("batch", BATCHES, lambda torch, n: cnn_seed(torch, batch=n).training()),
    "GRU, 28 steps, batch 100, Adam": ("hidden", (16, 32, 64, 128, 256, 512, 1024),
                                       lambda torch, n: gru_seed(torch, hidden=n).training()),
    "GRU of 64, batch 100, Adam": ("sequence", (4, 8, 32, 128, 512),
                                   lambda torch, n: gru_seed(torch, length=n, hidden=64).training()),
    "conv 3x3 on 16x16, batch 16": ("channels", (1, 2, 8, 32, 128), convolution),
    "Embedding 50, sum, linear, SGD": ("vocabulary", VOCABULARIES, partial(words, optimizer="SGD")),
    "Embedding 50, sum, linear, Adam": ("vocabulary", VOCABULARIES, partial(words, optimizer="Adam")),
}

#: Curve -> a sentence that explains it, which docs/benchmarks.md puts under its figures.
REASONS = {}

JOBS = {f"{curve}, {what} {size}": lambda torch, build=build, size=size: build(torch, size)
        for curve, (what, sizes, build) in CURVES.items() for size in sizes}


def crossovers(points):
    """The sizes, to two digits, at which the ratio passes one, by linear interpolation between neighbouring points on
    logarithmic axes. `points`: (size, ratio), by size."""
    found = []
    for (size, ratio), (size2, ratio2) in pairwise(points):
        if (ratio < 1) != (ratio2 < 1):
            part = math.log(ratio) / (math.log(ratio) - math.log(ratio2))
            found.append(round(float(f"{size * (size2 / size) ** part:.2g}")))
    return found


def crossing(what, points):
    """`crossovers` in words."""
    faster, sides = points[0][1] < 1, []
    for size in crossovers(points):
        sides.append(f"{'faster' if faster else 'slower'} up to about {size:,} ({what})")
        faster = not faster
    last = "faster" if faster else "slower"
    return "tinytorch is " + (", ".join(sides) + f", {last} above" if sides else f"{last} at every size")


def main():
    args = parser_of(__doc__, LIBRARIES, threads=1, seconds=0.3).parse_args()
    if args.worker:
        return worker(args.worker, JOBS, args.only, args.seconds, args.threads)

    on = machine.facts("torch")
    print(f"{machine.sentence(on)}\nthreads: {args.threads or 'default'}; "
          f"medians of {args.rounds} alternating processes each", flush=True)
    times = alternate(__file__, LIBRARIES, args)
    curves = []
    for curve, (what, sizes, _) in CURVES.items():
        points = [(size, *(found[library] for library in LIBRARIES)) for size in sizes
                  if (found := times.get(f"{curve}, {what} {size}"))]
        if points:
            print(f"\n{curve}\n{what:>12} {'tinytorch':>12} {'torch':>12} {'ratio':>7}")
            for size, ours, theirs in points:
                print(f"{size:12,} {ours:9.3f} ms {theirs:9.3f} ms {ours / theirs:7.2f}")
            print(crossing(what, [(size, ours / theirs) for size, ours, theirs in points]))
            curves.append({"curve": curve, "grows": what, "points": points})
    finish(args, on, curves=curves)


if __name__ == "__main__":
    main()
