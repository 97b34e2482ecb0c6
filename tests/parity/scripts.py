# ruff: noqa: B007, C416, F811, UP006, UP007, UP031, UP032, UP035, UP045 (what scripts are written in)
"""Functions and modules to be scripted, of either library: the tests read this file a second time with tinytorch as
torch. PROGRAMS is {name: (what makes it, the arguments)}."""
import math
from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F


# ------------------------------------------------------------------ functions
def early(x, n: int):
    for i in range(n):
        if i == 3:
            return x * i
        if i == 1:
            continue
        x = x + 1
    while True:
        n -= 1
        if n < 0:
            break
    return x - n


def inner(x, k: int = 3) -> Tuple[Tensor, int]:
    return x + k, k


def helper(x, k: int):
    return x * k + 1


def calling(x):
    a, b = inner(x)
    c, _ = inner(a, k=b * 2)
    return helper(c, b)


def lists(x, names: List[str], d: Dict[str, int]):
    out: List[Tensor] = []
    for n in names:
        if n in d and n not in ["zz"]:
            out.append(x * d[n])
    k = [len(n) for n in names]
    k.append(7)
    k.insert(0, 1)
    k.extend([3, 4])
    k.sort()
    k.reverse()
    k[0] += 2
    last = k.pop()
    e = {n: i for i, n in enumerate(names)}
    pairs = [a + b for a, b in zip([1, 2], [3, 4])]
    del e[names[0]]
    return (torch.stack(out), k, last, sorted(e.keys()), sum(k), max(k), min(3, 4), k[1:3], k[-1], [1, 2] + [3],
            [0] * 2, d.get("b"), list(d.values()), d.items(), pairs, 3 in k, len(d))


def texts(s: str, x):
    u = s.upper().split(",")
    r = f"{s}-{len(u)}!" + "{braces}"
    if s.startswith("a") and not s.endswith("z"):
        r += "|".join(u)
    return (r, "%s=%d" % (s, 3), s[1:], s[0], s.replace("a", "b"), str(1.5), "n{}".format(x.size(0)), s == "a",
            int("3"), float("2.5"), "b" in s)


def optional(x, m: Optional[Tensor] = None, k: Optional[int] = None):
    if m is not None:
        x = x + m
    if k is None:
        k = 2
    y = m if m is not None else x
    assert y is not None, "there is one"
    return x * k, y, m is None


def numbers(x, a: float, n: int):
    n += 1
    n -= 1
    n *= 2
    return (math.sqrt(a), math.floor(a), math.pi * a, math.exp(1.0), n // 2, n % 3, -n // 2, n / 2, n ** 2, a ** 2,
            2.0 ** n, abs(-n), round(a), int(a), float(n), bool(n), n << 1, n & 1, n | 2, n ^ 1, divmod(n, 2),
            math.log(a), math.inf, a // 1, a % 1.0, min(a, 2.0), 1 < n < 9, n != 3, math.ceil(a), math.pow(a, 2.0),
            math.isnan(a), not n > 3 or a > 1)


def arithmetic(x):
    y = x.clone()
    y[0] = 5
    y[:, 1] += 2
    y[x > 2] = -1
    y.add_(1).mul_(2)
    y -= 1
    z = x @ x.t()
    m = x.max(1)
    v, i = x.topk(2, dim=1)
    w = torch.zeros(2, 3, dtype=torch.float64) + torch.ones([2, 3]) + torch.full((2, 3), 2.0) + x.new_zeros(2, 3)
    b, c = ~(x > 0), (x > 0) & (x < 2) | (x == -1)
    return (y, z, m[0], m.values, v, i, w, 1 - x, 2 / (x.abs() + 1), x // 2, x % 2, x ** 2, 2 ** x, -x, b, c, x > 0,
            x.float(), x.long(), x.to(torch.int64), x.to(torch.float64), x.dtype == torch.float32)


