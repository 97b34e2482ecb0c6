"""torch.func: functions made of a few operations, views and in-place writes, differentiated backwards and forwards and
mapped over batches, one transform inside the other; dual numbers."""
import re

from .layout import _index
from .values import FLOATS, broadcastable, number, shape, strided

#: What a function does with the results of those before it: {x} and {y} are calls of them, {n} is a number.
UNARY = """sin cos tanh exp sigmoid neg square abs sqrt log1p expm1 relu sign erf atan reciprocal rsqrt
cumsum_0 cumprod_0 sum mean prod softmax_0 log_softmax_0 logsumexp_0 logcumsumexp_0 amax_0 var std sort_0 max_0 cummax_0
tril flip_0 roll_1 clone norm detach ones_like zeros_like floor trace diagonal diag_embed squeeze flatten median_0
argmax count_nonzero isnan positive nan_to_num sinc lgamma digamma logit angle frac trunc msort aminmax triu
atleast_2d nanmean nansum mode_0 unbind std_mean var_mean kthvalue_1 topk_1""".split()
BINARY = """add sub mul div pow maximum minimum atan2 hypot fmod remainder matmul outer inner dot xlogy logaddexp where
copysign lt eq dist fmax cross kron vdot mv mm tensordot_0 cat stack hstack addcmul lerp clamp_min isclose cdist
heaviside ldexp true_divide floor_divide logical_and gcd hypot nextafter""".split()
VIEWS = [".transpose(0, -1)", ".reshape(-1)", ".unsqueeze(0)", ".expand(2, *{x}.shape)", "[0]", "[..., 0]", "[None]",
         ".mT", ".diagonal()", ".split(1)[0]", ".chunk(2)[-1]", ".narrow(0, 0, 1)", ".movedim(0, -1)",
         ".view_as({x})",
         ".unfold(0, 1, 1)", ".contiguous()", ".T", ".flatten()", ".select(-1, 0)", ".tile(2)",
         ".repeat(2, *{x}.shape)",
         ".permute(*range({x}.ndim))[..., None]", ".to(T.float64)", ".double().float()", ".half()", ".detach()",
         ".swapaxes(0, -1)", ".as_strided((1,), (1,))", ".unbind(0)[0]", ".squeeze(0)", ".ravel()", ".type_as({y})"]
WRITES = [".mul_({y})", ".add_(1)", ".copy_({y})", ".zero_()", ".fill_({n})", ".exp_()",
          ".index_fill_(0, T.tensor([0]), {n})",
          ".masked_fill_({x} > 0, {n})", ".sub_({y}, alpha=2)", ".clamp_(min={n})",
          ".index_add_(0, T.tensor([0]), {x}[:1])",
          ".t_()", ".squeeze_()", ".unsqueeze_(0)", ".div_(2)",
          ".addcmul_({y}, {y})", ".tril_()", ".pow_(2)", ".relu_()"]
LAYERS = ["F.linear({x}, {y})", "F.layer_norm({x}, {x}.shape[-1:])", "F.gelu({x})", "F.mse_loss({x}, {y})",
          "F.softplus({x})", "F.pad({x}, (1, 1))", "F.huber_loss({x}, {y})", "F.normalize({x}, dim=0)",
          "F.cosine_similarity({x}, {y}, -1)", "F.elu({x})", "F.hardtanh({x})", "F.leaky_relu({x})", "F.glu({x}, -1)",
          "F.one_hot({x}.long().abs(), 9)", "F.l1_loss({x}, {y})", "F.silu({x})", "F.max_pool1d({x}, 1)",
          "F.cross_entropy({x}, {y})", "F.threshold({x}, 0., {n})", "F.conv1d({x}[None], {y}[None])",
          "F.scaled_dot_product_attention({x}, {x}, {x})", "F.embedding({x}.long().abs() % 2, {y})",
          "F.rms_norm({x}, {x}.shape[-1:])",
          "F.kl_div({x}, {y}, reduction='sum')", "F.prelu({x}, {y}.reshape(-1)[:1])", "F.avg_pool1d({x}, 1)",
          "F.mish({x})"]
_SEVERAL = ("cat", "stack", "hstack")


