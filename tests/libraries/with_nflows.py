"""nflows: a masked autoregressive flow fitted, and samples of it."""
import torch
from nflows.distributions.normal import StandardNormal
from nflows.flows.base import Flow
from nflows.transforms.autoregressive import MaskedAffineAutoregressiveTransform
from nflows.transforms.base import CompositeTransform
from nflows.transforms.permutations import ReversePermutation
from outcome import show

parts = [part for _ in range(2)
         for part in (ReversePermutation(2), MaskedAffineAutoregressiveTransform(2, hidden_features=4))]
flow = Flow(CompositeTransform(parts), StandardNormal([2]))
optimizer, x, losses = torch.optim.Adam(flow.parameters(), 0.01), torch.randn(32, 2) * 2 + 1, []
for _ in range(5):
    optimizer.zero_grad()
    loss = -flow.log_prob(x).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
show(losses=losses, samples=flow.sample(4))
