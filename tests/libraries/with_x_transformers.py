"""x-transformers: a language model."""
import torch
from outcome import show
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

model = AutoregressiveWrapper(TransformerWrapper(num_tokens=16, max_seq_len=12, attn_layers=Decoder(
    dim=16, depth=2, heads=2, rotary_pos_emb=True)))
optimizer, losses = torch.optim.Adam(model.parameters(), 1e-2), []
tokens = torch.randint(16, (4, 12))
for _ in range(4):
    loss = model(tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
show(losses=losses)
