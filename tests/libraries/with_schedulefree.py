"""schedulefree: AdamW, RAdam and SGD without a schedule, and any optimizer wrapped to need none."""
import torch
from outcome import network, regression, show, trained
from schedulefree import AdamWScheduleFree, RAdamScheduleFree, ScheduleFreeWrapper, SGDScheduleFree

x, y = regression()


def losses(make):
    torch.manual_seed(1)
    net = network()
    optimizer = make(net.parameters())
    optimizer.train()
    found = trained(net, optimizer, x, y, 8)
    optimizer.eval()
    return [*found, torch.nn.functional.mse_loss(net(x), y).item()]


show(adamw=losses(lambda p: AdamWScheduleFree(p, lr=0.02, warmup_steps=3, weight_decay=0.01)),
     foreach=losses(lambda p: AdamWScheduleFree(p, lr=0.02, foreach=True)),
     radam=losses(lambda p: RAdamScheduleFree(p, lr=0.02)), sgd=losses(lambda p: SGDScheduleFree(p, lr=0.5)),
     wrapped=losses(lambda p: ScheduleFreeWrapper(torch.optim.SGD(p, lr=0.2, momentum=0.5), momentum=0.9)))
