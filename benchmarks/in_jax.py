"""Models of workloads.py in JAX: pure functions of their weights, compiled whole by jax.jit.

Weights come as a dict with the names and shapes of torch's state_dict.
"""
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


def linear(w, name, x):
    y = x @ w[f"{name}.weight"].T
    return y + w[f"{name}.bias"] if f"{name}.bias" in w else y


def cross_entropy(scores, targets):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), targets[:, None], axis=1))


def binary_cross_entropy(p, targets):
    def log(x):
        return jnp.maximum(jnp.log(x), -100)        # as in torch
    return -jnp.mean(targets * log(p) + (1 - targets) * log(1 - p))


def pool(x, size):
    """The maxima of blocks along the last axes. The sizes of blocks divide the axes here."""
    window = (1,) * (x.ndim - len(size)) + size
    return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")


def rnn(w, x):
    """(batch, steps, features) -> scores of the last state of a plain RNN."""
    def step(h, a):
        return jnp.tanh(a + h @ w["cell.weight_hh_l0"].T), None
    inputs = x @ w["cell.weight_ih_l0"].T + (w["cell.bias_ih_l0"] + w["cell.bias_hh_l0"])
    h = jnp.zeros((x.shape[0], inputs.shape[2]))
    return linear(w, "out", lax.scan(step, h, inputs.swapaxes(0, 1))[0])


def gru(w, x):
    """(batch, steps, features) -> scores of the last state of a GRU."""
    def step(h, a):
        b = h @ w["cell.weight_hh_l0"].T + w["cell.bias_hh_l0"]
        (ar, az, an), (br, bz, bn) = jnp.split(a, 3, axis=1), jnp.split(b, 3, axis=1)
        r, z = jax.nn.sigmoid(ar + br), jax.nn.sigmoid(az + bz)
        n = jnp.tanh(an + r * bn)
        return n + z * (h - n), None
    inputs = x @ w["cell.weight_ih_l0"].T + w["cell.bias_ih_l0"]
    h = jnp.zeros((x.shape[0], inputs.shape[2] // 3))
    return linear(w, "out", lax.scan(step, h, inputs.swapaxes(0, 1))[0])


def cnn(w, x):
    x = pool(jax.nn.relu(lax.conv(x, w["0.weight"], (1, 1), "VALID")), (2, 2))
    return linear(w, "6", jax.nn.relu(linear(w, "4", x.reshape(len(x), -1))))


def mlp(w, x):
    """Linear layers named by even numbers, with relu between them."""
    *inner, last = sorted({int(name.split(".")[0]) for name in w})
    for k in inner:
        x = jax.nn.relu(linear(w, k, x))
    return linear(w, last, x)


def gpt(w, x, heads=4):
    """(batch, tokens) -> scores of each token's successor, in rows."""
    def norm(name, x):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / jnp.sqrt(variance + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]
    (batch, length), width = x.shape, w["token.weight"].shape[1]
    x = w["token.weight"][x] + w["place.weight"][:length]
    future = jnp.triu(jnp.ones((length, length), bool), 1)
    for k in range(2):
        at = f"blocks.{k}."
        q, k, v = (t.reshape(batch, length, heads, -1).swapaxes(1, 2)
                   for t in jnp.split(linear(w, at + "qkv", norm(at + "norm1", x)), 3, axis=2))
        weights = (q @ k.swapaxes(2, 3)) * (width // heads) ** -0.5
        weights = jax.nn.softmax(jnp.where(future, -jnp.inf, weights))
        x = x + linear(w, at + "proj", (weights @ v).swapaxes(1, 2).reshape(batch, length, width))
        x = x + linear(w, at + "down", jax.nn.gelu(linear(w, at + "up", norm(at + "norm2", x)), approximate=False))
    return linear(w, "head", norm("norm", x)).reshape(batch * length, -1)


def squared_error(x, y):
    return jnp.mean((x - y) ** 2)


def chain(x, w, b):
    """300 operations, forward and backward, of arrays: a step, and its arguments."""
    def of(x, w, b):
        for _ in range(100):
            x = jnp.tanh(x * w + b)
        return x.sum()
    step = jax.jit(jax.grad(of, argnums=(1, 2, 0)))
    given = [jnp.array(a) for a in (x, w, b)]
    return lambda: jax.block_until_ready(step(*given))


def text_cnn(w, x):
    x = w["embedding.weight"][x].swapaxes(1, 2)
    x = lax.conv(x, w["conv.weight"], (1,), "VALID") + w["conv.bias"][:, None]
    x = pool(jax.nn.relu(x), (8,))
    return jax.nn.sigmoid(linear(w, "out", x.reshape(len(x), -1)))[:, 0]


def sgd(rate):
    """(initial state, function(weights, gradients, state) -> (weights, state))."""
    def update(w, g, state):
        return jax.tree.map(lambda w, g: w - rate * g, w, g), state
    return lambda w: (), update


def adam(rate, beta1=0.9, beta2=0.999, eps=1e-8):
    def start(w):
        return jnp.zeros(()), jax.tree.map(jnp.zeros_like, w), jax.tree.map(jnp.zeros_like, w)

    def update(w, g, state):
        t, m, v = state
        t = t + 1
        m = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, m, g)
        v = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, v, g)
        size, root = rate / (1 - beta1 ** t), jnp.sqrt(1 - beta2 ** t)
        return jax.tree.map(lambda w, m, v: w - size * m / (jnp.sqrt(v) / root + eps), w, m, v), (t, m, v)
    return start, update


def adamw(rate, decay=0.01):
    start, update = adam(rate)

    def decayed(w, g, state):
        return update(jax.tree.map(lambda w: w * (1 - rate * decay), w), g, state)
    return start, decayed


MODELS = {"RNN 4x196-64": (rnn, cross_entropy, sgd(0.015)), "CNN 1-6": (cnn, cross_entropy, sgd(0.01)),
          "text CNN": (text_cnn, binary_cross_entropy, adam(1e-3)), "GRU 28x28-128": (gru, cross_entropy, adam(2e-3)),
          "CNN 1-6, batch 1": (cnn, cross_entropy, sgd(0.01)), "MLP 4-16-16-1": (mlp, squared_error, adam(1e-3)),
          "MLP 784-256-128": (mlp, cross_entropy, adam(1e-3)), "GPT 2 blocks": (gpt, cross_entropy, adamw(1e-3))}


def inference(name, weights, inputs):
    """The outputs of that model for the same batch."""
    model = MODELS[name][0] if name in MODELS else mlp
    predict, w, x = jax.jit(model), {key: jnp.array(value) for key, value in weights.items()}, jnp.array(inputs)
    return lambda: jax.block_until_ready(predict(w, x))


def training(name, weights, inputs, targets):
    """A training step of the model `name` that starts from these weights (NumPy arrays), and returns the loss."""
    model, loss, (start, update) = MODELS[name]

    @partial(jax.jit, donate_argnums=(0, 1))
    def train(w, state, x, y):
        value, g = jax.value_and_grad(lambda w: loss(model(w, x), y))(w)
        return *update(w, g, state), value

    w = {key: jnp.array(value) for key, value in weights.items()}
    x, y = jnp.array(inputs), jnp.array(targets)
    state = start(w)

    def step():
        nonlocal w, state
        w, state, value = jax.block_until_ready(train(w, state, x, y))
        return value.item()
    return step
