"""sentence-transformers: embeddings of a small BERT, pooled, and a loss of pairs."""
import torch
from outcome import show
from sentence_transformers import losses, util
from sentence_transformers.models import Dense, Normalize, Pooling

features = {"token_embeddings": torch.randn(4, 6, 8), "attention_mask": torch.ones(4, 6, dtype=torch.long)}
features["attention_mask"][1, 3:] = 0
net = torch.nn.Sequential(Pooling(8, pooling_mode="mean"), Dense(8, 4), Normalize())
out = net(features)["sentence_embedding"]
out[:2].sum().backward()
show(embedding=out, alike=util.cos_sim(out, out), gradient=net[1].linear.weight.grad,
     clusters=[x["corpus_id"] for x in util.semantic_search(out[:1], out)[0]], name=losses.CoSENTLoss.__name__)
