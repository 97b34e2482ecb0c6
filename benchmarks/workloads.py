"""The benchmark's workloads, written once for both libraries: each takes the module (`tinytorch` or `torch`) and
returns a function that does one step. MODELS are the models of the workloads.

Inputs are random numbers of the real data's shapes: the time of a step does not depend on them.
"""
from functools import partial

import numpy as np
from transforms import TRANSFORMS

_random = np.random.RandomState


class Run:
    """A model with its data and optimiser. `training` and `inference` each return a job to time."""

    def __init__(self, torch, model, inputs, targets, optimizer, loss=None):
        self.torch, self.model, self.inputs, self.targets, self.optimizer = torch, model, inputs, targets, optimizer
        self.loss = loss or torch.nn.functional.cross_entropy

    def training(self):
        """A training step, which returns the loss."""
        model, inputs, targets, optimizer, loss = self.model, self.inputs, self.targets, self.optimizer, self.loss

        def step():
            optimizer.zero_grad()
            value = loss(model(inputs), targets)
            value.backward()
            optimizer.step()
            return value.item()
        return step

    def inference(self):
        """The model's outputs for the same batch, without a graph."""
        torch, model, inputs = self.torch, self.model.eval(), self.inputs

        def predict():
            with torch.no_grad():
                return model(inputs)
        return predict


def _images(torch, batch, *shape):
    random = _random(0)
    return (torch.from_numpy(random.rand(batch, *shape).astype(np.float32)),
            torch.from_numpy(random.randint(0, 10, batch, np.int64)))


def _last(torch, cell):
    """A recurrent layer and a classifier of its last state."""
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = cell
            self.out = torch.nn.Linear(cell.hidden_size, 10)

        def forward(self, x):
            return self.out(self.cell(x)[0][:, -1])
    return Net()


def rnn_seed(torch):
    """RNN of the papers: 4 steps of 196 pixels, 64 tanh units, batch 100, SGD."""
    model = _last(torch, torch.nn.RNN(196, 64, batch_first=True))
    return Run(torch, model, *_images(torch, 100, 4, 196), torch.optim.SGD(model.parameters(), 0.015))


def cnn_seed(torch, batch=100):
    """CNN of the paper: conv 3x3 1->6, pool 2, 84, 10, no biases, batch 100, SGD."""
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(1, 6, 3, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(1014, 84, bias=False), nn.ReLU(), nn.Linear(84, 10, bias=False))
    return Run(torch, model, *_images(torch, batch, 1, 28, 28), torch.optim.SGD(model.parameters(), 0.01))


def cnn_batch1(torch):
    """The same CNN at batch 1."""
    return cnn_seed(torch, batch=1)


def text_cnn_seed(torch):
    """Text CNN: Embedding 12849x50, Conv1d 50->8, pool 8, batch 64 of 130 words, Adam."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.conv = nn.Embedding(12849, 50), nn.Conv1d(50, 8, 3)
            self.pool, self.out = nn.MaxPool1d(8), nn.Linear(128, 1)

        def forward(self, x):
            x = self.pool(torch.relu(self.conv(self.embedding(x).transpose(1, 2))))
            return torch.sigmoid(self.out(torch.flatten(x, 1))).squeeze(1)
    random = _random(0)
    words = torch.from_numpy(random.randint(0, 12849, (64, 130), np.int64))
    good = torch.from_numpy(random.randint(0, 2, 64).astype(np.float32))
    model = Net()
    return Run(torch, model, words, good, torch.optim.Adam(model.parameters(), 1e-3),
                     nn.functional.binary_cross_entropy)


def _rows(torch, cell, length=28):
    model = _last(torch, cell)
    return Run(torch, model, *_images(torch, 100, length, 28), torch.optim.Adam(model.parameters(), 2e-3))


def gru_seed(torch, length=28, hidden=128):
    """GRU over 28 rows of 28 pixels, 128 units, batch 100, Adam."""
    return _rows(torch, torch.nn.GRU(28, hidden, batch_first=True), length)


def rnn_rows(torch):
    """RNN over 28 rows of 28 pixels, 128 units, batch 100, Adam."""
    return _rows(torch, torch.nn.RNN(28, 128, batch_first=True))


def lstm_rows(torch):
    """LSTM over 28 rows of 28 pixels, 128 units, batch 100, Adam."""
    return _rows(torch, torch.nn.LSTM(28, 128, batch_first=True))


def mlp(torch, batch=64):
    """MLP 784-256-128-10, batch 64, Adam."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    return Run(torch, model, *_images(torch, batch, 784), torch.optim.Adam(model.parameters(), 1e-3))


