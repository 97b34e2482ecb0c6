"""The networks whose pictures are tested: one layer with its loss, a recurrent one, a small GPT, one that raises."""
import math

import tinytorch as torch
from tinytorch import nn, viz
from tinytorch.nn import functional as F


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)

    def forward(self, x, y):
        return F.mse_loss(self.fc(x).tanh(), y)


class Gates(nn.Module):
    """A GRU cell of operations."""

    def __init__(self, size, width):
        super().__init__()
        self.x, self.h = nn.Linear(size, 3 * width), nn.Linear(width, 3 * width)

    def forward(self, x, h):
        xr, xz, xn = self.x(x).chunk(3, 1)
        hr, hz, hn = self.h(h).chunk(3, 1)
        r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
        n = (xn + r * hn).tanh()
        return (1 - z) * n + z * h


class Recurrent(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell, self.head = cell(28, 16), nn.Linear(16, 10)

    def forward(self, x, y):
        h = torch.zeros(x.shape[0], 16)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
        return F.cross_entropy(self.head(h), y)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = [p.reshape(b, t, self.heads, c // self.heads).transpose(1, 2) for p in self.qkv(x).split(c, 2)]
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -math.inf)
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), Attention(width, heads), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary=50, width=32, heads=4, blocks=12, context=16):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.h = nn.ModuleList([Block(width, heads) for _ in range(blocks)])
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, indices, y):
        x = self.wte(indices) + self.wpe(torch.arange(indices.shape[1]))
        for block in self.h:
            x = block(x)
        return F.cross_entropy(self.lm_head(self.ln_f(x)).flatten(0, 1), y.flatten())


class Tuned(nn.Module):
    """Frozen parameters and a buffer, of which backward needs some, and takes none a gradient."""

    def __init__(self):
        super().__init__()
        self.base, self.head = nn.Linear(4, 4), nn.Linear(4, 2)
        self.base.weight.requires_grad_(False)
        self.head.requires_grad_(False)
        self.register_buffer("offset", torch.ones(2))

    def forward(self, x):
        return self.head(self.base(x)) + self.offset


class Wrong(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 8), nn.Linear(7, 2)

    def forward(self, x):
        hidden = self.one(x).relu()
        return self.two(hidden)


def layer():
    return viz.graph(Layer(), torch.ones(3, 4), torch.ones(3, 8))


def gru():
    return viz.graph(Recurrent(nn.GRUCell), torch.ones(2, 28, 28), torch.zeros(2, dtype=torch.int64))


def gates():
    return viz.graph(Recurrent(Gates), torch.ones(2, 28, 28), torch.zeros(2, dtype=torch.int64))


def gpt():
    indices = torch.zeros(2, 16, dtype=torch.int64)
    return viz.graph(GPT(), indices, indices)


def frozen():
    return viz.graph(Tuned(), torch.ones(3, 4))


def branches():
    """Many outputs and inputs of one operation, a leaf in two places, an input with a gradient, two results."""
    x = torch.ones(9, 4, requires_grad=True)
    w = torch.ones(4, 4, requires_grad=True)
    rows = (x @ w).unbind(0)
    top, low = torch.stack(rows).split([4, 5])
    return viz.graph([top.exp() * low.sum() * w, (rows[0] * rows[1]).cos().sum()], params={"x": x, "w": w})
