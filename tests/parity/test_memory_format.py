"""Channels last beside torch: in which order dimensions of results and gradients lie in memory, and their values."""
import random

import numpy as np
import pytest

from .adapter import same_outcome, skip_without_avx512

LAST = {3: None, 4: "channels_last", 5: "channels_last_3d"}


def numbers(t, shape, dtype="float32", seed=0):
    return t.tensor(np.random.default_rng(seed).standard_normal(shape).astype("f")).to(getattr(t, dtype))


def laid_out(t, x, how):
    """`x`, of at least three dimensions, with its memory in another order."""
    if how == "first":
        return x
    if how == "transposed":
        return x.transpose(-1, -2).contiguous().transpose(-1, -2)
    if how == "gaps":
        return laid_out(t, t.cat([x, x], 1), "last")[:, :x.shape[1]]
    if LAST[x.dim()] is None:
        return x.transpose(1, 2).contiguous().transpose(1, 2)
    return x.to(memory_format=getattr(t, LAST[x.dim()]))


def seen(t, x):
    """A tensor and its strides where they lead anywhere."""
    name = LAST.get(x.dim())
    return (x, [s for n, s in zip(x.shape, x.stride()) if n > 1], x.is_contiguous(),
            name and x.is_contiguous(memory_format=getattr(t, name)))