def shapes(x):
    return (x[..., None].shape, x[0, 1:].size(), x.permute(1, 0), x.view(-1), x.reshape(3, 2), x.mean([0, 1]),
            x.sum(dim=1, keepdim=True), x.is_floating_point(), x.numel(), x.dim(), x.shape[0], len(x), x[None],
            x[:, ::2], x.T, torch.cat([x, x], dim=1), torch.cat((x, x)), torch.where(x > 0, x, torch.zeros_like(x)),
            torch.arange(3), torch.arange(0, 6, 2), torch.linspace(0., 1., 3), x.chunk(3, 1), x.split(2, 1),
            torch.stack([x, x], -1), x.flip(0), x.repeat(2, 1), x.expand(1, 2, 3), x.unsqueeze(0).squeeze(0), x.ndim)


def functions(x):
    return (x.std(), x.norm(), torch.einsum("ij,kj->ik", [x, x]), x.masked_fill(x > 0, 0.), x.argmax(-1), x.cumsum(0),
            x.softmax(-1), torch.sigmoid(x), F.gelu(x), x.clamp(0, 1), x.clamp(min=0.5), torch.max(x),
            torch.max(x, 1)[1], torch.maximum(x, x), float(x.sum()), int(x.sum()), x.sum().item(),
            bool((x > 0).any()), F.softmax(x, dim=-1), F.log_softmax(x, -1), F.pad(x, [1, 1]), F.relu(x),
            F.dropout(x, 0.5, False), F.mse_loss(x, x + 1), F.cross_entropy(x, torch.tensor([0, 1])),
            F.layer_norm(x, [3]), F.normalize(x), F.one_hot(torch.tensor([0, 1]), 3), F.leaky_relu(x, 0.2),
            F.linear(x, torch.ones(2, 3)), torch.nn.functional.elu(x), F.avg_pool1d(x, 2), F.max_pool1d(x, 2))


def commented(x, n, names):
    # type: (Tensor, int, Optional[List[str]]) -> Tuple[Tensor, int]
    if names is None:
        names = ["q"]
    return x * n, len(names)


def raising(x, n: int):
    if n > 3:
        raise ValueError(f"too large: {n}")
    elif n < 0:
        raise RuntimeError("negative")
    return x


def ends_in_an_exception(x, n: int):
    if n > 3:
        return x
    y = x + 1
    if n > 2:
        return y
    raise ValueError("small", n)


def annotated(x):
    empty = torch.jit.annotate(List[Tensor], [])
    empty.append(x)
    table: Dict[int, List[int]] = {}
    table[3] = [1]
    table[3].append(4)
    value: float = 2.0
    pair: Tuple[int, str] = (1, "a")
    several = [y for y in empty]
    return empty, table, value, pair, several, isinstance(x, Tensor)


class Counter:
    def __init__(self, n: int, x: Tensor):
        self.n = n
        self.x = x
        self.log: List[int] = []

    def add(self, k: int) -> int:
        self.n += k
        self.log.append(k)
        return self.n


class Point(NamedTuple):
    a: int
    b: float


def classes(x):
    counter = Counter(3, x)
    for i in range(3):
        counter.add(i)
    p = Point(counter.n, 2.5)
    return counter.x * p.b, counter.log, p, p.a


# ------------------------------------------------------------------ modules
class Block(nn.Module):
    __constants__ = ["k"]
    n: torch.jit.Final[int]

    def __init__(self, act):
        super().__init__()
        self.c = nn.Conv2d(2, 2, 3, padding=1)
        self.act, self.k, self.n, self.down = act, 2, 3, None

    def forward(self, x):
        y = self.act(self.c(x))
        if self.down is not None:
            y = self.down(y)
        if self.k > 1:
            y = y * self.n
        return y + x


