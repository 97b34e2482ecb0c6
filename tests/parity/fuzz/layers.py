"""Layers: activations, linear layers, embeddings, dropout, losses, recurrent layers, packed sequences, norms; dtypes,
settings, training and evaluation, gradients and second gradients of inputs and parameters, whose strides, which hang on
what operations a layer is made of, are not looked at."""
from .values import FLOATS, shape, strided, tensor

ACTIVATIONS = {
    "ReLU": [""], "ReLU6": [""], "Sigmoid": [""], "Tanh": [""], "SiLU": [""], "Mish": [""], "SELU": [""],
    "Softsign": [""], "Tanhshrink": [""], "LogSigmoid": [""], "Hardswish": [""], "Hardsigmoid": [""],
    "GELU": ["", "'tanh'"], "ELU": ["", ".5", "2"], "CELU": ["", ".5", "2."], "LeakyReLU": ["", ".3", "-.5", "0"],
    "Hardtanh": ["", "-2, .5"], "Hardshrink": ["", "1.5", "0"], "Softshrink": ["", "1.5", "0"],
    "Softplus": ["", "2", "3, 1"], "Threshold": ["0, 0", "1, -2", ".5, 20"], "PReLU": ["", "1, .5"], "RReLU": ["",
                                                                                                               "0, 1"],
    "Softmax": ["0", "-1", "1"], "LogSoftmax": ["0", "-1", "1"], "Softmin": ["0", "-1"], "GLU": ["", "0"],
    "Dropout": ["", ".3", "0", "1"], "AlphaDropout": ["", ".3"], "FeatureAlphaDropout": [""], "Dropout1d": [".5"],
    "Dropout2d": [".5"], "Dropout3d": [".3"], "Flatten": ["", "0", "0, 1"], "Identity": [""],
}
INPLACE = {"ReLU", "ReLU6", "SiLU", "Mish", "SELU", "ELU", "CELU", "LeakyReLU", "Hardtanh", "Threshold", "Dropout",
           "Hardswish", "Hardsigmoid", "RReLU", "Dropout2d"}
#: Losses of two tensors of a shape: the settings there are, and what is done to the target.
ELEMENTWISE = {
    "MSELoss": ([], "{}"), "L1Loss": ([], "{}"), "SmoothL1Loss": (["beta=.5", "beta=0", "beta=2"], "{}"),
    "HuberLoss": (["delta=.5", "delta=3."], "{}"), "SoftMarginLoss": ([], "{}.sign()"),
    "PoissonNLLLoss": (["log_input=False", "full=True", "eps=.1"], "{}.abs()"),
    "KLDivLoss": (["log_target=True"], "{}.sigmoid()"), "BCEWithLogitsLoss": (["pos_weight=T.tensor(2.)"],
                                                                              "{}.sigmoid()"),
    "BCELoss": ([], "{}.sigmoid()"), "HingeEmbeddingLoss": (["margin=.5"], "{}.sign()"),
    "MultiLabelSoftMarginLoss": ([], "{}.sigmoid()"),
}


#: Of two dtypes they round in their middle, and nobody but torch in the same order.
_MIDWAY = {"KLDivLoss", "PoissonNLLLoss", "BCEWithLogitsLoss", "MultiLabelSoftMarginLoss"}


def _dtype(rng):
    return rng.choice(["float32"] * 3 + FLOATS)


def _reduction(rng):
    return rng.choice(["", "reduction='mean'", "reduction='sum'", "reduction='none'", "reduction='none'"])


def _settings(*parts):
    return ", ".join(part for part in parts if part)


def _sometimes(rng, text, chance=.4):
    return text if rng.random() < chance else ""


def _activation(rng, dtype):
    name = rng.choice(list(ACTIVATIONS))
    settings = rng.choice(ACTIVATIONS[name])
    if name in INPLACE and rng.random() < .25:
        settings = _settings(settings, "inplace=True")
    sizes = shape(rng, rng.choice([1, 2, 2, 3, 4]) if name not in ("GLU", "Dropout1d") else 3, empty=.02)
    if name == "GLU":
        sizes = tuple(2 * n for n in sizes)
    call = "m(x * 1)" if "inplace" in settings else "m(x)"
    return [f"m = T.nn.{name}({settings})"], f"x = {strided(rng, sizes, dtype, special=.08)}", [], call


