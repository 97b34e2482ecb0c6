"""norse: spiking neurons of several kinds, and a recurrent network of them trained by surrogate gradients."""
import norse.torch as norse
import torch
from outcome import show, trained

x, y = norse.PoissonEncoder(10)(torch.rand(4, 3)), torch.tensor([0, 1, 0, 1])
net = norse.SequentialState(torch.nn.Linear(3, 6), norse.LIFCell(norse.LIFParameters(v_th=torch.tensor(0.3))),
                            torch.nn.Linear(6, 2), norse.LICell())


def run(x):
    state, outs = None, []
    for step in x:
        out, state = net(step, state)
        outs.append(out)
    return torch.stack(outs).amax(0)


losses = trained(run, torch.optim.Adam(net.parameters(), 0.05), x, y, 5, torch.nn.functional.cross_entropy)
recurrent, state = norse.LSNNRecurrent(3, 4)(3 * x)
adaptive, _ = norse.LIFAdExRecurrentCell(3, 4)(x[0])
show(spikes=x.sum(), losses=losses, out=run(x), recurrent=recurrent.sum((0, 1)), voltage=state.v, adaptive=adaptive)
