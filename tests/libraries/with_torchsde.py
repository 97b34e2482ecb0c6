"""torchsde: a stochastic differential equation solved, and a gradient through it."""
import torch
import torchsde
from outcome import show


class Equation(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.rate = torch.nn.Parameter(torch.tensor(0.5))

    def f(self, t, y):
        return -self.rate * y

    def g(self, t, y):
        return 0.1 * torch.ones_like(y)


equation = Equation()
times = torch.linspace(0, 1, 5)
motion = torchsde.BrownianInterval(t0=0.0, t1=1.0, size=(3, 2), entropy=1)
path = torchsde.sdeint(equation, torch.ones(3, 2), times, bm=motion, dt=0.1, method="euler")
path[-1].sum().backward()
show(path=path, gradient=equation.rate.grad)
