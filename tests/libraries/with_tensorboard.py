"""tensorboard: scalars and histograms written and read."""
import tempfile

import torch
from outcome import show
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

with tempfile.TemporaryDirectory() as folder:
    with SummaryWriter(folder) as writer:
        for step in range(3):
            writer.add_scalar("loss", torch.tensor(1.0 / (step + 1)), step)
        writer.add_histogram("weights", torch.linspace(-1, 1, 50), 0)
        writer.add_text("said", "a text")
    events = EventAccumulator(folder)
    events.Reload()
    histogram = events.Histograms("weights")[0].histogram_value
    show(scalars=[e.value for e in events.Scalars("loss")], histogram=[histogram.sum, histogram.num, histogram.min],
         buckets=list(histogram.bucket))
