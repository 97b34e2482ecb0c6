"""pytorch-crf: a conditional random field on an LSTM: its likelihood, trained, and the best tags of a sequence."""
import torch
from outcome import show
from torchcrf import CRF

words = torch.randint(0, 12, (5, 7))
tags = (words + torch.cat([words[:, :1], words[:, :-1]], 1)) % 4
mask = torch.arange(7) < torch.tensor([7, 5, 3, 6, 1]).unsqueeze(1)
table, lstm = torch.nn.Embedding(12, 8), torch.nn.LSTM(8, 6, bidirectional=True, batch_first=True)
scores, crf = torch.nn.Linear(12, 4), CRF(4, batch_first=True)
net = torch.nn.ModuleList([table, lstm, scores, crf])
optimizer, losses = torch.optim.Adam(net.parameters(), 0.05), []
for _ in range(15):
    optimizer.zero_grad()
    emissions = scores(lstm(table(words))[0])
    loss = -crf(emissions, tags, mask=mask, reduction="token_mean")
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
best = crf.decode(emissions, mask=mask)
show(losses=losses, best=best, each=crf(emissions, tags, mask=mask, reduction="none"), transitions=crf.transitions,
     start=crf.start_transitions.grad, end=crf.end_transitions.grad, written=str(crf))
