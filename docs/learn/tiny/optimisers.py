"""Optimisers, from chapter 6."""
import numpy as np


class Optimiser:
    """Moves parameters against their gradients. `state`: what it remembers of each parameter."""

    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr
        self.state = [{} for _ in self.parameters]

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None

    def step(self):
        for parameter, state in zip(self.parameters, self.state):
            if parameter.grad is not None:
                parameter.array -= self.move(parameter.grad, state)
                parameter.version[0] += 1      # whoever has saved it must notice


class SGD(Optimiser):
    """Gradient descent. `momentum`: how much of the sum of gradients is left after a step."""

    def __init__(self, parameters, lr, momentum=0.0):
        super().__init__(parameters, lr)
        self.momentum = momentum

    def move(self, g, state):
        total = state["total"] = self.momentum * state.get("total", 0.0) + g
        return self.lr * total


class Adam(Optimiser):
    """Gradient descent in steps of about the same size for each number."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(parameters, lr)
        self.betas, self.eps = betas, eps

    def move(self, g, state):
        beta1, beta2 = self.betas
        count = state["count"] = state.get("count", 0) + 1
        mean = state["mean"] = beta1 * state.get("mean", 0.0) + (1 - beta1) * g
        square = state["square"] = beta2 * state.get("square", 0.0) + (1 - beta2) * g * g
        return self.lr * (mean / (1 - beta1 ** count)) / (np.sqrt(square / (1 - beta2 ** count)) + self.eps)
