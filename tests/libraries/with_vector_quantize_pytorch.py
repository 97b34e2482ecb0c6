"""vector-quantize-pytorch: codebooks (learned, residual, finite scalar, lookup-free) within an autoencoder."""
import torch
from outcome import show
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, SimVQ, VectorQuantize

x = torch.randn(4, 16, 8)
encode, decode = torch.nn.Linear(8, 6), torch.nn.Linear(6, 8)
quantize = VectorQuantize(dim=6, codebook_size=12, decay=0.8, kmeans_init=True, use_cosine_sim=True)
optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters()], 1e-2)
losses = []
for _ in range(5):
    codes, indices, commit = quantize(encode(x))
    loss = torch.nn.functional.mse_loss(decode(codes), x) + commit.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
residual = ResidualVQ(dim=6, codebook_size=8, num_quantizers=3, stochastic_sample_codes=True, shared_codebook=True)
learned = VectorQuantize(dim=6, codebook_size=8, learnable_codebook=True, ema_update=False, rotation_trick=True)
code = encode(x).detach().requires_grad_()
learned(code)[0].pow(2).sum().backward()
show(losses=losses, indices=indices, residual=residual(encode(x)), grad=code.grad, fsq=FSQ([5, 4, 3], dim=6)(encode(x)),
     lfq=[torch.as_tensor(v) for v in LFQ(codebook_size=16, dim=6, entropy_loss_weight=0.1)(encode(x))],
     sim=SimVQ(dim=6, codebook_size=16)(encode(x)))
