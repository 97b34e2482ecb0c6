"""bayesian-torch: a network turned Bayesian, trained with the divergence of its weights, and its uncertainty."""
import torch
from bayesian_torch.layers import Conv2dFlipout, LinearReparameterization, LSTMReparameterization
from bayesian_torch.models.dnn_to_bnn import dnn_to_bnn, get_kl_loss
from bayesian_torch.utils.util import mutual_information, predictive_entropy
from outcome import show, trained

x = torch.randn(16, 1, 6, 6)
y = (x.mean((1, 2, 3)) > 0).long()
losses = {}
for kind in ("Reparameterization", "Flipout"):
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
                              torch.nn.Linear(16, 2))
    dnn_to_bnn(net, {"prior_mu": 0.0, "prior_sigma": 1.0, "posterior_mu_init": 0.0, "posterior_rho_init": -3.0,
                     "type": kind, "moped_enable": kind == "Flipout", "moped_delta": 0.5})
    losses[kind] = trained(net, torch.optim.Adam(net.parameters(), 0.02), x, y, 6, lambda out, target: (
        torch.nn.functional.cross_entropy(out, target) + get_kl_loss(net) / 16))
with torch.no_grad():
    samples = torch.stack([net(x).softmax(-1) for _ in range(10)]).numpy()
linear, divergence = LinearReparameterization(4, 3)(torch.randn(2, 4))
recurrent, _, divergence2 = LSTMReparameterization(4, 5)(torch.randn(2, 3, 4))
show(**losses, entropy=predictive_entropy(samples).tolist(), information=mutual_information(samples).tolist(),
     linear=linear, recurrent=recurrent, divergences=[divergence, divergence2],
     flipout=Conv2dFlipout(1, 2, 3)(x, return_kl=False))
