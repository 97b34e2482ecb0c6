"""thinc: torch networks within its own, trained by its optimizers."""
import numpy as np
import torch
from outcome import show
from thinc.api import SGD, Linear, PyTorchWrapper, Softmax, chain

rng = np.random.default_rng(0)
x, y = rng.normal(size=(32, 4)).astype("f"), np.eye(3, dtype="f")[rng.integers(0, 3, 32)]
inner = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 5))
model = chain(PyTorchWrapper(inner), Linear(nO=4, nI=5), Softmax(nO=3, nI=4))
for node in model.walk():
    if node.has_param("W"):
        node.init = lambda m, X=None, Y=None: m
model.initialize(X=x[:2], Y=y[:2])
for node in model.walk():
    if node.name in ("linear", "softmax"):
        shape = (node.get_dim("nO"), node.get_dim("nI"))
        node.set_param("W", np.linspace(-1, 1, shape[0] * shape[1], dtype="f").reshape(shape))
        node.set_param("b", np.zeros(shape[0], "f"))
optimizer, losses = SGD(0.1), []
for _ in range(5):
    guess, backprop = model.begin_update(x)
    losses.append(float(((guess - y) ** 2).sum()))
    backprop((guess - y) / len(x))
    model.finish_update(optimizer)
show(losses=torch.tensor(losses), out=torch.from_numpy(np.array(model.predict(x[:4]))), weight=inner[0].weight)
