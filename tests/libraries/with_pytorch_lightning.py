"""pytorch-lightning: a Trainer, with a callback and a checkpoint."""
import tempfile

import pytorch_lightning as L
import torch
from outcome import network, regression, show
from torch.utils.data import DataLoader, TensorDataset


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net, self.losses = network(), []

    def training_step(self, batch, index):
        loss = torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        self.losses.append(loss.item())
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), 0.05)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


model = Regression()
with tempfile.TemporaryDirectory() as folder:
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_progress_bar=False,
                        enable_model_summary=False, default_root_dir=folder, log_every_n_steps=1)
    trainer.fit(model, DataLoader(TensorDataset(*regression()), batch_size=8))
show(losses=model.losses)
