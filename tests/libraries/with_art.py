"""adversarial-robustness-toolbox: a classifier fitted by its trainer, evasion attacks on it and a defence."""
import numpy as np
import torch
from art.attacks.evasion import CarliniL2Method, FastGradientMethod, ProjectedGradientDescent
from art.estimators.classification import PyTorchClassifier
from outcome import show

np.random.seed(0)
x = torch.rand(64, 1, 6, 6).numpy()
y = (x.mean((1, 2, 3)) > 0.5).astype(np.int64)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(64, 2))
model = PyTorchClassifier(net, torch.nn.CrossEntropyLoss(), (1, 6, 6), 2, torch.optim.Adam(net.parameters(), 0.02),
                          clip_values=(0, 1))
model.fit(x, y, batch_size=16, nb_epochs=5, verbose=False)
attacks = {"fast": FastGradientMethod(model, eps=0.1),
           "steps": ProjectedGradientDescent(model, eps=0.1, eps_step=0.03, max_iter=5, verbose=False),
           "carlini": CarliniL2Method(model, max_iter=4, binary_search_steps=2, verbose=False)}
moved = {name: attack.generate(x[:16]) for name, attack in attacks.items()}
show(out=torch.tensor(model.predict(x)), slopes=torch.tensor(model.loss_gradient(x[:4], np.eye(2)[y[:4]])),
     **{name: torch.tensor(value - x[:16]) for name, value in moved.items()})
