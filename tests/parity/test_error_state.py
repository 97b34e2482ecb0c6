"""No warning and no error of NumPy's reaches a user, whatever `warnings` and `numpy.seterr` say: every operator of
torch's table, forward and backward, every module and optimizer, of zeros, infinities, NaN, the largest and the smallest
numbers."""
import contextlib
import inspect
import threading
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import MODULES, OPS, Untranslatable, convert, in_place_method, namesake, samples, tensors

PATTERN = {"f": [0.0, np.inf, 1.0, np.nan, -0.0, -np.inf, "max", "tiny", -1.0, "min", "least", 0.5]}
DTYPES = [torch.float32, torch.float64, torch.float16, torch.complex64, torch.bfloat16, torch.int64, torch.uint8]


@contextlib.contextmanager
def strict():
    """Warnings of NumPy's are errors, and what it finds wrong with numbers is."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning)
        yield


def special(dtype, start=0):
    """The numbers of the pattern in a dtype, from one of them on."""
    real = {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)
    if not real.is_floating_point:
        info = torch.iinfo(real)
        return torch.tensor([0, 1, info.max, info.min, 2, 63], dtype=real)
    info = torch.finfo(real)
    named = {"max": info.max, "min": info.min, "tiny": info.tiny, "least": info.smallest_normal * info.eps}
    found = torch.tensor([named.get(x, x) for x in PATTERN["f"]], dtype=torch.float64).to(real)
    return found.roll(-start)


def spoilt(x, start):
    """The shape and dtype of a tensor, with numbers of the pattern; integers stay as they are, for they are indices."""
    if not isinstance(x, torch.Tensor) or not (x.is_floating_point() or x.is_complex()) or not x.numel():
        return x
    x = x.detach()
    numbers = special(x.dtype, start)
    count = x.numel() * (2 if x.is_complex() else 1)
    filled = numbers.repeat(count // len(numbers) + 1)[:count]
    return (torch.view_as_complex(filled.reshape(*x.shape, 2)) if x.is_complex() else filled.reshape(x.shape))


def replaced(tree, start):
    if isinstance(tree, torch.Tensor):
        made = spoilt(tree, start)
        return made.requires_grad_(tree.requires_grad) if made is not tree else tree
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields"):
        return type(tree)([replaced(x, start) for x in tree])
    if isinstance(tree, dict):
        return {key: replaced(x, start) for key, x in tree.items()}
    return tree


def quiet(call):
    """What a call gives, None if it refuses; an AssertionError if it speaks with NumPy's voice."""
    with strict():
        try:
            return call()
        except (RuntimeWarning, FloatingPointError):
            raise
        except Exception:
            return None


def run(function, sample):
    """Whether a call of the sample gave something; if so, its backward ran too."""
    result = quiet(lambda: function(sample[0], *sample[1], **sample[2]))
    roots = [y for y in tensors(result, tinytorch.Tensor) if y.requires_grad]
    if roots:
        quiet(lambda: tinytorch.autograd.backward(roots, [tinytorch.ones_like(y) for y in roots]))
    return result is not None


