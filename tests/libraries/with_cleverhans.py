"""cleverhans: gradient and optimising attacks on a trained classifier."""
import numpy as np
import torch
from cleverhans.torch.attacks.carlini_wagner_l2 import carlini_wagner_l2
from cleverhans.torch.attacks.fast_gradient_method import fast_gradient_method
from cleverhans.torch.attacks.projected_gradient_descent import projected_gradient_descent
from cleverhans.torch.attacks.spsa import spsa
from outcome import show, trained

np.random.seed(0)
x = torch.rand(40, 1, 4, 4)
y = (x.mean((1, 2, 3)) > 0.5).long()
net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16, 2))
losses = trained(net, torch.optim.Adam(net.parameters(), 0.03), x, y, 30, torch.nn.functional.cross_entropy)
fast = fast_gradient_method(net, x, 0.1, np.inf, clip_min=0, clip_max=1)
steps = projected_gradient_descent(net, x, 0.3, 0.1, 5, 2, clip_min=0, clip_max=1, rand_init=False)
carlini = carlini_wagner_l2(net, x[:8], 2, y[:8], max_iterations=10, binary_search_steps=2)
sampled = spsa(net, x[:2], 0.1, 3, norm=np.inf, clip_min=0, clip_max=1, y=y[:2], spsa_samples=8, spsa_iters=1)
show(losses=losses, fast=fast - x, steps=steps - x, carlini=carlini - x[:8], sampled=sampled - x[:2])
