"""nnsight: a network's inner values read, written and differentiated while it runs."""
import torch
from nnsight import NNsight
from outcome import show, trained

x = torch.randn(16, 6)
y = (x.sum(1) > 0).long()
net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
losses = trained(net, torch.optim.Adam(net.parameters(), 0.02), x, y, 10, torch.nn.functional.cross_entropy)
model = NNsight(net)
with model.trace(x[:3]):
    hidden = model[1].output.save()
    out = model.output.save()
with model.trace(x[:3]):
    model[1].output[:, 0] = 0
    without = model.output.save()
with model.trace(x[:3]):
    inner = model[0].output
    total = model.output.pow(2).sum()
    with total.backward():
        slope = inner.grad.save()
show(losses=losses, hidden=hidden, out=out, without=without, slope=slope)
