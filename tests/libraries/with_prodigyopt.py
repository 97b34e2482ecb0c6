"""prodigyopt: an optimizer that finds its own step size, and the size found."""
import torch
from outcome import network, regression, show, trained
from prodigyopt import Prodigy

x, y = (t.double() for t in regression())
losses, sizes = {}, {}
for name, option in {"plain": {}, "coupled": {"decouple": False, "weight_decay": 1e-2},
                     "careful": {"use_bias_correction": True, "safeguard_warmup": True, "growth_rate": 1.5},
                     "sliced": {"slice_p": 3, "d0": 1e-4, "d_coef": 2.0, "weight_decay": 0.1}}.items():
    net = network().double()
    optimizer = Prodigy(net.parameters(), **option)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
    optimizer.register_step_post_hook(lambda *_, scheduler=scheduler: scheduler.step())
    losses[name] = trained(net, optimizer, x, y, 30)
    sizes[f"d_{name}"] = optimizer.param_groups[0]["d"]
show(**losses, **sizes, rate=scheduler.get_last_lr())
