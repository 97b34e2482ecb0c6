"""Forward mode, which gives derivatives along one direction, beside reverse mode, which gives them by all parameters.

The graphs of the paper that differentiable_graphs.py retells show reverse mode: backward runs through the whole forward
pass again, and needs its activations. Forward mode carries a derivative along with the values, from the inputs on: one
direction of the inputs gives the derivatives of all outputs. So it suits few inputs and many outputs, as reverse mode
suits the gradient of a loss by many parameters. tinytorch computes it from the same tape, so that it allocates as much
as reverse mode, and more. The program prints the costs of both, for a loss and for many outputs.
"""
import argparse

import common

import tinytorch as torch
from tinytorch import nn, viz

HEAD = ("", "ms", "MB allocated at most")


class Net(nn.Module):
    """A recurrent network over the rows of images, made of single operations."""

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
    """{name: the function that is measured}."""
    torch.manual_seed(seed)
    model = Net()
    parameters = dict(model.named_parameters())
    plain = {name: p.detach() for name, p in parameters.items()}
    direction = {name: torch.randn_like(p) for name, p in plain.items()}
    one = torch.ones(())

    def loss(values):
        return nn.functional.cross_entropy(torch.func.functional_call(model, values, (images,)), labels)

    def alone():
        with torch.no_grad():
            return loss(parameters)

    def jvp():
        return torch.func.jvp(loss, (plain,), (direction,))[1]

    def backward():
        return torch.autograd.grad(loss(parameters), list(parameters.values()))

    def outputs(brightness):
        return torch.func.functional_call(model, plain, (images[:10] * brightness,)).flatten()

    def outputs_jvp():
        return torch.func.jvp(outputs, (one,), (one,))[1]

    def outputs_backward():
        return torch.autograd.functional.jacobian(outputs, one)
    along = sum((g * direction[name]).sum() for name, g in zip(parameters, backward()))
    assert torch.allclose(jvp(), along, rtol=1e-3, atol=1e-5)          # the same derivatives
    assert torch.allclose(outputs_jvp(), outputs_backward(), rtol=1e-3, atol=1e-5)
    count = sum(p.numel() for p in plain.values())
    return {"a loss alone": alone, "its derivative in one direction of the parameters, forward mode": jvp,
            f"its derivatives by all {count} parameters, reverse mode": backward,
            "the derivatives of 100 outputs by one number, forward mode": outputs_jvp,
            "the same, reverse mode, 100 times": outputs_backward}


def measure(images, labels, seed=0, rounds=15):
    """A row for each of `ways`."""
    functions = ways(images, labels, seed)
    times = common.median_times(functions, rounds)
    return [(name, f"{times[name]:.2f}", f"{viz.memory(function).peak / 1e6:.2f}")
            for name, function in functions.items()]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="seed of the weights, the direction and the images (0)")
    parser.add_argument("--rounds", type=int, default=15, help="number of timings of each way (15)")
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    rows = measure(torch.rand(100, 28, 28), torch.randint(10, (100,)), args.seed, args.rounds)
    print(common.table(HEAD, rows))
    return rows


if __name__ == "__main__":
    main()
