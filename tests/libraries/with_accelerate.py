"""accelerate: a loop of training prepared; a model built without memory, and loaded."""
import tempfile

import torch
from accelerate import Accelerator, init_empty_weights, load_checkpoint_and_dispatch
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
with tempfile.TemporaryDirectory() as folder:
    torch.save(net.state_dict(), f"{folder}/pytorch_model.bin")
    with init_empty_weights():
        empty = network()
    devices = [str(p.device) for p in empty.parameters()]
    loaded = load_checkpoint_and_dispatch(empty, f"{folder}/pytorch_model.bin", device_map={"": "cpu"})
show(losses=losses, devices=devices, loaded=loaded(x[:4]))
