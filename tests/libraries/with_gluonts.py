"""gluonts: estimators (feed-forward, DeepAR, PatchTST) trained on series, and quantiles of their forecasts."""
import logging
import tempfile

import numpy as np
import pandas as pd
import torch
from gluonts.dataset.common import ListDataset
from gluonts.torch import DeepAREstimator, PatchTSTEstimator, SimpleFeedForwardEstimator
from outcome import show

logging.disable(50)
start = pd.Period("2020-01-01", "h")
data = ListDataset([{"start": start, "target": np.sin(np.arange(80) / 4) + i} for i in range(3)], freq="h")
quiet = {"max_epochs": 1, "enable_progress_bar": False, "logger": False, "enable_model_summary": False,
         "accelerator": "cpu", "default_root_dir": tempfile.mkdtemp()}
common = {"batch_size": 4, "num_batches_per_epoch": 3, "trainer_kwargs": quiet}
found = {}
for name, estimator in (
        ("forward", SimpleFeedForwardEstimator(4, 12, hidden_dimensions=[8], **common)),
        ("deepar", DeepAREstimator("h", 4, context_length=12, num_layers=1, hidden_size=6, **common)),
        ("patch", PatchTSTEstimator(4, 4, context_length=12, d_model=8, nhead=2, dim_feedforward=16, **common))):
    torch.manual_seed(0)
    np.random.seed(0)
    forecasts = list(estimator.train(data).predict(data))
    found[name] = torch.tensor(np.stack([np.asarray(one.quantile(0.5)) for one in forecasts]))
show(**found)
