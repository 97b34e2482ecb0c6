"""mambapy: selective state spaces by a parallel scan, word by word with a cache, in both directions, with attention."""
import torch
from mambapy import jamba, mamba, vim
from outcome import show, trained

shape = {"d_model": 8, "n_layers": 2, "d_state": 4}
x, y = torch.randn(2, 11, 8), torch.randn(2, 11, 8)
nets = {"parallel": mamba.Mamba(mamba.MambaConfig(**shape)),
        "sequential": mamba.Mamba(mamba.MambaConfig(**shape, pscan=False, bias=True, mup=True, mup_base_width=4)),
        "normed": mamba.Mamba(mamba.MambaConfig(**shape, inner_layernorms=True, dt_init="constant")),
        "vision": vim.VMamba(vim.MambaConfig(**shape))}
losses = {name: trained(net, torch.optim.Adam(net.parameters(), 0.01), x, y, 4) for name, net in nets.items()}
caches = [(None, torch.zeros(2, 16, 3)) for _ in range(2)]
for i in range(11):
    step, caches = nets["parallel"].step(x[:, i], caches)
model = jamba.JambaLM(jamba.JambaLMConfig(**{**shape, "n_layers": 4}, mlp_size=12, num_attention_heads=4,
                                          num_key_value_heads=2, num_experts=3, num_experts_per_tok=2, vocab_size=20,
                                          attn_layer_offset=1, attn_layer_period=2))
words = torch.randint(1, 20, (2, 9))
losses["words"] = trained(model, torch.optim.Adam(model.parameters(), 0.01), words[:, :-1], words[:, 1:].flatten(), 4,
                          lambda out, y: torch.nn.functional.cross_entropy(out[0].flatten(0, 1), y))
logits, routes = model(words)
show(**losses, step=step, whole=nets["parallel"](x)[:, -1], logits=logits, routes=list(routes))
