"""torchbnn: layers with random weights, trained against their prior, sampled and frozen."""
import torch
import torchbnn
from outcome import show, trained

x = torch.randn(16, 2, 4, 4)
y = (x.mean((1, 2, 3)) > 0).long()
prior = {"prior_mu": 0, "prior_sigma": 0.1}
net = torch.nn.Sequential(torchbnn.BayesConv2d(**prior, in_channels=2, out_channels=4, kernel_size=3),
                          torchbnn.BayesBatchNorm2d(**prior, num_features=4), torch.nn.ReLU(), torch.nn.Flatten(),
                          torchbnn.BayesLinear(**prior, in_features=16, out_features=2))
divergence = torchbnn.BKLLoss(reduction="mean", last_layer_only=False)
losses = trained(net, torch.optim.Adam(net.parameters(), 0.02), x, y, 8,
                 lambda out, target: torch.nn.functional.cross_entropy(out, target) + 0.1 * divergence(net).sum())
samples = torch.stack([net(x) for _ in range(5)]).std(0)
torchbnn.utils.freeze(net)
show(losses=losses, divergence=divergence(net), samples=samples, frozen=net(x))
