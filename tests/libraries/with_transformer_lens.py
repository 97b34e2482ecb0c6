"""transformer_lens: a small transformer trained, its activations by name, and its output with some patched."""
import torch
from outcome import show
from transformer_lens import HookedTransformer, HookedTransformerConfig

net = HookedTransformer(HookedTransformerConfig(n_layers=2, d_model=16, n_ctx=8, d_head=8, n_heads=2, d_mlp=32,
                                                d_vocab=20, act_fn="gelu", seed=0, device="cpu"))
tokens = torch.randint(0, 20, (4, 8))
optimizer, losses = torch.optim.AdamW(net.parameters(), 1e-2), []
for _ in range(5):
    loss = net(tokens, return_type="loss")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
with torch.no_grad():
    out, kept = net.run_with_cache(tokens)
    patched = net.run_with_hooks(tokens, fwd_hooks=[("blocks.0.attn.hook_z", lambda value, hook: value * 0)])
show(losses=losses, out=out[:, -1], pattern=kept["pattern", 0][0], patched=patched[:, -1],
     names=list(kept)[:12])