def mlp_tiny(torch):
    """MLP 4-16-16-1, batch 8, Adam: the cost of the library itself."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
    random = _random(0)
    x, y = (torch.from_numpy(random.rand(8, n).astype(np.float32)) for n in (4, 1))
    return Run(torch, model, x, y, torch.optim.Adam(model.parameters(), 1e-3), nn.functional.mse_loss)


def lenet(torch):
    """LeNet-size CNN: conv 32, conv 64, dropout, 9216-128-10, batch 64, Adadelta."""
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Dropout(0.25), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5),
                          nn.Linear(128, 10))
    return Run(torch, model, *_images(torch, 64, 1, 28, 28), torch.optim.Adadelta(model.parameters()))


def gpt(torch):
    """Two GPT blocks, d 64, 4 heads, 64 tokens, batch 16, AdamW, written with matmul and softmax."""
    nn, f = torch.nn, torch.nn.functional
    width, heads, length, vocabulary = 64, 4, 64, 65

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.register_buffer("future", torch.triu(torch.ones(length, length), diagonal=1).bool())

        def forward(self, x):
            batch = x.shape[0]
            q, k, v = (t.view(batch, length, heads, width // heads).transpose(1, 2)
                       for t in self.qkv(self.norm1(x)).split(width, dim=2))
            weights = (q @ k.transpose(-2, -1)) * (width // heads) ** -0.5
            weights = f.softmax(weights.masked_fill(self.future, float("-inf")), dim=-1)
            x = x + self.proj((weights @ v).transpose(1, 2).reshape(batch, length, width))
            return x + self.down(f.gelu(self.up(self.norm2(x))))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(Block(), Block())
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
            self.register_buffer("positions", torch.arange(length))

        def forward(self, x):
            x = self.blocks(self.token(x) + self.place(self.positions))
            return self.head(self.norm(x)).view(-1, vocabulary)
    random = _random(0)
    x = torch.from_numpy(random.randint(0, vocabulary, (16, length), np.int64))
    y = torch.from_numpy(random.randint(0, vocabulary, 16 * length, np.int64))
    model = GPT()
    return Run(torch, model, x, y, torch.optim.AdamW(model.parameters(), 1e-3))


def _sequences(torch, width, length=32, batch=16):
    return torch.from_numpy(_random(0).randn(batch, length, width).astype(np.float32))


def _squared(output, target):
    return ((output - target) ** 2).mean()


def attention(torch, width=64):
    """MultiheadAttention of 4 heads over 16 sequences of 32, weights not wanted, Adam."""
    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(width, 4, batch_first=True)

        def forward(self, x):
            return self.attention(x, x, x, need_weights=False)[0]
    x, model = _sequences(torch, width), Attention()
    return Run(torch, model, x, x, torch.optim.Adam(model.parameters()), _squared)


def encoder(torch, width=64, dropout=0.1):
    """TransformerEncoderLayer of 4 heads and 4 times the width, 16 sequences of 32, Adam."""
    x = _sequences(torch, width)
    model = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, dropout, batch_first=True)
    return Run(torch, model, x, x, torch.optim.Adam(model.parameters()), _squared)


def transformer(torch, width=64, dropout=0.1):
    """Transformer of one layer each, 4 heads, 4 times the width, 16 sequences of 32, causal, Adam."""
    x = _sequences(torch, width)
    inner = torch.nn.Transformer(width, 4, 1, 1, 4 * width, dropout, batch_first=True)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(32)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x, x, tgt_mask=mask, tgt_is_causal=True)
    model = Model()
    return Run(torch, model, x, x, torch.optim.Adam(model.parameters()), _squared)


CHAIN = 60


def _chain(torch):
    """A graph of CHAIN recorded ops on 4x4 tensors, and the gradient with which backward starts."""
    torch.manual_seed(0)
    x, w, b = (torch.randn(4, 4, requires_grad=True) for _ in range(3))

    def build():
        y = x
        for _ in range(CHAIN // 6):
            y = torch.tanh(-((y @ w + b) * w)).relu()
        return y
    return build, torch.ones(4, 4)


def op_forward(torch):
    """60 recorded ops on 4x4 tensors (matmul, add, mul, neg, tanh, relu), forward."""
    return _chain(torch)[0]


def op_backward(torch):
    """The backward of these 60 ops: (untimed preparation, step to time)."""
    build, g = _chain(torch)
    return build, lambda y: y.backward(g)


def loader(torch):
    """One shuffled pass of a DataLoader over a TensorDataset of 10,000 rows of 20, batch 64."""
    random = _random(0)
    data = torch.utils.data.TensorDataset(torch.from_numpy(random.rand(10000, 20).astype(np.float32)),
                                          torch.from_numpy(random.randint(0, 10, 10000, np.int64)))
    batches = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)

    def run():
        for _ in batches:
            pass
    return run


def _optimizer_step(torch, name, **options):
    """An optimiser's step on 20 tensors of 10,000 elements and one of 1,000,000, all with gradients."""
    random = _random(0)
    parameters = [torch.nn.Parameter(torch.from_numpy(random.randn(n).astype(np.float32)))
                  for n in [10_000] * 20 + [1_000_000]]
    for p in parameters:
        p.grad = torch.from_numpy(random.randn(p.numel()).astype(np.float32))
    return getattr(torch.optim, name)(parameters, lr=1e-3, **options).step


