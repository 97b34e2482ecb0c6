"""Resizing beside torch: sizes and factors, memory formats, dtypes, gradients; errors; the layers over it."""
import random

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome

MODES = {1: ["nearest", "nearest-exact", "linear", "area"],
         2: ["nearest", "nearest-exact", "bilinear", "bicubic", "area"],
         3: ["nearest", "nearest-exact", "trilinear", "area"]}
EPSILON = {"float32": 2e-6, "float64": 1e-13, "float16": 2e-3, "bfloat16": 1.6e-2}


def settings(seed, dtype):
    """(keywords, input, its memory format): of uint8 or floats."""
    r, rng = random.Random(seed), np.random.default_rng(seed)
    n = r.choice([1, 2, 2, 3])
    smoothed = n == 2 and dtype not in ("float16", "bfloat16") and r.random() < 0.3
    mode = r.choice(["bilinear", "bicubic", "lanczos"] if smoothed else MODES[n])
    if dtype == "uint8" and mode in ("area", "linear", "trilinear"):
        mode = "nearest"
    keywords = {"mode": mode}
    if smoothed:
        keywords["antialias"] = True
    elif mode in ("linear", "bilinear", "bicubic", "trilinear"):
        keywords["align_corners"] = r.choice([None, False, True])
    if r.random() < 0.5:                       # not to 1: torch smooths columns of one pixel by the first one's weights
        keywords["size"] = [r.randint(2, 12 if n == 3 else 40) for _ in range(n)]
    else:
        keywords["scale_factor"] = [r.choice([2, 0.6, 3, 1.5, round(r.uniform(0.6, 3.5), 3)]) for _ in range(n)]
        keywords["recompute_scale_factor"] = r.choice([None, False, True])
    shape = (2, r.choice([1, 3, 4, 5]), *[r.randint(4, 7 if n == 3 else 30) for _ in range(n)])
    x = rng.integers(0, 256, shape) if dtype == "uint8" else rng.normal(size=shape)
    form = {2: "channels_last", 3: "channels_last_3d"}.get(n) if r.random() < 0.4 else None
    return keywords, x, form


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "uint8"])
@pytest.mark.parametrize("seed", range(24))
def test_values_gradients_and_strides(seed, dtype):
    keywords, x, form = settings(seed, dtype)
    results = []
    for m in (torch, tinytorch):
        t = m.tensor(x).to(getattr(m, dtype))
        t = t if form is None else t.to(memory_format=getattr(m, form))
        t.requires_grad_(dtype != "uint8")
        y = m.nn.functional.interpolate(t, **keywords)
        row = [y, y.stride()]
        if dtype != "uint8":
            g = m.tensor(np.random.default_rng(1).normal(size=tuple(y.shape))).to(y.dtype)
            dx, = m.autograd.grad(y, t, g)
            row += [dx, dx.stride()]
        results.append([a.detach().to(m.float64).numpy() if isinstance(a, m.Tensor) else a for a in row])
    theirs, ours = results
    assert theirs[1::2] == ours[1::2]
    for a, b in zip(theirs[::2], ours[::2], strict=True):
        np.testing.assert_allclose(b, a, rtol=0, atol=0 if dtype == "uint8" else EPSILON[dtype] * max(abs(a).max(), 1))


@pytest.mark.parametrize("size, out", [(n, m) for n in (1, 2, 3, 7, 64, 255) for m in (1, 2, 5, 14, 100, 511)])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_nearest_is_the_same_element(mode, size, out):
    """By sizes and by factors, with few channels and with many that lie together."""
    def program(t):
        F = t.nn.functional
        line = t.arange(float(size))[None, None]
        image = line[:, :, None].expand(1, 4, 200, size).contiguous(memory_format=t.channels_last)
        found = [F.interpolate(x, size=s, mode=mode)[0, 0] for x, s in ((line, out), (image, (3, out)))]
        if int(size * (out / size)):
            found += [F.interpolate(line.double(), scale_factor=out / size, mode=mode)[0, 0]]
            found += [F.interpolate(line, scale_factor=out / size, mode=mode)[0, 0]]
        return found
    same_outcome(program)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "bilinear smoothed", "lanczos smoothed"])
def test_nodes_and_second_gradients(mode):
    def program(t):
        x = (t.arange(48.) / 7).sin().reshape(1, 3, 4, 4).requires_grad_()
        name, _, smoothed = mode.partition(" ")
        y = t.nn.functional.interpolate(x, size=(3, 7), mode=name, antialias=bool(smoothed))
        dx, = t.autograd.grad((y ** 3).sum(), x, create_graph=True)
        second, = t.autograd.grad((dx ** 2).sum(), x, create_graph=True)
        return y, dx, second, y.grad_fn.name(), dx.grad_fn.name(), second.requires_grad
    same_outcome(program)


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 2, 3, 3), (1, 1, 3, 3, 3), (1, 0, 3, 3), (0, 1, 3, 3), (1, 1, 0, 3),
                                   (3, 3)])
