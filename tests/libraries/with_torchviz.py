"""torchviz: the graph of a loss, drawn as a text."""
import torch
from outcome import network, show
from torchviz import make_dot

net = network()
dot = make_dot(net(torch.ones(1, 4)).sum(), params=dict(net.named_parameters()))
show(nodes=sorted(line.split("label=")[1].split()[0] for line in dot.source.splitlines() if "label=" in line))
