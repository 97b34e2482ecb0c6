"""geomloss: distances between clouds of points (transport, kernels), and points that flow along their gradients."""
import torch
from geomloss import SamplesLoss
from outcome import show

x, y = torch.rand(2, 20, 3, dtype=torch.double), torch.rand(2, 25, 3, dtype=torch.double) + 0.3
weights = torch.rand(2, 20, dtype=torch.double)
weights, even = weights / weights.sum(1, keepdim=True), torch.full((2, 25), 1 / 25, dtype=torch.double)
kinds = {"sinkhorn": {"p": 2, "blur": 0.1}, "linear": {"p": 1, "blur": 0.05, "scaling": 0.7},
         "unbalanced": {"reach": 0.5, "blur": 0.1}, "biased": {"debias": False, "blur": 0.1}, "gaussian": {"blur": 0.5},
         "laplacian": {"blur": 0.5}, "energy": {}}
values, grads = {}, {}
for name, option in kinds.items():
    known = name in ("gaussian", "laplacian", "energy")
    loss = SamplesLoss(name if known else "sinkhorn", backend="tensorized", **option)
    a, points = weights.clone().requires_grad_(), x.clone().requires_grad_()
    values[name] = loss(a, points, even, y)
    grads[f"d_{name}"] = torch.autograd.grad(values[name].sum(), [a, points])
potentials = SamplesLoss("sinkhorn", blur=0.1, potentials=True, backend="tensorized")(x[0], y[0])
flow, loss = x[0].clone().requires_grad_(), SamplesLoss("sinkhorn", blur=0.05, backend="tensorized")
for _ in range(5):
    slope, = torch.autograd.grad(loss(flow, y[0]), flow)
    flow.data -= 20 * slope
show(**values, **grads, potentials=potentials, flow=flow)