@pytest.mark.parametrize("keywords", [
    {}, {"size": 0}, {"size": 2.5}, {"size": -1}, {"size": True}, {"size": (True, 2)}, {"size": (2, None)},
    {"size": (2, 2, 2)}, {"size": 2, "scale_factor": 2}, {"scale_factor": 0.1}, {"scale_factor": "a"},
    {"scale_factor": -1.0}, {"scale_factor": (2,)}, {"size": 2, "mode": "linear"}, {"size": 2, "mode": "bilinear"},
    {"size": 2, "mode": "trilinear"}, {"size": 2, "mode": "bicubic"}, {"size": 2, "mode": "other"},
    {"size": 2, "mode": "bilinear", "align_corners": "a"},
    {"size": 2.5, "mode": "bilinear"}, {"size": 2, "align_corners": True}, {"size": 2, "antialias": True},
    {"size": 2, "mode": "lanczos"}, {"size": 2, "mode": "lanczos", "antialias": True, "align_corners": True},
    {"size": 2, "recompute_scale_factor": True}, {"scale_factor": 2, "recompute_scale_factor": True}], ids=str)
def test_errors(shape, keywords):
    same_outcome(lambda t: t.nn.functional.interpolate(t.ones(shape), **keywords),
                 lambda text: text.partition("\n")[0])


@pytest.mark.parametrize("size", [
    lambda t: [t.tensor(6), t.tensor([5])], lambda t: (t.tensor([[6]], dtype=t.int32), 5), lambda t: t.tensor(4),
    lambda t: t.tensor([4], dtype=t.int32), lambda t: [t.tensor(6.0), 5]])
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_sizes_that_are_tensors_of_one_whole_number(size, mode):
    same_outcome(lambda t: t.nn.functional.interpolate(t.arange(12.0).view(1, 1, 3, 4), size(t), mode=mode),
                 lambda text: text.partition(" but ")[0])


@pytest.mark.parametrize("dtype", ["int64", "bool", "complex64", "uint8", "bfloat16"])
@pytest.mark.parametrize("mode, n", [("nearest", 1), ("nearest", 2), ("nearest-exact", 3), ("linear", 1),
                                     ("bilinear", 2), ("bicubic", 2), ("trilinear", 3)])
@pytest.mark.parametrize("size", [3, 100])
def test_dtypes(mode, n, dtype, size):
    if n == 3 and size == 100:
        size = 9
    same_outcome(lambda t: t.nn.functional.interpolate(
        t.arange(4 ** n).reshape(1, 1, *[4] * n).to(getattr(t, dtype)), size=size, mode=mode))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64"])
def test_dtypes_that_are_not_smoothed(dtype):
    same_outcome(lambda t: t.nn.functional.interpolate(
        t.ones(1, 1, 4, 4, dtype=getattr(t, dtype)), size=2, mode="bilinear", antialias=True))


@pytest.mark.parametrize("make", [
    lambda nn: nn.Upsample(scale_factor=2), lambda nn: nn.Upsample(size=(3, 5), mode="bilinear"),
    lambda nn: nn.Upsample(scale_factor=(1.5, 2), mode="bicubic", align_corners=True, recompute_scale_factor=True),
    lambda nn: nn.UpsamplingNearest2d(size=3), lambda nn: nn.UpsamplingBilinear2d(scale_factor=2),
    lambda nn: nn.ChannelShuffle(2)])
def test_layers(make):
    def program(t):
        layer = make(t.nn)
        x = (t.arange(64.) / 5).sin().reshape(1, 4, 4, 4).requires_grad_()
        y = layer(x)
        return y, t.autograd.grad((y * y).sum(), x), repr(layer), {k: v for k, v in vars(layer).items() if k[0] != "_"}
    same_outcome(program)


@pytest.mark.parametrize("name, keywords", [
    ("upsample", {"size": 3, "mode": "bilinear"}), ("upsample_nearest", {"scale_factor": 2}),
    ("upsample_bilinear", {"scale_factor": (2, 1)})])
def test_older_names_warn(name, keywords):
    same_outcome(lambda t: getattr(t.nn.functional, name)(t.arange(4.).reshape(1, 1, 2, 2), **keywords))


@pytest.mark.parametrize("shape, groups", [
    ((1, 6, 2, 2), 2), ((2, 6, 3), 3), ((1, 4, 2, 1, 3), 1), ((4, 2), 2), ((1, 5, 2, 2), 2), ((1, 4, 2, 2), 0),
    ((1, 4, 2, 2), -1), ((1, 4, 2, 2), 1.5), ((0, 4, 2), 2), ((2, 0, 2, 2), 2)])
@pytest.mark.parametrize("last", [False, True])
def test_channel_shuffle(shape, groups, last):
    def program(t):
        x = t.arange(float(t.Size(shape).numel())).reshape(shape)
        if last and len(shape) > 3:
            x = x.to(memory_format=t.channels_last if len(shape) == 4 else t.channels_last_3d)
        y = t.channel_shuffle(x.requires_grad_(), groups)
        dx, = t.autograd.grad((y ** 3).sum(), x, create_graph=True)
        return y, y.stride(), y.grad_fn.name(), dx, dx.grad_fn.name()
    same_outcome(program)
