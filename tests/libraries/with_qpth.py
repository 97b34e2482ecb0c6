"""qpth: quadratic programs as a layer: their solutions and the gradients with respect to every part of them."""
import torch
from outcome import show
from qpth.qp import QPFunction, QPSolvers

torch.set_default_dtype(torch.double)
half, p = torch.randn(3, 4, 4), torch.randn(3, 4, requires_grad=True)
q = (half @ half.mT + 0.5 * torch.eye(4)).requires_grad_()
g, h = torch.randn(5, 4, requires_grad=True), (torch.rand(5) + 0.5).requires_grad_()
a, b = torch.randn(1, 4, requires_grad=True), torch.zeros(1, requires_grad=True)
solution = QPFunction(verbose=-1)(q, p, g, h, a, b)
solution.pow(2).sum().backward()
free = QPFunction(verbose=-1)(q, p, g, h, torch.empty(0), torch.empty(0))
convex = QPFunction(verbose=-1, solver=QPSolvers.CVXPY)(q[:1], p[:1], g, h, a, b)
weights, x = torch.randn(6, 4, requires_grad=True), torch.randn(3, 6)
optimizer, losses = torch.optim.Adam([weights], 0.05), []
for _ in range(5):
    optimizer.zero_grad()
    nearest = QPFunction(verbose=-1)(torch.eye(4), x @ weights, -torch.eye(4), torch.zeros(4), torch.ones(1, 4),
                                     torch.ones(1))
    loss = (nearest - torch.tensor([0.1, 0.2, 0.3, 0.4])).pow(2).sum()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
show(solution=solution, grads=[v.grad for v in (q, p, g, h, a, b)], free=free, convex=convex, losses=losses)