def _linear(rng, dtype):
    bias = _sometimes(rng, "bias=False")
    n, k, extra = rng.randint(1, 4), rng.randint(1, 4), shape(rng, rng.choice([0, 1, 1, 1, 2, 3]), empty=.04)
    way = rng.random()
    if way < .6:
        return ([f"m = T.nn.Linear({_settings(str(n), str(k), bias)})"],
                f"x = {strided(rng, (*extra, n), dtype, special=.02)}", [], "m(x)")
    if way < .8:
        return ([f"m = T.nn.Bilinear({_settings(str(n), str(k), '3', bias)})"],
                f"x = {strided(rng, (*extra, n), dtype, special=0)}",
                [f"o = {strided(rng, (*extra, k), dtype, special=0)}"], "m(x, o)")
    k += 2
    layers = [f"T.nn.Linear({_settings(str(n), str(k), bias)})",
              f"T.nn.{rng.choice(['ReLU', 'Tanh', 'GELU', 'SiLU'])}()",
              f"T.nn.LayerNorm({k}, eps=.1)", f"T.nn.Linear({k}, 2)"]
    return ([f"m = T.nn.Sequential({', '.join(layers)})"], f"x = {strided(rng, (*extra, n), dtype, special=0)}", [],
            "m(x)")


def _embedding(rng, dtype):
    rows, width = rng.randint(2, 5), rng.randint(1, 4)
    integers = rng.choice(["int64", "int64", "int32"])
    padding = _sometimes(rng, f"padding_idx={rng.choice([0, -1, 1])}")
    norm = _sometimes(rng, f"max_norm={rng.choice(['.5', '1.'])}, norm_type={rng.choice(['2.', '1.'])}", .2)
    scaled = _sometimes(rng, "scale_grad_by_freq=True", .2)
    count = rng.randint(1, 6)
    indices = [rng.randrange(rows) for _ in range(count)]
    if rng.random() < .5:
        text = f"T.tensor({indices}, dtype=T.{integers})"
        text += rng.choice(["", "[None]", "[0]", "[:, None]", "[::2]"])
        return ([f"m = T.nn.Embedding({_settings(str(rows), str(width), padding, norm, scaled)})"], "", [f"i = {text}"],
                "m(i)")
    mode = rng.choice(["sum", "mean", "max"])
    scaled = scaled if mode != "max" else ""
    last = _sometimes(rng, "include_last_offset=True", .2)
    lines, arguments = [f"i = T.tensor({indices}, dtype=T.{integers})"], "i"
    if rng.random() < .3:
        lines, last = [lines[0] + ".expand(2, -1)"], ""
    else:
        offsets = sorted([0] + [rng.randint(0, count) for _ in range(rng.randint(0, 2))]) + [count] * bool(last)
        lines.append(f"o = T.tensor({offsets}, dtype=T.{integers})")
        arguments = "i, o"
    if mode == "sum" and rng.random() < .3:
        lines.append(f"w = (i + 1).to(T.{dtype}) / 4")
        arguments += ", per_sample_weights=w"
    settings = _settings(str(rows), str(width), padding, norm, scaled, last, f"mode={mode!r}")
    return [f"m = T.nn.EmbeddingBag({settings})"], "", lines, f"m({arguments})"


def _elementwise_loss(rng, dtype):
    name = rng.choice(list(ELEMENTWISE))
    options, target = ELEMENTWISE[name]
    sizes = shape(rng, 2 if name.startswith("Multi") else None, empty=.03)
    settings = _settings(_reduction(rng), *[_sometimes(rng, option) for option in options[:1]], *[
        _sometimes(rng, option) for option in options[1:] if option[:4] != options[0][:4]])
    if name.startswith("BCE") and "pos" not in settings and rng.random() < .3:
        settings = _settings(settings, f"weight=T.tensor(2., dtype=T.{dtype})")
    other = dtype if rng.random() < .85 or name in _MIDWAY else _dtype(rng)
    lines = [f"t = {target.format(strided(rng, sizes, other, special=.03))}"]
    call = {"BCELoss": "m(x.sigmoid(), t)", "PoissonNLLLoss": "m(x.abs() + .1, t)"}.get(name, "m(x, t)")
    return [f"m = T.nn.{name}({settings})"], f"x = {strided(rng, sizes, dtype, special=.03)}", lines, call


