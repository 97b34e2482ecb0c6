"""torchattacks: many attacks on a trained classifier."""
import numpy as np
import torch
import torchattacks
from outcome import show, trained

x = torch.rand(24, 3, 8, 8)
y = (x[:, 0].mean((1, 2)) > x[:, 1].mean((1, 2))).long()
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 2))
losses = trained(net, torch.optim.Adam(net.parameters(), 1e-2), x, y, loss=torch.nn.functional.cross_entropy)
net.eval()
found = {}
for attack in (torchattacks.FGSM(net), torchattacks.PGD(net, steps=3), torchattacks.BIM(net, steps=3),
               torchattacks.MIFGSM(net, steps=3), torchattacks.CW(net, steps=5), torchattacks.DeepFool(net, steps=5),
               torchattacks.RFGSM(net, steps=3), torchattacks.FFGSM(net), torchattacks.TPGD(net, steps=3),
               torchattacks.APGD(net, steps=4), torchattacks.PGDL2(net, steps=3), torchattacks.DIFGSM(net, steps=3),
               torchattacks.TIFGSM(net, steps=3), torchattacks.NIFGSM(net, steps=3),
               torchattacks.SINIFGSM(net, steps=2),
               torchattacks.VMIFGSM(net, steps=2, N=2), torchattacks.GN(net),
               torchattacks.EOTPGD(net, steps=2), torchattacks.Square(net, n_queries=8),
               torchattacks.SparseFool(net, steps=3),
               torchattacks.OnePixel(net, steps=2, popsize=4)):
    torch.manual_seed(1)
    np.random.seed(1)
    found[type(attack).__name__] = attack(x[:6], y[:6]).flatten(1).mean(1)
show(losses=torch.tensor(losses), **found)
