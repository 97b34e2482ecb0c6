"""pytorch-warmup: learning rates dampened in the first steps of training, under any scheduler."""
import pytorch_warmup as warmup
import torch
from outcome import network, regression, show, trained

x, y = regression()
rates, losses = {}, {}
for name, make in {"linear": lambda o: warmup.LinearWarmup(o, [6, 3]),
                   "exponential": lambda o: warmup.ExponentialWarmup(o, 5), "untuned": warmup.UntunedLinearWarmup,
                   "untuned_exponential": warmup.UntunedExponentialWarmup, "radam": warmup.RAdamWarmup}.items():
    net = network()
    groups = [{"params": net[0].parameters()}, {"params": net[2].parameters(), "lr": 0.02, "betas": (0.8, 0.9)}]
    optimizer = torch.optim.AdamW(groups, lr=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, [0.05, 0.02], total_steps=12, cycle_momentum=False)
    dampened = make(optimizer)
    rates[f"rates_{name}"], losses[name] = [], []
    for _ in range(10):
        losses[name] += trained(net, optimizer, x, y, 1)
        with dampened.dampening():
            schedule.step()
        rates[f"rates_{name}"].append([group["lr"] for group in optimizer.param_groups])
show(**rates, **losses, step=dampened.state_dict()["last_step"])
