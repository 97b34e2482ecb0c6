"""Optimisers with odd groups of parameters, and what is saved and loaded of modules, optimisers and schedules."""
from .training import OPTIMISERS
from .values import FLOATS, number, tensor

ALL = {**OPTIMISERS, "NAdam": ["momentum_decay=.01", "weight_decay=.1", "decoupled_weight_decay=True",
                               "maximize=True"],
       "RAdam": ["weight_decay=.1", "eps=1e-3", "decoupled_weight_decay=True"], "ASGD": ["lambd=.01", "t0=1",
           "alpha=.5"],
       "Rprop": ["etas=(.4, 1.3)", "step_sizes=(1e-4, .5)"], "Adafactor": ["beta2_decay=-.5", "weight_decay=.1"]}
SCHEDULES = ["LinearLR(o, .5, total_iters={n})", "ConstantLR(o, .5, {n})", "PolynomialLR(o, {n}, 2.)",
             "StepLR(o, {n}, .5)",
             "CyclicLR(o, .01, .2, {n}, cycle_momentum=False)", "CosineAnnealingWarmRestarts(o, {n})",
             "ExponentialLR(o, .8)",
             "MultiplicativeLR(o, lambda k: .9)",
             "ChainedScheduler([{z}.StepLR(o, 1, .5), {z}.ExponentialLR(o, .9)])",
             "SequentialLR(o, [{z}.ConstantLR(o, .5), {z}.ExponentialLR(o, .9)], [{n}])", "CosineAnnealingLR(o, {n})",
             "OneCycleLR(o, .2, total_steps=9, cycle_momentum=False)"]
LAYERS = ["Linear(3, 2)", "BatchNorm1d(3)", "LayerNorm(3)", "PReLU()", "Embedding(3, 2)", "Conv1d(1, 2, 2)",
          "GRU(3, 2)", "Bilinear(2, 2, 1)",
          "Sequential(T.nn.Linear(2, 2), T.nn.BatchNorm1d(2))",
          "ModuleDict({'a': T.nn.Linear(1, 1), 'b': T.nn.ReLU()})",
          "ParameterList([T.ones(2), T.zeros(1)])", "utils.parametrizations.weight_norm(T.nn.Linear(2, 2))",
          "InstanceNorm1d(3, affine=True)",
          "ModuleList([T.nn.Linear(1, 2), T.nn.PReLU()])", "MultiheadAttention(2, 1)",
          "utils.spectral_norm(T.nn.Linear(2, 2))"]
TRIPS = ["{s}", "copy.deepcopy({s})", "T.load(io.BytesIO(save({s})))", "pickle.loads(pickle.dumps({s}))", "dict({s})"]
_SAVE = "save = lambda x: (lambda f: (T.save(x, f), f.getvalue())[1])(io.BytesIO())"
STATE = "{{k: {{a: c for a, c in e.items()}} for k, e in {o}.state_dict()['state'].items()}}"
GROUPS = "[{{a: c for a, c in e.items() if a != 'initial_lr'}} for e in {o}.state_dict()['param_groups']]"


def _groups(rng, count):
    """Groups of parameters p[0] .. as text; some have no parameters, one twice, or settings of their own."""
    way = rng.random()
    if way < .25:
        return "p"
    if way < .3:
        return rng.choice(["[]", "[{'params': []}]", "p[0]", "iter(p)", "[p]",
                           "[{'params': p[0]}, {'params': p[:1]}]", "{'params': p}", "[1.]",
                           "[{'params': p}, {}]", "[p[0] * 1]", "[('a', p[0])]", "dict(a=p[0]).items()",
                           "[('a', e) for e in p]", "(e for e in p)", "[{'params': p, 'foreach': False}]", "p + p"])
    cut = rng.randint(0, count)
    extra = ["'lr': .02", "'weight_decay': .2", "'maximize': True", "'lr': T.tensor(.03)", "'name': 'a'", "'lr': 0.",
             "'foreach': False"]
    parts = []
    for part in (f"p[:{cut}]", f"p[{cut}:]"):
        parts.append("{" + ", ".join([f"'params': {part}", *rng.sample(extra, rng.choice([0, 0, 1, 2]))]) + "}")
    return f"[{', '.join(parts)}]"