def _class_loss(rng, dtype):
    classes, name = rng.randint(2, 4), rng.choice(["CrossEntropyLoss"] * 3 + ["NLLLoss"] * 2 + ["MultiMarginLoss"])
    batch = () if rng.random() < .15 else (rng.choice([1, 2, 3, 0 if rng.random() < .2 else 3]),)
    extra = shape(rng, rng.choice([0, 0, 1, 2]), 3, empty=.02) if batch and name[0] != "M" else ()
    weight = _sometimes(rng, f"weight=(T.arange({classes}) + .5).to(T.{dtype})")
    settings = [_reduction(rng), weight]
    if name == "MultiMarginLoss":
        settings += [_sometimes(rng, "p=2"), _sometimes(rng, "margin=.5")]
    else:
        settings.append(_sometimes(rng, f"ignore_index={rng.choice([0, 1, -1])}"))
    if name == "CrossEntropyLoss":
        settings.append(_sometimes(rng, f"label_smoothing={rng.choice([.1, .5, 1.])}"))
    count = 1
    for n in batch + extra:
        count *= n
    if name == "CrossEntropyLoss" and rng.random() < .25:
        settings = [s for s in settings if "ignore" not in s]
        target = f"{tensor(rng, (*batch, classes, *extra), dtype, special=0)}.softmax({len(batch)})"
    else:
        low = -1 if "ignore_index=-1" in settings else 0
        numbers = [rng.randint(low, classes - 1) for _ in range(count)]
        target = f"T.tensor({numbers}, dtype=T.int64).reshape({batch + extra})"
    return ([f"m = T.nn.{name}({_settings(*settings)})"],
            f"x = {strided(rng, (*batch, classes, *extra), dtype, special=.02)}", [f"t = {target}"], "m(x, t)")


def _other_loss(rng, dtype):
    n, k, red = rng.randint(1, 3), rng.randint(2, 4), _reduction(rng)

    def new(*sizes):
        return strided(rng, sizes, dtype, special=0)
    x = f"x = {new(n, k)}"
    return rng.choice([
        lambda: ([f"m = T.nn.MarginRankingLoss({_settings(_sometimes(rng, 'margin=.5'), red)})"], x,
                 [f"o = {new(n, k)}", f"t = {new(n, k)}.sign()"], "m(x, o, t)"),
        lambda: ([f"m = T.nn.CosineEmbeddingLoss({_settings(_sometimes(rng, 'margin=.5'), red)})"], x,
                 [f"o = {new(n, k)}", f"t = T.tensor({[rng.choice([1, -1]) for _ in range(n)]})"], "m(x, o, t)"),
        lambda: ([f"m = T.nn.TripletMarginLoss({_settings(_sometimes(rng, 'margin=2.'), _sometimes(rng, 'p=1'), red)}"
                  f"{_sometimes(rng, ', swap=True') if red else ''})"], x,
                 [f"o = {new(n, k)}", f"t = {new(n, k)}"], "m(x, o, t)"),
        lambda: ([f"m = T.nn.GaussianNLLLoss({_settings(_sometimes(rng, 'full=True'), red)})"], x,
                 [f"o = {new(n, k)}", f"t = {new(*rng.choice([(n, k), (n, 1)]))}.abs()"], "m(x, o, t)"),
        lambda: ([f"m = T.nn.MultiLabelMarginLoss({red})"], x,
                 [f"t = T.tensor({[[rng.randrange(k), *[-1] * (k - 1)] for _ in range(n)]})"], "m(x, t)"),
        lambda: ([f"m = T.nn.CTCLoss({_settings(red, _sometimes(rng, 'zero_infinity=True'))})"],
                 f"x = {new(5, n, k)}",
                 [f"t = T.tensor({[[rng.randint(1, k - 1) for _ in range(2)] for _ in range(n)]})",
                                         f"o = T.tensor({[rng.randint(4, 5) for _ in range(n)]})"],
                 f"m(x.log_softmax(-1), t, o, T.tensor({[rng.randint(0, 2) for _ in range(n)]}))"),
        lambda: ([f"m = T.nn.CosineSimilarity({rng.choice(['', '0', '-1'])})"], x, [f"o = {new(n, k)}"], "m(x, o)"),
        lambda: ([f"m = T.nn.PairwiseDistance({rng.choice(['', '1', '3.', '2., keepdim=True'])})"], x,
                 [f"o = {new(n, k)}"], "m(x, o)"),
    ])()


