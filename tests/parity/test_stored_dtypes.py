"""complex32 and float8, stored as records of bits: each program runs under both modules, and the numbers are the same
to the last bit."""
import copy
import io
import pickle

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import Comparisons, same, same_outcome

#: torch says so once.
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental:UserWarning")
FLOAT8 = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
STORED = ["complex32", *FLOAT8]
OTHERS = ["float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128", "int64", "uint8", "bool"]


def evaluated(text, dtype="complex32"):
    """A program of an expression in `t`, `d` (the dtype), `x` and `y`."""
    def program(t):
        d = getattr(t, dtype)
        x, y = t.tensor([[1., 2.], [.25, 300.]]).to(d), t.tensor([[.5, 1.], [2., .125]]).to(d)
        if d.is_complex:
            x = x * t.tensor([[1, 1j], [.3 - 2j, -1]], dtype=d)
        return eval(text, {"t": t, "d": d, "x": x, "y": y})
    return program


def compare(program):
    before = Comparisons.values + Comparisons.errors
    same_outcome(program, tolerance=0)
    assert Comparisons.values + Comparisons.errors > before


def in_parts(t, x):
    return t.view_as_real(x) if x.is_complex() else x


# ------------------------------------------------------------------ conversions
@pytest.mark.counted
@pytest.mark.parametrize("target", [n for n in OTHERS if n not in ("int64", "uint8", "bool")])
@pytest.mark.parametrize("name", FLOAT8)
def test_every_number(name, target):
    def program(t):
        return in_parts(t, t.arange(256, dtype=t.uint8).view(getattr(t, name)).to(getattr(t, target)))
    same_outcome(program, tolerance=0)


@pytest.mark.counted
@pytest.mark.parametrize("source", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", STORED)
def test_from_every_half(name, source):
    def program(t):
        x = t.arange(-1 << 15, 1 << 15, dtype=t.int16).view(getattr(t, source))
        return in_parts(t, x.to(getattr(t, name)))
    same_outcome(program, tolerance=0)


@pytest.mark.counted
@pytest.mark.parametrize("name", STORED)
def test_between_numbers(name):
    """float32 numbers at, just below and just above the middle of each pair of neighbours, and beyond the last."""
    numbers = np.arange(256, dtype=np.uint8) if name in FLOAT8 else np.arange(0, 1 << 15, 7, dtype=np.uint16)
    d = getattr(torch, name) if name in FLOAT8 else torch.float16
    sizes = torch.from_numpy(numbers).view(d).double().numpy()
    sizes = np.unique(np.abs(sizes[np.isfinite(sizes)]))
    middles = np.append((sizes[1:] + sizes[:-1]) / 2, [sizes[-1] * 1.0625, sizes[-1] * 1.5, np.inf]).astype(np.float32)
    around = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, np.float32(np.inf))])
    given = np.concatenate([around, -around, np.array([0, -0., np.nan, -np.nan], np.float32)])
    for dtype in ("float32", "float64"):
        same_outcome(lambda t: in_parts(t, t.from_numpy(given.astype(dtype)).to(getattr(t, name))), tolerance=0)


@pytest.mark.counted
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", STORED)
def test_conversions(name, other):
    def program(t):
        d = getattr(t, name)
        x = t.tensor([0., 1., 2., 3.5]).to(d)
        back = t.tensor([0, 1, 2, 3]).to(getattr(t, other)).to(d)
        return x.to(getattr(t, other)), back, x.type(), t.can_cast(d, back.dtype), x.tolist(), x[1].item()
    same_outcome(program, tolerance=0)


# ------------------------------------------------------------------ what is known of a dtype
@pytest.mark.counted
@pytest.mark.parametrize("name", STORED)
def test_attributes(name):
    same_outcome(lambda t: [getattr(getattr(t, name), a) for a in ("itemsize", "is_floating_point", "is_complex",
                                                                  "is_signed")])
    same_outcome(lambda t: t.finfo(getattr(t, name)))
    same_outcome(lambda t: (t.finfo(getattr(t, name)).eps, t.finfo(getattr(t, name)).bits))
    same_outcome(lambda t: getattr(t, name).to_real())
    same_outcome(lambda t: t.set_default_dtype(getattr(t, name)))
    same_outcome(lambda t: pickle.loads(pickle.dumps(getattr(t, name))))
    if name in FLOAT8:
        return
    same_outcome(lambda t: (t.chalf, getattr(t, name).to_complex(), t.float16.to_complex()))


