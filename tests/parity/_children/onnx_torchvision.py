"""Models of torchvision, run by torch, or exported by what stands for it and run by onnxruntime: `results.npz`."""
import sys

import numpy as np
import torch

if "+tinytorch" not in torch.__version__:
    # Its compiled part may be for another torch; the rest needs these two operators of it to be declared.
    declared = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        declared.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import torchvision
from torchvision.models.swin_transformer import SwinTransformer
from torchvision.models.vgg import make_layers
from torchvision.models.vision_transformer import VisionTransformer

MODELS = {
    **{name: getattr(torchvision.models, name) for name in (
        "resnet18", "mobilenet_v2", "mobilenet_v3_small", "squeezenet1_1", "efficientnet_b0", "shufflenet_v2_x0_5",
        "mnasnet0_5", "regnet_y_400mf")},
    "resnet50": lambda num_classes: torchvision.models.ResNet(
        torchvision.models.resnet.Bottleneck, [1, 1, 1, 1], num_classes, width_per_group=16),
    "vgg": lambda num_classes: torch.nn.Sequential(
        make_layers([4, "M", 8, "M", 8, 8, "M"], True), torch.nn.AdaptiveAvgPool2d((2, 2)), torch.nn.Flatten(),
        torch.nn.Linear(32, num_classes)),
    "densenet": lambda num_classes: torchvision.models.DenseNet(8, (2, 2), 16, num_classes=num_classes),
    "vit": lambda num_classes: VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=num_classes),
    "swin": lambda num_classes: SwinTransformer([4, 4], 12, [2, 2], [2, 4], [4, 4], num_classes=num_classes),
    "convnext": lambda num_classes: torchvision.models.ConvNeXt(
        [torchvision.models.convnext.CNBlockConfig(8, 16, 1), torchvision.models.convnext.CNBlockConfig(16, None, 1)],
        num_classes=num_classes),
}

results = {}
for name, make in MODELS.items():
    torch.manual_seed(0)
    model = make(num_classes=7).eval()
    for part in model.modules():               # so that numbers keep their size through all layers
        if isinstance(part, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(part.weight, mode="fan_in", nonlinearity="relu")
        elif isinstance(part, torch.nn.Linear):
            torch.nn.init.normal_(part.weight, std=part.in_features ** -0.5)
        elif isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean.uniform_(-0.1, 0.1)
    x, y = torch.randn(1, 3, 32, 32), torch.randn(3, 3, 32, 32)
    if "+tinytorch" in torch.__version__:
        program = torch.onnx.export(model, (x,), dynamic_shapes=({0: "batch"},))
        results[name], = [out.numpy() for out in program(y)]
    else:
        with torch.no_grad():
            results[name] = model(y).numpy()
np.savez(sys.argv[1], **results)
