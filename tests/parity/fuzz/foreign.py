"""What comes from elsewhere: NumPy's scalars and arrays, lists, ranges and tensors in the place of numbers, sizes,
dimensions, indices and operands; tensors given to Python's and NumPy's functions."""
from .layout import _index
from .values import COMPLEX, DTYPES, FLOATS, INTS, broadcastable, number, shape, strided, tensor

_KINDS = ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool_", "complex128", "intp",
          "longdouble"]
OPERATORS = "+ - * / // % ** < == != >= & | ^ << @".split()
UFUNCS = "add multiply subtract divide maximum equal less power logical_and arctan2 floor_divide hypot".split()
PYTHON = ["len({a})", "list({a})", "float({a})", "int({a})", "bool({a})", "complex({a})", "round({a})", "abs({a})",
          "max({a})", "min({a})", "sum({a})", "sorted({a}.flatten())", "any({a})", "all({a})", "range({a})",
          "hash({a}) * 0",
          "{a} in [1, 2]", "1 in {a}", "[*{a}]", "divmod({a}, {x})", "pow({a}, {x})", "pow({a}, 2, 3)", "str({a})",
          "repr({a})",
          "format({a}, '')", "f'{{{a}}}'", "[1, 2, 3][{a}]", "'abc' * {a}", "reversed({a})", "-{a}", "~{a}", "+{a}",
          "not {a}", "{a} and 1", "dict(zip({a}, [1, 2]))", "tuple({a})", "{a}.__index__()",
          "isinstance({a}, T.Tensor)",
          "math.floor({a})", "math.sqrt({a})", "math.ceil({a})", "math.trunc({a})", "copy.copy({a})",
          "copy.deepcopy({a})",
          "operator.index({a})", "f'{{{a}:.2f}}'", "'%d' % {a}", "'%.3f' % {a}", "slice({a}, None).start",
          "bytes(2)[{a}]"]
NUMPY = ["np.asarray({a})", "np.array({a})", "np.sum({a})", "np.mean({a})", "np.exp({a})", "np.sqrt({a})",
         "np.stack([{a}, {a}])",
         "np.concatenate([{a}, {a}])", "np.where({a} > 0, 1, 2)", "np.array([{a}, {a}])",
         "np.array({a}, dtype=np.float64)",
         "np.asarray({a}, dtype=np.int32)", "np.abs({a})", "np.float64({a})", "np.int64({a})", "np.ones(3)[{a}]",
         "np.argmax({a})",
         "np.transpose({a})", "np.reshape({a}, -1)", "np.isnan({a})", "np.clip({a}, 0, 1)", "np.dot({a}, {a})",
         "np.max({a})",
         "np.array_equal({a}, {a})", "np.allclose({a}, {a})", "np.ndim({a})", "np.shape({a})", "np.size({a})",
         "np.copy({a})",
         "np.round({a})", "np.linspace(0, 1, 3) * {a}", "np.squeeze({a})", "np.asarray({a}).dtype.name",
         "{a}.__array__(np.float32)",
         "np.multiply.outer({a}, {a})", "np.add.reduce({a})", "np.zeros_like({a})", "np.bool_({a})",
         "np.frombuffer({a})"]


def _scalar(rng, whole=False):
    kind = rng.choice(_KINDS[3:7] if whole else _KINDS)
    return f"np.{kind}({rng.randint(0, 3) if whole or rng.random() < .6 else number(rng, 'float64', .2)})"


def _array(rng, sizes):
    """An array of NumPy's as text, sometimes with memory that torch has no tensor for."""
    text = strided(rng, sizes, rng.choice([d for d in DTYPES if d != "bfloat16"]), special=.05)
    last = rng.choice([""] * 6 + ["[::-1]", ".T", ".astype('>f4')", ".astype(np.uint16)", ".astype(np.uint64)",
                                  ".tolist()"])
    return f"{text}.numpy(){last}" if last != "[::-1]" or sizes else f"{text}.numpy()"


def _whole(rng, n):
    """An integer n in some form."""
    return rng.choice([str(n), str(n), f"np.int64({n})", f"np.int32({n})", f"np.array({n})", f"T.tensor({n})",
                       f"np.uint8({n % 256})", f"np.array([{n}])", f"T.tensor([{n}])", f"{n}.", f"np.float64({n})",
                       f"np.bool_({n % 2})",
                       f"T.tensor({n}, dtype=T.int32)", f"T.tensor({n}.)", f"'{n}'", f"[{n}]", f"({n},)", "None",
                       "True"])


