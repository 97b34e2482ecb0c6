"""torchphysics: a network that fulfils a differential equation with boundary values, trained by lightning."""
import tempfile

import pytorch_lightning as pl
import torch
import torchphysics as tp
from outcome import show

X, U = tp.spaces.R1("x"), tp.spaces.R1("u")
line = tp.domains.Interval(X, 0, 1)
net = tp.models.FCN(X, U, hidden=(8, 8))


def residual(u, x):
    return tp.utils.laplacian(u, x) + u


def edge(u, x):
    return u - torch.sin(x)


conditions = [tp.conditions.PINNCondition(net, tp.samplers.RandomUniformSampler(line, n_points=20), residual),
              tp.conditions.PINNCondition(net, tp.samplers.GridSampler(line.boundary, n_points=2), edge, weight=10)]
solver = tp.solver.Solver(conditions, optimizer_setting=tp.OptimizerSetting(torch.optim.Adam, 0.01))
trainer = pl.Trainer(max_steps=8, accelerator="cpu", logger=False, enable_checkpointing=False, benchmark=False,
                     enable_progress_bar=False, enable_model_summary=False, default_root_dir=tempfile.mkdtemp())
trainer.fit(solver)
points = tp.spaces.Points(torch.linspace(0, 1, 9).unsqueeze(1), X)
show(out=net(points).as_tensor, weights=[p.detach() for p in net.parameters()],
     drawn=tp.samplers.RandomUniformSampler(line, n_points=5).sample_points().as_tensor)
