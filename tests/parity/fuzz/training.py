"""Training: a small model, an optimiser with random settings, schedulers, clipped gradients, the state afterwards;
half precisions and complex parameters; data sets, samplers, loaders and random splits of a seed."""
from .values import FLOATS, number, tensor

BASE = ["maximize=True", "foreach=False", "differentiable=False"]
OPTIMISERS = {
    "SGD": ["momentum=.9", "weight_decay=.1", "dampening=.3", "maximize=True", "foreach=False"],
    "Adam": ["betas=(.5, .9)", "eps=1e-3", "weight_decay=.1", "amsgrad=True", "decoupled_weight_decay=True", *BASE],
    "AdamW": ["betas=(.5, .9)", "eps=1e-3", "weight_decay=.1", "amsgrad=True", *BASE],
    "Adamax": ["betas=(.5, .9)", "eps=1e-3", "weight_decay=.1", *BASE],
    "RMSprop": ["alpha=.8", "eps=1e-3", "weight_decay=.1", "momentum=.9", "centered=True", *BASE],
    "Adagrad": ["lr_decay=.1", "weight_decay=.1", "initial_accumulator_value=.2", "eps=1e-3", *BASE],
    "Adadelta": ["rho=.8", "eps=1e-3", "weight_decay=.1", *BASE],
}
SCHEDULERS = ["StepLR(o, {n}, .5)", "StepLR(o, {n}, last_epoch=-1)", "MultiStepLR(o, [1, {n}], .3)",
              "ExponentialLR(o, .7)",
              "CosineAnnealingLR(o, {n}, .001)", "LambdaLR(o, lambda k: 1 / (k + {n}))",
              "OneCycleLR(o, .2, total_steps=6, cycle_momentum=False)",
              "OneCycleLR(o, .2, total_steps=6, anneal_strategy='linear', three_phase=True, cycle_momentum=False)",
              "ReduceLROnPlateau(o, patience=0, factor=.3)", "ReduceLROnPlateau(o, 'max', patience=1, cooldown={n})"]
LOSSES = ["(m(x) ** 2).mean()", "F.mse_loss(m(x), t)", "F.smooth_l1_loss(m(x), t)",
          "F.huber_loss(m(x), t, reduction='sum')",
          "F.cross_entropy(m(x), t.argmax(1))", "F.cross_entropy(m(x), t.softmax(1), label_smoothing=.1)",
          "F.binary_cross_entropy_with_logits(m(x), t.sigmoid())", "m(x).logsumexp(1).sum()",
          "loss(m(x)).to(x.dtype) / 100"]


def _optimiser(rng, over, complex_numbers=False):
    kind = rng.choice(list(OPTIMISERS))
    settings = [text for text in OPTIMISERS[kind] if rng.random() < .3]
    if kind == "SGD" and rng.random() < .3:
        settings = [text for text in settings if "damp" not in text and "momentum" not in text]
        settings += ["momentum=.8", "nesterov=True"]
    rate = f"lr={rng.choice(['.1', '.01', '.5', '1e-3'])}"
    if rng.random() < .08:
        rate = f"lr=T.tensor({rate[3:]})"
    return f"o = T.optim.{kind}({', '.join([over, rate, *settings])})"


def _model(rng, dtype):
    wide, hidden = rng.randint(1, 4), rng.randint(2, 4)
    inner = [f"T.nn.{rng.choice(['ReLU', 'Tanh', 'GELU', 'SiLU', 'Sigmoid', 'ELU', 'PReLU'])}()"]
    if rng.random() < .3:
        hidden += 1                            # a norm of numbers that are near has roundings for gradients
        inner.append(rng.choice([f"T.nn.LayerNorm({hidden}, eps=.1)", f"T.nn.BatchNorm1d({hidden}, eps=.1)",
                                 f"T.nn.GroupNorm(1, {hidden}, eps=.1)", "T.nn.Dropout(.3)"]))
    lines = [f"m = T.nn.Sequential(T.nn.Linear({wide}, {hidden}), {', '.join(inner)}, T.nn.Linear({hidden}, 2))"]
    if dtype != "float32":
        lines.append(f"m = m.to(T.{dtype})")
    batch = rng.randint(3, 4)
    over = rng.choice(["p", "p", "p", "[{'params': p[:1], 'lr': .05}, {'params': p[1:]}]",
                       "[{'params': p[1:], 'weight_decay': .2}, {'params': p[0]}]"])
    return [*lines, "p = list(m.parameters())", f"x = {tensor(rng, (batch, wide), dtype, special=0)}",
            f"t = {tensor(rng, (batch, 2), dtype, special=0)}"], over, rng.choice(LOSSES)


