"""darts: a recurrent, a convolutional and an N-BEATS model of a series, fitted, and their forecasts."""
import logging

import numpy as np
import torch
from darts import TimeSeries
from darts.models import NBEATSModel, RNNModel, TCNModel
from outcome import show

logging.disable(50)
values = np.sin(np.arange(60) / 3) + np.arange(60) / 60
series = TimeSeries.from_values(values.astype(np.float32))
quiet = {"enable_progress_bar": False, "accelerator": "cpu", "logger": False, "enable_checkpointing": False,
         "enable_model_summary": False}
common = {"n_epochs": 2, "batch_size": 8, "random_state": 1, "pl_trainer_kwargs": quiet}
models = {"gru": RNNModel(input_chunk_length=12, model="GRU", hidden_dim=6, training_length=16, **common),
          "tcn": TCNModel(input_chunk_length=12, output_chunk_length=4, num_filters=3, kernel_size=2, **common),
          "nbeats": NBEATSModel(input_chunk_length=12, output_chunk_length=4, num_stacks=2, num_blocks=1, num_layers=2,
                                layer_widths=8, **common)}
found = {}
for name, model in models.items():
    model.fit(series)
    found[name] = torch.tensor(model.predict(6).values())
show(**found)
