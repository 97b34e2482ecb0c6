"""Convolutions, pools, pads, norms and what goes with them: memory formats, settings at their edges, sizes that do not
fit, gradients and second gradients."""
from .values import FLOATS, shape

_LAYOUTS = ["{}", "{}", "{}", "{}.to(memory_format=T.{last})", "{}.to(memory_format=T.{last})",
            "{}.transpose(-1, -2).contiguous().transpose(-1, -2)", "T.cat([{0}, {0}], 1)[:, :{channels}]"]


def _numbers(rng, sizes, dtype, exact=False):
    """Numbers as text; sums of them are without a rounding if `exact`."""
    count = 1
    for n in sizes:
        count *= n
    by = 4 if exact else rng.choice([4, 7])
    return f"((T.arange({count}.) * {rng.choice([7, 11, 13])} % 23 - 11) / {by}).reshape({sizes})" + (
        "" if dtype == "float32" else f".to(T.{dtype})")


def _laid_out(rng, sizes, dtype, exact=False):
    text = _numbers(rng, sizes, dtype, exact)
    if len(sizes) < 4 or 0 in sizes:
        return text + rng.choice(["", "", ".transpose(1, -1).contiguous().transpose(1, -1)" if len(sizes) > 2 else ""])
    return rng.choice(_LAYOUTS).format(text, last="channels_last" + "_3d" * (len(sizes) == 5), channels=sizes[1])


def _ints(rng, n, low, high):
    return rng.randint(low, high) if rng.random() < .6 else tuple(rng.randint(low, high) for _ in range(n))