def check_that_some_ran(ran, again):
    """What is refused each time says nothing. `ran`: whether each sample was taken; then so are some, or torch refuses
    them all: `again` has its calls."""
    assert ran, "no sample was tried"
    if not any(ran):
        for call in again:
            with warnings.catch_warnings(), pytest.raises((RuntimeError, TypeError, ValueError)):
                warnings.simplefilter("ignore")
                call()


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if namesake(op.op, op.name) is not None])
def test_operators(name):
    op = OPS[name]
    function, changing = namesake(op.op, op.name), getattr(tinytorch.Tensor, in_place_method(op) or "", None)
    made, ran, theirs = 0, [], []
    for dtype in [d for d in DTYPES if op.supports_dtype(d, "cpu")]:
        grad = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")    # torch's own, of what it makes the samples with
            given = samples(op, dtype, 2, requires_grad=grad)
        made += len(given)
        for sample in given:
            for start in (0, 3, 6) if dtype is torch.float32 else (3,):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        spoiled = replaced(sample[:3], start)
                        first, again = convert(spoiled), convert(spoiled) if changing is not None else None
                except Untranslatable:
                    continue
                ran.append(run(function, first))
                theirs.append(lambda args=spoiled: op.op(args[0], *args[1], **args[2]))
                if again is not None and isinstance(again[0], tinytorch.Tensor):
                    with tinytorch.no_grad():
                        quiet(lambda: changing(again[0], *again[1], **again[2]))
    if made:                                   # torch has no samples of some
        check_that_some_ran(ran, theirs)


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    info = MODULES[name]
    ran, theirs = [], []
    for made in info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=True)[:3]:
        if made.forward_input is None:
            continue
        for start in (0, 3, 6):
            try:
                args, kwargs = convert((made.constructor_input.args, made.constructor_input.kwargs))
                given = replaced((made.forward_input.args, made.forward_input.kwargs), start)
                inputs, options = convert(given)
            except Untranslatable:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = getattr(tinytorch.nn, info.module_cls.__name__)(*args, **kwargs)
            ran.append(run(lambda _, *a, **k: module(*a, **k), (None, inputs, options)))
            theirs.append(lambda made=made.constructor_input, given=given: info.module_cls(
                *made.args, **made.kwargs)(*given[0], **given[1]))
    check_that_some_ran(ran, theirs)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop",
                                  "Rprop", "ASGD", "Adafactor", "LBFGS", "Muon"])
def test_optimizers(name, dtype):
    numbers = convert(special(getattr(torch, dtype)))
    for start in range(0, 12, 3):
        w = tinytorch.nn.Parameter(numbers.roll(start).reshape(3, 4).clone())
        optimizer = getattr(tinytorch.optim, name)([w], lr=0.1)
        for _ in range(3):
            w.grad = numbers.reshape(3, 4).clone()
            quiet(lambda: optimizer.step(lambda: (w.detach() * 1.0).sum()))


CALLS = """
repr(x); str(x[3]); x.tolist(); x[1:2].item(); x.numpy().tolist(); x.to(t.float16); x.to(t.bfloat16); x.to(t.int32)
x.to(t.uint8); x.to(t.bool); x.to(t.complex64); x.to(t.float64); x.double().float(); x.long(); x.type(t.int16)
float(x[6]); int(x[2]); bool(x[3]); x.clone().copy_(x.double()); t.zeros(12, dtype=t.int32).copy_(x)
t.zeros(12, dtype=t.float16).copy_(x); t.tensor(x.tolist(), dtype=t.float16); t.tensor(x.tolist())
t.full((3,), 1e-300); t.full((3,), 1e-300, dtype=t.float16); x.fill_(1e-300); x.clone().normal_(0, 1e38)
x.clone().uniform_(-1e38, 1e38); x.clone().exponential_(1e-38); x.clone().log_normal_(0, 100.); x.clone().cauchy_()
t.normal(x, 1.); t.normal(0., x.abs().nan_to_num()); t.bernoulli(x.nan_to_num().clamp(0, 1)); t.arange(0, 1, 1e-1)
t.linspace(-3e38, 3e38, 5); t.logspace(-300, 300, 5); t.logspace(0, 60, 5); x[x > 0]
x.clone().masked_fill_(x > 0, 1e-300); t.testing.assert_close(x, x, equal_nan=True); t.allclose(x, x); t.equal(x, x)
x == x; x > 1e300; x + 1e300; x * 1e-300; x.clone().add_(1e300); x.clone().div_(0); x / 0; x // 0; x % 0; 1 / x; x ** 2
x ** .5; 2 ** x; x.clone().pow_(3); t.ones(3) * 1e-46; x.clone().mul_(x); x.view(3, 4) @ x.view(4, 3)
x.half() * x.half(); x.bfloat16() + x.bfloat16(); x.sum(); x.half().sum(); x.nan_to_num().histc(3)
x.unique(); x.sort(); x.topk(3); x.cumsum(0); x.logsumexp(0); x.softmax(0); x.std(); x.norm()
t.nn.utils.clip_grad_norm_([p], 1.); t.nn.utils.clip_grad_value_([p], 1.); t.cdist(x[None], x[None])
x.requires_grad_().exp().sum().backward()
t.autograd.grad(x.requires_grad_().exp().sum(), x, create_graph=True)[0].sum().backward()
t.func.vmap(lambda r: r.exp() * r / 0)(x.view(3, 4)); t.func.grad(lambda r: r.exp().sum())(x)
t.func.jvp(t.exp, (x,), (x,)); t.func.hessian(lambda r: (r ** 3).sum())(x)
t.func.vmap(t.mul)(x.view(3, 4), x.view(3, 4)); t.autocast("cpu")(lambda: x.view(3, 4) @ x.view(4, 3))()
t.nn.functional.gumbel_softmax(x); t.nn.functional.dropout(x, .5); t.amp.GradScaler("cpu").scale(x)
t.nn.functional.normalize(x, dim=0); t.stft(x, 4, return_complex=True); t.fft.fft(x)
t.linalg.svd(x.nan_to_num().view(3, 4)); t.poisson(x.abs().nan_to_num(0, 0, 0).clamp(0, 5))
""".strip().replace("\n", "; ").split("; ")


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    given = []
    for dtype in (torch.float32, torch.float64):
        for start in range(3):
            x, p = convert(special(dtype, start)), tinytorch.nn.Parameter(convert(special(dtype)))
            p.grad = convert(special(dtype, start))
            quiet(lambda: given.append(eval(call, {"t": tinytorch, "x": x, "p": p})))
    assert given                               # what is refused each time says nothing


