"""torch-optimizer: its optimisers."""
import torch
import torch_optimizer
from outcome import network, regression, show, trained

x, y = regression()
results = {}
for name in ("AdaBound", "AdaMod", "DiffGrad", "Lamb", "NovoGrad", "PID", "QHAdam", "QHM", "RAdam", "SGDP", "SGDW",
             "Shampoo", "SWATS", "Yogi", "AggMo", "AdaBelief", "Apollo", "MADGRAD"):
    torch.manual_seed(1)
    net = network()
    results[name] = trained(net, getattr(torch_optimizer, name)(net.parameters(), lr=1e-2), x, y, 5)
show(**results)
