"""pytorch_forecasting: a temporal fusion transformer, DeepAR and N-BEATS on a frame of series."""
import tempfile

import numpy as np
import pandas as pd
import torch
from lightning.pytorch import Trainer
from outcome import show
from pytorch_forecasting import DeepAR, NBeats, TemporalFusionTransformer, TimeSeriesDataSet
from pytorch_forecasting.metrics import QuantileLoss

time = np.arange(40)
frame = pd.concat([pd.DataFrame({"time": time, "series": str(i), "value": np.sin(time / 4 + i) + 2.0,
                                 "other": np.cos(time / 4)}) for i in range(3)], ignore_index=True)
shared = {"time_idx": "time", "target": "value", "group_ids": ["series"], "max_encoder_length": 12,
          "min_encoder_length": 12, "max_prediction_length": 4, "time_varying_unknown_reals": ["value"]}
rich = TimeSeriesDataSet(frame, static_categoricals=["series"], time_varying_known_reals=["time", "other"], **shared)
bare = TimeSeriesDataSet(frame, **shared)
found = {}
for name, data, make in (
        ("fusion", rich, lambda: TemporalFusionTransformer.from_dataset(
            rich, hidden_size=8, attention_head_size=2, hidden_continuous_size=4, loss=QuantileLoss(), dropout=0.1)),
        ("deepar", rich, lambda: DeepAR.from_dataset(rich, hidden_size=8, rnn_layers=1)),
        ("nbeats", bare, lambda: NBeats.from_dataset(bare, widths=[8, 16], backcast_loss_ratio=0.1))):
    torch.manual_seed(0)
    np.random.seed(0)
    net = make()
    trainer = Trainer(max_epochs=1, limit_train_batches=3, accelerator="cpu", logger=False, enable_progress_bar=False,
                      enable_model_summary=False, enable_checkpointing=False, default_root_dir=tempfile.mkdtemp())
    trainer.fit(net, data.to_dataloader(train=True, batch_size=8, num_workers=0))
    net.eval()
    inputs, _ = next(iter(data.to_dataloader(train=False, batch_size=4, num_workers=0)))
    with torch.no_grad():
        found[name] = net(inputs)["prediction"]
show(**found)
