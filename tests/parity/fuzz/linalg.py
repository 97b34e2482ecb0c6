"""Products of matrices, einsum, linear algebra and new tensors: dtypes, sizes that fit or not, strides, gradients,
in-place forms, `out=`."""
from .values import COMPLEX, DTYPES, FLOATS, INTS, number, strided

#: Functions, and the shapes of their operands by names of sizes.
PRODUCTS = {
    "mm": "nk km", "bmm": "bnk bkm", "mv": "nk k", "dot": "k k", "vdot": "k k", "outer": "n m", "ger": "n m",
    "inner": "nk mk", "kron": "nk bm",
    "matmul": "nk km|bnk km|nk bkm|k km|nk k|k bkm|bnk k|bnk bkm|k k|pbnk bkm|bnk pbkm",
    "addmm": "nm nk km", "addmv": "n nk k", "addr": "nm n m", "baddbmm": "bnm bnk bkm", "addbmm": "nm bnk bkm",
    "multi_dot": "nk km|k km|nk k|nk km mb|k km mb|nk km m|nk km mb bp|nk", "chain_matmul": "nk km mb",
    "cross": "nt nt", "tensordot": "nk km",
}
OF_INPUT = {"addmm", "addmv", "addr", "baddbmm", "addbmm"}
SQUARE = ["T.matrix_exp({})", "T.inverse({})", "T.det({})", "T.logdet({})", "T.linalg.slogdet({})", "T.trace({})",
          "T.linalg.matrix_power({}, 2)", "T.linalg.matrix_power({}, 3)", "T.linalg.matrix_power({}, 0)",
          "T.linalg.matrix_power({}, -1)", "T.linalg.solve({}, {})", "T.linalg.solve({}, {}, left=False)",
          "T.linalg.solve_triangular({}, {}, upper=True)", "T.linalg.solve_triangular({}, {}, upper=False, left=False)",
          "T.linalg.cond({}, 1)", "T.linalg.cholesky({} @ {}.mT)", "T.cholesky_solve({}, {})", "T.cholesky_inverse({})",
          "T.linalg.pinv({})", "T.linalg.matrix_rank({})", "T.linalg.svdvals({})", "T.linalg.eigvalsh({})"]
MADE = ["linspace({0}, {1}, {2}, dtype={3})", "logspace({0}, {1}, {2}, dtype={3})", "full(({2},), {0}, dtype={3})",
        "logspace({0}, {1}, {2}, {4}, dtype={3})", "scalar_tensor({0}, dtype={3})", "arange({0}, {1}, .5, dtype={3})",
        "eye({2}, dtype={3})", "full_like(T.ones({2}, dtype={3}), {0})", "ones(2, dtype={3}).new_full((2,), {0})",
        "vander(T.full(({2},), {0}, dtype={3}))", "full(({2},), {0})", "rand({2}, dtype={3})",
        "randn({2}, dtype={3})", "randint(5, ({2},), dtype={3})", "randperm({2}, dtype={3})"]


def _sized(rng, names, sizes):
    """A shape by the names of its sizes; rarely one that does not fit, or that broadcasts."""
    found = [sizes[name] for name in names]
    if found and rng.random() < .04:
        found[rng.randrange(len(found))] = rng.randint(0, 4)
    return tuple(found)


def _equation(rng):
    """An equation of one to three operands, and their subscripts."""
    terms = ["".join(rng.choice("abcd") for _ in range(rng.randint(0, 3))) for _ in range(rng.choice([1, 2, 2, 2, 3]))]
    letters = sorted(set("".join(terms)))
    rng.shuffle(letters)
    output = "" if rng.random() < .3 else "->" + "".join(letters[:rng.randint(0, len(letters))])
    return ",".join(terms) + output, terms