def _function(rng, names, sizes):
    """A function of (a, b) in terms of those called `names`, as text."""
    x, y = f"{rng.choice(names)}(a, b)", f"{rng.choice(names)}(a, b)"
    number_ = number(rng, "float32", 0)
    way = rng.random()
    if way < .3:
        name, dim = re.fullmatch(r"(\w+?)(?:_(-?\d))?", rng.choice(UNARY)).groups("")
        text = f"T.{name}({x}{', ' * bool(dim)}{dim})"
    elif way < .55:
        name, dim = re.fullmatch(r"(\w+?)(?:_(-?\d))?", rng.choice(BINARY)).groups("")
        text = (f"T.{name}([{x}, {y}])" if name in _SEVERAL else f"T.where({x} > 0, {x}, {y})" if name == "where"
                else f"T.{name}({x}, {y}, {y})" if name in ("addcmul", "lerp")
                else f"T.{name}({x}, {y}{', ' * bool(dim)}{dim})")
    elif way < .65:
        text = f"{x} {rng.choice(['+', '-', '*', '/', '**', '@', '<', '=='])} {rng.choice([y, number_, number_])}"
    elif way < .78:
        text = x + rng.choice(VIEWS)
    elif way < .83:
        text = f"{x}[{_index(rng, sizes, advanced=rng.random() < .7)}]"
    elif way < .93:
        view = rng.choice(["", "", "[0]", "[..., :1]", ".mT", ".view(-1)"])
        copied = rng.choice([" * 1", ".clone()", ""])
        text = f"(lambda v: (v{view}{rng.choice(WRITES)}, v)[{rng.choice([0, 1, 1])}])({x}{copied})"
    else:
        text = rng.choice(LAYERS)
    return text.format(x=x, y=y, n=number_)


def _dims(rng, *sizes):
    """Dimensions to map over as text, of tensors of these shapes."""
    found = [rng.randrange(-len(size), len(size)) if size and rng.random() < .8 else None for size in sizes]
    return "0" if rng.random() < .3 else str(tuple(found))


def _transformed(rng, name, sizes, other):
    """Transforms around the function called `name`, as text of a call with a and b."""
    number_of = f"(lambda *s: loss({name}(*s)))"
    tangents = "tuple([e * 2 for e in s])"     # in memory of their own, which no write to the primals reaches
    argnums = rng.choice(["0", "1", "(0, 1)", "0"])
    first = rng.choice([f"T.func.grad({number_of}, argnums={argnums})"] * 3 + [
        f"T.func.grad_and_value({number_of}, argnums={argnums})", f"T.func.jacrev({name}, argnums={argnums})",
        f"T.func.jacfwd({name}, argnums={argnums})", f"T.func.hessian({number_of}, argnums={argnums})", name, name,
        f"(lambda *s: T.func.jvp({name}, s, {tangents}))",
        f"(lambda *s: T.func.jvp(T.func.grad({number_of}), s, {tangents}))",
        f"(lambda *s: T.func.vjp({name}, *s)[1](T.ones_like({name}(*s))))",
        f"(lambda *s: T.func.linearize({name}, *s)[1](*s))",
        f"(lambda *s: T.func.grad(lambda a, b: loss(*flat(T.func.jvp({name}, (a, b), (a * 2, b + 1)))))(*s))",
        f"T.func.grad(lambda *s: loss(*flat(T.func.grad({number_of}, argnums=(0, 1))(*s))))"])
    if rng.random() < .55:
        more = rng.choice([f", out_dims={rng.choice([0, -1, 1])}", "", "", f", chunk_size={rng.randint(1, 2)}",
                           ", randomness='same'"])
        first = f"T.func.vmap({first}, {_dims(rng, sizes, other)}{more})"
        if rng.random() < .25:
            first = f"T.func.vmap({first}, {_dims(rng, sizes, other)})"
        elif rng.random() < .15:
            first = f"T.func.grad(lambda *s: loss(*flat({first}(*s))))"
        elif rng.random() < .1:
            first = f"T.func.jacrev({first})"
    return f"{first}(a, b)"


def _dual(rng, name):
    """Dual numbers through the function called `name`, as a statement: one that ends early leaves no level open."""
    tangents = rng.choice(["a * 2, b - 1", "T.ones_like(a), T.ones_like(b)"])
    made = f"map(T.autograd.forward_ad.make_dual, (a, b), ({tangents}))"
    return (f"with T.autograd.forward_ad.dual_level(): g = [[*T.autograd.forward_ad.unpack_dual(e)] for e in "
            f"flat({name}(*{made})) if isinstance(e, T.Tensor)]")


def program(rng):
    sizes, dtype = shape(rng, size=3), rng.choice(["float32"] * 4 + FLOATS)
    other = sizes if rng.random() < .4 else broadcastable(rng, sizes) if rng.random() < .6 else shape(rng, size=3)
    lines = [f"a = {strided(rng, sizes, dtype, .05)}",
             f"b = {strided(rng, other, dtype if rng.random() < .85 else rng.choice(FLOATS), .05)}",
             "p = lambda a, b: a", "q = lambda a, b: b"]
    names = ["p", "q"]
    for name in "rstu"[:rng.randint(1, 4)]:
        lines.append(f"{name} = lambda a, b: {_function(rng, names[-3:], sizes)}")
        names.append(name)
    if rng.random() < .2:
        if rng.random() < .5:
            lines[2:2] = ["a.requires_grad_()"]
        return [*lines, _dual(rng, names[-1])]
    if rng.random() < .2:
        lines[2:2] = ["a.requires_grad_()"]
    return [*lines, f"g = {_transformed(rng, names[-1], sizes, other)}"]
