"""torchdyn: a neural differential equation trained by the adjoint and by backpropagation, and solvers."""
import torch
from outcome import show
from torchdyn.core import NeuralODE
from torchdyn.numerics import Lorenz, odeint

x = torch.randn(16, 2)
y = torch.stack([x[:, 1], -x[:, 0]], 1)
found = {}
for way in ("adjoint", "autograd"):
    torch.manual_seed(0)
    field = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    model = NeuralODE(field, sensitivity=way, solver="dopri5", atol=1e-4, rtol=1e-4)
    optimizer, losses = torch.optim.Adam(model.parameters(), 0.02), []
    for _ in range(5):
        _, path = model(x, torch.linspace(0, 1, 4))
        loss = torch.nn.functional.mse_loss(path[-1], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    found[way] = losses
times = torch.linspace(0, 0.5, 6, dtype=torch.float64)
for solver in ("euler", "rk4", "tsit5", "dopri5"):
    _, path = odeint(Lorenz(), torch.tensor([[1.0, 0.5, 2.0]], dtype=torch.float64), times, solver=solver)
    found[solver] = path
show(**found)
