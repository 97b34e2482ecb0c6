"""Threads: what belongs to one (grad modes, autocast, dual levels, default devices), what all share (default dtypes,
graphs, gradients of leaves), and what a statement in another thread gives or raises."""
import re

from .layout import _index
from .values import FLOATS, broadcastable, number, shape, strided, tensor

MODES = ["T.no_grad()", "T.no_grad()", "T.enable_grad()", "T.inference_mode()", "T.set_grad_enabled(False)",
         "T.autocast('cpu', dtype=T.bfloat16)", "T.autograd.forward_ad.dual_level()",
         "T.autograd.graph.save_on_cpu()", "T.autograd.detect_anomaly(check_nan=False)", "T.device('cpu')",
         "T.autograd.graph.saved_tensors_hooks(lambda x: x * 1, lambda x: x)", "T.random.fork_rng()",
         "T.autograd.set_multithreading_enabled(False)", "T.utils._python_dispatch._disable_current_modes()",
         "T.nn.utils.parametrize.cached()", "T.autograd.graph.allow_mutation_on_saved_tensors()"]
SETTINGS = ["T.set_grad_enabled(False)", "T.set_grad_enabled(True)", "T.set_default_dtype(T.float64)",
            "T.set_default_dtype(T.float32)", "T.set_autocast_enabled('cpu', True)",
            "T.set_autocast_enabled('cpu', False)", "T.set_autocast_dtype('cpu', T.float16)", "T.manual_seed(3)",
            "T.use_deterministic_algorithms(False)",
            "T.autograd.set_detect_anomaly(False)", "T.set_printoptions(precision=4)", "T.set_default_device(None)"]
LOOKS = ["T.is_grad_enabled()", "T.is_inference_mode_enabled()", "T.is_autocast_enabled('cpu')",
         "T.get_default_dtype()", "T.get_autocast_dtype('cpu')", "T.is_anomaly_enabled()", "T.initial_seed()",
         "T.ones(1).device.type",
         "T.is_autocast_cache_enabled()", "T.get_default_device().type"]
STEPS = ["{v} * {w}", "{v}.sin()", "{v} @ {v}.mT", "{v}.sum()", "{v}[{i}]", "{v}.view(-1)", "{v}.detach()", "{v}.t()",
         "T.ones(2) * 1.5", "T.rand(2)", "T.randn(2, generator=T.Generator().manual_seed({k}))", "T.mm({v}, {v})",
         "F.dropout({v}, .5)", "({v} * 1).add_({w})", "({v} * 1).mul_({n})", "{v}.requires_grad", "{v} + {n}",
         "T.tensor([1.5]).requires_grad_() * 2", "T.func.grad(lambda e: loss(e * e))({v}.detach())",
         "T.arange(3.) / 2",
         "T.func.vmap(lambda e: e * 2)({v}.detach())", "T.autograd.grad(loss({v} * {w}), {v}, allow_unused=True)",
         "[e._version for e in ({v}, {w})]", "T.nn.Linear(2, 1).weight.requires_grad", "{v}.exp().is_leaf",
         "T.autograd.grad(loss({v}), [a], retain_graph=True, allow_unused=True)", "type({v}.grad_fn).__name__",
         "loss({v}).backward(retain_graph=True)", "{v}.is_inference()", "{v}.mul_({n})", "{v}.add_({w})",
         "{v}.exp_()",
         "T.func.jvp(T.sin, ({v}.detach(),), ({v}.detach(),))", "T.autograd.functional.jacobian(T.sin, {v})",
         "T.utils.checkpoint.checkpoint(T.sin, {v}, use_reentrant=False)",
         "T.utils.checkpoint.checkpoint(T.sin, {v}, "
         "use_reentrant=True)", "T.randperm(3)", "T.empty(2).dtype", "T.tensor(1.5).dtype", "{v}.clone().zero_()"]


def program(rng):
    sizes, dtype = shape(rng, dims=rng.choice([1, 2, 2, 2]), size=3, empty=.02), rng.choice(["float32"] * 3 + FLOATS)
    lines = ["import concurrent.futures",
             "pool = lambda f, n=1: [*concurrent.futures.ThreadPoolExecutor(n).map(f, range(n))]", "T.manual_seed(2)",
             f"a = {strided(rng, sizes, dtype, .02)}",
             f"b = {tensor(rng, broadcastable(rng, sizes), dtype, special=0)}"]
    leaf = rng.random() < .8
    if leaf:
        lines += ["a.requires_grad_()", rng.choice(["c = a * 1", "c = a.sin()", "c = a.view_as(a)", "c = a * b"])]
    names = ["a", "b", "c"] if leaf else ["a", "b"]
    for name in "defhk"[:rng.randint(2, 5)]:
        def step():
            return rng.choice(STEPS).format(v=rng.choice(names[-3:]), w=rng.choice(names), k=rng.choice(["k", "1"]),
                                            n=number(rng, dtype, 0), i=_index(rng, sizes, advanced=False))
        way, mode = rng.random(), f"with {rng.choice(MODES)}: "
        text = step()
        count = 1 if re.search(r"rand|dropout|_\(|backward|Linear", text) else rng.choice([1, 1, 2, 3])
        name = "g" if re.search(r"autograd|func\.|checkpoint", text) else name
        if way < .45:
            text = f"pool(lambda k: {text}, {count})"
        elif way < .6:
            look = f"[{', '.join(rng.sample(LOOKS, 4))}]"
            text = f"pool(lambda k: {look})"
        elif way < .75:
            text = f"pool(lambda k: ({rng.choice(SETTINGS)}, {text})[1])"
        lines.append(f"{mode if rng.random() < .5 else ''}{name} = {text}")
        if rng.random() < .15:
            lines.append(rng.choice(SETTINGS))
        if rng.random() < .3:
            lines.append(f"s = [{', '.join(rng.sample(LOOKS, 3))}]")
        if "pool" not in text and not re.search(r"grad|type|is_|\[e\.|backward|func|checkpoint", text):
            names.append(name)
    if leaf:
        lines += ["g = T.autograd.grad(loss(c), [a], allow_unused=True, retain_graph=True)", "g = a.grad"]
        if rng.random() < .5:
            lines += ["g = pool(lambda k: T.autograd.grad(loss(c), [a], allow_unused=True))"]
    return lines
