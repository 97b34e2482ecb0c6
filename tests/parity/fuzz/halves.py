"""Half precision through several operations and their gradients: beside other dtypes, numbers and tensors without
dimensions, in tensors without elements, under autocast."""
from .values import broadcastable, number, shape, strided, tensor

HALVES = ["float16", "bfloat16"]
STEPS = ["{x} * {y}", "{x} + {y}", "{x} - {n}", "{n} * {x}", "{x} / {n}", "{x} * {s}", "{x} + {s}", "{x}.exp()",
         "{x}.tanh()", "{x}.sin()",
         "{x}.sigmoid()", "{x}.abs()", "{x}.sum()", "{x}.mean(-1)", "{x}.sum(0, keepdim=True)", "{x}.cumsum(0)",
         "{x}.amax(-1)", "{x}.softmax(-1)",
         "F.log_softmax({x}, 0)", "{x}.square()", "{x}.to(T.{d})", "{x}.float()", "{x}.half()", "{x}.bfloat16()",
         "{x}.type_as({y})",
         "T.where({x} > 0, {x}, {y})", "T.where({x} > 0, {x}, {n})", "T.cat([{x}.flatten(), {y}.flatten()])",
         "T.stack([{x}, {x}])", "{x}[..., :1]",
         "{x}.t()", "{x}.flatten()", "{x} @ {x}.mT", "T.matmul({x}, {y})", "F.linear({x}, {y})",
         "F.layer_norm({x}, {x}.shape[-1:])",
         "F.gelu({x})", "F.relu({x})", "F.silu({x})", "T.maximum({x}, {y})", "T.minimum({x}, {s})",
         "{x}.clamp({n}, 3)", "T.lerp({x}, {y}, .25)",
         "T.addcmul({x}, {y}, {y})", "{x} ** 2", "{x} ** {s}", "{x}.std()", "{x}.var(0)", "{x}.norm()",
         "{x}.logsumexp(0)", "{x}.prod()",
         "{x}.index_select(0, T.tensor([0]))", "{x}.masked_fill({x} > 0, {n})", "F.mse_loss({x}, {y})",
         "F.smooth_l1_loss({x}, {y})",
         "F.pad({x}, (1, 1))", "{x}.repeat(2, *[1] * {x}.ndim)", "{x}.expand(2, *{x}.shape)", "({x} * 1).add_({y})",
         "({x} * 1).mul_({s})",
         "({x} * 1).copy_({y})", "T.outer({x}.flatten(), {y}.flatten())", "T.dist({x}, {y})",
         "F.normalize({x}, dim=0)", "{x}.sort()[0]",
         "T.einsum('...i,...i->...', {x}, {x})", "F.softplus({x})", "T.cdist({x}, {x})", "{x}.nansum()",
         "T.logaddexp({x}, {y})", "T.atan2({x}, {y})",
         "{x}.remainder({n})", "{x}.median()", "F.cross_entropy({x}, {y})", "T.bmm({x}[None], {x}.mT[None])",
         "{x}.unfold(0, 1, 1)",
         "F.scaled_dot_product_attention({x}, {x}, {x})", "F.conv1d({x}[None], {x}[None])",
         "T.baddbmm({s}, {x}[None], {x}.mT[None])",
         "F.max_pool1d({x}[None], 1)", "{x}.trace()", "{x}.diff()", "F.embedding(T.tensor([0, 0]), {x})",
         "T.polar({x}.abs(), {y})", "{x}.neg()"]


def program(rng):
    sizes, dtype = shape(rng, size=3, empty=.08), rng.choice(HALVES)
    other = rng.choice(HALVES + ["float32", dtype, dtype, dtype])
    near = sizes if rng.random() < .5 else broadcastable(rng, sizes)
    lines = [f"a = {strided(rng, sizes, dtype, .02)}", f"b = {strided(rng, near, other, .02)}",
             f"s = {tensor(rng, (), rng.choice(HALVES + ['float32', 'float64', 'int64']), special=.05)}"]
    roots = [name for name, made in zip("abs",
                                        lines) if rng.random() < (.9 if name == "a" else .5) and "int64" not in made]
    lines += [f"{name}.requires_grad_()" for name in roots]
    names, cast = ["a", "b"], rng.random() < .25
    settings = f"dtype=T.{rng.choice(HALVES)}{rng.choice(['', ', enabled=False'])}"
    auto = f"with T.autocast('cpu', {settings}): " if cast else ""
    for name in "cdefh"[:rng.randint(1, 4)]:
        text = rng.choice(STEPS).format(
            x=rng.choice(names[-2:]), y=rng.choice(names), s="s", d=rng.choice([*HALVES, "float32", "float64"]),
            n=rng.choice([number(rng, "float64", .05), number(rng, "int64", 0),
                          f"np.float32({number(rng, 'float64', 0)})"]))
        lines.append(f"{auto if rng.random() < .8 else ''}{name} = {text}")
        names.append(name)
    if roots:
        first = f"T.autograd.grad(loss({', '.join(names[-2:])}), [{', '.join(roots)}], allow_unused=True)"
        lines.append(f"g = dense({first})")
    return lines
