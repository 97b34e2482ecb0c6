"""entmax: sparse relatives of softmax (also with a learned exponent) and their losses, trained."""
import entmax
import torch
from outcome import network, show, trained

x, y = torch.randn(24, 4).double(), torch.randint(0, 5, (24,))
scores = torch.randn(3, 6, dtype=torch.double, requires_grad=True)
alpha = torch.tensor([[1.2], [1.5], [1.9]], dtype=torch.double, requires_grad=True)
parts = {"sparsemax": entmax.sparsemax(scores), "entmax15": entmax.entmax15(scores, k=4),
         "bisect": entmax.entmax_bisect(scores, alpha), "normmax": entmax.normmax_bisect(scores, alpha=2),
         "budget": entmax.budget_bisect(scores, budget=2)}
weights = torch.randn(6, dtype=torch.double)
grads = {f"d_{name}": torch.autograd.grad(part @ weights, scores, torch.ones(3).double(), retain_graph=True)[0]
         for name, part in parts.items()}
grads["d_alpha"], = torch.autograd.grad((parts["bisect"] @ weights).sum(), alpha)
losses = {}
for loss in (entmax.SparsemaxLoss(), entmax.Entmax15Loss(k=3), entmax.EntmaxBisectLoss(1.3)):
    net = network(out=5).double()
    losses[type(loss).__name__] = trained(net, torch.optim.Adam(net.parameters(), 0.05), x, y, 8,
                                          lambda out, y, loss=loss: loss(out, y).mean())
show(**parts, **grads, **losses)
