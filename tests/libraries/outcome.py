"""What the programs here print: numbers, to compare, as a line of JSON."""
import contextlib
import io
import json
import sys
from pathlib import Path

import torch

torch.manual_seed(0)


def _numbers(value):
    if isinstance(value, torch.Tensor):
        return value.detach().double().reshape(-1).tolist()[:200]
    if isinstance(value, (list, tuple)):
        return [_numbers(x) for x in value]
    return value if isinstance(value, str) else float(value)


def show(**values):
    """Prints results by name: tensors, numbers, texts, lists of them."""
    print("OUTCOME " + json.dumps({name: _numbers(value) for name, value in values.items()}))


def regression(n=32, features=4):
    """Inputs and what a linear function of them gives."""
    x = torch.randn(n, features)
    return x, x @ torch.arange(1.0, features + 1).unsqueeze(1) / features


def network(features=4, out=1):
    """Two layers."""
    return torch.nn.Sequential(torch.nn.Linear(features, 8), torch.nn.Tanh(), torch.nn.Linear(8, out))


def trained(net, optimizer, x, y, steps=10, loss=torch.nn.functional.mse_loss):
    """The losses of so many steps."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


def example(name, *options):
    """The losses of a script of examples/, whichever library is called torch, and what text it writes."""
    sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
    from swapped import load
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        losses, _ = load(name, "torch").main(list(options))
    return {"losses": losses, "written": printed.getvalue().partition("-- most likely:")[2].partition("\n-- ")[0]}
