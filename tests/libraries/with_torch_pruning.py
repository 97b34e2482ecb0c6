"""torch-pruning: channels pruned through the dependencies of a residual network, which is then trained."""
import torch
import torch_pruning as tp
from outcome import show, trained


class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8)
        self.second, self.last = torch.nn.Conv2d(8, 8, 3, padding=1), torch.nn.Linear(8, 4)

    def forward(self, x):
        x = self.norm(self.first(x)).relu()
        return self.last((x + self.second(x)).relu().mean((2, 3)))


net, x, y = Residual(), torch.randn(6, 3, 8, 8), torch.arange(6) % 4
before = tp.utils.count_ops_and_params(net, x[:1])
pruner = tp.pruner.MagnitudePruner(net, x[:1], importance=tp.importance.MagnitudeImportance(p=2), pruning_ratio=0.5,
                                   ignored_layers=[net.last])
pruner.step()
after = tp.utils.count_ops_and_params(net, x[:1])
losses = trained(net, torch.optim.SGD(net.parameters(), 0.1), x, y, 4, torch.nn.functional.cross_entropy)
show(before=before, after=after, losses=losses, weight=net.second.weight)
