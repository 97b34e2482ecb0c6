"""performer-pytorch: attention in linear time by random features, in language models (reversible too) that write."""
import torch
from outcome import show, trained
from performer_pytorch import AutoregressiveWrapper, FastAttention, Performer, PerformerEncDec, PerformerLM

q, k, v = torch.randn(3, 1, 2, 12, 8, requires_grad=True).unbind()
parts = {"softmax": FastAttention(8, nb_features=16)(q, k, v),
         "general": FastAttention(8, nb_features=12, generalized_attention=True, ortho_scaling=1)(q, k, v),
         "causal": FastAttention(8, 16, causal=True)(q, k, v), "plain": FastAttention(8, no_projection=True)(q, k, v)}
grads = torch.autograd.grad(sum([part.square().sum() for part in parts.values()]), [q, k, v])
x, y, words = torch.randn(2, 10, 16), torch.randn(2, 10, 16), torch.randint(1, 20, (2, 16))
net = Performer(dim=16, depth=2, heads=2, dim_head=8, ff_glu=True, use_rezero=True, feature_redraw_interval=2,
                nb_features=8)
losses = trained(net, torch.optim.Adam(net.parameters(), 0.02), x, y, 4)
shape = {"num_tokens": 20, "dim": 16, "depth": 2, "heads": 4, "max_seq_len": 16, "dim_head": 8, "nb_features": 8}
model = AutoregressiveWrapper(PerformerLM(**shape, causal=True, reversible=True, local_attn_heads=1,
                                          local_window_size=4, shift_tokens=True, use_scalenorm=True, tie_embed=True))
language = trained(model, torch.optim.Adam(model.parameters(), 0.01), words, None, 4, lambda out, _: out)
written = model.generate(words[:, :4], 6, temperature=0.8)
sides = {side + name: value for side in ("enc_", "dec_") for name, value in shape.items() if name != "dim"}
pair = PerformerEncDec(dim=16, tie_token_embeds=True, **sides)
translation = trained(lambda words: pair(words, words.flip(1), enc_mask=words > 3),
                      torch.optim.Adam(pair.parameters(), 0.01), words, None, 3, lambda out, _: out)
show(**parts, grads=grads, losses=losses, language=language, written=written, translation=translation,
     translated=pair.generate(words, words[:, :1], 5))
