"""ema-pytorch: averages of a network's weights while it is trained, also of powers and synthesized afterwards."""
import tempfile

import torch
from ema_pytorch import EMA, PostHocEMA
from outcome import regression, show, trained

x, y = regression()
net = torch.nn.Sequential(torch.nn.Linear(4, 8, bias=False), torch.nn.BatchNorm1d(8), torch.nn.Tanh(),
                          torch.nn.Linear(8, 1))
ema = EMA(net, beta=0.95, update_after_step=2, update_every=2, ignore_startswith_names={"1."})
fast = EMA(net, beta=0.9, update_after_step=0, update_every=1, power=0.75, use_foreach=True, include_online_model=False,
           update_model_with_ema_every=5, update_model_with_ema_beta=0.5)
optimizer = torch.optim.Adam(net.parameters(), 0.03)
with tempfile.TemporaryDirectory() as folder:
    post = PostHocEMA(net, sigma_rels=(0.05, 0.28), update_every=1, checkpoint_every_num_steps=4,
                      checkpoint_folder=folder, checkpoint_dtype=torch.float32)
    losses = []
    for _ in range(12):
        losses += trained(net, optimizer, x, y, 1)
        _ = ema.update(), fast.update(), post.update()
    synthesized = post.synthesize_ema_model(sigma_rel=0.15)
with torch.no_grad():
    show(losses=losses, decay=ema.get_current_decay(), ema=ema(x), fast=fast(x), synthesized=synthesized(x),
         saved=list(ema.state_dict().values()), names=" ".join(fast.state_dict()))