@pytest.mark.parametrize("other", [*OTHERS, *FLOAT8, "uint16"])
@pytest.mark.parametrize("name", STORED)
def test_promotion(name, other):
    compare(lambda t: t.promote_types(getattr(t, name), getattr(t, other)))
    compare(lambda t: t.promote_types(getattr(t, other), getattr(t, name)))
    compare(lambda t: t.result_type(t.ones(2, dtype=getattr(t, name)), t.ones((), dtype=getattr(t, other))))
    compare(lambda t: t.result_type(t.ones(2, dtype=getattr(t, other)), t.ones((), dtype=getattr(t, name))))


@pytest.mark.parametrize("number", [True, 2, 1.5, 1j])
@pytest.mark.parametrize("name", [*STORED, "float16", "bfloat16"])
def test_promotion_with_numbers(name, number):
    compare(lambda t: t.result_type(t.ones(2, dtype=getattr(t, name)), number))


@pytest.mark.counted
def test_half_as_the_default():
    def program(t):
        t.set_default_dtype(t.half)
        try:
            return t.tensor(1j), t.ones(2) * 1j, repr(t.tensor([1j])), t.tensor([1j]).dtype
        finally:
            t.set_default_dtype(t.float32)
    same_outcome(program, tolerance=0)


# ------------------------------------------------------------------ tensors
MADE = ["t.empty(2, 3, dtype=d).shape", "t.zeros(2, dtype=d)", "t.ones(2, 2, dtype=d)", "t.full((2,), 1.5, dtype=d)",
        "t.tensor([1, 2.5], dtype=d)", "t.tensor([True], dtype=d)", "t.tensor(2, dtype=d)", "x.new_ones(2)",
        "t.zeros_like(x)", "t.full_like(x, 3)", "t.tensor([1e9], dtype=d)", "t.scalar_tensor(1e9, dtype=d)",
        "t.full((2,), 1e9, dtype=d)", "t.full((1,), 1e9, dtype=d)", "t.full((2,), float('inf'), dtype=d)",
        "t.tensor([1j, 2], dtype=d)", "t.full((2,), 1j, dtype=d)", "x.clone().fill_(2)", "x.clone().zero_()",
        "x.clone().copy_(t.ones(2))", "t.tensor([t.ones(1, dtype=d)])", "t.nn.Parameter(x)", "x.type(t.float32)",
        "t.eye(2, dtype=d)", "t.arange(3, dtype=d)", "t.linspace(0, 1, 3, dtype=d)", "t.ones(2).type_as(x)"]
MOVED = ["t.cat([x, x])", "t.cat([x, x.half()])", "t.stack([x, y])", "x[0]", "x[:, 1:]", "x[t.tensor([1, 0, 1])]",
         "x[t.tensor([True, False])]", "x.t()", "x.reshape(-1)", "x.expand(2, 2, 2).contiguous()", "x.repeat(2, 1)",
         "x.roll(1)", "x.clone()", "x.index_select(0, t.tensor([1]))", "x.diag()", "x.unfold(0, 1, 1)", "x.split(1)",
         "t.where(t.tensor([True, False]), x, y)", "x.view(t.uint8)", "x.repeat_interleave(2)", "x.flatten().flip(0)",
         "x.masked_fill(t.tensor([True, False]), 2)", "x.masked_select(t.tensor([True, False]))", "x.tril()",
         "t.nn.functional.pad(x, (1, 0), value=2.)", "x.gather(0, t.tensor([[0]]))", "x.take(t.tensor([0]))",
         "x.index_copy(0, t.tensor([0]), y[:1])", "x.index_fill(0, t.tensor([0]), 1)",
         "x.flatten()[1:3].storage_offset()", "x.index_put((t.tensor([0, 0]),), y, accumulate=True)",
         "x.index_add(0, t.tensor([1, 1]), y)", "x.nonzero()"]
