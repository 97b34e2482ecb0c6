"""rtdl_revisiting_models: an MLP, a ResNet and the FT-Transformer for tables, trained."""
import torch
from outcome import regression, show, trained
from rtdl_revisiting_models import MLP, FTTransformer, ResNet

x, y = regression(16)
mlp = MLP(d_in=4, d_out=1, n_blocks=2, d_block=8, dropout=0.0)
resnet = ResNet(d_in=4, d_out=1, n_blocks=2, d_block=8, d_hidden=None, d_hidden_multiplier=2.0, dropout1=0.0,
                dropout2=0.0)
ft = FTTransformer(n_cont_features=4, cat_cardinalities=[3, 2], d_out=1, n_blocks=2, d_block=8, attention_n_heads=2,
                   attention_dropout=0.0, ffn_d_hidden_multiplier=4 / 3, ffn_dropout=0.0, residual_dropout=0.0)
categories = torch.stack([torch.randint(0, 3, (16,)), torch.randint(0, 2, (16,))], 1)
groups = ft.make_parameter_groups()
show(mlp=trained(mlp, torch.optim.Adam(mlp.parameters(), 1e-2), x, y, 5),
     resnet=trained(resnet, torch.optim.Adam(resnet.parameters(), 1e-2), x, y, 5),
     ft=trained(lambda rows: ft(rows, categories), torch.optim.AdamW(groups, 1e-2), x, y, 5),
     groups=[len(group["params"]) for group in groups], out=ft.eval()(x, categories))