def _parameters(rng, dtype):
    sizes = [rng.choice([(), (2,), (2, 3), (3, 1), (1,)]) for _ in range(rng.randint(1, 3))]
    lines = [f"p = [{', '.join(tensor(rng, size, dtype, special=0, grad=True) for size in sizes)}]",
             f"x = {number(rng, 'float64', special=0)}"]
    return lines, "p", rng.choice(["loss(*[e * e * x for e in p]).to(p[0].real.dtype) / 10",
                                   "loss(*[(e - x).abs() for e in p]).to(p[0].real.dtype)",
                                   "loss(*[e.exp() for e in p]).to(p[0].real.dtype) / 100",
                                   "loss(*[(e * e * e) for e in p[:1]]).to(p[0].real.dtype)"])


def _steps(rng):
    complex_numbers = rng.random() < .12
    dtype = rng.choice(["complex64", "complex128"] if complex_numbers else ["float32"] * 3 + FLOATS)
    lines, over, value = (_parameters if complex_numbers or rng.random() < .25 else _model)(rng, dtype)
    lines = [f"T.manual_seed({rng.randrange(100)})", *lines, _optimiser(rng, over)]
    scheduler = rng.choice(SCHEDULERS).format(n=rng.randint(1, 3)) if rng.random() < .5 else ""
    if scheduler:
        lines.append(f"z = T.optim.lr_scheduler.{scheduler}")
    clip = rng.choice(["", "", "T.nn.utils.clip_grad_norm_(p, .5)", "T.nn.utils.clip_grad_value_(p, .1)",
                       f"T.nn.utils.clip_grad_norm_(p, 1., norm_type={rng.choice(['1', '2.', 'np.inf'])})"])
    keep = rng.random() < .1
    for k in range(rng.randint(1, 4)):
        if rng.random() < .15 and k:
            lines.append("q = o.load_state_dict(o.state_dict())")
        if not keep:
            lines.append(f"o.zero_grad({rng.choice(['', '', 'set_to_none=False'])})")
        lines += [f"v = {value}", "v.backward()", "g = [e.grad for e in p]"]
        if clip:
            norm = "n = " * ("norm" in clip)
            lines += [norm + ("None if p[0].is_complex() else " if not norm else "") + clip, "g = [e.grad for e in p]"]
        lines += ["o.step()", "r = [e.detach() for e in p]", "s = o.state_dict()['state']"]
        if scheduler:
            lines += [f"z.step({'v.item()' if 'Plateau' in scheduler else ''})",
                      "k = [float(e['lr']) for e in o.param_groups]"]
    lines.append("d = [{a: c for a, c in e.items() if a != 'lr'} for e in o.state_dict()['param_groups']]")
    return lines


def _loader(rng):
    n, batch = rng.randint(1, 9), rng.randint(1, 4)
    data = rng.choice([f"T.utils.data.TensorDataset(T.arange({n}.), T.arange({2 * n}).reshape({n}, 2))",
                       f"list(range({n}))",
                       f"[{{'a': k, 'b': (k / 2, str(k))}} for k in range({n})]",
                       f"[np.full(2, k) for k in range({n})]",
                       f"T.utils.data.Subset(list(range({n})), list(range({n}))[::2])", f"T.arange({n})",
                       f"T.utils.data.ConcatDataset([list(range({n})), list(range(3))])"])
    lines = [f"T.manual_seed({rng.randrange(100)})", f"a = {data}"]
    generator = rng.choice(["", "", f"generator=T.Generator().manual_seed({rng.randrange(50)})"])
    way = rng.random()
    if way < .2:
        half = f"[{n // 2}, len(a) - {n // 2}]"
        parts = rng.choice([half, half, "[.3, .7]", "[.5, .25, .25]", "[.9, .1]"])
        lines.append(f"b = T.utils.data.random_split(a, {parts}{', ' * bool(generator)}{generator})")
        return [*lines, "y = [list(e.indices) for e in b]", "w = T.rand(2)"]
    options = [rng.choice(["", "drop_last=True"]), generator]
    if way < .45:
        options.append("shuffle=True")
    elif way < .9:
        more = f", {generator}" * bool(generator)
        options.append("sampler=" + rng.choice([
            f"T.utils.data.RandomSampler(a{more})",
            f"T.utils.data.RandomSampler(a, replacement=True, num_samples={rng.randint(1, 40)}{more})",
            f"T.utils.data.RandomSampler(a, num_samples={rng.randint(1, 12)}{more})",
            "T.utils.data.SequentialSampler(a)",
            f"T.utils.data.WeightedRandomSampler([k + .5 for k in range(len(a))], {rng.randint(1, n + 2)}, "
            f"{rng.random() < .5}{more})", f"T.utils.data.SubsetRandomSampler(range(0, len(a), 2){more})",
            f"T.utils.data.DistributedSampler(a, 2, {rng.randint(0, 1)}, seed={rng.randrange(9)})"]))
    lines.append(f"b = T.utils.data.DataLoader(a, {', '.join([f'batch_size={batch}', *filter(None, options)])})")
    return [*lines, "n = len(b)", "y = list(b)", "y = list(b)", "w = T.rand(2)"]


def program(rng):
    return (_loader if rng.random() < .2 else _steps)(rng)
