"""Layers, from chapter 5."""
from tiny.views import Tensor


class Linear:
    """x @ weight.T + bias. `random`: a generator of NumPy's."""

    def __init__(self, inputs, outputs, random):
        bound = inputs ** -0.5
        self.weight = Tensor(random.uniform(-bound, bound, (outputs, inputs)), requires_grad=True)
        self.bias = Tensor(random.uniform(-bound, bound, outputs), requires_grad=True)

    def __call__(self, x):
        return x @ self.weight.T + self.bias

    def parameters(self):
        return [self.weight, self.bias]


class Tanh:
    def __call__(self, x):
        return x.tanh()

    def parameters(self):
        return []


class Sequential:
    """Layers, one after the other."""

    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [parameter for layer in self.layers for parameter in layer.parameters()]


def mean_square(output, target):
    """The mean of the squared differences."""
    difference = output - target
    return (difference * difference).mean()