SEEDS = {"RNN 4x196-64": rnn_seed, "CNN 1-6": cnn_seed, "text CNN": text_cnn_seed, "GRU 28x28-128": gru_seed}
MODELS = {**SEEDS, "RNN 28x28-128": rnn_rows, "LSTM 28x28-128": lstm_rows, "MLP 784-256-128": mlp,
          "MLP 4-16-16-1": mlp_tiny, "CNN 1-6, batch 1": cnn_batch1, "CNN LeNet-size": lenet, "GPT 2 blocks": gpt,
          "MultiheadAttention 64": attention, "TransformerEncoderLayer 64": encoder,
          "TransformerEncoderLayer 128": partial(encoder, width=128), "Transformer 64": transformer,
          "Transformer 128": partial(transformer, width=128)}
OPTIMIZERS = {"SGD": ("SGD", {}), "SGD with momentum": ("SGD", {"momentum": 0.9}), "Adam": ("Adam", {}),
              "AdamW": ("AdamW", {}), "RMSprop": ("RMSprop", {}), "Adagrad": ("Adagrad", {}),
              "Adadelta": ("Adadelta", {})}

TRAINING = {name: lambda torch, build=build: build(torch).training() for name, build in MODELS.items()}
WORKLOADS = {
    **TRAINING,
    **{f"{name}, inference": lambda torch, build=build: build(torch).inference() for name, build in MODELS.items()},
    **{f"{name} step": lambda torch, kind=kind, options=options: _optimizer_step(torch, kind, **options)
       for name, (kind, options) in OPTIMIZERS.items()},
    "60 ops 4x4, forward": op_forward, "60 ops 4x4, backward": op_backward, **TRANSFORMS, "DataLoader": loader}
