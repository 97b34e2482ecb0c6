"""tsai: classifiers of series (convolutional, recurrent, inception, a transformer), trained; random convolutions."""
import random

import numpy as np
import torch
from outcome import show, trained
from tsai.models.FCN import FCN
from tsai.models.InceptionTime import InceptionTime
from tsai.models.MINIROCKET_Pytorch import MiniRocketFeatures
from tsai.models.RNN import LSTM
from tsai.models.TST import TST
from tsai.models.XceptionTime import XceptionTime

np.random.seed(0)
random.seed(0)
x = torch.randn(16, 2, 24)
y = (x.mean((1, 2)) > 0).long()
found = {}
for name, make in (("fcn", lambda: FCN(2, 2, layers=[4, 8, 4])), ("inception", lambda: InceptionTime(2, 2, nf=4)),
                   ("lstm", lambda: LSTM(2, 2, hidden_size=6)), ("xception", lambda: XceptionTime(2, 2, nf=4)),
                   ("tst", lambda: TST(2, 2, 24, d_model=8, n_heads=2, d_ff=16, n_layers=1))):
    torch.manual_seed(0)
    net = make()
    found[name] = trained(net, torch.optim.Adam(net.parameters(), 1e-3), x, y, 4, torch.nn.functional.cross_entropy)
rocket = MiniRocketFeatures(2, 24, num_features=168, random_state=1)
rocket.fit(x)
found["rocket"] = rocket(x)[:, :10]
show(**found)