def derived(t, function, inputs, gradient):
    """What `function` makes of inputs, and their gradients for a gradient of the output that lies in memory as said."""
    inputs = [x.detach().requires_grad_() for x in inputs]
    results = function(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    y = results[0]
    g = laid_out(t, numbers(t, y.shape, str(y.dtype).removeprefix("torch."), 9), gradient)
    return [seen(t, x) for x in (*results, *t.autograd.grad(y, inputs, g))]


# ------------------------------------------------------------------ convolutions
CONVOLUTIONS = {
    "conv2d": ((2, 3, 5, 6), (4, 3, 3, 3), {}), "conv2d strided": ((2, 3, 5, 6), (4, 3, 3, 3), {"stride": 2}),
    "conv2d depthwise": ((2, 4, 5, 6), (4, 1, 3, 3), {"groups": 4}),
    "conv2d of points": ((2, 4, 5, 6), (3, 4, 1, 1), {}),
    "conv2d to one": ((2, 4, 5, 6), (1, 4, 3, 3), {"padding": 1}), "conv2d of one": ((2, 1, 5, 6), (4, 1, 3, 3), {}),
    "conv3d": ((2, 3, 3, 5, 6), (4, 3, 2, 3, 3), {}), "conv3d of points": ((2, 3, 3, 5, 6), (4, 3, 1, 1, 1), {}),
    "conv1d": ((2, 3, 6), (4, 3, 3), {}), "conv_transpose1d": ((2, 3, 6), (3, 4, 3), {}),
    "conv_transpose2d": ((2, 4, 5, 6), (4, 3, 3, 3), {}),
    "conv_transpose2d in groups": ((2, 4, 5, 6), (4, 2, 3, 3), {"groups": 2, "stride": 2}),
    "conv_transpose3d": ((2, 3, 3, 5, 6), (3, 4, 2, 3, 3), {})}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("orders", [("last", "first"), ("first", "last"), ("last", "last"), ("gaps", "first"),
                                    ("transposed", "first"), ("transposed", "last")], ids=" ".join)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_convolutions(name, orders, dtype):
    shape, weight, settings = CONVOLUTIONS[name]
    function = name.split()[0]
    skip_without_avx512(dtype == "bfloat16" and "3d" in function)

    def program(t):
        x, w = laid_out(t, numbers(t, shape, dtype), orders[0]), laid_out(t, numbers(t, weight, dtype, 1), orders[1])
        b = numbers(t, (weight[0] if "transpose" not in name else weight[1] * settings.get("groups", 1),), dtype, 2)
        return derived(t, lambda *args: getattr(t.nn.functional, function)(*args, **settings), (x, w, b), "first")
    same_outcome(program, scale=3)


# ------------------------------------------------------------------ pools, norms, pads
def functional(name, *args, **kwargs):
    return lambda t, x: getattr(t.nn.functional, name)(x, *args, **kwargs)


def batch_norm(training):
    return lambda t, x: t.nn.functional.batch_norm(x, t.arange(float(x.shape[1])), t.ones(x.shape[1]) / 2,
                                                   t.ones(x.shape[1]) * 3, t.ones(x.shape[1]), training)


IMAGES, VOLUMES, ROWS = (2, 4, 5, 6), (2, 3, 4, 5, 4), (2, 3, 6)
OTHERS = [(shape, name, function) for shape, functions in {
    IMAGES: {
        "max_pool2d": functional("max_pool2d", 2, ceil_mode=True),
        "indices": functional("max_pool2d", 3, 2, 1, 1, False, True),
        "avg_pool2d": functional("avg_pool2d", 3, 2, 1), "lp_pool2d": functional("lp_pool2d", 2, 2),
        "adaptive_avg_pool2d": functional("adaptive_avg_pool2d", (3, 4)),
        "adaptive_avg_pool2d even": functional("adaptive_avg_pool2d", (5, 2)),
        "adaptive_avg_pool2d to one": functional("adaptive_avg_pool2d", 1),
        "adaptive_max_pool2d": functional("adaptive_max_pool2d", (3, 4), True),
        "batch_norm": batch_norm(True), "batch_norm eval": batch_norm(False),
        "instance_norm": functional("instance_norm"), "group_norm": functional("group_norm", 2),
        "layer_norm": functional("layer_norm", (6,)), "rms_norm": functional("rms_norm", (5, 6)),
        "constant": functional("pad", (1, 0, 2, -1), value=2.0), "crop": functional("pad", (-1, 0, 0, -1)),
        "reflect": functional("pad", (1, 0, 2, 1), "reflect"),
        "replicate": functional("pad", (1, 0, 2, 1), "replicate"),
        "circular": functional("pad", (1, 0, 2, 1), "circular"), "pixel_shuffle": functional("pixel_shuffle", 2),
        "unfold": functional("unfold", 2), "dropout": functional("dropout", 0.5), "gelu": functional("gelu")},
    VOLUMES: {
        "max_pool3d": functional("max_pool3d", 2, return_indices=True), "avg_pool3d": functional("avg_pool3d", 2),
        "adaptive_avg_pool3d": functional("adaptive_avg_pool3d", 2),
        "adaptive_avg_pool3d to one": functional("adaptive_avg_pool3d", 1),
        "adaptive_max_pool3d": functional("adaptive_max_pool3d", 2, True),
        "batch_norm": batch_norm(True), "group_norm": functional("group_norm", 3),
        "constant": functional("pad", (1, 1)), "replicate": functional("pad", (1,) * 6, "replicate")},
    ROWS: {
        "max_pool1d": functional("max_pool1d", 2), "indices": functional("max_pool1d", 2, return_indices=True),
        "avg_pool1d": functional("avg_pool1d", 2), "adaptive_avg_pool1d": functional("adaptive_avg_pool1d", 4),
        "adaptive_avg_pool1d to one": functional("adaptive_avg_pool1d", 1),
        "adaptive_max_pool1d": functional("adaptive_max_pool1d", 4, True), "batch_norm": batch_norm(True),
        "constant": functional("pad", (1, 1)), "reflect": functional("pad", (1, 1), "reflect")}}.items()
    for name, function in functions.items()]


@pytest.mark.parametrize("shape, name, function", OTHERS, ids=[f"{len(shape)}d {name}" for shape, name, _ in OTHERS])
@pytest.mark.parametrize("order", ["last", "gaps", "transposed"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_pools_norms_pads(shape, name, function, order, dtype):
    """A gradient with channels first goes into most; arithmetic of two orders is not looked at."""
    gradient = "last" if name in ("dropout", "gelu", "crop") else "first"
    if name in ("dropout", "gelu"):
        order = "last"

    def program(t):
        t.manual_seed(0)
        return derived(t, lambda x: function(t, x), (laid_out(t, numbers(t, shape, dtype), order),), gradient)
    same_outcome(program, scale=3)


@pytest.mark.parametrize("order", ["first", "last"])
@pytest.mark.parametrize("name", ["max_unpool1d", "max_unpool2d", "max_unpool3d"])
def test_unpooling(name, order):
    n = int(name[-2])

    def program(t):
        x = numbers(t, (2, 3) + (4,) * n)
        indices = t.arange(4 ** n).reshape((4,) * n).expand(x.shape).contiguous()
        return derived(t, lambda x: getattr(t.nn.functional, name)(x, indices, 2), (laid_out(t, x, order),), "first")
    same_outcome(program)


def test_a_pool_of_volumes_refuses_images_with_channels_last():
    same_outcome(lambda t: t.nn.MaxPool3d(2)(t.ones(2, 2, 4, 4).to(memory_format=t.channels_last)))


def test_batch_norm_of_a_transposed_matrix():
    same_outcome(lambda t: [seen(t, norm(t)(numbers(t, (3, 4)).t())) for norm in (
        lambda t: t.nn.BatchNorm1d(3), lambda t: t.nn.BatchNorm1d(3).eval(), lambda t: t.nn.GroupNorm(3, 3),
        lambda t: t.nn.LayerNorm(3))])


# ------------------------------------------------------------------ conversions
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 1, 4, 5), (2, 4, 1, 1), (1, 1, 3, 1), (2, 3, 2, 4, 5),
                                   (2, 1, 2, 2, 2)])