def _convolution(rng, n, dtype):
    groups, transposed = rng.choice([1, 1, 1, 2]), rng.random() < .35
    channels, out = groups * rng.randint(1, 3), groups * rng.randint(1, 3)
    kernel = tuple(rng.randint(1, 3) for _ in range(n))
    weight = (channels, out // groups, *kernel) if transposed else (out, channels // groups, *kernel)
    size = shape(rng, n, 6, empty=.01)
    laid_out = _laid_out if max(kernel) > 1 else _numbers      # which of torch's routines it is decides strides of
    batch = rng.choice([0, 1, 2, 2, 2])        # one element; for no examples the weight's gradient is laid out as that
    lines = [f"x = {laid_out(rng, (batch, channels, *size), dtype)}",
             f"w = {(laid_out if batch else _numbers)(rng, weight, dtype)}", f"b = {_numbers(rng, (out,), dtype)}"]
    # torch may crash where a kernel of one element is dilated
    dilation = _ints(rng, n, 1, 3) if min(kernel) > 1 else tuple(1 if k == 1 else rng.randint(1, 3) for k in kernel)
    settings = f"stride={_ints(rng, n, 1, 2)}, padding={_ints(rng, n, 0, 2)}, dilation={dilation}"
    if transposed:
        settings += f", output_padding={_ints(rng, n, 0, 1)}"
    elif rng.random() < .2:
        settings = f"padding={rng.choice(['same', 'valid'])!r}, dilation={dilation}"
    name = f"conv_transpose{n}d" if transposed else f"conv{n}d"
    return lines, f"F.{name}(x, w, {rng.choice(['b', 'None'])}, {settings}, groups={groups})"


def _pool(rng, n, dtype):
    kind = rng.choice(["max", "max", "avg", "avg", "adaptive_max", "adaptive_avg", "lp"])
    size = shape(rng, n, 7, empty=.01)
    exact = kind == "lp"                       # no gradient passes a sum of zero
    lines = [f"x = {_laid_out(rng, (rng.choice([0, 1, 2, 2]), rng.randint(1, 3), *size), dtype, exact)}"]
    if rng.random() < .15:
        lines.append("x = x.detach()[0]")
    if kind.startswith("adaptive"):
        return lines, f"F.{kind}_pool{n}d(x, {_ints(rng, n, 0, 5)}{', True' * (kind[9] == 'm')})"
    kernel, stride, ceil = _ints(rng, n, 1, 3), _ints(rng, n, 1, 3), rng.random() < .4
    if kind == "lp":
        return lines, f"F.lp_pool{n}d(x, {rng.choice(['2', '1', '3', 'np.inf'])}, {kernel}, {stride}, {ceil})"
    if kind == "max":                          # no window of padding alone, whose gradient torch writes somewhere
        dilation = _ints(rng, n, 1, 1 if min(size) < 2 else 2)
        return lines, (f"F.max_pool{n}d(x, {kernel}, {stride}, {_ints(rng, n, 0, 1)}, {dilation}, {ceil}, "
                       f"{rng.random() < .4})")
    return lines, f"F.avg_pool{n}d(x, {kernel}, {stride}, {_ints(rng, n, 0, 1)}, {ceil}, {rng.random() < .5})"


def _pad(rng, n, dtype):
    sizes = (rng.choice([1, 2, 2]), rng.randint(1, 3), *shape(rng, n, 5, empty=.01))
    mode = rng.choice(["constant", "reflect", "replicate", "circular"])
    low = -2 if mode in ("constant", "replicate") else -1 if mode == "reflect" else 0
    widths = tuple(rng.randint(low, 2) for _ in range(2 * (rng.randint(1, n) if mode == "constant" else n)))
    value = f", {rng.choice([1.5, -2.0])}" if mode == "constant" and rng.random() < .5 else ""
    return [f"x = {_laid_out(rng, sizes, dtype)}"], f"F.pad(x, {widths}, {mode!r}{value})"


def _norm(rng, n, dtype):
    channels = rng.choice([1, 2, 4])
    sizes = (rng.choice([1, 2, 3]), channels, *shape(rng, n, 4, empty=.01))
    lines = [f"x = {_laid_out(rng, sizes, dtype)}"]
    parameters = "float32" if rng.random() < .4 and dtype in ("float16", "bfloat16") else dtype
    kind = rng.choice(["batch", "batch", "instance", "group", "layer", "rms"])
    eps = ", 1." if sizes[-1] < 3 else ""      # else, of two numbers, gradients are roundings
    size = (channels,) if kind not in ("layer", "rms") else sizes[rng.randint(1, len(sizes) - 1):]
    lines += [f"w = {_numbers(rng, size, parameters)}", f"b = {_numbers(rng, size, parameters)}"]
    if kind in ("batch", "instance"):
        lines += [f"m = T.ones({channels}, dtype=T.{parameters})", f"v = T.ones({channels}, dtype=T.{parameters}) / 2"]
        return lines, f"F.{kind}_norm(x, m, v, w, b, {rng.random() < .7}, {rng.choice([.1, .5])}{eps})"
    if kind == "group":
        return lines, f"F.group_norm(x, {rng.choice([1, 2, channels])}, w, b{eps})"
    return lines, f"F.{kind}_norm(x, {size}, w{', b' * (kind == 'layer')}{eps})"


def program(rng):
    dtype = rng.choice(["float32"] * 3 + FLOATS)
    lines, call = rng.choice([_convolution, _pool, _pad, _norm])(rng, rng.choice([1, 2, 2, 2, 3]), dtype)
    grad = rng.random() < .7
    names = [line[0] for line in lines if line[0] in "xwb"]
    names = sorted(set(names), key=names.index)
    if grad:
        lines += [f"{name}.requires_grad_()" for name in names]
    lines += [f"y = {call}", "y, *i = y if isinstance(y, tuple) else (y,)"]
    if grad:
        wrt = ", ".join(names)
        first = f"T.autograd.grad(loss(y), [{wrt}], create_graph=True, allow_unused=True)"
        if dtype in ("float32", "float64"):    # whether a first gradient has a history is not looked at here
            squares = ", ".join(f"{name} * {name}" for name in names)
            second = f"T.autograd.grad(loss({squares}, *[e for e in d if e is not None]), [{wrt}])"
            lines.append(f"g, gg = (lambda d: ([e if e is None else e.detach() for e in d], {second}))({first})")
        else:
            lines.append("g = " + first.replace("create_graph=True, ", ""))
    return lines
