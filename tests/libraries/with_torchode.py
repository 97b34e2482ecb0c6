"""torchode: a batch of differential equations with steps of their own, and gradients through the solver."""
import torch
import torchode
from outcome import show

rate = torch.tensor([0.5, 2.0, 9.0], dtype=torch.double).unsqueeze(1).requires_grad_()
y0 = torch.tensor([[2.0, 0.0]], dtype=torch.double).repeat(3, 1)
times = torch.linspace(0, 3, 7, dtype=torch.double).repeat(3, 1)


def oscillator(t, y):
    return torch.stack([y[:, 1], rate[:, 0] * (1 - y[:, 0] ** 2) * y[:, 1] - y[:, 0]], 1)


term = torchode.ODETerm(oscillator)
step = torchode.Tsit5(term=term)
solver = torchode.AutoDiffAdjoint(step, torchode.IntegralController(atol=1e-6, rtol=1e-4, term=term))
solution = solver.solve(torchode.InitialValueProblem(y0=y0, t_eval=times))
solution.ys.pow(2).sum().backward()
other = torchode.solve_ivp(oscillator, y0, times, method="dopri5")
show(ys=solution.ys, steps=solution.stats["n_accepted"], status=solution.status, grad=rate.grad, other=other.ys)
