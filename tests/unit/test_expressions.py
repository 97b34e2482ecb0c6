"""Every expression of the machine for elementwise work beside its NumPy twin, which is the same text."""
import inspect
import re
import threading

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import expressions, native
from tinytorch.kernels.expressions import Symbol, exp, expression, maximum, minimum, sqrt, where
from tinytorch.kernels.native.table import KERNELS, parsed

from .doubles import need_steady_doubles
from .test_native import draws, kernels, needs_library

#: What an expression is called with for its numbers, in turn.
NUMBERS = 0.75, 1.5, 1.25, 0.5
SPECIAL = np.array([0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 6, 20, -20, 100, -100, 1e-5, -1e-5, 1e-30, -1e-30, 1e30,
                    -1e30, np.inf, -np.inf, np.nan, 0.75, -0.75, 1.5, -1.5, 0.999999, -0.999999, 7.5, -7.5, 33.3, 9.5,
                    10.5])


def named(f):
    """Where the text of an expression stands."""
    code = f.text.__code__
    return f"{re.split(r'tinytorch.', code.co_filename)[-1]}:{code.co_firstlineno}"


def numbers_of(f):
    return NUMBERS[:f.text.__code__.co_argcount - f.arrays]


def machine(f, dtype):
    return f.program_of(np.dtype(dtype)) is not None


def twin(f, *operands):
    with np.errstate(all="ignore"):
        return np.asarray(f.text(*operands))


@pytest.fixture(params=expressions.EXPRESSIONS, ids=named)
def f(request):
    return request.param


def test_an_expression_has_the_name_the_parameters_and_the_documentation_of_its_text():
    @expression(arrays=2)
    def scaled_sum(n, shape, alpha):
        """(n + shape) * alpha."""
        return (n + shape) * alpha
    text, a = scaled_sum.text, np.arange(3, dtype=np.float32)
    assert list(inspect.signature(scaled_sum).parameters) == ["n", "shape", "alpha"] and scaled_sum.arrays == 2
    assert (scaled_sum.__name__, scaled_sum.__doc__, scaled_sum.__module__) == (
        "scaled_sum", "(n + shape) * alpha.", __name__)
    assert inspect.getsource(scaled_sum) == inspect.getsource(text)
    assert scaled_sum(a, a, 0.5).tolist() == [0, 1, 2]


def test_an_expression_is_the_forward_of_an_operation():
    assert inspect.getsource(torch.atan).startswith("@unary(expression(") and torch.atan.op.forward.arrays == 1
    x = torch.tensor([1., 3.], requires_grad=True)
    torch.atan(x).sum().backward()
    assert torch.atan.op.params == ("input",) and x.grad.tolist() == pytest.approx([0.5, 0.1])


def test_there_are_many_and_each_has_a_program():
    found = [f for f in expressions.EXPRESSIONS if not f.text.__module__.startswith("tests.")]
    assert len(found) > 50
    if native.level() is not None:
        assert not [named(f) for f in found if not machine(f, np.float32)]
        assert sum(not machine(f, np.float64) for f in found) < 6


@needs_library
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_numbers(f, dtype):
    """As finite as the twin, of the same sign, and near."""
    special = SPECIAL.astype(dtype)
    limits = np.finfo(dtype)
    special = np.concatenate([special, [limits.max * 0.7, limits.tiny, limits.smallest_subnormal]])
    if "word_trigamma" in f.text.__code__.co_names:        # pi x is not reduced exactly beyond
        special = special[np.abs(special) < 1e6]
    grids = [g.reshape(-1) for g in np.meshgrid(*[special.astype(dtype)] * f.arrays, indexing="ij")]
    with np.errstate(all="ignore"):
        got, wanted = f(*grids, *numbers_of(f)), twin(f, *grids, *numbers_of(f))
    assert got.dtype == dtype
    small = np.finfo(dtype).tiny * 4           # some vector instructions of NumPy's flush what is below
    got, wanted = np.where(np.abs(got) < small, 0, got), np.where(np.abs(wanted) < small, 0, wanted)
    if dtype == np.float64 and f.arrays == 3:  # g * (sigmoid(20) - 1): a unit in the last place of 1, times g
        with np.errstate(all="ignore"):
            got = np.where(np.abs(got - wanted) <= np.abs(grids[0]) * limits.eps, wanted, got)
    np.testing.assert_allclose(got, wanted, 2e-5 if dtype == np.float32 else 1e-12, err_msg=(
        f"{named(f)}: the machine and NumPy differ at some of the numbers of SPECIAL. If the expression subtracts "
        "numbers that are nearly equal, write it in another way"))


