"""python extractors.py FRAMEWORK RESULTS: graphs of torchvision's and timm's models, and what extractors of features
made of them give, in JSON: {model: [the nodes, one a line, [a shape and a sum for each feature]]}."""
import importlib
import json
import sys
from pathlib import Path

#: {model of torchvision: the node whose value is extracted}.
VISION = {
    "resnet18": "layer2", "vgg11": "features.10", "mobilenet_v2": "features.6", "mobilenet_v3_small": "features.5",
    "squeezenet1_1": "features.5", "shufflenet_v2_x0_5": "stage3", "mnasnet0_5": "layers.9", "alexnet": "features.5",
    "vit_b_32": "encoder.layers.encoder_layer_1", "efficientnet_b0": "features.3",
    "regnet_x_400mf": "trunk_output.block2"}
TIMM = ("resnet10t", "mobilenetv3_small_050", "vgg11", "repvgg_a0", "convnext_atto")


def nodes(graph):
    """A line for each node."""
    return [node.format_node().replace("tinytorch.", "torch.") for node in graph.nodes]


def features(found):
    """A shape and a sum for each."""
    return [[list(x.shape), float(x.double().abs().sum())] for x in found]


def of_torchvision(torch):
    """Those of torchvision."""
    models = importlib.import_module("torchvision.models")
    extraction = importlib.import_module("torchvision.models.feature_extraction")
    found = {}
    for name, node in VISION.items():
        torch.manual_seed(0)
        model = getattr(models, name)().eval()
        x = torch.randn(1, 3, 224 if name.startswith("vit") else 64, 224 if name.startswith("vit") else 64)
        extractor = extraction.create_feature_extractor(model, {node: "inner"})
        with torch.no_grad():
            found[f"torchvision {name}"] = nodes(extractor.graph), features(extractor(x).values())
    return found


def of_timm(torch):
    """Those of timm, whose extractors are torchvision's graphs."""
    timm, found = importlib.import_module("timm"), {}
    for name in TIMM:
        torch.manual_seed(0)
        model = timm.create_model(name, features_only=True, feature_cls="fx", out_indices=(0, 1)).eval()
        with torch.no_grad():
            found[f"timm {name}"] = nodes(model.graph_module.graph), features(model(torch.randn(1, 3, 64, 64)))
    return found


def main(framework, results):
    """Runs both, as far as they are installed."""
    sys.path[:1] = [str(Path(__file__).parents[3])]
    kept = []
    if framework == "tinytorch":
        importlib.import_module("tinytorch").install()
    else:
        kept.append(importlib.import_module("tests.libraries.under_torch").declare())
    torch = importlib.import_module("torch")
    found = of_torchvision(torch)
    if importlib.util.find_spec("timm") is not None:
        found |= of_timm(torch)
    Path(results).write_text(json.dumps(found), encoding="utf-8")
    kept.clear()


if __name__ == "__main__":
    main(*sys.argv[1:])
