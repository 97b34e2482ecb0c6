"""einops: rearrangements, reductions and its layers, with gradients."""
import torch
from einops import einsum, rearrange, reduce, repeat
from einops.layers.torch import Rearrange
from outcome import show

x = torch.randn(2, 3, 4, 4, requires_grad=True)
y = rearrange(x, "b c (h a) (w d) -> b (h w) (c a d)", a=2, d=2)
z = einsum(y, reduce(y, "b n c -> c", "mean"), "b n c, c -> b n")
w = repeat(z, "b n -> b n k", k=2).sum() + torch.nn.Sequential(Rearrange("b c h w -> b (c h w)"))(x).pow(2).sum()
w.backward()
show(z=z, w=w, grad=x.grad)