@needs_library
def test_written_to_where_it_was_read(f):
    """The bits of the result elsewhere, of few elements and of many."""
    if f.arrays != 1:
        pytest.skip("only expressions of one array are written so")
    for dtype in (np.float32, np.float64, np.float16):
        for n in (1, 17, 600, 40_000):
            x = draws(n, n, special=True, dtype=np.float64)
            with np.errstate(all="ignore"):
                x = x.astype(dtype)
                wanted = f(x, *numbers_of(f))
                assert f.into(x, *numbers_of(f)) == machine(f, dtype)
            if machine(f, dtype):
                np.testing.assert_array_equal(x, wanted)


@needs_library
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_near_to_double_precision_as_the_twin(f, dtype):
    if not machine(f, dtype):
        pytest.skip("NumPy alone computes this expression of this dtype")
    if dtype == np.float64:
        need_steady_doubles()
    arrays = [draws(seed, 4000, dtype=dtype) / 2 for seed in range(f.arrays)]
    for sizes in (arrays, [np.abs(x) + dtype(0.01) for x in arrays], [np.tanh(x) for x in arrays]):
        wide = np.longdouble if dtype == np.float64 and not re.search("erf|gamma|special", named(f)) else np.float64
        with np.errstate(all="ignore"):
            try:
                exact = twin(f, *[x.astype(wide) for x in sizes], *numbers_of(f))
            except TypeError:                  # a twin for no other dtypes
                continue
            got, by_numpy = f(*sizes, *numbers_of(f)), twin(f, *sizes, *numbers_of(f))
            # Where the twin is all there is to compare with, it is no nearer where zeros make the last place small.
            scale = np.finfo(dtype).eps * np.maximum(np.abs(exact), 1 if wide == dtype else np.finfo(dtype).tiny)
            errors = [np.nan_to_num(np.abs(x - exact) / scale, nan=0, posinf=0) for x in (got, by_numpy)]
        alone = 10 if wide == dtype else 1
        assert errors[0].mean() <= alone * (2 * errors[1].mean() + 0.5)
        assert np.quantile(errors[0], 0.99) <= alone * (2 * np.quantile(errors[1], 0.99) + 2)


@needs_library
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bits_of_an_element_do_not_depend_on_what_is_around_it(f, dtype):
    """Nor on where it lies, on the layout of its array, or on the number of threads."""
    n, numbers = 40_003, numbers_of(f)
    arrays = [draws(seed, n, dtype=dtype) for seed in range(f.arrays)]
    if not machine(f, dtype):
        pytest.skip("NumPy alone computes this expression of this dtype")
    whole = f(*arrays, *numbers)
    for length in (0, 1, 2, 15, 16, 17, 255, 257, 511, 513, 1030):
        for start in (0, 3, 38_000):
            with np.errstate(all="ignore"):    # what is beyond the range of erfinv, for instance
                part = f(*[x[start:start + length] for x in arrays], *numbers)
            assert part.shape == (length,) and part.tobytes() == whole[start:start + length].tobytes()
    assert f(*[x[5] for x in [x.reshape(-1, 1, 1) for x in arrays]], *numbers).tobytes() == whole[5:6].tobytes()
    assert f(*[x[:40_000:7] for x in arrays], *numbers).tobytes() == whole[:40_000:7].copy().tobytes()
    odd = [np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(dtype) for x in arrays]
    assert f(*odd, *numbers).tobytes() == whole.tobytes()
    matrix = [x[:40_000].reshape(200, 200).T for x in arrays]
    assert f(*matrix, *numbers).T.tobytes() == whole[:40_000].tobytes()
    before = torch.get_num_threads()
    for threads in (1, 2, 4):
        torch.set_num_threads(threads)
        assert f(*arrays, *numbers).tobytes() == whole.tobytes()
    torch.set_num_threads(before)


