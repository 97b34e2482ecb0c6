"""Autocast around, within and between transforms, one region inside the other, with operands of several dtypes (complex
ones and numbers without dimensions among them), gradients, in-place forms and `out=`."""
from .values import COMPLEX, FLOATS, INTS, broadcastable, number, shape, strided, tensor

STEPS = ["{x} * {y}", "{x} + {y}", "{x} @ {x}.mT", "T.matmul({x}, {y})", "F.linear({x}, {y})", "T.mm({x}, {y})",
         "{x} / {s}", "{s} * {x}", "{x} - {n}", "{x}.exp()", "{x}.sin()", "{x}.sum()", "{x}.sum(0)", "{x}.mean(-1)",
         "{x}.softmax(-1)", "F.layer_norm({x}, {x}.shape[-1:])", "F.mse_loss({x}, {y})", "T.cat([{x}, {y}])",
         "T.stack([{x}, {y}])", "{x}.prod()", "{x}.cumsum(0)", "{x}.norm()", "T.dist({x}, {y})", "{x} ** 2",
         "T.where({x}.abs() > 1, {x}, {y})", "{x}.flatten()", "{x}[None]", "{x}[..., :1]", "{x}.mT", "{x}.t()",
         "{x}.to(T.{d})", "{x}.float()", "{x}.type_as({y})", "F.gelu({x})", "F.relu({x})", "{x}.abs()", "{x}.real",
         "T.einsum('...i,...i->...', {x}, {y})", "T.outer({x}.flatten(), {y}.flatten())", "T.dot({x}.flatten(), "
         "{y}.flatten())", "T.bmm({x}[None], {x}.mT[None])", "T.addmm({s}, {x}, {x}.mT)", "T.atan2({x}, {y})",
         "T.baddbmm({x}[None], {x}[None], {x}.mT[None])", "T.tensordot({x}, {y}, 1)", "F.softplus({x})",
         "F.conv1d({x}[None], {x}[None])", "({x} * 1).add_({y})", "({x} * 1).mul_({s})", "({x} * 1).copy_({y})",
         "T.linalg.vector_norm({x}, 2)", "{x}.logsumexp(0)", "F.smooth_l1_loss({x}, {y})", "T.cdist({x}, {x})",
         "F.cosine_similarity({x}, {y}, -1)", "F.scaled_dot_product_attention({x}, {y}, {x})", "{x}.conj()",
         "T.addcmul({x}, {y}, {s})", "T.lerp({x}, {y}, .5)", "{x}.detach()", "T.addmv({s}, {x}, {y})", "{x}.rsqrt()",
         "T.linalg.multi_dot([{x}, {x}.mT])", "T.kron({x}, {y})", "T.complex({x}, {y})", "T.view_as_real({x})",
         "F.prelu({x}, {s}.reshape(1))", "F.normalize({x}, dim=0)", "T.index_put({x}, (T.tensor([0]),), {s})",
         "F.bilinear({x}, {x}, {x}[None].expand(2, -1, -1))", "T.mv({x}, {y})", "{x}.pow({s})", "T.cumprod({x}, 0)",
         "F.cross_entropy({x}, {y})", "F.binary_cross_entropy_with_logits({x}, {y})", "F.kl_div({x}, {y})",
         "T.scatter_add({x}, 0, T.zeros_like({x}, dtype=T.int64), {y})", "F.nll_loss({x}, T.tensor([0]))",
         "F.group_norm({x}[None, None], 1)", "T.matmul({x}, {y}, out=T.empty(0))", "T.add({x}, {y}, out=T.empty(0))"]


def _setting(rng):
    return (f"T.autocast('cpu', dtype=T.{rng.choice(['bfloat16'] * 3 + ['float16'])}"
            f"{rng.choice([''] * 4 + [', enabled=False', ', cache_enabled=False'])})")


def _cast(rng, text):
    """The text of an expression as a function of (a, b, s) that runs within autocast."""
    return f"{_setting(rng)}(lambda a, b, s: {text})(a, b, s)"


def _differentiated(rng, name):
    """Transforms around the function called `name`, as text of a call with a, b and s."""
    number_of = f"(lambda a, b, s: loss({name}(a, b, s)))"
    tangents = "(a * 2, b - 1, s)"
    first = rng.choice([f"T.func.grad({number_of})(a, b, s)", f"T.func.grad({number_of}, argnums=(0, 1))(a, b, s)",
                        f"T.func.vjp({name}, a, b, s)[0]", f"T.func.jvp({name}, (a, b, s), {tangents})",
                        f"T.func.jacrev({name}, argnums=1)(a, b, s)", f"T.func.jacfwd({name})(a, b, s)",
                        f"T.func.vjp({name}, a, b, s)[1](T.ones_like({name}(a, b, s)))", f"{name}(a, b, s)",
                        f"T.func.vmap({name}, (0, None, None))(a, b, s)", f"T.func.hessian({number_of})(a, b, s)",
                        f"T.func.vmap({name}, (0, 0, None))(a, b, s)",
                        f"T.func.vmap(T.func.grad({number_of}), (0, None, None))(a, b, s)",
                        f"T.func.grad(lambda *k: loss(T.func.grad({number_of})(*k)))(a, b, s)",
                        f"T.utils.checkpoint.checkpoint({name}, a, b, s, use_reentrant=False)"])
    return first


def program(rng):
    sizes = shape(rng, dims=rng.choice([0, 1, 2, 2, 2, 3]), size=3, empty=.03)
    dtype = rng.choice(["float32"] * 4 + ["float16", "bfloat16", "float64", "complex64"])
    other = rng.choice([dtype] * 3 + FLOATS + COMPLEX + INTS[:1])
    near = sizes if rng.random() < .6 else broadcastable(rng, sizes)
    scalar = rng.choice(FLOATS + ["float32", "complex64", "int64"])
    lines = [f"a = {strided(rng, sizes, dtype, .02)}",
             f"b = {strided(rng, near, other, .02)}", f"s = {tensor(rng, (), scalar, special=.03)}"]
    names = ["a", "b"]
    for name in "pqr"[:rng.randint(1, 3)]:
        x, y = rng.choice(names[-2:]), rng.choice(names)
        text = rng.choice(STEPS).format(x=x, y=y, s="s", n=number(rng, "float64", 0),
                                        d=rng.choice(["float16", "bfloat16", "float32", "float64", "complex64"]))
        lines.append(f"{name} = lambda a, b, s: {_cast(rng, text) if rng.random() < .4 else text}")
        names.append(f"{name}(a, b, s)")
    outside = f"with {_setting(rng)}: " if rng.random() < .6 else ""
    last = names[-1][0]
    if rng.random() < .6:
        return [*lines, f"{outside}g = {_differentiated(rng, last)}"]
    roots = [n for n, kind in (("a", dtype), ("b", other), ("s", scalar)) if kind not in INTS and rng.random() < .7]
    lines += [f"{n}.requires_grad_()" for n in roots]
    lines.append(f"{outside}y = {last}(a, b, s)")
    if roots:
        inside = f"with {_setting(rng)}: " if rng.random() < .2 else ""
        lines.append(f"{inside}g = T.autograd.grad(loss(y), [{', '.join(roots)}], allow_unused=True)")
    return lines
