"""pytorch-optimizer: many optimisers by name, one that wraps another, a sharpness-aware step and losses."""
import torch
from outcome import network, regression, show, trained
from pytorch_optimizer import SAM, BCEFocalLoss, Lookahead, load_optimizer

x, y = regression()
found = {}
for name in ("adabelief", "adan", "lamb", "ranger21", "tiger", "adafactor", "prodigy", "adopt", "shampoo"):
    net, options = network(), {"num_iterations": 6} if name == "ranger21" else {}
    found[name] = trained(net, load_optimizer(name)(net.parameters(), lr=1e-2, **options), x, y, 6)
net = network()
ahead = trained(net, Lookahead(torch.optim.Adam(net.parameters(), 1e-2), k=2), x, y, 6)
sharp = SAM(net.parameters(), torch.optim.SGD, lr=0.05, rho=0.1)
for step in (sharp.first_step, sharp.second_step):
    torch.nn.functional.mse_loss(net(x), y).backward()
    step(zero_grad=True)
show(ahead=ahead, sharp=net(x), focal=BCEFocalLoss()(net(x), (y > 0).float()), **found)
