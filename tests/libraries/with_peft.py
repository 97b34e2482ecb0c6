"""peft: LoRA of a small GPT-2."""
import torch
from outcome import show
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2, n_head=2))
model = get_peft_model(model, LoraConfig(r=4, target_modules=["c_attn"], fan_in_fan_out=True))
ids, losses = torch.randint(50, (4, 10)), []
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-2)
for _ in range(4):
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
show(losses=losses, trainable=sum(p.numel() for p in model.parameters() if p.requires_grad))
