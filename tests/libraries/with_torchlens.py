"""torchlens: what every operation of a network's forward pass gave."""
import torch
import torchlens
from outcome import show

net = torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(12, 2))
found = torchlens.trace(net, torch.randn(2, 1, 4, 4))
layers = list(found)
show(names=[layer.layer_label for layer in layers], outs=[layer.out for layer in layers])
