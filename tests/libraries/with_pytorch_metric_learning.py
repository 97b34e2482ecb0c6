"""pytorch-metric-learning: losses of embeddings, with pairs that a miner chose."""
import torch
from outcome import network, show, trained
from pytorch_metric_learning import losses, miners

net = network(4, 3)
x, labels = torch.randn(16, 4), torch.arange(16) % 4
miner, loss = miners.MultiSimilarityMiner(), losses.TripletMarginLoss()
values = trained(net, torch.optim.SGD(net.parameters(), 0.1), x, labels,
                 loss=lambda out, y: loss(out, y, miner(out, y)))
others = [losses.NTXentLoss()(net(x), labels), losses.ArcFaceLoss(4, 3)(net(x), labels),
          losses.CircleLoss()(net(x), labels)]
show(losses=values, others=others)
