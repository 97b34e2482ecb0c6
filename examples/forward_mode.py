"""Derivatives by forward mode: along one direction, with the values themselves, so that nothing is kept.

The graphs of the paper that differentiable_graphs.py retells are of reverse mode: backward runs through all of forward
once more, gives the derivatives by all parameters at once, and needs the activations for it. Forward mode carries the
derivative along one direction of the parameters from operation to operation: what it allocates does not grow with the
number of time steps, but a gradient takes as many directions as there are parameters. Printed is what both cost.
"""
import argparse

import common

import tinytorch as torch
from tinytorch import nn, viz

HEAD = ("time steps", "", "ms", "MB allocated at most")


class Net(nn.Module):
    """A recurrent network over the rows of images, from operations."""

    def __init__(self):
        super().__init__()
        self.inputs, self.states = nn.Linear(28, 128), nn.Linear(128, 128, bias=False)
        self.out = nn.Linear(128, 10)

    def forward(self, images):
        h = torch.zeros(len(images), 128)
        for row in images.unbind(1):
            h = torch.tanh(self.inputs(row) + self.states(h))
        return self.out(h)


def ways(images, labels, seed=0):
    """{name: function}: of the loss, of its derivative along a random direction, and of its gradient."""
    torch.manual_seed(seed)
    model = Net()
    parameters = dict(model.named_parameters())
    plain = {name: p.detach() for name, p in parameters.items()}
    direction = {name: torch.randn_like(p) for name, p in plain.items()}

    def loss(values):
        return nn.functional.cross_entropy(torch.func.functional_call(model, values, (images,)), labels)

    def forward():
        with torch.no_grad():
            return loss(parameters)

    def jvp():
        with torch.no_grad():
            return torch.func.jvp(loss, (plain,), (direction,))[1]

    def backward():
        return torch.autograd.grad(loss(parameters), list(parameters.values()))
    along = sum((g * direction[name]).sum() for name, g in zip(parameters, backward()))
    assert torch.allclose(jvp(), along, rtol=1e-3, atol=1e-5)      # the same derivative
    return {"the loss alone": forward, "its derivative in one direction, forward mode": jvp,
            f"its gradient by {sum(p.numel() for p in plain.values())} parameters, reverse mode": backward}


def measure(images, labels, seed=0, rounds=15):
    """A row for each way, and for each with four times as many time steps."""
    rows = []
    for repeated in (images, images.repeat(1, 4, 1)):
        functions = ways(repeated, labels, seed)
        times = common.median_times(functions, rounds)
        rows += [(repeated.shape[1], name, f"{times[name]:.2f}", f"{viz.memory(function).peak / 1e6:.2f}")
                 for name, function in functions.items()]
    return rows


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="of the weights, the direction and the images (0)")
    parser.add_argument("--rounds", type=int, default=15, help="how often each is timed (15)")
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    rows = measure(torch.rand(100, 28, 28), torch.randint(10, (100,)), args.seed, args.rounds)
    print(common.table(HEAD, rows))
    return rows


if __name__ == "__main__":
    main()
