"""perceiver-pytorch: few latents that attend to images, sequences and words, trained."""
import torch
from outcome import show, trained
from perceiver_pytorch import Perceiver, PerceiverIO, PerceiverLM, gated

small = {"num_latents": 6, "latent_dim": 16, "cross_dim_head": 8, "latent_dim_head": 8, "latent_heads": 2, "depth": 2}
images, labels = torch.randn(3, 8, 8, 3), torch.tensor([0, 1, 2])
options = {"num_freq_bands": 3, "max_freq": 8.0, "num_classes": 3, **small}
nets = {"tied": Perceiver(**options, weight_tie_layers=True, self_per_cross_attn=2),
        "residual": Perceiver(**options, attn_residual=True, attn_residual_rank=4, inverted_cross_attn=True),
        "gated": gated.Perceiver(**options)}
entropy = torch.nn.functional.cross_entropy
losses = {name: trained(net, torch.optim.Adam(net.parameters(), 0.005), images, labels, 4, entropy)
          for name, net in nets.items()}
model = PerceiverIO(dim=5, queries_dim=7, logits_dim=4, seq_dropout_prob=0.25, decoder_ff=True, **small)
x, queries, mask = torch.randn(2, 12, 5), torch.randn(9, 7), torch.arange(12) < torch.tensor([[12], [7]])
losses["io"] = trained(lambda x: model(x, mask=mask, queries=queries), torch.optim.Adam(model.parameters(), 0.005), x,
                       torch.randn(2, 9, 4), 4)
language, words = PerceiverLM(num_tokens=15, dim=8, max_seq_len=12, **small), torch.randint(0, 15, (2, 12))
losses["words"] = trained(lambda words: language(words, mask=mask).flatten(0, 1),
                          torch.optim.Adam(language.parameters(), 0.005), words, words.flip(1).flatten(), 4, entropy)
show(**losses, features=nets["tied"](images, return_embeddings=True), hidden=model.eval()(x))
