"""local-attention: attention within windows, plain and in a language model that is trained and writes."""
import random

import torch
from local_attention import LocalAttention, LocalMHA, LocalTransformer
from outcome import show, trained

random.seed(0)
q, k, v = torch.randn(3, 2, 4, 20, 8, requires_grad=True).unbind()
mask = torch.arange(20) < torch.tensor([[20], [13]])
parts = {"both": LocalAttention(5, look_forward=1, dim=8)(q, k, v),
         "causal": LocalAttention(6, causal=True, autopad=True, exact_windowsize=True)(q, k, v, mask=mask),
         "xpos": LocalAttention(5, causal=True, look_backward=2, dim=8, use_xpos=True, xpos_scale_base=10)(q, k, v),
         "shared": LocalAttention(4, shared_qk=True, use_rotary_pos_emb=False)(q, q, v)}
grads = torch.autograd.grad(sum([part.square().sum() for part in parts.values()]), [q, k, v])
mha = LocalMHA(dim=12, window_size=4, heads=2, dim_head=8, causal=True, qk_rmsnorm=True, prenorm=True,
               gate_values_per_head=True)
x, y = torch.randn(2, 10, 12), torch.randn(2, 10, 12)
losses = trained(mha, torch.optim.Adam(mha.parameters(), 0.01), x, y, 4)
net = LocalTransformer(num_tokens=16, dim=16, depth=2, max_seq_len=24, local_attn_window_size=6, dim_head=8, heads=2,
                       use_dynamic_pos_bias=True, num_residual_streams=2)
words, optimizer = torch.randint(0, 16, (2, 25)), torch.optim.Adam(net.parameters(), 0.01)
language = trained(lambda words: net(words, return_loss=True), optimizer, words, None, 5, lambda out, _: out)
written = net.generate(words[:, :4], 6, temperature=0.0)
show(**parts, grads=grads, losses=losses, language=language, written=written, logits=net(words[:, :20]))