COMPUTED = ["x + y", "x - y", "x * y", "x / y", "x * 2", "1.3 - x", "x * 1j", "-x", "x.abs()", "x.sgn()", "x.sign()",
            "x == y", "x != 1", "x < y", "x.isnan()", "x.isinf()", "x.isfinite()", "x.isreal()", "x.any()", "x.all()",
            "x.sum()", "x.mean()", "x.prod()", "x.cumsum(0)", "x.max()", "x.max(0)", "x.amax()", "x.argmax()",
            "x.sort()", "x.topk(1)", "x.median()", "x.unique()", "x @ y", "x[0] @ y[0]", "x @ y[0]",
            "t.bmm(x[None], y[None])", "x.var()", "x.std(0)", "x.norm()", "x.exp()", "x.sqrt()", "x.pow(2)",
            "x.square()", "x.round()", "x.relu()", "x.softmax(0)", "x.sum(dtype=t.float32)", "x.float_power(2)",
            "t.addcmul(x, x, y, value=.3)", "x.add(y, alpha=.3)", "x.clone().mul_(y)", "x.clone().add_(1)",
            "t.equal(x, y)", "t.allclose(x, x)", "t.outer(x[0], y[0])", "x.conj()", "x.real", "x.imag", "x.numpy()",
            "t.dist(x, y)", "t.linalg.vector_norm(x, 3)", "x.var(1)", "t.nn.functional.mse_loss(x, y)",
            "t.nn.functional.l1_loss(x, y, reduction='none')", "x.multinomial(1)", "x.bernoulli()",
            "x.clone().random_()", "t.nn.functional.dropout(x)", "x.nan_to_num()", "x.histc()", "t.complex(x, y)",
            "x.std_mean() if d.is_complex else t.std_mean(x)", "x.is_complex()", "float(x[0, 0])",
            "t.nn.functional.conv1d(x[None], y[:, :, None]) if d.is_complex else d", "int(x[0, 0])", "bool(x[0, 1])"]


@pytest.mark.parametrize("text", MADE + MOVED + COMPUTED)
def test_tensors(text):
    for name in STORED:
        compare(evaluated(text, name))


@pytest.mark.counted
@pytest.mark.parametrize("text", ["t.rand(5, dtype=d)", "t.randn(5, dtype=d)", "t.randn(40, dtype=d)", "t.rand_like(x)",
                                  "x.clone().normal_(1, 2)", "x.clone().uniform_(1, 2)"])
def test_drawn(text):
    def program(t):
        t.manual_seed(0)
        return evaluated(text)(t)
    same_outcome(program, tolerance=0)


@pytest.mark.counted
@pytest.mark.parametrize("name", STORED)
def test_printed(name):
    for text in ("repr(x)", "repr(x[0] * 1)", "repr(x[0, 0])", "str(t.zeros(3, dtype=d))", "repr(t.zeros(0, dtype=d))",
                 "f'{y[0, 0]}'", "repr(x.clone().requires_grad_())", "repr(t.ones(2000, dtype=d))",
                 "repr(t.tensor([1.5, 8.]).to(d))", "repr(x._typed_storage())", "repr(x.untyped_storage())"):
        same_outcome(evaluated(text, name))


# ------------------------------------------------------------------ files
@pytest.mark.counted
@pytest.mark.parametrize("name", STORED)
def test_files(name):
    def objects(t):
        base = t.arange(12.).reshape(3, 4).to(getattr(t, name))
        tree = {"views": [base, base[1], base.t(), base[:, ::2]], "copy": base.clone(),
                "parameter": t.nn.Parameter(base.clone()), "dtype": base.dtype, "empty": base[:0].clone()}
        return {**tree, "conjugate": base.conj()} if base.is_complex() else tree

    def through(one, other):
        file = io.BytesIO()
        one.save(objects(one), file)
        file.seek(0)
        return other.load(file)
    ours, theirs = through(torch, tinytorch), through(tinytorch, torch)
    same(ours, theirs, tolerance=0)
    same(ours, objects(torch), tolerance=0)
    assert ours["views"][1].data_ptr() - ours["views"][0].data_ptr() == 4 * ours["dtype"].itemsize
    same(copy.deepcopy(ours["copy"]), copy.deepcopy(theirs["copy"]), tolerance=0)
    same(pickle.loads(pickle.dumps(ours["views"][0])), theirs["views"][0], tolerance=0)


# ------------------------------------------------------------------ complex32 as pairs of float16
def parts(t):
    x = t.tensor([[1 + 2j, 3 - 4j], [.1j, 5]], dtype=t.complex32)
    x.real[0] *= 2
    x.imag[:, 1] = 7
    pairs = t.view_as_real(x)
    pairs[1, 0, 0] = -1
    y = t.view_as_complex(pairs)
    y[0, 0] = 9j
    same_memory = x.data_ptr() == y.data_ptr()
    return x, pairs, y, x.conj().imag, x.conj().clone(), x.conj().resolve_conj(), x.mT.real, same_memory


def written(t):
    x = t.tensor([1 + 2j, 3 - 4j], dtype=t.complex32)
    c = x.conj()
    c[0] = 1 - 1j
    c.imag.mul_(2)
    x.real = t.tensor([4., 5.])
    return x, c, c * x, c.is_conj(), c.imag.is_neg(), t.resolve_neg(c.imag)