def test_conversions(shape):
    """All strides: those of dimensions of one element are all that says that an image of one channel has it last."""
    def program(t):
        x, format = t.zeros(shape), getattr(t, LAST[len(shape)])
        y = x.to(memory_format=format)
        made = [y, y.to(t.float64), y.to(t.bfloat16), x.to(t.float64, memory_format=format), y.clone(), y.contiguous(),
                x.contiguous(memory_format=format), y.to(memory_format=t.contiguous_format),
                y[:, :1].to(memory_format=format), x.transpose(-1, -2).to(memory_format=t.contiguous_format)]
        module = t.nn.ParameterList([t.nn.Parameter(x)]).to(memory_format=format)
        return [tuple(z.stride()) for z in made + [module[0]]], made[7] is y, made[8] is y
    same_outcome(program)


# ------------------------------------------------------------------ nets
def layers(r, channels):
    """Some layers for images of 8 by 8 and so many channels: (name, arguments), the channels after them."""
    for _ in range(r.randint(3, 7)):
        out = r.choice([2, 4, 6])
        kind, args, after = r.choice([
            ("Conv2d", (channels, out, 3, 1, 1), out), ("Conv2d", (channels, out, 1), out),
            ("Conv2d", (channels, channels, 3, 1, 1, 1, channels), channels),
            ("ConvTranspose2d", (channels, out, 3, 1, 1), out), ("BatchNorm2d", (channels,), channels),
            ("GroupNorm", (channels // 2, channels), channels), ("InstanceNorm2d", (channels,), channels),
            ("MaxPool2d", (3, 1, 1), channels), ("AvgPool2d", (3, 1, 1), channels),
            ("AdaptiveAvgPool2d", (7,), channels), ("AdaptiveMaxPool2d", (7,), channels),
            ("ReflectionPad2d", (1,), channels), ("ReplicationPad2d", (1,), channels), ("ZeroPad2d", (1,), channels),
            ("PixelUnshuffle", (1,), channels), ("ReLU", (), channels), ("SiLU", (), channels),
            ("LeakyReLU", (), channels), ("Tanh", (), channels), ("Dropout", (0.3,), channels)])
        yield kind, args
        channels = after
    yield "AdaptiveAvgPool2d", (r.choice([1, 2]),)


#: Layers whose gradient is arithmetic: of two memory orders NumPy and torch take another one.
ARITHMETIC = "ReLU", "SiLU", "LeakyReLU", "Tanh", "Dropout", "the loss"


def trained(t, seed):
    """Two steps of a random net: outputs and gradients of its layers with their strides, and its state after that."""
    r = random.Random(seed)
    channels = r.choice([2, 4])
    t.manual_seed(seed)
    chosen = list(layers(r, channels))
    net = t.nn.Sequential(*[getattr(t.nn, kind)(*args) for kind, args in chosen])
    if r.random() < 0.5:
        net = net.to(memory_format=t.channels_last)
    x = laid_out(t, numbers(t, (2, channels, 8, 8), seed=seed), r.choice(["last", "last", "gaps", "first"]))
    optimiser = t.optim.SGD([*net.parameters(), t.nn.Parameter(t.zeros(1))], 0.01)
    found = []

    def look(number):
        followed_by = chosen[number + 1][0] if number + 1 < len(chosen) else "the loss"

        def hook(module, inputs, output):
            found.append(seen(t, output))
            if output.requires_grad:
                output.register_hook(lambda g: found.append(seen(t, g) if followed_by not in ARITHMETIC else g))
        return hook
    for number, layer in enumerate(net):
        layer.register_forward_hook(look(number))
    for _ in range(2):
        y = net(x.detach().requires_grad_())
        optimiser.zero_grad()
        (y * y).mean().backward()
        optimiser.step()
    return found, [seen(t, p) for p in net.parameters()], net.state_dict()


@pytest.mark.parametrize("seed", range(40))
def test_random_nets(seed):
    same_outcome(lambda t: trained(t, seed), tolerance=2e-4)


# ------------------------------------------------------------------ tensors without elements
NOTHING = [(0,), (0, 3), (3, 0), (2, 0, 3), (0, 2, 3), (2, 0, 3, 4), (0, 3, 4, 5), (2, 3, 0, 5), (2, 3, 4, 0),
           (1, 3, 0, 1), (0, 2, 3, 4, 5), (2, 3, 4, 5)]
FORMED = ["T.zeros(s).transpose(0, -1)", "T.empty(s).permute(*range(len(s))[::-1])", "T.ones(s).T.T", "T.rand(s)",
          "T.zeros(s).unsqueeze(-1)", "T.zeros(s).expand(2, *s)", "T.zeros(s)[..., None]", "T.zeros(s).narrow(0, 0, 0)",
          "T.zeros(s).movedim(0, -1).detach()", "T.zeros(s, dtype=T.complex64).real", "T.zeros(s).select(-1, 0)",
          "T.zeros(s).unfold(0, 0, 1)", "T.zeros(s).chunk(2, -1)[-1]", "T.zeros(s).diagonal(0, 0, -1)",
          "T.full(s, 2.).swapaxes(0, -1).contiguous()", "T.zeros(s) + T.ones(s)", "T.zeros(s).clone()",
          "T.zeros(s).contiguous(memory_format=T.channels_last)", "T.empty(s, memory_format=T.channels_last)",
          "T.zeros(s).to(memory_format=T.channels_last_3d)", "T.view_as_real(T.zeros(s, dtype=T.complex64))"]


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@pytest.mark.parametrize("text", FORMED)
def test_strides_of_nothing(text):
    """Of every shape; whether it lies in channels_last memory is what its strides say."""
    for s in NOTHING:
        same_outcome(lambda t: [(x.shape, x.stride(), x.is_contiguous(), *[
            x.is_contiguous(memory_format=getattr(t, LAST[n])) for n in (4, 5)])
            for x in (eval(text, {"T": t, "s": s}),)])
