"""torchview: the graph of a network, as a drawing in a text."""
import torch
from outcome import show
from torchview import draw_graph


def network():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
                               torch.nn.Linear(4 * 36, 5))


found = {}
for name, options in {"meta": {"device": "meta"}, "cpu": {"device": "cpu"}, "deep": {"expand_nested": True, "depth": 5},
                      "rolled": {"roll": True}}.items():
    found[name] = str(draw_graph(network(), input_size=(2, 3, 8, 8), **options).visual_graph)


class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.cat([x + self.b(torch.relu(self.a(x))), x * 2], 1)


found["residual"] = str(draw_graph(Residual(), input_data=torch.randn(2, 4), device="cpu").visual_graph)
show(**found)
