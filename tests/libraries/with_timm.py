"""timm: a residual network and a vision transformer, forward and backward."""
import timm
import torch
from outcome import show

x, results = torch.randn(2, 3, 32, 32).double(), {}
for name, options in (("resnet10t", {}), ("vit_tiny_patch16_224", dict(img_size=32, depth=2))):
    model = timm.create_model(name, num_classes=5, **options).double()
    out = model(x)
    out.sum().backward()
    results[name] = [out, next(model.parameters()).grad.flatten()[:50]]
show(**results)
