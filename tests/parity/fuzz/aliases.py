"""Memory that is read and written: `out=` that is an input or a view of one, in-place forms of a tensor with itself,
views under no_grad, arrays of NumPy's in a tensor's memory; and gradients through what was written."""
import re

from .layout import _axis, _index
from .values import COMPLEX, DTYPES, FLOATS, broadcastable, number, shape, strided

BINARY = "add sub mul div maximum pow atan2 eq lt remainder logical_and fmax hypot copysign xlogy bitwise_and".split()
UNARY = "exp neg abs sin sqrt square sigmoid tanh floor sign reciprocal log1p logical_not conj_physical erf".split()
ALONG = ["cumsum({x}, {k}", "cumprod({x}, {k}", "softmax({x}, {k}", "sum({x}, {k}", "mean({x}, {k}", "amax({x}, {k}",
         "argmax({x}, {k}", "logsumexp({x}, {k}", "prod({x}, {k}", "std({x}, {k}", "flip({x}, ({k},)",
         "roll({x}, 1, {k}", "tril({x}", "index_select({x}, {k}, T.tensor([0])",
         "gather({x}, {k}, T.zeros_like({x}, dtype=T.int64)",
         "cat([{x}, {y}], {k}", "stack([{x}, {y}], {k}", "matmul({x}, {y}", "mm({x}, {x}", "addmm({x}, {x}, {x}",
         "addcmul({x}, {y}, {y}", "addcdiv({x}, {y}, {y}", "lerp({x}, {y}, .5", "where({x} == {x}, {x}, {y}",
         "clamp({x}, 0, 1", "diag({x}", "outer({x}, {x}", "dot({x}, {x}", "norm({x}, 2", "any({x}, {k}",
         "nansum({x}, {k}", "take({x}, T.tensor([0])", "bmm({x}, {x}", "masked_select({x}, {x} == {x}", "diff({x}",
         "nonzero({x}",
         "linalg.inv({x}", "linalg.vector_norm({x}", "complex({x}, {y}", "polar({x}, {y}", "kron({x}, {y}"]
PAIRS = ["sort({x}, {k}", "max({x}, {k}", "min({x}, {k}", "topk({x}, 1, {k}", "cummax({x}, {k}", "median({x}, {k}",
         "mode({x}, {k}", "kthvalue({x}, 1, {k}", "frexp({x}", "aminmax({x}, dim={k}"]
VIEWS = ["[0]", "[..., :1]", "[1:]", ".t()", ".mT", ".view(-1)", ".transpose(0, -1)", ".expand(2, *{v}.shape)",
         "[None]", ".diagonal()", ".unbind(0)[-1]", ".detach()", ".data", ".real", "[::2]", ".unfold(0, 2, 1)",
         ".view_as({v})",
         ".as_strided((2,), (1,))", ".squeeze()", ".narrow(0, 0, 1)", ".conj()", ".permute(*range({v}.ndim)[::-1])"]
WRITES = [".add_({w})", ".mul_({v})", ".sub_({w})", ".copy_({w})", ".copy_({v}.flip(0))", ".zero_()", ".fill_({n})",
          ".exp_()", ".addcmul_({v}, {w})", ".div_({v})", ".pow_({v})", ".clamp_({w})",
          ".masked_fill_({v} == {w}, {n})", ".index_add_(0, T.tensor([0]), {w}[:1])", ".cumsum_(0)", ".tril_()",
          ".index_copy_(0, T.tensor([0]), {v}[:1])",
          ".scatter_(0, T.zeros_like({v}, dtype=T.int64), {w})", ".where({v} == {v}, {w})", ".lerp_({w}, .5)",
          ".masked_scatter_({v} == {v}, {w})", ".index_put_((T.tensor([0]),), {w})", ".addmm_({v}, {w})", ".neg_()",
          ".index_fill_(0, T.tensor([0]), {n})", ".logical_and_({v})", ".atan2_({v})",
          ".put_(T.tensor([0]), {w}.sum())", ".resize_(2)", ".set_({w})", ".transpose_(0, -1)",
          ".requires_grad_()", ".normal_(0, 0)", ".sort()[0]"]
