"""torch-ema: an average of weights."""
import torch
from outcome import network, regression, show, trained
from torch_ema import ExponentialMovingAverage

x, y = regression()
net = network()
ema = ExponentialMovingAverage(net.parameters(), decay=0.9)
for _ in range(3):
    trained(net, torch.optim.SGD(net.parameters(), 0.1), x, y, 2)
    ema.update()
with ema.average_parameters():
    show(out=net(x))
