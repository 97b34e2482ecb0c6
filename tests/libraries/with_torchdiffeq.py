"""torchdiffeq: an equation solved, and the gradient by the adjoint."""
import torch
from outcome import show
from torchdiffeq import odeint, odeint_adjoint


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, t, y):
        return torch.tanh(self.linear(y))


field, y0, t = Field(), torch.tensor([[1.0, 0.5]]), torch.linspace(0, 1, 5)
direct = odeint(field, y0, t)
odeint_adjoint(field, y0, t)[-1].sum().backward()
show(direct=direct, grad=field.linear.weight.grad)
