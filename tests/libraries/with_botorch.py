"""botorch: a Gaussian process, and the point that an acquisition function proposes."""
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
from outcome import show

x = torch.rand(8, 2, dtype=torch.float64)
y = (1 - (x - 0.4).square().sum(-1, keepdim=True)) + 0.01 * torch.randn(8, 1, dtype=torch.float64)
model = SingleTaskGP(x, y)
fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
proposed, value = optimize_acqf(LogExpectedImprovement(model, y.max()), torch.tensor([[0.0, 0.0], [1.0, 1.0]]).double(),
                                q=1, num_restarts=2, raw_samples=16)
show(proposed=proposed, value=value, mean=model.posterior(x).mean)
