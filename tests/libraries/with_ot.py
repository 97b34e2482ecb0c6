"""POT: optimal transport between points, exact, regularized, sliced, partial and of structures, with gradients."""
import ot
import torch
from outcome import show

torch.set_default_dtype(torch.double)
x, y, b = torch.randn(12, 2, requires_grad=True), torch.randn(15, 2) * 0.5 + 1, torch.full((15,), 1 / 15)
a, near = torch.softmax(torch.randn(12), 0).requires_grad_(), torch.cdist(y, y)
cost = ot.dist(x, y)
values = {
    "emd": ot.emd2(a, b, cost), "log": ot.sinkhorn2(a, b, cost, reg=0.1, method="sinkhorn_log"),
    "unbalanced": ot.unbalanced.sinkhorn_unbalanced2(a, b, cost, reg=0.3, reg_m=1.0),
    "sliced": ot.sliced_wasserstein_distance(x, y, n_projections=20, seed=0),
    "line": ot.wasserstein_1d(x[:, 0], y[:, 0], a, b, p=2), "entropic": ot.bregman.empirical_sinkhorn2(x, y, reg=0.5),
    "fused": ot.fused_gromov_wasserstein2(cost, torch.cdist(x, x), near, a.detach(), b),
    "gaussian": ot.gaussian.bures_wasserstein_distance(x.mean(0), y.mean(0), torch.cov(x.T), torch.cov(y.T)),
    "solved": ot.solve(cost, a, b, reg=0.4).value}
grads = {f"d_{name}": [g for g in torch.autograd.grad(value, [x, a], allow_unused=True, retain_graph=True)
                       if g is not None] for name, value in values.items()}
x, cost, a = x.detach(), cost.detach(), a.detach()
parts = {"plan": ot.emd(a, b, cost), "partial": ot.partial.partial_wasserstein(a, b, cost, m=0.5),
         "smooth": ot.optim.cg(a, b, cost, 0.1, lambda G: 0.5 * (G**2).sum(), lambda G: G, numItermax=20),
         "moved": ot.da.SinkhornTransport(reg_e=0.5).fit(Xs=x, Xt=y).transform(Xs=x)}
show(**values, **grads, **parts, barycenter=ot.barycenter(torch.softmax(y, 0), near**2, reg=0.5))
