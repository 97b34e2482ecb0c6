"""torchjd: several losses at once: their Jacobian combined into one step that worsens none."""
import torch
from outcome import network, regression, show
from torchjd.aggregation import IMTLG, MGDA, AlignedMTL, ConFIG, GradVac, Krum, Mean, PCGrad, TrimmedMean
from torchjd.autojac import backward, jac_to_grad, mtl_backward

x, y = regression()
net = network(out=2)
optimizer, losses = torch.optim.SGD(net.parameters(), 0.1), []
for _ in range(5):
    out = net(x)
    values = torch.stack([(out[:, 0] - y[:, 0]).pow(2).mean(), (out[:, 1] + y[:, 0]).pow(2).mean()])
    backward(values)
    jac_to_grad(net.parameters(), MGDA())
    optimizer.step()
    optimizer.zero_grad()
    losses.append(values.detach())
shared, heads = torch.nn.Linear(4, 6), [torch.nn.Linear(6, 1) for _ in range(2)]
features = shared(x).tanh()
tasks = [torch.nn.functional.mse_loss(head(features) * sign, y) for head, sign in zip(heads, (1, -1))]
mtl_backward(tasks, features=features)
jac_to_grad(shared.parameters(), MGDA())
jacobian = torch.randn(4, 7, dtype=torch.double)
kinds = [MGDA(), PCGrad(), IMTLG(), AlignedMTL(), ConFIG(), GradVac(), Krum(1), TrimmedMean(1), Mean()]
show(losses=losses, shared=[p.grad for p in shared.parameters()], heads=[head.weight.grad for head in heads],
     **{type(kind).__name__: kind(jacobian) for kind in kinds})