def leaf(t, *values, dtype="float16"):
    return t.tensor(values, dtype=getattr(t, dtype)).requires_grad_()


def through_complex(t):
    x, y = leaf(t, .1, 2.), leaf(t, 1 / 3, -7.)
    z = t.complex(x, y)
    (z * z.conj() * .3).real.sum().backward()
    return z, z.grad_fn.name(), x.grad, y.grad


def through_views(t):
    x = leaf(t, .1, 2., -.7, 3.)
    z = t.view_as_complex(x.reshape(2, 2))
    (t.view_as_real(z * (.3 + 2j)) * x.reshape(2, 2)).sum().backward()
    return z, z.grad_fn.name(), x.grad


def through_sizes(t):
    z = leaf(t, .1 + 2j, 3 - 4j, 0, dtype="complex32")
    (z.abs() * z.real + z.imag).sum().backward()
    return z.grad


def through_conversions(t):
    x, z = leaf(t, .1, 2., dtype="float32"), leaf(t, .1 + 2j, 3., dtype="complex32")
    ((x.half() * 1j * z).cfloat() * (2 + .1j)).abs().sum().backward()
    return x.grad, z.grad


def given_gradient(t):
    z = leaf(t, 1 + 2j, 3., dtype="complex32")
    (z * z - z).backward(t.tensor([.1 + 1j, .2]))
    (z + z[t.tensor([0, 0])]).backward(t.tensor([.1 + 1j, .2], dtype=t.complex32))
    return z.grad


def moved_gradient(t):
    z = leaf(t, 1 + 2j, 3., -1j, dtype="complex32")
    filled = z.masked_fill(t.tensor([True, False, False]), 2)
    all_parts = t.cat([z[1:], z.roll(1), z[t.tensor([0, 0])], filled])
    (all_parts * t.arange(10).to(t.complex32)).real.sum().backward()
    return z.grad


def second_order(t):
    x, y = leaf(t, .1, 2.), leaf(t, 1 / 3, -7.)
    z = t.complex(x, y)
    first = t.autograd.grad((z * z * z).imag.sum(), [x, y], create_graph=True)
    return first, t.autograd.grad(sum([(g * g).sum() for g in first]), [x, y])


def float8_leaf(t):
    x = t.tensor([1., 2.]).to(t.float8_e5m2).requires_grad_()
    (x.float() * 3.3).sum().backward()
    return x.grad, x.clone().grad_fn.name()


def broadcast(t):
    z = leaf(t, 1 + 2j, 3., dtype="complex32")
    (z * t.ones(3, 2, dtype=t.complex32)).real.sum().backward()


def no_real_scalar(t):
    leaf(t, 1 + 2j, dtype="complex32").reshape(()).backward()


PROGRAMS = [parts, written, through_complex, through_views, through_sizes, through_conversions, given_gradient,
            moved_gradient, second_order, float8_leaf]


@pytest.mark.counted
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(program):
    same_outcome(program, tolerance=0)


@pytest.mark.counted(of="errors")
@pytest.mark.parametrize("program", [broadcast, no_real_scalar], ids=lambda f: f.__name__)
def test_refused(program):
    same_outcome(program)


@pytest.mark.counted
def test_products_of_many():
    """Of random numbers, whose products and sums are to be rounded."""
    generator = np.random.default_rng(0)
    pairs = generator.normal(size=(2, 500, 2)).astype(np.float16)
    codes = generator.integers(0, 120, (2, 20, 20)).astype(np.uint8)

    def program(t):
        x, y = (t.view_as_complex(t.from_numpy(p.copy())) for p in pairs)
        wide = x.reshape(20, 25)
        return (x * y, x.conj() * y, t.addcmul(x, x, y), t.addcmul(x, x, y, value=.3 - 1j), x.add(y, alpha=.3),
                x.sub(y, alpha=.3 - 2j), x.abs(), x.sgn(), wide.var(1), wide.std(0), t.var_mean(wide, 1),
                t.linalg.vector_norm(wide, 3, 1), t.dist(x, y), x.index_add(0, t.arange(500) % 7, y))
    same_outcome(program, tolerance=0)
    for name in FLOAT8[:-1]:
        def product(t, name=name):
            a, b = (t.from_numpy(c.copy()).view(getattr(t, name)) for c in codes)
            return a @ b, a * b, t.nn.functional.linear(a, b)
        same_outcome(product, tolerance=0)
