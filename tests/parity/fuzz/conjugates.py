"""Complex numbers, lazy conjugates and negatives: views of them, what is written through them and to their bases,
`out=`, reads, gradients, copies."""
import re

from .values import COMPLEX, broadcastable, number, shape, strided, tensor

LAZY = ["{}.conj()"] * 3 + ["{}.mH", "{}.adjoint()", "{}.H", "T._neg_view({})", "{}.imag", "{}.real", "T._conj({})",
                            "{}.conj().imag", "T.imag({})", "T.real({})"]
VIEWS = ["{}[0]", "{}[..., 0]", "{}[1:]", "{}[..., ::2]", "{}[None]", "{}.t()", "{}.mT", "{}.reshape(-1)",
         "{}.flatten()", "{}.unsqueeze(-1)", "{}.squeeze()", "{}.expand(2, *{}.shape)", "{}.diagonal()",
         "{}.unbind()[0]", "{}.split(1)[-1]", "{}.detach()", "{}.data", "{}.contiguous()", "{}.view_as({})",
         "{}.unfold(0, 1, 1)",
         "{}.as_strided((2,), (1,))", "T.view_as_real({})", "{}.movedim(0, -1)", "{}.narrow(0, 0, 1)", "{}.ravel()",
         "{}.resolve_conj()", "{}.resolve_neg()", "{}.clone()", "T.positive({})", "T.atleast_2d({})"]
READS = """abs neg exp log sqrt square sin tanh sigmoid reciprocal sgn angle isnan isreal cumsum_0 cumprod_0
logcumsumexp_0 sum prod mean std var_0 tril triu flip_0 isfinite positive log1p expm1 acos asinh rsqrt""".split()
PAIRS = """add sub mul div true_divide pow eq ne isclose logaddexp xlogy atan2 dot vdot matmul mm mv outer inner maximum
copysign hypot equal allclose""".split()
OPERATORS = "+ - * / ** == !=".split()
WRITES = ["{}.add_({})", "{}.mul_({})", "{}.sub_({})", "{}.copy_({})", "{}.zero_()", "{}.fill_({n})", "{}.neg_()",
          "{}.conj_physical_()", "{}.exp_()", "{}.div_(2)", "{}.lerp_({}, 0.5)", "{}.addcmul_({}, {})", "{}.square_()",
          "{}.masked_fill_({} == {}, {n})", "{}.index_fill_(0, T.tensor([0]), {n})", "{}.t_()", "{}.unsqueeze_(0)",
          "{}.tril_()", "{}.cumsum_(0)", "{}.set_({})", "{}.pow_(2)", "{}.tanh_()", "{}.squeeze_()"]
SETS = ["{}[0] = {n}", "{}[...] = {}", "{}[0] = {}", "{}[{} == {}] = {n}", "{}[T.tensor([0])] = {}", "{}.real = {n}",
        "{}.imag = {}", "{}.data = {}", "{} += {}", "{} *= {n}", "{}[1:] = {}"]
OUTS = ["T.add({}, {}, out={})", "T.mul({}, {n}, out={})", "T.neg({}, out={})", "T.exp({}, out={})",
        "T.cat([{}, {}], out=T.empty_like({}).conj())"]
COPIES = ["copy.deepcopy({})", "copy.copy({})", "pickle.loads(pickle.dumps({}))", "{}.tolist()", "repr({})",
          "{}.numpy()", "{}.item()", "{}.is_conj()", "{}.to(T.complex128)", "{}.storage_offset()", "{}.view(T.float32)",
          "{}.is_set_to({})", "{}._version", "T.empty_like({}).is_conj()", "{}.sum().item()", "{}.numpy(force=True)"]


def _filled(rng, text, names, dtype):
    while "{}" in text:
        text = text.replace("{}", rng.choice(names), 1)
    return text.replace("{n}", number(rng, dtype, special=0))


def program(rng):
    sizes = shape(rng, dims=rng.choice([0, 1, 2, 2, 2, 3]))
    dtype = rng.choice(COMPLEX * 3 + ["float32", "float64", "int64", "bfloat16", "float16", "uint8"])
    lines = ["import copy, pickle", f"a = {strided(rng, sizes, dtype, special=0)}"]
    grad = rng.random() < .5 and dtype not in ("int64", "uint8")
    if grad:
        lines += ["a.requires_grad_()", "b = a * 1"]
    else:
        lines += [f"b = {tensor(rng, broadcastable(rng, sizes), dtype, special=0)}"]
    names = ["a", "b"] if not grad else ["b"]
    lazy = LAZY if dtype in COMPLEX else ["T._neg_view({})"] * 3 + LAZY
    for name in "cdefhk"[:rng.randint(2, 6)]:
        way = rng.random()
        if way < .35:
            text = rng.choice(lazy)
        elif way < .55:
            text = rng.choice(VIEWS)
        elif way < .75:
            text = rng.choice(WRITES)
        elif way < .8:
            text = rng.choice(OUTS)
        elif way < .88:
            function, _, dim = rng.choice(READS).partition("_")
            text = f"T.{function}({{}}{', ' * bool(dim)}{dim})"
        elif way < .93:
            text = rng.choice([f"T.{rng.choice(PAIRS)}({{}}, {{}})", f"{{}} {rng.choice(OPERATORS)} {{}}"])
        elif way < .97:
            lines.append(_filled(rng, rng.choice(SETS), names, dtype))
            continue
        else:
            lines.append(f"s = {_filled(rng, rng.choice(COPIES), names, dtype)}")
            continue
        lines.append(f"{name} = {_filled(rng, text, names[-3:] if rng.random() < .7 else names, dtype)}")
        if not re.search("T.(eq|ne|is|all)|[=!]= ", text):     # bools have no negatives
            names.append(name)
    if grad:
        roots = ", ".join(names)
        lines.append(f"g = T.autograd.grad(loss({roots}), [a], allow_unused=True)")
    return lines
