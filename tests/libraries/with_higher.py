"""higher: gradients through steps of an optimiser."""
import higher
import torch
from outcome import network, regression, show

x, y = regression()
net = network()
with higher.innerloop_ctx(net, torch.optim.Adam(net.parameters(), 0.05)) as (inner, optimizer):
    for _ in range(3):
        optimizer.step(torch.nn.functional.mse_loss(inner(x), y))
    loss = torch.nn.functional.mse_loss(inner(x), y)
    show(loss=loss, grad=torch.autograd.grad(loss, list(inner.parameters(time=0))))
