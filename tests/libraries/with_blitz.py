"""blitz-bayesian-pytorch: networks with weights drawn from learned distributions, trained by the evidence bound."""
import torch
from blitz.modules import BayesianConv2d, BayesianEmbedding, BayesianGRU, BayesianLinear, BayesianLSTM
from blitz.utils import variational_estimator
from outcome import regression, show, trained

Net = variational_estimator(type("Net", (torch.nn.Sequential,), {}))
last = type("Last", (torch.nn.Module,), {"forward": lambda self, found: found[0][:, -1]})
x, y = regression(16)
inputs = {"dense": x, "image": x[:, :, None, None].expand(-1, 4, 3, 3), "words": (x > 0).long(), "lstm": x.unsqueeze(2),
          "gru": x.unsqueeze(2)}
nets = {"dense": Net(BayesianLinear(4, 8, prior_pi=0.5), torch.nn.Tanh(), BayesianLinear(8, 1)),
        "image": Net(BayesianConv2d(4, 3, (2, 2)), torch.nn.Flatten(), BayesianLinear(12, 1, bias=False)),
        "words": Net(BayesianEmbedding(2, 3), torch.nn.Flatten(), BayesianLinear(12, 1)),
        "lstm": Net(BayesianLSTM(1, 5), last(), BayesianLinear(5, 1)),
        "gru": Net(BayesianGRU(1, 5), last(), BayesianLinear(5, 1))}
losses = {name: trained(lambda x, net=net: net.sample_elbo(x, y, torch.nn.MSELoss(), 2, 1 / 64),
                        torch.optim.Adam(net.parameters(), 0.02), inputs[name], None, 6, lambda out, _: out)
          for name, net in nets.items()}
spreads = {f"spread_{name}": net.mfvi_forward(inputs[name], 4) for name, net in nets.items()}
sharp = nets["lstm"].forward_with_sharpening(inputs["lstm"], y, torch.nn.MSELoss())
nets["dense"].MOPED_(0.2)
kl = nets["dense"].nn_kl_divergence()
nets["dense"].freeze_()
show(**losses, **spreads, kl=kl, sharp=sharp, frozen=nets["dense"](x))
