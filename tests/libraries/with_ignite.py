"""pytorch-ignite: a loop of training with metrics and handlers."""
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import MeanSquaredError, RunningAverage
from outcome import network, regression, show
from torch.utils.data import DataLoader, TensorDataset

x, y = regression()
net = network()
trainer = create_supervised_trainer(net, torch.optim.SGD(net.parameters(), 0.1), torch.nn.functional.mse_loss)
RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
evaluator, seen = create_supervised_evaluator(net, metrics={"mse": MeanSquaredError()}), []


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    seen.append([engine.state.metrics["loss"], evaluator.run(loader).metrics["mse"]])


loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
trainer.run(loader, max_epochs=3)
show(seen=seen)
