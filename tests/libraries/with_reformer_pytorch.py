"""reformer-pytorch: a language model with hashed attention and reversible layers, trained."""
import torch
from outcome import show, trained
from reformer_pytorch import LSHSelfAttention, ReformerLM

net = ReformerLM(num_tokens=20, dim=16, depth=2, max_seq_len=16, heads=2, bucket_size=4, n_hashes=2, causal=True,
                 ff_chunks=2, n_local_attn_heads=0)
tokens = torch.randint(0, 20, (2, 17))
losses = trained(net, torch.optim.Adam(net.parameters(), 1e-2), tokens[:, :-1], tokens[:, 1:], 4,
                 lambda out, y: torch.nn.functional.cross_entropy(out.transpose(1, 2), y))
attention = LSHSelfAttention(dim=16, heads=2, bucket_size=4, n_hashes=2)
x = torch.randn(1, 16, 16, requires_grad=True)
out = attention(x)
out.sum().backward()
show(losses=losses, out=out, grad=x.grad)
