"""pytorch_adapt: hooks that adapt a classifier to another domain (adversarially, by moments, by confusion)."""
import torch
from outcome import show
from pytorch_adapt.containers import Models, Optimizers
from pytorch_adapt.hooks import AlignerPlusCHook, ClassifierHook, DANNHook, MCCHook
from pytorch_adapt.layers import CORALLoss, MMDLoss
from pytorch_adapt.models import Discriminator

source, target = torch.randn(32, 6), torch.randn(32, 6) * 1.5 + 0.5
labels = (source[:, 0] > 0).long()
found = {}
for name in ("dann", "mmd", "coral", "confused"):
    torch.manual_seed(0)
    models = Models({"G": torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU()), "C": torch.nn.Linear(8, 2),
                     "D": Discriminator(in_size=8, h=8)})
    optimizers = Optimizers((torch.optim.Adam, {"lr": 0.01}))
    optimizers.create_with(models)
    optimizers = list(optimizers.values())
    hook = {"dann": lambda: DANNHook(optimizers), "confused": lambda: ClassifierHook(optimizers, post=[MCCHook()]),
            "mmd": lambda: AlignerPlusCHook(optimizers, loss_fn=MMDLoss(kernel_scales=1)),
            "coral": lambda: AlignerPlusCHook(optimizers, loss_fn=CORALLoss())}[name]()
    steps = []
    for _ in range(4):
        batch = {"src_imgs": source, "target_imgs": target, "src_labels": labels,
                 "src_domain": torch.zeros(32), "target_domain": torch.ones(32)}
        _, losses = hook({**models, **batch})
        steps += [float(value) for _, value in sorted(losses["total_loss"].items())]
    found[name] = steps
show(**found)
