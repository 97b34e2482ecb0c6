"""madgrad: momentumized dual averaging and its mirror descent form, also on sparse gradients."""
import torch
from madgrad import MADGRAD, MirrorMADGRAD
from outcome import network, regression, show, trained

x, y = regression()
losses = {}
for name, make in {"plain": lambda p: MADGRAD(p, lr=0.02, weight_decay=1e-3),
                   "decoupled": lambda p: MADGRAD(p, lr=0.02, momentum=0.8, decouple_decay=True, weight_decay=0.1),
                   "still": lambda p: MADGRAD(p, lr=0.02, momentum=0),
                   "mirror": lambda p: MirrorMADGRAD(p, lr=0.02, weight_decay=1e-3, decouple_decay=True)}.items():
    net = network()
    losses[name] = trained(net, make(net.parameters()), x, y, 15)
table = torch.nn.EmbeddingBag(10, 3, mode="sum", sparse=True)
words, goal = torch.randint(0, 8, (6, 4)), torch.randn(6, 3)
losses["sparse"] = trained(table, MADGRAD(table.parameters(), lr=0.05, momentum=0, eps=1e-3), words, goal, 8)
show(**losses, table=table.weight)
