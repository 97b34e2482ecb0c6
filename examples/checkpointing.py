"""Checkpoints in time: a recurrent network keeps the states between segments, and computes the others again.

The graphs of the paper that differentiable_graphs.py retells mark the operations whose backward needs their inputs,
because a program may keep each of these activations or compute it again. Here that is decided for segments of time
steps: the activations inside a segment are computed again when backward comes to it. The program prints the memory that
this saves and the time that it costs, beside the plain network.
"""
import argparse

import common
from mnist_gru import Net

import tinytorch as torch
from tinytorch import viz
from tinytorch.utils.checkpoint import checkpoint

HEAD = ("time steps in a segment", "ms per training step", "MB kept for backward", "MB allocated at most")


class Segmented(Net):
    """The network of mnist_gru.py, in which each segment of time steps is a checkpoint."""

    def __init__(self, segment):
        super().__init__()
        self.segment = segment

    def forward(self, images):
        h = torch.zeros(1, len(images), 128)
        for rows in images.split(self.segment, 1):
            _, h = checkpoint(self.gru, rows, h, use_reentrant=False)
        return self.out(h[0])


def measure(images, labels, seed=0, segments=(56, 28, 14, 7), rounds=15):
    """A row for the plain network and for each length of a segment."""
    steps = {}
    for segment in ("all, no checkpoint", *segments):
        torch.manual_seed(seed)
        model = Segmented(segment) if segment in segments else Net()
        steps[segment] = common.training_step(model, images, labels)
    times = common.median_times(steps, rounds)
    reports = {segment: viz.memory(step) for segment, step in steps.items()}
    return [(segment, f"{times[segment]:.2f}", f"{report.kept / 1e6:.2f}", f"{report.peak / 1e6:.2f}")
            for segment, report in reports.items()]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="seed of the weights and the images (0)")
    parser.add_argument("--rounds", type=int, default=15, help="number of timings of each step (15)")
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    rows = measure(torch.rand(100, 112, 28), torch.randint(10, (100,)), args.seed, rounds=args.rounds)
    print(common.table(HEAD, rows))
    return rows


if __name__ == "__main__":
    main()
