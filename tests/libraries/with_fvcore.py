"""fvcore: losses, schedules, running averages of batch norms, tables of parameters and configurations."""
import torch
from fvcore.common.param_scheduler import CompositeParamScheduler, CosineParamScheduler, LinearParamScheduler
from fvcore.nn import (
                       parameter_count,
                       parameter_count_table,
                       sigmoid_focal_loss,
                       smooth_l1_loss,
                       update_bn_stats,
                       weight_init,
)
from outcome import show

net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
                          torch.nn.Linear(4 * 36, 5))
weight_init.c2_msra_fill(net[0])
weight_init.c2_xavier_fill(net[4])
x = torch.randn(8, 3, 8, 8)
update_bn_stats(net, [x[:4], x[4:]], 2)
logits, target = torch.randn(6, 3, requires_grad=True), (torch.rand(6, 3) > 0.5).float()
loss = sigmoid_focal_loss(logits, target, reduction="mean") + smooth_l1_loss(logits, target, 0.3, "sum")
loss.backward()
schedule = CompositeParamScheduler([LinearParamScheduler(0.1, 1), CosineParamScheduler(1, 0)], [0.3, 0.7],
                                   ["rescaled"] * 2)
show(out=net(x), mean=net[1].running_mean, loss=loss, gradient=logits.grad, table=parameter_count_table(net),
     count=str(dict(parameter_count(net))), schedule=torch.tensor([schedule(t / 10) for t in range(10)]))
