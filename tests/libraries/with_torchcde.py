"""torchcde: a neural controlled differential equation over a cubic spline, trained."""
import torch
import torchcde
from outcome import show, trained


class CDE(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.start, self.field, self.last = torch.nn.Linear(2, 3), torch.nn.Linear(3, 6), torch.nn.Linear(3, 1)

    def forward(self, coefficients):
        path = torchcde.CubicSpline(coefficients)
        z = torchcde.cdeint(path, lambda t, z: self.field(z).tanh().view(-1, 3, 2), self.start(path.evaluate(0)),
                            path.interval, adjoint=False, method="rk4", options={"step_size": 0.5})
        return self.last(z[:, -1])


t = torch.linspace(0, 1, 6)
x = torch.stack([t.expand(8, 6), (t * torch.randn(8, 1)).sin()], 2)
net, coefficients = CDE(), torchcde.hermite_cubic_coefficients_with_backward_differences(x)
losses = trained(net, torch.optim.Adam(net.parameters(), 0.01), coefficients, x[:, -1, 1:], 5)
x[2, 3] = float("nan")
show(losses=losses, natural=torchcde.natural_cubic_coeffs(x), linear=torchcde.linear_interpolation_coeffs(x))
