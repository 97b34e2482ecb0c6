"""Convolutions, pools, pads and norms beside torch where windows, sizes and numbers are at their edges; what they keep
for backward; half precision."""
import pytest

from .adapter import same_outcome

NAN, INF = float("nan"), float("inf")


def numbers(t, *shape):
    count = t.Size(shape).numel()
    return (t.arange(float(count)) * 7919 % 23 - 11).reshape(shape) / 7


def derived(t, function, *shape, dtype="float32"):
    """The result and the gradients of the input and of a layer's parameters."""
    x = numbers(t, *shape).to(getattr(t, dtype)).requires_grad_()
    y = function(x)
    (y * y).sum().backward()
    return y, x.grad, [p.grad for p in function.parameters()] if isinstance(function, t.nn.Module) else []


def constant(layer, value=0.5):
    for p in layer.parameters():
        p.data.fill_(value)
    return layer


PROGRAMS = {
    "output padding beyond the stride": lambda t, F: derived(
        t, constant(t.nn.ConvTranspose1d(2, 2, 1, dilation=3, output_padding=1)), 2, 2, 4),
    "places of the kernel wholly outside": lambda t, F: derived(
        t, constant(t.nn.Conv2d(2, 2, 4, dilation=3, padding="same")), 1, 2, 3, 2),
    "empty batch without dilation": lambda t, F: F.conv1d(t.ones(0, 4, 2), t.ones(4, 4, 1), dilation=0),
    "empty batch, some dilation": lambda t, F: F.conv2d(t.ones(0, 4, 2, 2), t.ones(4, 4, 2, 2), dilation=(1, 0)),
    "a batch without dilation": lambda t, F: F.conv1d(t.ones(1, 4, 2), t.ones(4, 4, 1), dilation=0),
    "empty batch, output padding": lambda t, F: F.conv_transpose1d(t.ones(0, 2, 4), t.ones(2, 2, 1), output_padding=1),
    "a batch, output padding": lambda t, F: F.conv_transpose1d(t.ones(2, 2, 4), t.ones(2, 2, 1), output_padding=1),
    "max pool of one element": lambda t, F: t.nn.MaxPool1d(2, 2, 1, 2, True, True)(t.ones(1, 1, 1)),
    "padding beyond half of the kernel": lambda t, F: t.nn.MaxPool2d((3, 4), 4, (2, 1), 3, ceil_mode=True)(
        t.ones(1, 1, 6, 6)),
    "the same of volumes": lambda t, F: F.max_pool3d(t.ones(1, 1, 9, 9, 9), (2, 3, 4), 1, (1, 2, 1), 3),
    "the same of a row": lambda t, F: F.max_pool1d(t.ones(1, 1, 9), 3, 1, 2, 3, return_indices=True),
    "average beyond the volume": lambda t, F: t.nn.AvgPool3d(3, padding=1)(t.ones(1, 1, 1, 3, 3)),
    "power average beyond the volume": lambda t, F: t.nn.LPPool3d(2, 3, ceil_mode=True)(t.ones(1, 1, 2, 3, 3)),
    "adaptive max to nothing": lambda t, F: derived(t, lambda x: F.adaptive_max_pool1d(x, 0), 1, 2, 3),
    "adaptive max of images to nothing": lambda t, F: derived(
        t, lambda x: F.adaptive_max_pool2d(x, (0, 2)), 1, 2, 3, 3),
    "adaptive average to nothing": lambda t, F: derived(t, lambda x: F.adaptive_avg_pool2d(x, (0, 2)), 1, 2, 3, 3),
    "adaptive average of a row to nothing": lambda t, F: derived(t, lambda x: F.adaptive_avg_pool1d(x, 0), 1, 2, 3),
    "adaptive average of nothing": lambda t, F: t.nn.AdaptiveAvgPool1d(1)(t.ones(2, 0)),
    "adaptive average of nothing to two": lambda t, F: t.nn.AdaptiveAvgPool1d(2)(t.ones(1, 2, 0)),
    "unpooling nothing": lambda t, F: t.nn.MaxUnpool2d(2)(t.ones(1, 1, 0, 0), t.ones(1, 1, 0, 0, dtype=t.int64)),
    "unpooling to nothing": lambda t, F: F.max_unpool2d(
        t.ones(1, 1, 1, 1), t.zeros(1, 1, 1, 1, dtype=t.int64), 2, 2, 1),
    "unpooling a row to nothing": lambda t, F: F.max_unpool1d(
        t.ones(1, 1, 1), t.zeros(1, 1, 1, dtype=t.int64), 2, 2, 1),
    "power average at NaN": lambda t, F: t.autograd.grad(F.lp_pool1d(
        x := t.tensor([[NAN, 1, 2, 0, 3, 4]]).requires_grad_(), 2, 2).sum(), x),
    "instance norm of equals": lambda t, F: F.instance_norm(t.ones(1, 1, 2), eps=0.0),
    "instance norm of no images": lambda t, F: (m := t.nn.InstanceNorm1d(2, track_running_stats=True), m(
        t.ones(0, 2, 4)), m.running_mean, m.running_var)[1:],
    "number beyond the dtype": lambda t, F: F.pad(t.ones(2, dtype=t.uint8), (1, 1), value=-1.0),
    "number rounded": lambda t, F: (F.pad(t.ones(2, dtype=t.bfloat16), (1, 1), value=1.7), t.nn.ConstantPad1d(1, 2.3)(
        t.ones(1, 1, 2, dtype=t.bfloat16))),
    "circular pad that leaves nothing": lambda t, F: F.pad(t.tensor([[1., 2.]]), [1, -2], "circular").shape,
    "circular pad that crops": lambda t, F: F.pad(t.tensor([[1., 2., 3., 4.]]), [1, -2], "circular"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    same_outcome(lambda t: PROGRAMS[name](t, t.nn.functional))


@pytest.mark.parametrize("size", [1, 2, 3, (3, 4), (2, 5)])
def test_a_nan_stays_in_its_windows(size):
    def program(t):
        x = t.ones(1, 2, 4, 4)
        x[0, 0, 0, 0], x[0, 0, 3, 3] = NAN, INF
        y = t.nn.functional.adaptive_avg_pool2d(x.requires_grad_(), size)
        g = t.ones(*y.shape)
        g[0, 0, 0, 0] = NAN
        return y, t.autograd.grad(y, x, g)
    same_outcome(program)


@pytest.mark.parametrize("mode", ["reflect", "replicate"])
@pytest.mark.parametrize("shape, widths", [
    ((1, 1, 3), (-2, -2)), ((1, 1, 3), (-1, -2)), ((1, 1, 4), (-3, 2)), ((1, 1, 4), (-6, 4)), ((1, 3, 2), (0, -2)),
    ((1, 1, 3, 3), (-2, -2, -2, -2)), ((1, 1, 3, 3), (-2, -2, 1, 1)), ((1, 1, 3, 3), (-2, -1, 1, 1)),
    ((1, 1, 2, 2), (4, 4, 0, -2)), ((1, 1, 3, 3, 3), (-2, -2) * 3), ((1, 1, 3, 3, 3), (-2, -1, 1, 1, 1, 1)),
    ((1, 0, 3), (1, 1)), ((0, 1, 3), (1, 1)), ((1, 1, 0, 3), (1, 1, 0, 0)), ((0, 1, 3, 3), (1, 1, 1, 1))])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_pads_that_crop(mode, shape, widths, dtype):
    same_outcome(lambda t: t.nn.functional.pad(numbers(t, *shape).to(getattr(t, dtype)), widths, mode))


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular", "constant"])
def test_pads_of_bools(mode):
    same_outcome(lambda t: t.nn.functional.pad(t.ones(1, 1, 3, dtype=t.bool), (1, 1), mode))


# ------------------------------------------------------------------ what is kept
KEPT = {
    "max_pool1d": ((2,), (1, 2, 4)), "max_pool2d": ((2,), (1, 2, 4, 4)), "max_pool3d": ((2,), (1, 1, 2, 4, 4)),
    "max_pool2d with indices": ((2, 2, 0, 1, False, True), (1, 2, 4, 4)), "avg_pool1d": ((2,), (1, 2, 4)),
    "max_pool3d with indices": ((2, 2, 0, 1, False, True), (1, 1, 2, 4, 4)),
    "avg_pool2d": ((2,), (1, 2, 4, 4)), "avg_pool3d": ((2,), (1, 1, 2, 4, 4)),
    "adaptive_avg_pool2d": ((3,), (1, 2, 4, 4)), "adaptive_avg_pool2d even": ((2,), (1, 2, 4, 4)),
    "adaptive_avg_pool2d to one": ((1,), (1, 2, 4, 4)), "adaptive_avg_pool3d": ((2,), (1, 1, 2, 4, 4)),
    "adaptive_max_pool2d": ((2, True), (1, 2, 4, 4)), "adaptive_max_pool3d": ((2, True), (1, 1, 2, 4, 4)),
    "group_norm": ((1,), (1, 2, 4)), "layer_norm": (((4,),), (1, 2, 4)),
    "pad reflect": (((1, 1), "reflect"), (1, 2, 4)), "pad replicate": (((1, 1), "replicate"), (1, 2, 4)),
    "pad": (((1, 1),), (1, 2, 4)),
    "pixel_shuffle": ((2,), (4, 2, 2)), "unfold": ((2,), (1, 2, 4, 4))}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("written", ["input", "output", "indices"])
def test_writes_after_the_forward(name, written):
    """An error where torch has kept what was written to, and else the gradient of what was there before."""
    args, shape = KEPT[name]

    def program(t):
        x = numbers(t, *shape).requires_grad_()
        z = x * 1
        result = getattr(t.nn.functional, name.split()[0])(z, *args)
        y, *indices = result if isinstance(result, tuple) else (result,)
        with t.no_grad():
            for tensor in {"input": [z], "output": [y], "indices": indices}[written]:
                tensor.mul_(2)
        y.sum().backward()
        return x.grad, y.grad_fn if written != "output" else None
    same_outcome(program, cut=lambda text: text.split(":")[0])


# ------------------------------------------------------------------ half precision
@pytest.mark.parametrize("name", ["BatchNorm1d", "BatchNorm2d", "InstanceNorm1d", "InstanceNorm2d", "GroupNorm",
                                  "LayerNorm"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("parameters", ["half", "single"])
def test_norms(name, dtype, parameters):
    """torch adds the gradients of LayerNorm's parameters up in half precision, whatever they have."""
    def program(t):
        shape = (3, 2, 4) if "2d" not in name else (3, 2, 4, 2)
        if name in ("GroupNorm", "LayerNorm"):
            layer = getattr(t.nn, name)(*{"GroupNorm": (2, 2), "LayerNorm": (4,)}[name])
        else:
            layer = getattr(t.nn, name)(2, affine=True, track_running_stats=True)
        layer = layer if parameters == "single" else layer.to(getattr(t, dtype))
        x = numbers(t, *shape).to(getattr(t, dtype)).requires_grad_()
        found = []
        for y in (layer(x), layer(x * 2), layer.eval()(x)):
            layer.zero_grad()
            g, = t.autograd.grad((y * y * y).sum(), x, create_graph=True)
            y.sum().backward(retain_graph=True)
            grads = [p.grad.to(x.dtype if name == "LayerNorm" else p.dtype, copy=True) for p in layer.parameters()]
            found += [y, g, grads, [b.clone() for b in layer.buffers()]]
        return found
    same_outcome(program, scale=2)


@pytest.mark.parametrize("name", [f"{kind}_pool{n}d" for kind in ("max", "avg", "lp", "adaptive_max", "adaptive_avg")
                                  for n in (1, 2, 3)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64", "uint8", "complex64", "bool"])
def test_dtypes_of_pools(name, dtype):
    def program(t):
        x = numbers(t, 2, 2, *(4,) * int(name[-2])).abs().to(getattr(t, dtype))
        args = (2, 2) if name[:2] == "lp" else (2,)
        if not (x.is_floating_point() or x.is_complex()):
            return getattr(t.nn.functional, name)(x, *args)
        y = getattr(t.nn.functional, name)(x.requires_grad_(), *args)
        return y, t.autograd.grad((y * y).sum(), x)
    same_outcome(program)
