"""gpytorch: a Gaussian process fitted."""
import gpytorch
import torch
from outcome import show


class Process(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


x = torch.linspace(0, 1, 20)
y = torch.sin(6 * x) + 0.1 * torch.randn(20)
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Process(x, y, likelihood)
optimizer, losses = torch.optim.Adam(model.parameters(), 0.1), []
mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _ in range(5):
    optimizer.zero_grad()
    loss = -mll(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
model.eval()
likelihood.eval()
with torch.no_grad():
    predicted = likelihood(model(torch.linspace(0, 1, 5)))
show(losses=losses, mean=predicted.mean, variance=predicted.variance)
