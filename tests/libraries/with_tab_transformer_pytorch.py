"""tab-transformer-pytorch: transformers for tables of categories and numbers, trained, and their attention."""
import torch
from outcome import show
from tab_transformer_pytorch import FTTransformer, TabTransformer

categories, numbers = torch.stack([torch.randint(0, n, (16,)) for n in (5, 3, 4)], 1), torch.randn(16, 4)
y = numbers[:, :1] + categories[:, 1:2] - 1.0
shape = {"categories": (5, 3, 4), "num_continuous": 4, "dim": 16, "dim_out": 1, "depth": 2, "heads": 2}


def trained(net):
    optimizer, losses = torch.optim.Adam(net.parameters(), 1e-2), []
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(categories, numbers), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


tab = TabTransformer(mlp_hidden_mults=(2, 1), mlp_act=torch.nn.ReLU(), **shape)
ft = FTTransformer(**shape)
show(tab=trained(tab), ft=trained(ft), attention=ft(categories, numbers, return_attn=True)[1])