def program(rng):
    way = rng.random()
    if way < .15:
        return _making(rng)
    sizes = {name: rng.choice([0] + [1] * 3 + list(range(2, 6)) * 4) for name in "nkmbp"} | {"t": 3}
    dtype = rng.choice(DTYPES)
    special = 0 if dtype in COMPLEX else rng.choice([0, 0, .1])    # products of infinite ones are any
    if way < .55:
        name = rng.choice(list(PRODUCTS))
        if name in ("chain_matmul", "multi_dot"):
            special = 0                        # which product is first
        shapes = [_sized(rng, names, sizes) for names in rng.choice(PRODUCTS[name].split("|")).split()]
        if name in OF_INPUT and rng.random() < .3:
            shapes[0] = shapes[0][rng.randint(0, len(shapes[0])):]
        call = f"T.{name}({{}})"
        if name in OF_INPUT and rng.random() < .5:
            kind = rng.choice(["float64", "int64"]) if dtype in FLOATS else "int64"
            call = f"T.{name}({{}}, beta={number(rng, kind, 0)}, alpha={number(rng, kind, 0)})"
        elif name == "multi_dot":
            call = "T.linalg.multi_dot([{}])"
        elif name == "tensordot":
            call = "T.tensordot({}, dims=1)"
        elif name == "cross":
            call = "T.cross({}, dim=1)"
        elif rng.random() < .1:
            call = f"T.{name}({{}}, out=T.empty(0, dtype=T.{dtype}))"
    elif way < .8:
        equation, terms = _equation(rng)
        counts = {name: rng.choice([1, 2, 2, 3, 4]) for name in "abcd"}
        shapes, call = [tuple(counts[c] for c in term) for term in terms], f"T.einsum({equation!r}, {{}})"
    else:
        dtype = rng.choice(FLOATS * 3 + COMPLEX * 2 + INTS[:1])
        n = rng.choice([0, 1, 2, 2, 3])
        batch = rng.choice([(), (), (), (2,), (1,)])
        special = 0                            # of infinite numbers the routines make any
        call = rng.choice(SQUARE[1:] if dtype in FLOATS[2:] else SQUARE)
        shapes = [(*batch, n, n)] * max(call.count("{}") - call.count("{} @"), 1)
        call = call.replace("{} @ {}.mT", "a @ a.mH + T.eye(a.shape[-1])").replace("{}, {}", "{}")
    names, more = "abcd"[:len(shapes)], ""
    if way >= .8 and not call.startswith("T.linalg.matrix_rank"):
        more = f" + 9 * T.eye({shapes[0][-1]}, dtype=T.{dtype})"     # of singular matrices, torch has no derivatives
    lines = []
    for name, shape in zip(names, shapes):
        own = dtype if rng.random() < .96 else rng.choice(DTYPES)
        operand = strided(rng, shape, own, special)
        lines.append(f"{name} = {f'({operand}{more}).clone(memory_format=T.contiguous_format)' if more else operand}")
        if rng.random() < .5 and own in FLOATS + COMPLEX:
            lines.append(f"{name}.requires_grad_()")
    lines.append("y = " + call.replace("{}", ", ".join(names)))
    wrt = [line[0] for line in lines if "requires_grad_" in line]
    if wrt and "out=" not in call:
        asked = ", ".join(wrt)
        results = "*[r for r in y if r.requires_grad]" if "slogdet" in call else "y"
        for name, of in (("g", results), ("gg", "*[x for x in g if x is not None]")):    # how they lie is not compared
            grads = f"T.autograd.grad(loss({of}), [{asked}], create_graph=True, allow_unused=True)"
            lines.append(f"{name} = [x if x is None else x.clone(memory_format=T.contiguous_format) for x in {grads}]")
    return lines


def _making(rng):
    dtype = rng.choice(DTYPES)
    values = [number(rng, rng.choice([dtype, "float64", "int64", "float64"]), .2) for _ in range(2)]
    line = rng.choice(MADE).format(*values, rng.randint(0, 20), f"T.{dtype}", rng.choice(["2", "2.5", "0.5"]))
    return ["T.manual_seed(0)", f"a = T.{line}", "b = str(a)"]