def _recurrent(rng, dtype):
    kind, size, hidden = rng.choice(["RNN", "LSTM", "GRU"]), rng.randint(1, 3), rng.randint(1, 3)
    state = "(h, h * .5)" if kind == "LSTM" else "h"
    activation = _sometimes(rng, "nonlinearity='relu'") if kind == "RNN" else ""
    steps, batch = rng.randint(1, 4), rng.randint(1, 3)
    bias = _sometimes(rng, "bias=False", .2)
    if rng.random() < .35:
        lead = () if rng.random() < .3 else (batch,)
        lines = [f"h = {tensor(rng, (*lead, hidden), dtype, special=0)}"] if rng.random() < .6 else []
        return ([f"m = T.nn.{kind}Cell({_settings(str(size), str(hidden), bias, activation)})"],
                f"x = {strided(rng, (*lead, size), dtype, special=0)}", lines, f"m(x{', ' + state if lines else ''})")
    layers, two = rng.randint(1, 2), rng.random() < .4
    first, projected = rng.random() < .4, kind == "LSTM" and hidden > 1 and rng.random() < .2
    settings = _settings(str(size), str(hidden), str(layers), bias, activation, "bidirectional=True" * two,
                         "batch_first=True" * first, "dropout=.5" * (layers > 1 and rng.random() < .3),
                         f"proj_size={hidden - 1}" * projected)
    single = rng.random() < .2
    sizes = (steps, size) if single else (batch, steps, size) if first else (steps, batch, size)
    lines = []
    if not projected and rng.random() < .5:
        sizes_of_state = (layers * (1 + two), *(() if single else (batch,)), hidden)
        lines = [f"h = {tensor(rng, sizes_of_state, dtype, special=0)}"]
    arguments = ", " + state if lines else ""
    if not single and rng.random() < .4:
        order = rng.random() < .5
        lengths = sorted((rng.randint(1, steps) for _ in range(batch)), reverse=order)
        lines += [f"k = T.nn.utils.rnn.pack_padded_sequence(x.detach(), {lengths}, {first}, {order})",
                  "k, e, v, w = k"]
        call = (f"(lambda q: (T.nn.utils.rnn.pad_packed_sequence(q[0], {first}, {rng.choice([0., 2.])}), q[1]))"
                f"(m(T.nn.utils.rnn.pack_padded_sequence(x, {lengths}, {first}, {order}){arguments}))")
    else:
        call = f"m(x{arguments})"
    return [f"m = T.nn.{kind}({settings})"], f"x = {strided(rng, sizes, dtype, special=0)}", lines, call


def _norm(rng, dtype):
    n, channels = rng.choice([1, 1, 2, 2, 3]), rng.choice([1, 2, 4])
    sizes = (rng.choice([1, 2, 3]), channels, *shape(rng, n, 4, empty=.01))
    kind = rng.choice(["Batch", "Batch", "Instance", "Group", "Layer", "RMS", "Local"])
    affine, running = rng.random() < .7, rng.random() < .6
    x = f"x = {strided(rng, sizes, dtype, special=0)}"
    eps = "eps=1." if sizes[-1] < 3 or "expand" in x else _sometimes(rng, "eps=.1")     # as in windows.py
    if kind in ("Batch", "Instance"):
        momentum = rng.choice(["", "momentum=.5", "momentum=None"] if kind == "Batch" else ["", "momentum=.5"])
        settings = _settings(str(channels), momentum, f"affine={affine}", f"track_running_stats={running}", eps)
        layer = f"{kind}Norm{n}d({settings})"
    elif kind == "Group":
        layer = f"GroupNorm({_settings(str(rng.choice([1, channels])), str(channels), f'affine={affine}', eps)})"
    elif kind == "Local":
        layer = f"LocalResponseNorm({rng.choice(['2', '3, alpha=.5', '1, k=2.'])})"
    else:
        last = sizes[rng.randint(1, len(sizes) - 1):]
        layer = f"{kind}Norm({_settings(str(list(last)), f'elementwise_affine={affine}', eps)})"
    lines = ["b = list(m.buffers())"] if running else []
    return [f"m = T.nn.{layer}"], x, lines, "m(x)"


def program(rng):
    dtype = _dtype(rng)
    made = rng.choice([_activation, _activation, _linear, _embedding, _elementwise_loss, _class_loss, _other_loss,
                       _recurrent, _recurrent, _norm])
    new, x, lines, call = made(rng, dtype)
    layer = dtype if rng.random() < .95 else _dtype(rng)
    if made is _class_loss and "float64" in (layer, dtype):
        layer = dtype
    new = [f"T.manual_seed({rng.randrange(100)})", *new]
    if layer != "float32":
        new.append(f"m = m.{rng.choice(['double()'] if layer == 'float64' else ['to(T.' + layer + ')'])}")
    new.append("p = list(m.parameters())")
    if rng.random() < .35:
        new.append("m = m.eval()")
    lines = new + [x] * bool(x) + lines
    grad = rng.random() < .75
    if x and grad:
        lines.append("x.requires_grad_()")
    lines.append(f"y = {call}")
    if made is _norm and "b = list(m.buffers())" in lines:
        lines.append("r = list(m.buffers())")
    if not grad:
        return lines
    roots = "[x, *p]" if x else "p"
    lines.append("f = [e for e in flat(y) if e.requires_grad]")
    first = f"T.autograd.grad(loss(*f), {roots}, create_graph=True, allow_unused=True)"
    if dtype in ("float32", "float64") and rng.random() < .7:    # histories of first gradients are not looked at here
        second = (f"T.autograd.grad(loss(*[e * e for e in {roots}], *[e for e in d if e is not None]), {roots}, "
                  "allow_unused=True)")
        lines.append(f"g, gg = (lambda d: (dense(d, True), dense({second})))({first})")
    else:
        lines.append(f"g = dense({first.replace('create_graph=True, ', '')})")
    return lines