@needs_library
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_broadcast_operands(dtype):
    """Rows, columns, single numbers and more than that beside each other: the bits of operands laid out in full."""
    f = expression(lambda a, b, c, d: where(a > b, maximum(c, d) - b, a * exp(d) / c), 4)
    shapes = [((6, 70), (70,), (6, 1), ()), ((6, 1, 70), (5, 1), (1,), (6, 5, 70)), ((1, 1), (1, 1), (1, 1), (1, 1)),
              ((3, 1, 4, 1, 5), (1, 2, 1, 3, 1), (5,), (4, 1, 1)), ((0, 3), (3,), (1, 1), (0, 1)),
              ((1,), (2000,), (1,), (1,)), ((2, 1) * 4, (1, 3) * 4, (1,), (3,)), ((1,), (1,), (7, 1), (1, 900))]
    for shape in shapes:
        arrays = [draws(i, *s, dtype=dtype) if s else np.array(1.5, dtype) for i, s in enumerate(shape)]
        full = [np.ascontiguousarray(x) for x in np.broadcast_arrays(*arrays)]
        got = f(*arrays)
        assert got.shape == full[0].shape and got.tobytes() == f(*full).tobytes()
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got, f.text(*full), 1e-5)


def test_other_arrays_are_the_twins():
    """Half precision by single precision; integers and what has another class as NumPy computes it."""
    f = expression(lambda x, limit: where(x > limit, x * 2, limit))
    halves = draws(1, 100, dtype=np.float16)
    assert f(halves, 0.25).tobytes() == f(halves.astype(np.float32), 0.25).astype(np.float16).tobytes()
    h = expression(lambda x: exp(x) / (exp(x) + 1.0))
    assert h(np.float16(16)) == 1              # which is what NumPy makes of sums without dimensions
    whole = np.arange(4, dtype=np.int64)
    assert f(whole, 1).tolist() == [1, 1, 4, 6] and f(whole, 1).dtype == np.int64
    assert f(np.float32(3), 1.0) == 6
    g = expression(lambda x, y: x + y, 2)
    assert g(np.ones(2, np.float32), np.ones(2)).dtype == np.float32
    with pytest.raises(TypeError, match="cannot branch"):
        bool(Symbol("given", 0))


def test_few_registers_and_many_literals():
    """What is too long for the machine is the twin's."""
    def text(x):
        values = [x * (k + 2) for k in range(40)]
        return sum(values[1:], values[0])
    f = expression(text)
    x = draws(1, 50, dtype=np.float64)
    np.testing.assert_allclose(f(x), x * sum(range(2, 42)), 1e-12)


def test_in_a_derivative_tensors_are_computed_with():
    x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    for function in (torch.nn.functional.mish, torch.erf, torch.lgamma, torch.log1p, torch.atan):
        assert torch.autograd.gradgradcheck(function, (x,))


@needs_library
def test_a_plan_that_is_wrong_is_refused():
    plan = expression(lambda a, b: a * b + 2, 2).program_of(np.dtype(np.float32)).plan
    x, y, out = np.ones(40, np.float32), np.ones(40, np.float32), np.full(64, 7, np.float32)

    def run(plan, *sizes):
        native.run("walk4", 40, len(plan), *sizes, 0, 0, 0.0, 0.0, 0.0, 0.0, np.array(plan, np.int64), x[:sizes[0]],
                   y[:sizes[1]], None, None, out[:40])
    run(plan, 40, 40)
    assert (out[:40] == 3).all()
    out[:40] = 7
    for at in range(len(plan)):
        for wrong in (-1, 1 << 40, 255, 99, 64 << 8, 255 << 16, 255 << 24, 14 << 24, 255 << 32):
            changed = plan.copy()
            changed[at] = wrong if wrong in (-1, 1 << 40) else changed[at] | wrong
            try:
                run(changed, 40, 40)
            except ValueError as error:
                assert "reaches out" in str(error)
            assert (out[40:] == 7).all()
    for changed in ([], plan[:-1], [*plan, plan[-1]], [*plan, *[plan[-2]] * 70], [9, *plan[1:]],
                    [1, 39, 3, *plan[1:]], [1, 40, 1, *plan[1:]], [2, 40, 2, 3, 3, *plan[1:]]):
        with pytest.raises(ValueError, match="reaches out"):
            run(changed, 40, 40)
    with pytest.raises(ValueError, match="reaches out"):
        run(plan, 39, 40)
    assert "walk4" in KERNELS and all(kind for _, name, kind, *_ in parsed(KERNELS["walk4"][1]) if name in "abcd")


