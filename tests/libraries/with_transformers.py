"""transformers: BERT and GPT-2, trained a few steps, text generated, a model saved and read."""
import tempfile

import torch
from outcome import show
from transformers import BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel

bert = BertForSequenceClassification(BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
    max_position_embeddings=16))
ids, labels = torch.randint(50, (4, 10)), torch.tensor([0, 1, 0, 1])
optimizer, losses = torch.optim.AdamW(bert.parameters(), 1e-3), []
for _ in range(3):
    loss = bert(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
gpt = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2, n_head=2)).eval()
tokens = gpt.generate(ids[:2, :4], attention_mask=torch.ones(2, 4, dtype=torch.long), max_new_tokens=8, do_sample=False,
                      pad_token_id=0)
with tempfile.TemporaryDirectory() as folder:
    gpt.save_pretrained(folder)
    read = GPT2LMHeadModel.from_pretrained(folder, low_cpu_mem_usage=True)
with torch.device("meta"):
    shapes = GPT2LMHeadModel(GPT2Config())(torch.zeros(1, 5, dtype=torch.long)).logits.shape
show(losses=losses, tokens=tokens, loss=gpt(ids, labels=ids).loss, read=read(ids, labels=ids).loss,
     shapes=list(shapes))
