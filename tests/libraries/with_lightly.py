"""lightly: heads and losses of learning without labels, an encoder trained by some of them."""
import torch
from lightly import loss as losses_of
from lightly.models.modules import BarlowTwinsProjectionHead, SimCLRProjectionHead, SimSiamPredictionHead
from lightly.models.utils import deactivate_requires_grad, update_momentum
from outcome import show


def encoder():
    conv = torch.nn.Conv2d(3, 4, 3, 2)
    return torch.nn.Sequential(conv, torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(36, 16))


images = torch.randn(16, 3, 8, 8)
found = {}
for name, loss_of in (("ntxent", losses_of.NTXentLoss()), ("twins", losses_of.BarlowTwinsLoss()),
                      ("vicreg", losses_of.VICRegLoss()), ("dcl", losses_of.DCLLoss()), ("tico", losses_of.TiCoLoss()),
                      ("cosine", losses_of.NegativeCosineSimilarity())):
    torch.manual_seed(0)
    net = encoder()
    head = BarlowTwinsProjectionHead(16, 16, 8) if name == "twins" else SimCLRProjectionHead(16, 16, 8)
    slow = encoder()
    deactivate_requires_grad(slow)
    guess = SimSiamPredictionHead(8, 4, 8)
    optimizer = torch.optim.SGD([*net.parameters(), *head.parameters(), *guess.parameters()], 0.05, momentum=0.9)
    steps = []
    for _ in range(4):
        update_momentum(net, slow, 0.9)
        a, b = head(net(images + 0.1 * torch.randn_like(images))), head(net(images.flip(3)))
        loss = loss_of(guess(a), b.detach()) if name == "cosine" else loss_of(a, b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps.append(loss.item())
    found[name] = steps + slow[0].bias.tolist()
show(**found)