@needs_library
def test_of_several_threads_of_python():
    x, found = draws(1, 70_000), []
    wanted = torch.nn.functional.mish(torch.from_numpy(x)).numpy().tobytes()
    threads = [threading.Thread(target=lambda: found.append(
        torch.nn.functional.mish(torch.from_numpy(x)).numpy().tobytes() == wanted)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


@needs_library
def test_without_the_kernels_it_is_the_twin():
    x = draws(1, 300)
    f = torch.nn.functional.softplus
    with kernels(False):
        twins = f(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(twins, f(torch.from_numpy(x)).numpy(), 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_a_number_that_is_repeated_counts_as_one_element(dtype):
    """Such an array is the gradient of a sum. It may be any of the operands, or all."""
    f = expression(lambda g, x: where(x > 0.25, g * x, g - exp(x)), 2)
    for shape in ((7,), (3, 5), (2, 1, 40), (1, 1)):
        x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
        repeated = np.broadcast_to(np.array(0.7, dtype), shape)
        for operands in ((repeated, x), (x, repeated), (repeated, repeated), (repeated, x[:1] * 0 + x)):
            np.testing.assert_array_equal(f(*operands), f(*[y.copy("C") for y in operands]))
            assert f(*operands).shape == shape


@needs_library
def test_steps_of_numbers_alone():
    """They are computed for the first block, unless their register is written again."""
    f = expression(lambda x, p: (x - -p) * (x + x * p) - abs(x * x) * (p - 1.0) + minimum(p, maximum(-p, x)))
    x = np.random.default_rng(3).standard_normal(70_001).astype(np.float32)
    whole = f(x, 0.25)
    np.testing.assert_allclose(whole, f.text(x, np.float32(0.25)), rtol=1e-5, atol=1e-6)
    for n in (1, 15, 17, 40, 511, 530, 1500):
        assert (f(x[:n], 0.25) == whole[:n]).all() and (f(x[-n:], 0.25) == whole[-n:]).all()


#: Expressions of several steps that are one operation of the machine, by its name.
AS_ONE = {
    "where_le": lambda x, y, z: where(x <= y, z, 2.0), "where_abs_le": lambda x, y, z: where(abs(x) <= 0.5, y, z),
    "positive_or_mul": lambda x, y, z: where(x > 0.0, y, z * 0.3),
    "unless_outside": lambda x, y, z: where(x <= y, 0.0, where(x >= 0.5, 0.0, z)),
    "where_abs_lt": lambda x, y, z: where(abs(x) < y, z, 0.5), "div_sqrt": lambda x, y, z: x / sqrt(y),
    "share_added_below": lambda x, y, z: where(x < 3.0, y + x / 3.0, z),
    "mul_if_abs_lt": lambda x, y, z: where(abs(x) < 0.5, y * z, 0.0),
    "share_of_limit": lambda x, y, z: minimum(6.0, maximum(y, x + z)) / 6.0,
    "limit": lambda x, y, z: minimum(x, maximum(y, z)), "limit_add": lambda x, y, z: minimum(0.5, maximum(x, y + z)),
    "limit_sub": lambda x, y, z: minimum(0.5, maximum(x, y - z)),
    "sub_limit": lambda x, y, z: x - minimum(0.5, maximum(y, z)), "mul_div": lambda x, y, z: x * (y / z),
    "mul_sub": lambda x, y, z: x * (y - z), "mul_unless_le": lambda x, y, z: x * where(y <= 0.5, 0.0, z),
    "add_div": lambda x, y, z: x + y / z, "add_mul": lambda x, y, z: x + y * z,
    "add_mul_sub": lambda x, y, z: x + 0.3 * (y - z), "sub_mul": lambda x, y, z: x - y * z}


@needs_library
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", AS_ONE)
def test_steps_that_are_one_operation_have_the_bits_of_all(name, dtype):
    """No product is added to without being rounded, and NaN and zeros are where they were."""
    assert {both for both, _ in expressions._FUSED.values()} <= {*AS_ONE, *[f"where_{x}" for x in (
        "lt", "le", "gt", "ge", "eq", "ne")]}
    text = AS_ONE[name]
    assert [step for step, _ in expressions._traced(text, 3, 0)] == [name]
    rng = np.random.default_rng(5)
    x, y, z = [np.concatenate([rng.choice(SPECIAL, 3000), rng.standard_normal(3000)]).astype(dtype) for _ in range(3)]
    made, steps = expression(text, 3)(x, y, z), twin(expression(text, 3), x, y, z)
    np.testing.assert_array_equal(made, steps)
    assert (np.signbit(made) == np.signbit(steps))[steps == 0].all()


def test_steps_with_other_numbers_or_uses_stay_apart():
    def names(text):
        return [name for name, _ in expressions._traced(text, 2, 0)]
    assert names(lambda x, y: where(x <= y, -0.0, where(x >= 0.5, 0.0, y))) == ["where_ge", "where_le"]
    assert names(lambda x, y: where(x <= y, 0.0, where(y >= 0.5, 0.0, y))) == ["where_ge", "where_le"]
    assert names(lambda x, y: where(abs(x) < y, x * y, 1.0)) == ["mul", "where_abs_lt"]
    assert names(lambda x, y: (x + x * y) / (x * y)) == ["mul", "add", "div"]


of_fine = pytest.mark.parametrize("fine, ufunc", expressions.FINE.items(), ids=lambda ufunc: ufunc.__name__)
#: The intervals in which functions are tried that do not take all numbers.
INTERVALS = {"log": (0, 100), "log2": (0, 100), "log10": (0, 100), "arcsin": (-1, 1), "arccos": (-1, 1),
             "arctanh": (-1, 1), "tanh": (-10, 10), "exp": (-104, 89), "exp2": (-150, 128), "sinh": (-90, 90),
             "cosh": (-90, 90)}


@needs_library
@of_fine
def test_functions_of_one_float_are_rounded_nearly_correctly(fine, ufunc):
    least, most = INTERVALS.get(ufunc.__name__, (-3e5, 3e5))
    random = np.random.RandomState(0)
    small = np.exp(random.uniform(np.log(1e-30), np.log(most), 20000)) * (random.choice([-1, 1], 20000) if least else 1)
    x = np.concatenate([random.uniform(least, most, 20000), small]).astype(np.float32)
    with np.errstate(all="ignore"):
        true, found = ufunc(x.astype(np.float64)), fine(x)
        rounded = true.astype(np.float32)
        error = np.abs(found - true) / np.spacing(np.abs(rounded)).astype(np.float64)
        normal = (np.abs(rounded) > 1.2e-38) & np.isfinite(rounded)
        assert found.dtype == np.float32 and (error[normal] < 0.61).all() and (error[np.isfinite(error)] < 0.8).all()
        assert np.array_equal(np.isfinite(found), np.isfinite(rounded)) and np.mean(found == rounded) > 0.98
        special = SPECIAL.astype(np.float32)
        expected, found = ufunc(special.astype(np.float64)).astype(np.float32), fine(special)
    exact = ~np.isfinite(expected) | (expected == 0)
    assert np.array_equal(found[exact], expected[exact], equal_nan=True)
    number = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found[number]), np.signbit(expected[number]))


@needs_library
@of_fine
def test_the_bits_of_functions_of_one_float_do_not_depend_on_what_is_around_it(fine, ufunc):
    x = np.concatenate([np.random.RandomState(1).uniform(-1, 1, 3001), SPECIAL, [1e6, -1e8]]).astype(np.float32)
    with np.errstate(all="ignore"):
        whole = fine(x)
        for i in range(0, len(x), 97):
            assert fine(x[i:i + 1]).tobytes() == whole[i:i + 1].tobytes()
        assert fine(x[::3]).tobytes() == whole[::3].copy().tobytes()
        assert fine(x[::-1]).tobytes() == whole[::-1].copy().tobytes()
        assert fine(x[:0]).size == 0 and fine(np.asarray(x[5])).tobytes() == whole[5].tobytes()
        out = x.copy()
        assert fine(out, out).tobytes() == whole.tobytes()


@needs_library
@of_fine
def test_functions_of_one_half_are_those_of_one_float_rounded(fine, ufunc):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        whole = fine(x)
        np.testing.assert_array_equal(whole, fine(x.astype(np.float32)).astype(np.float16))
        for some in (slice(1, 4), slice(None, None, 3), slice(None, None, -1), slice(5, 5)):
            assert fine(x[some]).tobytes() == whole[some].copy().tobytes()
        out = x.copy()
        assert fine(out, out).tobytes() == whole.tobytes() and fine(np.asarray(x[5])) == whole[5]


@needs_library
@of_fine
def test_functions_of_one_float_are_numpys_for_other_dtypes(fine, ufunc):
    with np.errstate(all="ignore"):
        for dtype in (np.complex64, np.complex128, np.int64, np.bool_):
            x = SPECIAL[:3].astype(dtype)
            assert np.array_equal(fine(x), ufunc(x), equal_nan=True) and fine(x).dtype == ufunc(x).dtype
    assert fine.types == ufunc.types and fine.__name__ == ufunc.__name__ and fine.__doc__
