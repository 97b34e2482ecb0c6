"""torchsummary: a table of the layers of a network."""
import contextlib
import io

import torch
from outcome import show
from torchsummary import summary

net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 2))
text = io.StringIO()
with contextlib.redirect_stdout(text):
    summary(net, (1, 8, 8), device="cpu")
show(table=text.getvalue())
