"""What programs of all families are made of: shapes, dtypes, numbers, tensors as text."""

FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTS = ["int64", "int32", "int16", "int8", "uint8"]
COMPLEX = ["complex64", "complex128"]
DTYPES = ["float32"] * 3 + FLOATS + INTS + ["bool"] + COMPLEX

_SPECIAL = {"f": ["float('nan')", "float('inf')", "-float('inf')", "-0.0", "0.0", "1.0", "-1.0", "1e30", "-1e-30",
                  "0.5"],
            "i": ["0", "1", "-1", "2", "-2", "100", "-100", "127", "-128"], "u": ["0", "1", "2", "255", "128"]}


def shape(rng, dims=None, size=4, empty=.06):
    """A shape of up to three dimensions (or `dims`), rarely without elements."""
    dims = rng.choice([0, 1, 1, 2, 2, 2, 3]) if dims is None else dims
    return tuple(0 if rng.random() < empty else rng.randint(1, size) for _ in range(dims))


def number(rng, dtype, special=.15):
    """A number of a dtype as text."""
    if dtype == "bool":
        return rng.choice(["True", "False"])
    if dtype in COMPLEX:
        return f"complex({number(rng, 'float32', special)}, {number(rng, 'float32', special)})"
    kind = "u" if dtype[0] == "u" else "i" if dtype in INTS else "f"
    if rng.random() < special:
        return rng.choice(_SPECIAL[kind])
    if kind == "f":
        return str(round(rng.uniform(-4, 4), 2))
    return str(rng.randint(0, 9) if kind == "u" else rng.randint(-9, 9))


def _nested(rng, sizes, dtype, special):
    if not sizes:
        return number(rng, dtype, special)
    return "[" + ", ".join(_nested(rng, sizes[1:], dtype, special) for _ in range(sizes[0])) + "]"


def tensor(rng, sizes=None, dtype=None, grad=False, special=.15):
    """A new tensor of contiguous memory as text; of many elements or none, without a list of all."""
    sizes = shape(rng) if sizes is None else sizes
    dtype = dtype or rng.choice(DTYPES)
    last = ", requires_grad=True" if grad and (dtype in FLOATS or dtype in COMPLEX) else ""
    if 0 in sizes:
        return f"T.zeros({sizes}, dtype=T.{dtype}{last})"
    return f"T.tensor({_nested(rng, sizes, dtype, special)}, dtype=T.{dtype}{last})"


def strided(rng, sizes, dtype=None, special=.15):
    """A tensor of a shape as text, often of unusual strides: transposed, stepped, a slice, expanded, or channels
    last."""
    way, n = rng.random(), len(sizes)
    if way < .5 or not n:
        return tensor(rng, sizes, dtype, special=special)
    if way < .65 and n >= 2:
        a, b = rng.sample(range(n), 2)
        swapped = list(sizes)
        swapped[a], swapped[b] = swapped[b], swapped[a]
        return f"{tensor(rng, tuple(swapped), dtype, special=special)}.transpose({a}, {b})"
    k = rng.randrange(n)
    wide = list(sizes)
    if way < .75:
        wide[k] *= 2
        return f"{tensor(rng, tuple(wide), dtype, special=special)}[{':, ' * k}::2]"
    if way < .85:
        wide[k] += 1
        return f"{tensor(rng, tuple(wide), dtype, special=special)}[{':, ' * k}1:]"
    if way < .95 or n != 4:
        wide[k] = 1
        return f"{tensor(rng, tuple(wide), dtype, special=special)}.expand({tuple(sizes)})"
    return f"{tensor(rng, sizes, dtype, special=special)}.contiguous(memory_format=T.channels_last)"


def broadcastable(rng, sizes):
    """A shape that broadcasts with another."""
    short = tuple(1 if rng.random() < .25 else n for n in sizes)
    return short[rng.randint(0, len(short)):] if rng.random() < .3 else short
