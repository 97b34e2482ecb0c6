"""accelerate: a loop of training prepared."""
import torch
from accelerate import Accelerator
from outcome import network, regression, show
from torch.utils.data import DataLoader, TensorDataset

x, y = regression()
net, accelerator = network(), Accelerator(cpu=True, gradient_accumulation_steps=2)
net, optimizer, loader = accelerator.prepare(net, torch.optim.Adam(net.parameters(), 0.01),
                                             DataLoader(TensorDataset(x, y), batch_size=8))
losses = []
for _ in range(2):
    for a, b in loader:
        with accelerator.accumulate(net):
            loss = torch.nn.functional.mse_loss(net(a), b)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
show(losses=losses)
