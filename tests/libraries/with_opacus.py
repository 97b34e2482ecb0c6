"""opacus: training with private gradients."""
import torch
from opacus import PrivacyEngine
from outcome import network, regression, show
from torch.utils.data import DataLoader, TensorDataset

net = network()
net, optimizer, loader = PrivacyEngine().make_private(
    module=net, optimizer=torch.optim.SGD(net.parameters(), 0.1), data_loader=DataLoader(TensorDataset(*regression()),
                                                                                         batch_size=8),
    noise_multiplier=1.0, max_grad_norm=1.0)
losses = []
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
show(losses=losses)
