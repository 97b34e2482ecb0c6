"""fairscale: activations computed again in backward, parameters flattened into one, and steps scaled by their noise."""
import torch
from fairscale.nn import FlattenParamsWrapper, checkpoint_wrapper
from fairscale.optim import AdaScale
from outcome import regression, show, trained

x, y = regression()
net = torch.nn.Sequential(checkpoint_wrapper(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.1))),
                          torch.nn.Tanh(), torch.nn.Linear(8, 1))
losses = trained(net, torch.optim.SGD(net.parameters(), 1e-1), x, y)
flat = FlattenParamsWrapper(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1)))
more = trained(flat, torch.optim.Adam(flat.parameters(), 1e-2), x, y)
other = torch.nn.Linear(4, 1)
optimizer = AdaScale(torch.optim.SGD(other.parameters(), 1e-2), world_size=1, num_gradients_to_accumulate=2)
for i in range(6):
    torch.nn.functional.mse_loss(other(x[i::6]), y[i::6]).backward()
    if i % 2:
        optimizer.step()
        optimizer.zero_grad()
show(losses=torch.tensor(losses), flat=torch.tensor(more), names=str([n for n, _ in flat.state_dict().items()]),
     gain=float(optimizer.gain()), weight=other.weight)
