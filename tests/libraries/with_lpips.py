"""lpips: distances of images by the features of a network, their gradients, and an image moved along them."""
import contextlib
import io

import lpips
import torch
from outcome import show

with contextlib.redirect_stdout(io.StringIO()):
    alex = lpips.LPIPS(net="alex", pnet_rand=True, pretrained=False, spatial=False)
    squeeze = lpips.LPIPS(net="squeeze", pnet_rand=True, pretrained=False, spatial=True)
x, y = torch.rand(2, 3, 64, 64) * 2 - 1, torch.rand(2, 3, 64, 64) * 2 - 1
moved, losses = x.clone().requires_grad_(), []
optimizer = torch.optim.Adam([moved], 1e-2)
for _ in range(3):
    loss = alex(moved, y).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
total, layers = alex(x, y, retPerLayer=True)
with torch.no_grad():
    where = squeeze(x, y)
show(losses=torch.tensor(losses), total=total, layers=torch.stack([layer.flatten() for layer in layers]), where=where,
     l2=lpips.L2(use_gpu=False, colorspace="RGB")(x[:1], y[:1]), moved=moved[0, 0, 0])