DISTRIBUTIONS = [name for name in torch.distributions.__all__
                 if inspect.isclass(made := getattr(torch.distributions, name))
                 and issubclass(made, torch.distributions.Distribution)]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name):
    made = getattr(tinytorch.distributions, name)
    x = convert(special(torch.float32))
    for count in (1, 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            distribution = quiet(lambda: made(*[x.abs()] * count, validate_args=False))
        for method in ("sample", "rsample", "entropy", "variance"):
            quiet(lambda: (lambda found: found() if callable(found) else found)(getattr(distribution, method)))
        for method in ("log_prob", "cdf", "icdf"):
            quiet(lambda: getattr(distribution, method)(x))


def test_in_threads():
    """Those that share the work, and a user's."""
    found, before = [], tinytorch.get_num_threads()
    tinytorch.set_num_threads(2)
    try:
        x = convert(special(torch.float32)).repeat(400_000).view(64, -1)

        def work():
            for function in (lambda: x * x, x.exp, lambda: x.double().softmax(1), lambda: x.half() * x.half()):
                try:
                    found.append(quiet(function) is not None)
                except (RuntimeWarning, FloatingPointError) as error:
                    found.append(error)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        work()
        for thread in threads:
            thread.join()
    finally:
        tinytorch.set_num_threads(before)
    assert found == [True] * 16


def test_a_users_numpy_is_its_own():
    seen = []

    class Twice(tinytorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(np.geterr())
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(np.geterr())
            return g * 2
    x = tinytorch.ones(3, requires_grad=True)
    x.register_hook(lambda g: seen.append(np.geterr()))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(np.geterr()))
    with np.errstate(all="raise"):
        expected = np.geterr()
        with tinytorch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(np.geterr()) or t,
                                                          lambda t: seen.append(np.geterr()) or t):
            y = Twice.apply(x).exp()
        y.register_hook(lambda g: seen.append(np.geterr()))
        y.sum().backward()
        optimizer = tinytorch.optim.SGD([x], lr=1.0)
        optimizer.step(lambda: seen.append(np.geterr()))
    assert len(seen) >= 8 and all([state == expected for state in seen])
