"""torchquad: integrals by rules and by chance, with gradients."""
import torch
from outcome import show
from torchquad import VEGAS, Boole, GaussLegendre, MonteCarlo, Simpson, Trapezoid, set_up_backend

set_up_backend("torch", data_type="float64", torch_enable_cuda=False)
scale = torch.tensor(1.5, requires_grad=True)
domain = [[0.0, 1.0], [-1.0, 2.0]]


def f(x):
    return torch.sin(scale * x[:, 0]) + torch.exp(x[:, 1])


found = {rule.__name__: rule().integrate(f, dim=2, N=400, integration_domain=domain, backend="torch")
         for rule in (Trapezoid, Simpson, Boole, GaussLegendre)}
found["Simpson"].backward()
chance = MonteCarlo().integrate(f, dim=2, N=500, integration_domain=domain, seed=3, backend="torch")
vegas = VEGAS().integrate(f, dim=2, N=2000, integration_domain=domain, seed=3)
show(grad=scale.grad, chance=chance, vegas=vegas, **found)
