"""fastai: a Learner on a table."""
import torch
from fastai.callback import progress  # noqa: F401  (gives Learner its no_bar)
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from outcome import network, regression, show
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(*regression())
learner = Learner(DataLoaders(DataLoader(data, batch_size=8), DataLoader(data, batch_size=8)), network(),
                  loss_func=torch.nn.functional.mse_loss)
with learner.no_bar(), learner.no_logging():
    learner.fit(2, lr=0.01)
show(losses=[float(x) for x in learner.recorder.losses], values=[list(map(float, v)) for v in learner.recorder.values])
