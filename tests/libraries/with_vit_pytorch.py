"""vit-pytorch: vision transformers (plain, simple and with convolutions first), trained."""
import torch
from outcome import show, trained
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cct import CCT

x, y = torch.randn(4, 3, 16, 16), torch.tensor([0, 1, 2, 0])
shape = {"image_size": 16, "patch_size": 4, "num_classes": 3, "dim": 16, "depth": 2, "heads": 2, "mlp_dim": 32}
nets = {"vit": ViT(**shape), "simple": SimpleViT(**shape),
        "cct": CCT(img_size=16, embedding_dim=16, n_conv_layers=1, num_layers=2, num_heads=2, mlp_ratio=2.0,
                   num_classes=3, positional_embedding="learnable")}
show(**{name: trained(net, torch.optim.SGD(net.parameters(), 0.02), x, y, 4, torch.nn.functional.cross_entropy)
        for name, net in nets.items()})
