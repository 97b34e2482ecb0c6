"""alibi: anchors that explain the predictions of a trained classifier."""
import numpy as np
import torch
from alibi.explainers import AnchorTabular
from outcome import show, trained

np.random.seed(0)
x = torch.rand(400, 4)
y = (x[:, 0] > 0.5).long()
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
losses = trained(net, torch.optim.Adam(net.parameters(), 0.05), x, y, 120, torch.nn.functional.cross_entropy)


def predict(rows):
    with torch.no_grad():
        return net(torch.as_tensor(np.asarray(rows), dtype=torch.float32)).softmax(1).numpy()


explainer = AnchorTabular(predict, ["a", "b", "c", "d"], seed=1)
explainer.fit(x.numpy(), disc_perc=(25, 50, 75))
found = [explainer.explain(row, threshold=0.9) for row in x[:3].numpy()]
show(losses=losses, anchors=[" and ".join(one.anchor) for one in found], out=torch.tensor(predict(x[:20])),
     precision=[float(one.precision) for one in found], coverage=[float(one.coverage) for one in found])