ARRAYS = ["n[...] = {c}", "n *= 2", "n += n", "np.add(n, 1, out=n)", "np.multiply(n, n, out=n)",
"n[:1] = {w}.detach()",
          "np.copyto(n, {c})", "n[...] = n[::-1]", "np.negative(n, out=n)", "n.sort()", "n.fill({c})",
          "n.T[...] = {c}"]


def program(rng):
    sizes, dtype = shape(rng, dims=rng.choice([0, 1, 2, 2, 2, 3]), size=3), rng.choice(DTYPES + FLOATS)
    near = sizes if rng.random() < .6 else broadcastable(rng, sizes)
    grad = rng.random() < .5 and dtype in FLOATS + COMPLEX
    lines = [f"a = {strided(rng, sizes, dtype, .03)}",
             f"b = {strided(rng, near, dtype if rng.random() < .8 else rng.choice(DTYPES), .03)}"]
    names = ["a", "b"]
    if grad:
        made = rng.choice([" * 1", ".exp()", " * x", ".clone()", ".view_as(x)"])
        lines += ["x = a.clone().requires_grad_()", f"a = x{made}"]

    def named(text):
        """A name for a view, by which the comparison sees what memory a statement reads and writes."""
        lines.append(f"{mode}{'uv'[len(text) % 2]} = {text}")
        return "uv"[len(text) % 2]
    for name in "cdefhk"[:rng.randint(2, 5)]:
        v, w, k, way = rng.choice(names[-3:]), rng.choice(names), _axis(rng, len(sizes)), rng.random()
        mode = f"with {rng.choice(['T.no_grad()'] * 3 + ['T.inference_mode()', 'T.enable_grad()'])}: "
        mode = mode if rng.random() < (.4 if grad else .1) else ""
        view, other = rng.choice(VIEWS).format(v=v), rng.choice(VIEWS).format(v=w)
        if way < .25:
            lines.append(f"{mode}{name} = {v}{view}")
        elif way < .5:
            target = rng.choice([v, v, w, "", "", f"T.empty(0, dtype=T.{rng.choice(DTYPES)})"])
            target = target or named(rng.choice([v + view, f"{w}.mT"]))
            call = rng.choice([f"{rng.choice(BINARY)}({v}, {w}", f"{rng.choice(UNARY)}({v}",
                               rng.choice(ALONG).format(x=v, y=w, k=k)])
            if rng.random() < .15:
                call = rng.choice(PAIRS).format(x=v, k=k)
                if re.match("median|mode|kthvalue", call):     # torch reads memory that is not there any more
                    target = f"T.empty(0, dtype=T.{dtype})"
                    w = "T.empty(0, dtype=T.int64)"
                target = f"({target}, {rng.choice([w, 'T.empty(0, dtype=T.int64)'])})"
            lines.append(f"{mode}{name} = T.{call}, out={target})")
        elif way < .8:
            w = named(w + other) if rng.random() < .4 else w
            v = named(v + view) if rng.random() < .25 else v
            written = rng.choice(WRITES).format(v=v, w=w, n=number(rng, dtype, 0))
            lines.append(f"{mode}{name} = {v}{written}")
        elif way < .9:
            w = rng.choice([w, v, "", number(rng, dtype, 0)]) or named(v + view)
            lines.append(f"{mode}{v}[{_index(rng, sizes)}] {rng.choice(['=', '+=', '*='])} {w}")
            continue
        else:
            if dtype != "bfloat16":
                lines += [f"n = {v}.detach().numpy()", rng.choice(ARRAYS).format(c=number(rng, dtype, 0), w=w)]
                if rng.random() < .4:
                    lines.append(f"{name} = T.from_numpy(n)")
                    names.append(name)
            continue
        names.append(name)
    if grad:
        lines.append(f"g = T.autograd.grad(loss({', '.join(name for name in names if name != 'b')}), [x], "
                     "allow_unused=True)")
    return lines
