"""torchmetrics: metrics of classification and regression, accumulated over batches."""
import torch
import torchmetrics
from outcome import show

metrics = torchmetrics.MetricCollection([torchmetrics.Accuracy("multiclass", num_classes=3),
                                         torchmetrics.F1Score("multiclass", num_classes=3, average="macro"),
                                         torchmetrics.ConfusionMatrix("multiclass", num_classes=3),
                                         torchmetrics.AUROC("multiclass", num_classes=3)])
error = torchmetrics.MeanSquaredError()
for _ in range(3):
    p, t = torch.randn(20, 3).softmax(1), torch.randint(3, (20,))
    metrics.update(p, t)
    error.update(p[:, 0], t.float())
show(error=error.compute(), **metrics.compute())
