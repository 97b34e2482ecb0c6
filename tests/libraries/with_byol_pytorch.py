"""byol_pytorch: an encoder trained without labels against its moving average."""
import random

import torch
from byol_pytorch import BYOL
from outcome import show

random.seed(0)
torch.set_default_dtype(torch.float64)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, 2), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
                          torch.nn.Linear(4 * 49, 16), torch.nn.ReLU())
learner = BYOL(net, 16, hidden_layer=-1, projection_size=256, projection_hidden_size=32,
               augment_fn=torch.nn.Identity(), augment_fn2=torch.nn.Hardtanh(-1, 1))
optimizer, images, losses = torch.optim.Adam(learner.parameters(), 3e-3), torch.randn(8, 3, 16, 16), []
for _ in range(4):
    loss = learner(images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    learner.update_moving_average()
    losses.append(loss.item())
projection, embedding = learner(images, return_embedding=True)
show(losses=losses, embedding=embedding[:2], projection=projection[:2])
