"""A program with hints, as a user would write it: mypy reads it, and test_stubs.py runs it."""
import tinytorch as torch
from tinytorch import Tensor, nn
from tinytorch.nn import functional as F


class Net(nn.Module):
    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(features, 8)
        self.out = nn.Linear(8, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.relu(self.hidden(x.flatten(1))))


def accuracy(scores: Tensor, labels: Tensor) -> float:
    return (scores.argmax(1) == labels).float().mean().item()


def train(steps: int = 50) -> tuple[float, float]:
    torch.manual_seed(0)
    x, labels = torch.randn(32, 2, 2), torch.randint(0, 3, (32,))
    model = Net(4, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    first: float = 0.0
    for step in range(steps):
        loss: Tensor = F.cross_entropy(model(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        first = loss.item() if step == 0 else first
    weight: Tensor = model.hidden.weight.detach()
    largest = torch.max(weight.abs())
    shape: torch.Size = (weight * 2 + largest).sum(dim=0, keepdim=True).shape
    assert shape.numel() == 4 and weight.dtype == torch.float32
    with torch.no_grad():
        values, places = model(x).max(dim=1)
        assert values.shape == places.shape == (32,)
    assert accuracy(model(x), labels) > 0.3
    return first, loss.item()
