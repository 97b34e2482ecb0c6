"""The seed models of workloads.py in tinygrad, a whole training step under TinyJit.

Weights come as a dict with the names and shapes of torch's state_dict. tinygrad has no loop over time steps, so
that its recurrent layers are unrolled.
"""
from tinygrad import Tensor, TinyJit
from tinygrad.helpers import Context
from tinygrad.nn import Embedding
from tinygrad.nn.optim import SGD, Adam


def linear(w, name, x):
    return x.linear(w[f"{name}.weight"].T, w.get(f"{name}.bias"))


def cross_entropy(scores, targets):
    return scores.sparse_categorical_crossentropy(targets)


def rnn(w, x):
    """(batch, steps, features) -> scores of the last state of a plain RNN."""
    inputs = x.linear(w["cell.weight_ih_l0"].T, w["cell.bias_ih_l0"] + w["cell.bias_hh_l0"])
    h = inputs[:, 0].tanh()
    for t in range(1, x.shape[1]):
        h = (inputs[:, t] + h @ w["cell.weight_hh_l0"].T).tanh()
    return linear(w, "out", h)


def gru(w, x):
    """(batch, steps, features) -> scores of the last state of a GRU."""
    inputs = x.linear(w["cell.weight_ih_l0"].T, w["cell.bias_ih_l0"])
    h = Tensor.zeros(x.shape[0], inputs.shape[2] // 3)
    for t in range(x.shape[1]):
        ar, az, an = inputs[:, t].chunk(3, dim=1)
        br, bz, bn = h.linear(w["cell.weight_hh_l0"].T, w["cell.bias_hh_l0"]).chunk(3, dim=1)
        r, z = (ar + br).sigmoid(), (az + bz).sigmoid()
        n = (an + r * bn).tanh()
        h = (n + z * (h - n)).contiguous()
    return linear(w, "out", h)


def cnn(w, x):
    x = x.conv2d(w["0.weight"]).relu().max_pool2d((2, 2)).flatten(1)
    return linear(w, "6", linear(w, "4", x).relu())


def text_cnn(w, x):
    embedding = Embedding(*w["embedding.weight"].shape)
    embedding.weight = w["embedding.weight"]
    x = embedding(x).transpose(1, 2)
    x = x.conv2d(w["conv.weight"], w["conv.bias"]).relu().max_pool2d((8,)).flatten(1)
    return linear(w, "out", x).sigmoid().squeeze(1)


MODELS = {"RNN 4x196-64": (rnn, cross_entropy, SGD, 0.015), "CNN 1-6": (cnn, cross_entropy, SGD, 0.01),
          "text CNN": (text_cnn, Tensor.binary_crossentropy, Adam, 1e-3),
          "GRU 28x28-128": (gru, cross_entropy, Adam, 2e-3)}


def training(name, weights, inputs, targets):
    """A training step of the model `name` that starts from these weights (NumPy arrays), and returns the loss."""
    model, loss, optimizer, rate = MODELS[name]
    w = {key: Tensor(value).realize() for key, value in weights.items()}
    x, y = Tensor(inputs).realize(), Tensor(targets).realize()
    optimizer = optimizer(list(w.values()), rate)

    @TinyJit
    def train():
        optimizer.zero_grad()
        value = loss(model(w, x), y).backward()
        return value.realize(*optimizer.schedule_step())

    def step():
        with Context(TRAINING=1):
            return train().item()
    return step