def _optimiser(rng):
    dtype, kind = rng.choice(["float32"] * 3 + FLOATS), rng.choice(list(ALL))
    sizes = [rng.choice([(), (2,), (2, 3), (3, 1), (0,), (1,), (2, 0)]) for _ in range(rng.randint(1, 3))]
    lines = ["import copy, io, pickle", _SAVE,
             f"p = [{', '.join(tensor(rng, size, dtype, special=0, grad=True) for size in sizes)}]"]
    if rng.random() < .2:
        lines.append(f"p[-1] = {tensor(rng, (2,), rng.choice(FLOATS), special=0, grad=True)}")
    if rng.random() < .15:
        lines.append("p[0].requires_grad_(False)")
    settings = ", ".join(text for text in ALL[kind] if rng.random() < .3)
    rate = rng.choice(["lr=.1", "lr=.01", "lr=T.tensor(.1)", ""])
    made = f"T.optim.{kind}({{}}, {', '.join(filter(None, [rate, settings]))})"
    lines.append(f"o = {made.format(_groups(rng, len(sizes)))}")
    schedule = rng.random() < .4
    z = "T.optim.lr_scheduler"
    text = rng.choice(SCHEDULES)
    if schedule:
        n = rng.randint(1, 3)
        lines.append(f"z = {z}.{text.format(n=n, z=z)}")
    x = number(rng, "float64", 0)
    for _ in range(rng.randint(1, 4)):
        which = rng.choice(["p", "p", "p[:1]", "p[1:]", "p[-1:]"])
        lines += [f"v = [loss(e * e * {x} + e).backward() for e in {which} if e.requires_grad]",
                  f"r = [{rng.choice(['o.step()', 'o.step()', 'o.step(lambda: 1.5)'])}]",
                  "r = [e.detach() for e in p]"]
        if schedule:
            lines += ["z.step()", "k = [float(e['lr']) for e in o.param_groups]"]
        way = rng.random()
        if way < .35:
            trip = rng.choice(TRIPS).format(s="o.state_dict()")
            over = rng.choice(["p", "o.param_groups", "list(reversed(p))", "[{'params': p}]"])
            lines.append(f"q = {made.format(over)}" if rng.random() < .4 else "q = o")
            lines += [f"b = q.load_state_dict({trip})", "o = q"]
        elif way < .5:
            more = rng.choice(["T.ones(2, requires_grad=True)", "[]", "p", "[T.zeros(1)]", "[p[0]]"])
            lines.append(f"o.add_param_group({{'params': {more}}})")
        elif way < .6:
            lines.append(rng.choice(["o = copy.deepcopy(o)", "o = pickle.loads(pickle.dumps(o))",
                                     "o.param_groups[0]['lr'] = .5", "o.state.clear()",
                                     "p[0].grad = None", "p[0].data = p[0].data * 2", "o.zero_grad(False)",
                                     "o.param_groups.reverse()", "s = str(o)"]))
        elif way < .7 and schedule:
            lines += [f"z.load_state_dict({rng.choice(TRIPS[:2]).format(s='z.state_dict()')})", "s = z.get_last_lr()"]
        lines += [f"s = {STATE.format(o='o')}", f"d = {GROUPS.format(o='o')}",
                  f"o.zero_grad({rng.choice(['', 'set_to_none=False'])})"]
    if schedule and "Lambda" not in text and "Chained" not in text and "Sequential" not in text:
        lines.append("s = {a: c for a, c in z.state_dict().items() if not callable(c) and a[0] != '_'}")
    return lines


def _module(rng):
    layer, other = rng.choice(LAYERS), rng.choice(LAYERS)
    other = layer if rng.random() < .7 else other
    lines = ["import collections, copy, io, pickle", _SAVE, "T.manual_seed(1)", f"m = T.nn.{layer}",
             f"n = T.nn.{other}"]
    if rng.random() < .3:
        change = rng.choice(["half()", "double()", "bfloat16()", "requires_grad_(False)", "eval()", "cpu()"])
        lines.append(f"n = n.{change}")
    state = f"m.state_dict({rng.choice(['', '', 'prefix=' + repr('a.'), 'keep_vars=True'])})"
    if rng.random() < .3:
        state = rng.choice([f"{{k: e for k, e in {state}.items() if 'bias' not in k}}",
                            f"{{**{state}, 'more': T.ones(1)}}", "{}",
                            f"{{k: e[None] for k, e in {state}.items()}}",
                            f"{{k: e.double() for k, e in {state}.items()}}",
                            f"{{k: e.numpy() for k, e in {state}.items()}}", f"list({state}.items())",
                            f"collections.OrderedDict({state})",
                            f"{{k: e * 2 for k, e in {state}.items()}}", "None", f"{{k: 1. for k in {state}}}"])
    lines += [f"s = {rng.choice(TRIPS).format(s=state)}", "r = list(s)"] if state != "None" else ["s = None"]
    lines.append(f"q = n.load_state_dict(s{rng.choice(['', '', ', strict=False', ', assign=True', ', False, True'])})")
    lines += ["q = str(q)", "r = dict(n.state_dict())",
              "k = [(a, e.requires_grad, e.is_leaf) for a, e in n.named_parameters()]",
              "k = [(a, tuple(e.shape), str(e.dtype)) for a, e in n.named_buffers()]"]
    if rng.random() < .3:
        lines += [f"n = {rng.choice(['copy.deepcopy(n)', 'copy.copy(n)', 'pickle.loads(pickle.dumps(n))'])}",
                  "r = dict(n.state_dict())", "s = str(n)"]
    return lines


def program(rng):
    return (_module if rng.random() < .35 else _optimiser)(rng)