class Net(nn.Module):
    counts: Dict[str, int]

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(nn.ReLU(inplace=True)) for _ in range(3)])
        self.heads = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 3)})
        self.seq = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.register_buffer("steps", torch.zeros(1))
        self.p = nn.Parameter(torch.ones(2))
        self.counts, self.fn, self.total, self.shape = {}, F.relu, 0, (2, 3)

    def pooled(self, x):
        return F.max_pool2d(x, 2, stride=2)

    @torch.jit.export
    def other(self, x: Tensor, k: int = 2) -> Tensor:
        return self.pooled(x) * k

    @torch.jit.unused
    def never(self, x):
        return eval("x")

    @torch.jit.unused
    def nor_this(self, x: Tensor) -> Tensor:
        return eval("x")

    def forward(self, x):
        outs: Dict[str, Tensor] = {}
        feats: List[Tensor] = []
        for b in self.blocks:
            x = b(x)
            feats.append(x)
        for b, c in zip(self.blocks, self.blocks):
            x = x + b(c(x))
        for i, b in enumerate(self.blocks):
            x = x + i
        self.steps += 1
        self.total += 2
        z = self.seq(self.fn(x)) * self.p
        for name, h in self.heads.items():
            outs[name] = h(z)
            self.counts[name] = len(name)
        if torch.jit.is_scripting():
            z = z + 1
        else:
            z = self.never(z)
        if x.dim() == 3:
            x = self.nor_this(x)
        first = self.blocks[0](x)
        y = F.interpolate(first, scale_factor=2., mode="nearest")
        with torch.no_grad():
            q = x * 2
        return (outs, z, [f.mean() for f in feats], self.pooled(x), self.counts, len(self.blocks), y.shape,
                q.requires_grad, self.shape[1], self.training)


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.r, self.f = kind(3, 4, 2, batch_first=True), nn.Linear(4, 2)

    def forward(self, x):
        y, h = self.r(x)
        return self.f(y[:, -1]), y


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.g = nn.LSTMCell(3, 4), nn.GRUCell(4, 4)

    def forward(self, x):
        h, c = torch.zeros(x.size(0), 4), torch.zeros(x.size(0), 4)
        g = torch.zeros(x.size(0), 4)
        out: List[Tensor] = []
        for t in range(x.size(1)):
            h, c = self.l(x[:, t], (h, c))
            g = self.g(h, g)
            out.append(g)
        return torch.stack(out, dim=1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0., batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(4, 2, 8, dropout=0., batch_first=True)
        self.embed = nn.Embedding(10, 4, padding_idx=0)

    def forward(self, i):
        x = self.layer(self.embed(i))
        return self.decoder(x, x)


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.norm = nn.EmbeddingBag(10, 4, mode="sum"), nn.LayerNorm(4)

    def forward(self, i, offsets: Optional[Tensor] = None):
        return self.norm(self.bag(i, offsets))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.up, self.out = nn.ConvTranspose2d(4, 4, 2, stride=2), nn.Conv2d(5, 1, 1)
        self.g, self.drop = nn.GroupNorm(2, 4), nn.Dropout2d(0.3)

    def forward(self, x):
        y = self.drop(self.g(self.up(self.down(x))))
        return self.out(torch.cat([x, y], 1))


class Properties(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self._shift = nn.Parameter(torch.ones(3)), 1

    @property
    def scale(self) -> Tensor:
        return self.weight * 2

    @property
    def shift(self) -> int:
        return self._shift + 1

    @shift.setter
    def shift(self, value: int):
        self._shift = value

    def forward(self, x):
        before = self.shift
        self.shift = before + 2
        return x * self.scale + self.shift - before


class Color(Enum):
    RED = 1
    GREEN = 2


class Enumerated(nn.Module):
    def __init__(self):
        super().__init__()
        self.color = Color.GREEN

    def forward(self, x):
        if self.color == Color.RED:
            return x
        return x * self.color.value + Color.RED.value + len(self.color.name)


def weighted(a, b, k: int = 1):
    return a + b * k


def starred(x, pair: Tuple[Tensor, Tensor]):
    parts = (x, x * 2)
    return weighted(*parts) + weighted(*pair, 3)


def forked(x):
    first, second = torch.jit.fork(weighted, x, x, 2), torch.jit.fork(weighted, x, b=x)
    return torch.jit.wait(first) - torch.jit.wait(second)


class Forked(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def times(self, x, k: int):
        return x * k

    def forward(self, x):
        found = torch.jit.annotate(List[torch.jit.Future[Tensor]], [])
        for i in range(3):
            found.append(torch.jit.fork(self.times, x, i))
        total = torch.jit.wait(torch.jit.fork(self.layers[0], x)) + self.layers[1](x)
        for future in found:
            total = total + torch.jit.wait(future)
        return total


class Overloaded(nn.Module):
    @torch.jit._overload_method
    def more(self, x: int) -> int:
        pass

    @torch.jit._overload_method
    def more(self, x: Tensor) -> Tensor:
        pass

    def more(self, x):
        return x + 1

    def forward(self, x):
        return self.more(x) * self.more(3)


class Marked(nn.Module):
    @torch.jit.unused
    def not_compiled(self, x):
        return sorted(x)

    @torch.jit.export
    def exported(self, x, k: int):
        return x * k

    def forward(self, x, flag: bool = False):
        if flag:
            return self.not_compiled(x)
        return self.exported(x, 2)


def mlp():
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.1), nn.BatchNorm1d(8), nn.LeakyReLU(0.1),
                         nn.Linear(8, 2), nn.LogSoftmax(dim=-1)).eval()


#: {name: (what makes it, what makes its arguments of a function that makes tensors: f floats, i indices)}.
PROGRAMS = {
    **{f.__name__: (lambda f=f: f, lambda f_, i_: (f_(2, 3),)) for f in (
        calling, arithmetic, shapes, functions, annotated, classes)},
    "early 2": (lambda: early, lambda f, i: (f(2, 3), 2)), "early 6": (lambda: early, lambda f, i: (f(2, 3), 6)),
    "lists": (lambda: lists, lambda f, i: (f(2, 3), ["a", "b"], {"a": 1, "b": 2})),
    "texts": (lambda: texts, lambda f, i: ("a,b", f(2, 3))),
    "optional": (lambda: optional, lambda f, i: (f(2, 3), None, None)),
    "optional given": (lambda: optional, lambda f, i: (f(2, 3), f(2, 3), 3)),
    "numbers": (lambda: numbers, lambda f, i: (f(1), 2.5, 7)),
    "commented": (lambda: commented, lambda f, i: (f(2), 3, None)),
    "ends in an exception": (lambda: ends_in_an_exception, lambda f, i: (f(2), 3)),
    "raising": (lambda: raising, lambda f, i: (f(2), 3)),
    "Net": (lambda: Net(), lambda f, i: (f(1, 2, 4, 4),)),
    "Net in eval": (lambda: Net().eval(), lambda f, i: (f(1, 2, 4, 4),)),
    "LSTM": (lambda: Recurrent(nn.LSTM), lambda f, i: (f(2, 5, 3),)),
    "GRU": (lambda: Recurrent(nn.GRU), lambda f, i: (f(2, 5, 3),)),
    "RNN": (lambda: Recurrent(nn.RNN), lambda f, i: (f(2, 5, 3),)),
    "cells": (lambda: Cells(), lambda f, i: (f(2, 5, 3),)),
    "attention": (lambda: Attention(), lambda f, i: (i(2, 3),)),
    "bag": (lambda: Pool(), lambda f, i: (i(2, 3), None)),
    "properties": (lambda: Properties(), lambda f, i: (f(2, 3),)),
    "enumerations": (lambda: Enumerated(), lambda f, i: (f(2, 3),)),
    "starred": (lambda: starred, lambda f, i: (f(2, 3), (f(2, 3), f(2, 3)))),
    "forked": (lambda: forked, lambda f, i: (f(2, 3),)), "futures": (lambda: Forked(), lambda f, i: (f(2, 3),)),
    "overloaded": (lambda: Overloaded(), lambda f, i: (f(2, 3),)),
    "marked": (lambda: Marked(), lambda f, i: (f(2, 3),)),
    "U-Net": (lambda: UNet().eval(), lambda f, i: (f(2, 1, 4, 4),)), "MLP": (mlp, lambda f, i: (f(2, 3),)),
}
