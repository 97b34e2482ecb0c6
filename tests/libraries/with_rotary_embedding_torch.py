"""rotary-embedding-torch: rotary positions for queries and keys, lengths beyond training, images, learned turns."""
import torch
from outcome import show
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

q, k = torch.randn(1, 2, 6, 16, requires_grad=True), torch.randn(1, 2, 6, 16)
rotary = RotaryEmbedding(dim=8, learned_freq=True)
turned, keys = rotary.rotate_queries_or_keys(q), rotary.rotate_queries_or_keys(k, offset=2)
(turned @ keys.transpose(-1, -2)).softmax(-1).pow(2).sum().backward()
xpos = RotaryEmbedding(dim=8, use_xpos=True, interpolate_factor=2.0)
scaled = xpos.rotate_queries_and_keys(q, k)
cached = RotaryEmbedding(dim=8).rotate_queries_with_cached_keys(q[:, :, -1:], k)
pixels = RotaryEmbedding(dim=8, freqs_for="pixel", max_freq=10)
image = apply_rotary_emb(pixels.get_axial_freqs(4, 3), torch.randn(1, 4, 3, 16))
show(turned=turned, keys=keys, grad=q.grad, learned=rotary.freqs.grad, scaled=scaled, cached=cached, image=image)