def _wholes(rng, found):
    """Several of them."""
    items = ", ".join(_whole(rng, n) if rng.random() < .4 else str(n) for n in found)
    return rng.choice([f"[{items}]", f"({items}{',' * (len(found) == 1)})", items, f"np.array([{items}])",
                       f"T.tensor([{items}])",
                       f"T.Size([{items}])", f"range({len(found)})", f"list(range({len(found)}))",
                       f"(x for x in [{items}])"])


def _line(rng, sizes, dtype):
    n, x = len(sizes), rng.choice([_scalar(rng), _array(rng, broadcastable(rng, sizes)), _array(rng, sizes)])
    axis = rng.randint(-n, n - 1) if n else rng.choice([0, -1])
    other, last = rng.choice(DTYPES), rng.choice(["", f", {_whole(rng, 3)}"])
    into = rng.choice(["", f", dtype=T.{other}"])
    items = [number(rng, dtype, 0), _scalar(rng), "a", "a.flatten()[0]", "True"]
    listed = f"[{', '.join(rng.choices(items, k=2))}]"
    several = rng.choice(["[a, a]", "(a, a)", f"[a, {x}]", "a", "list(a)", "[]"])
    index = rng.choice([_scalar(rng, True), f"np.array({[rng.randint(0, 1) for _ in range(rng.randint(0, 2))]})",
                        f"[{_whole(rng, 0)}]",
                        "a.numpy() > 0", "(a > 0).tolist()", "slice(np.int64(0), T.tensor(1))", f"{_whole(rng, 0)}:",
                        "...",
                        "np.array(True)", "T.tensor(True)", "range(1)", "[[0]], [0]", "np.int8(0), None", "[True]",
                        "[]", "()",
                        f"T.tensor([{rng.randint(0, 1)}], dtype=T.{rng.choice(INTS + FLOATS)})"])
    return rng.choice([
        lambda: f"a {rng.choice(OPERATORS)} {x}", lambda: f"{x} {rng.choice(OPERATORS)} a",
        lambda: f"a {rng.choice(OPERATORS)} {listed}", lambda: f"{listed} {rng.choice(OPERATORS)} a",
        lambda: f"T.{rng.choice('add mul sub div pow eq lt maximum where atan2 matmul fmod'.split())}(a, {x})",
        lambda: f"T.{rng.choice('add mul sub pow eq'.split())}({x}, a)",
        lambda: f"np.{rng.choice(UFUNCS)}({', '.join(rng.sample(['a', x], 2))})",
        lambda: rng.choice(PYTHON).format(a=rng.choice(["a", "a", "a.flatten()[0]", "a.sum()"]), x=_scalar(rng)),
        lambda: rng.choice(NUMPY).format(a="a"), lambda: rng.choice(NUMPY).format(a="a"),
        lambda: f"a[{index}]", lambda: f"a[{_index(rng, sizes)}, ][0]",
        lambda: f"a.{rng.choice('sum mean amax argmax softmax cumsum unsqueeze flip std all sort prod'.split())}"
                f"({_whole(rng, axis)})",
        lambda: f"a.{rng.choice('sum mean amax flip permute squeeze any std'.split())}({_wholes(rng, range(n))})",
        lambda: f"a.{rng.choice('reshape view expand repeat tile resize_'.split())}({_wholes(rng, sizes)})",
        lambda: f"T.{rng.choice('zeros ones empty rand'.split())}({_wholes(rng, sizes)}).shape",
        lambda: f"T.full({_wholes(rng, sizes)}, {x})", lambda: f"a.new_zeros({_wholes(rng, sizes)})",
        lambda: f"T.{rng.choice('arange linspace eye randperm full_like'.split())}({_whole(rng, 2)}{last}).shape",
        lambda: f"T.tensor({rng.choice([x, listed, '[a, a]', f'[{x}, {x}]'])}{into})",
        lambda: f"T.as_tensor({rng.choice([x, listed, 'a', 'range(3)', '(1, 2.)'])}{into})",
        lambda: f"T.from_numpy({x})", lambda: f"T.asarray({x})", lambda: f"a.new_tensor({x})",
        lambda: f"T.Tensor({listed})",
        lambda: f"T.FloatTensor({rng.choice([x, listed, 'a', '[1]'])})",
        lambda: f"T.FloatTensor({_whole(rng, 2)}).shape",
        lambda: f"T.{rng.choice('cat stack hstack'.split())}({several})",
        lambda: f"a.clamp({_scalar(rng)}, {_whole(rng, 2)})", lambda: f"T.where(a > 0, {x}, a)",
        lambda: f"T.where({x}, a, a)",
        lambda: f"a.masked_fill(a > 0, {x})", lambda: f"a.fill_({x})", lambda: f"a.copy_({x})",
        lambda: f"a.clone().add_({x})",
        lambda: f"a.clone().mul_({_scalar(rng)})", lambda: f"T.add(a, 1, alpha={_scalar(rng)})",
        lambda: f"a.to({_whole(rng, 1)})",
        lambda: f"a.to({rng.choice(['np.float32', 'float', 'int', 'bool', 'complex', 'str', x])})",
        lambda: f"a.type_as({x})",
        lambda: f"T.zeros(2, dtype={rng.choice(['float', 'int', 'bool', 'np.float32', 'np.dtype(int)', 'complex'])})",
        lambda: f"a.transpose({_whole(rng, 0)}, {_whole(rng, axis)})",
        lambda: f"a.split({_wholes(rng, sizes[:1] or (1,))})",
        lambda: f"a.chunk({_whole(rng, 2)}, {_whole(rng, axis)})",
        lambda: f"a.narrow({_whole(rng, axis)}, {_whole(rng, 0)}, {_whole(rng, 1)})",
        lambda: f"a.select({_whole(rng, axis)}, {_whole(rng, 0)})",
        lambda: f"T.roll(a, {_whole(rng, 1)}, {_whole(rng, axis)})",
        lambda: f"F.pad(a, {_wholes(rng, (1, 1))})", lambda: f"F.one_hot(a, {_whole(rng, 4)})",
        lambda: f"F.dropout(a, {_scalar(rng)}, False)",
        lambda: f"F.softmax(a, {_whole(rng, axis)})", lambda: f"F.mse_loss(a, {x})", lambda: f"F.linear(a, {x})",
        lambda: f"a.index_select({_whole(rng, axis)}, {rng.choice(['T.tensor([0])', 'np.array([0])', '[0]'])})",
        lambda: f"a.topk({_whole(rng, 1)})", lambda: f"a.quantile({_scalar(rng)})",
        lambda: f"T.norm(a, {_whole(rng, 2)})",
        lambda: f"a.round(decimals={_whole(rng, 1)})",
        lambda: f"a.item({_whole(rng, 0)})" if rng.random() < .3 else "a.item()",
        lambda: f"T.tensor_split(a, {_whole(rng, 2)})", lambda: f"a.repeat_interleave({_whole(rng, 2)})",
        lambda: f"T.result_type(a, {x})",
        lambda: f"T.can_cast({x}, T.{other})", lambda: f"T.is_tensor({x})", lambda: f"T.numel({x})",
        lambda: f"a.size({_whole(rng, axis)})",
        lambda: f"T.{rng.choice('exp sum abs relu isnan sort'.split())}({rng.choice([x, listed])})",
        lambda: f"T.bincount(a, minlength={_whole(rng, 4)})", lambda: f"T.logspace(0, 1, {_whole(rng, 3)}).shape",
        lambda: f"T.{rng.choice('allclose equal isclose'.split())}(a, {x})",
        lambda: f"T.manual_seed({_whole(rng, 3)}) is None",
        lambda: f"T.nn.Linear({_whole(rng, 2)}, {_whole(rng, 3)}).weight.shape", lambda: f"T.nn.Parameter({x})",
    ])()


def program(rng):
    dtype = rng.choice(DTYPES)
    sizes = shape(rng, size=3)
    lines = ["import copy, math, operator", f"a = {strided(rng, sizes, dtype, .05)}"]
    if rng.random() < .15 and dtype in FLOATS + COMPLEX:
        lines.append("a.requires_grad_()")
    for name in "bcd"[:rng.randint(1, 3)]:
        if rng.random() < .12:
            value = rng.choice([_scalar(rng), _array(rng, broadcastable(rng, sizes)), tensor(rng, (),
                rng.choice(DTYPES)), "[1]"])
            where = rng.choice([_scalar(rng, True), "np.array([0])", "[0]", "...", "a.detach().numpy() > 0", ":",
                                "T.tensor(0)"])
            lines.append(f"a[{where}] {rng.choice(['=', '=', '+=', '*='])} {value}")
        else:
            lines.append(f"{name} = {_line(rng, sizes, dtype)}")
    return lines
