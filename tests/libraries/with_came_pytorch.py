"""came_pytorch: CAME's steps, factored for matrices and full for vectors."""
import torch
from came_pytorch import CAME
from outcome import network, regression, show, trained

x, y = regression()
net = network()
losses = trained(net, CAME(net.parameters(), lr=0.01, weight_decay=1e-2), x, y, 20)
conv = torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3), torch.nn.Flatten(), torch.nn.Linear(12, 1))
images = torch.randn(8, 1, 4, 4)
more = trained(conv, CAME(conv.parameters(), lr=2e-3, betas=(0.8, 0.99, 0.999)), images, images.mean((2, 3)), 10)
show(losses=losses, images=more, weights=[p.detach() for p in net.parameters()])
