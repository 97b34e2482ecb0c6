"""torchvision: its models, forward and backward; its transforms and grids."""
import torch
import torchvision
from outcome import show
from torchvision.transforms import v2

x, results = torch.randn(2, 3, 64, 64), {}
for name in ("resnet18", "mobilenet_v2", "vgg11_bn", "squeezenet1_1"):
    model = getattr(torchvision.models, name)(num_classes=5).eval()
    out = model(x)
    out.sum().backward()
    results[name] = [out, next(model.parameters()).grad.flatten()[:50]]
both = v2.Compose([v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True), v2.RandomResizedCrop(8)])
results["v2"] = [both((x[0] * 50).to(torch.uint8))]
results["grid"] = [torchvision.utils.make_grid(x, normalize=True)]
show(**results)
