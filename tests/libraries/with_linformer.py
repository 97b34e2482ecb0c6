"""linformer: a language model with attention of linear cost, trained."""
import torch
from linformer import LinformerLM
from outcome import show, trained

net = LinformerLM(num_tokens=20, dim=16, seq_len=12, depth=2, heads=2, k=4, one_kv_head=True, share_kv=True)
tokens = torch.randint(0, 20, (4, 13))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
losses = trained(net, optimizer, tokens[:, :-1], tokens[:, 1:], 5,
                 lambda out, y: torch.nn.functional.cross_entropy(out.transpose(1, 2), y))
show(losses=losses, logits=net(tokens[:, :-1]))
