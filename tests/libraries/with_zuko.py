"""zuko: flows (autoregressive, spline coupling, continuous) fitted to conditional data, with samples."""
import torch
import zuko
from outcome import show

x, c = torch.randn(32, 3).cumsum(1), torch.randn(32, 2)
found = {}
for name, flow in {"maf": zuko.flows.MAF(3, 2, transforms=2, hidden_features=(8,)),
                   "nsf": zuko.flows.NSF(3, 2, transforms=2, bins=4, hidden_features=(8,)),
                   "nice": zuko.flows.NICE(3, 2, transforms=2, hidden_features=(8,)),
                   "gmm": zuko.mixtures.GMM(3, 2, components=2)}.items():
    optimizer, losses = torch.optim.Adam(flow.parameters(), 1e-2), []
    for _ in range(4):
        loss = -flow(c).log_prob(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        found[name] = [torch.tensor(losses), flow(c[:2]).sample((3,))]
cnf = zuko.flows.CNF(3, 2, hidden_features=(8,))
show(cnf=cnf(c[:4]).log_prob(x[:4]), **found)
