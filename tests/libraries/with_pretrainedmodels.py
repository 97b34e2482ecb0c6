"""pretrainedmodels: networks without weights (SENet, Inception, NASNet's cells): their outputs, and a step of one."""
import pretrainedmodels
import torch
from outcome import show

found = {}
for name, size in (("se_resnet50", 64), ("bninception", 64), ("resnet18", 64)):
    torch.manual_seed(0)
    net = getattr(pretrainedmodels, name)(num_classes=1000, pretrained=None)
    net.last_linear = torch.nn.Linear(net.last_linear.in_features, 5)
    if hasattr(net, "avg_pool"):
        net.avg_pool = torch.nn.AdaptiveAvgPool2d(1)
    if name == "bninception":
        net.global_pool = torch.nn.AdaptiveAvgPool2d(1)
    images = torch.randn(2, 3, size, size)
    if name == "resnet18":
        optimizer = torch.optim.SGD(net.parameters(), 1e-3)
        loss = torch.nn.functional.cross_entropy(net(images), torch.tensor([0, 3]))
        loss.backward()
        optimizer.step()
        found["loss"] = loss.item()
    with torch.no_grad():
        found[name] = net.eval()(images)
show(**found)
