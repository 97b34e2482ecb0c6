"""Numbers that do not fit, are not finite or are NumPy's, where a function takes a number: values and exceptions as
torch's, of each dtype. What stands in the table of operators is tried by fuzz/test_spoilt.py; here are programs, with
gradients, and the arguments that no sample there has."""
import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same

NUMBERS = (1e300, 1e39, 7e4, 1j, 2 ** 40, 300, -1, float("inf"), float("nan"), 2 ** 63, 10 ** 30, True)
DTYPES = ("float32", "float16", "bfloat16", "int64", "uint8", "bool", "float64")
#: By name: a function of the library, a tensor (2, 2) and the number.
CALLS = {
    "lerp": lambda t, x, v: t.lerp(x, x + 1, v), "threshold": lambda t, x, v: t.nn.functional.threshold(x, v, 1),
    "value of threshold": lambda t, x, v: t.nn.functional.threshold(x, 1, v),
    "addcmul": lambda t, x, v: t.addcmul(x, x, x, value=v), "addcdiv": lambda t, x, v: t.addcdiv(x, x, x, value=v),
    "leaky_relu": lambda t, x, v: t.nn.functional.leaky_relu(x, v), "elu": lambda t, x, v: t.nn.functional.elu(x, v),
    "hardtanh": lambda t, x, v: t.nn.functional.hardtanh(x, v, 9e400),
    "hardshrink": lambda t, x, v: t.nn.functional.hardshrink(x, v),
    "softplus": lambda t, x, v: t.nn.functional.softplus(x, v),
    "threshold of softplus": lambda t, x, v: t.nn.functional.softplus(x, 1, v),
    "addmm": lambda t, x, v: t.addmm(x, x, x, alpha=v), "addmm, beta": lambda t, x, v: t.addmm(x, x, x, beta=v),
    "addr": lambda t, x, v: t.addr(x, x[0], x[0], alpha=v), "add": lambda t, x, v: t.add(x, x, alpha=v),
    "baddbmm": lambda t, x, v: t.baddbmm(x[None], x[None], x[None], beta=v),
    "renorm": lambda t, x, v: t.renorm(x, 2, 0, v), "norm of renorm": lambda t, x, v: t.renorm(x, v, 0, 1.),
    "histc": lambda t, x, v: t.histc(x, 3, v, 9), "full": lambda t, x, v: t.full((2,), v, dtype=x.dtype),
    "fill_": lambda t, x, v: x.clone().fill_(v), "masked_fill": lambda t, x, v: t.masked_fill(x, x > 0, v),
    "clamp": lambda t, x, v: t.clamp(x, v), "where": lambda t, x, v: t.where(x > 0, x, v),
    "pad": lambda t, x, v: t.nn.functional.pad(x, (1, 1), value=v),
    "layer_norm": lambda t, x, v: t.nn.functional.layer_norm(x, (2,), eps=v),
    "group_norm": lambda t, x, v: t.nn.functional.group_norm(x, 1, eps=v),
    "rms_norm": lambda t, x, v: t.nn.functional.rms_norm(x, (2,), eps=v),
    "dropout": lambda t, x, v: t.nn.functional.dropout(x, v),
}


def outcome(call):
    """(the name of the class of its exception, None) or (None, the result)."""
    try:
        return None, call()
    except Exception as error:
        return type(error).__name__, None


def compare(theirs, ours):
    (error, expected), (my_error, result) = outcome(theirs), outcome(ours)
    assert my_error == error
    if error is None:
        same(result, expected, history=False, bits=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_numbers(name):
    call = CALLS[name]
    for dtype in DTYPES:
        for number in NUMBERS:
            def program(t, dtype=dtype, number=number):
                t.manual_seed(0)
                return call(t, t.ones(2, 2, dtype=getattr(t, dtype)), number)
            compare(lambda: program(torch), lambda: program(tinytorch))


def slope(t, function, values):
    """A function's result, and the gradient of its sum."""
    x = t.tensor(values, requires_grad=True)
    y = function(x)
    y.sum().backward()
    return y.detach(), x.grad


def table_slope(t, function):
    weight = t.ones(4, 2, requires_grad=True)
    y = function(weight)
    (y * t.arange(1., 1 + y.numel()).reshape(y.shape)).sum().backward()
    return weight.grad


def listed_twice(t, name, **options):
    p = t.nn.Parameter(t.tensor([0., 1., -2.]))
    optimizer = getattr(t.optim, name)([p, p], **options)
    for i in range(3):
        p.grad = t.tensor([.5, i * 1., -1.])
        optimizer.step()
    return p.detach()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", """
slope(t, lambda x: F.leaky_relu(x, nan), [-1., 2., 0.])
slope(t, lambda x: F.leaky_relu(x, -inf), [-1., 2., 0.])
slope(t, lambda x: F.elu(x, nan), [-1., 2., 0.])
slope(t, lambda x: F.elu(x, inf), [-1., 2., 0.])
slope(t, lambda x: F.celu(x, inf), [-1., 2., 0.])
slope(t, lambda x: F.prelu(x, t.tensor([inf])), [-1., 2., 0.])
slope(t, lambda x: F.hardtanh(x, nan, 1.), [-1., 2., 0.])
slope(t, lambda x: F.softshrink(x, nan), [-1., 2., 0.])
slope(t, lambda x: F.softshrink(x, inf), [-1., 2., 0.])
slope(t, lambda x: F.rrelu(x, nan, nan), [-1., 2., 0.])
slope(t, lambda x: t.logit(x, nan), [.5, 0., 1.])
slope(t, lambda x: t.logit(x, .6), [.5, 0., 1.])
slope(t, lambda x: t.linalg.cholesky(x, upper=True), [[4., 1.], [2., 5.]])
t.linalg.cholesky_ex(t.tensor([[4., 1.], [2., 5.]]), upper=True)
t.cholesky(t.tensor([[4., 1.], [2., 5.]]), upper=True)
F.group_norm(t.ones(2, 4, 3), np.int64(2), eps=np.float64(1e-5))
F.local_response_norm(t.ones(2, 4, 3), np.array(2))
t.pdist(t.eye(3), np.float64(.5))
t.cdist(t.eye(3), t.ones(2, 3), np.float64(.5))
F.ctc_loss(t.zeros(5, 2, 4), t.ones(3, 2, dtype=t.long), t.tensor([5, 5]), t.tensor([2, 2]))
F.batch_norm(t.ones(2, 4), t.zeros(4), t.ones(4), training=[1])
F.batch_norm(t.ones(2, 4), t.zeros(4), t.ones(4), training=None)
F.instance_norm(t.ones(2, 4, 5), use_input_stats=[1])
F.cross_entropy(t.eye(2), t.tensor([0, 1]), label_smoothing=nan)
F.cross_entropy(t.eye(2), t.tensor([0, 1]), ignore_index=2 ** 63)
F.smooth_l1_loss(t.ones(2), t.zeros(2), beta=nan)
F.huber_loss(t.ones(2), t.zeros(2), delta=nan)
F.cosine_similarity(t.ones(2, 3), t.ones(2, 3), eps=nan)
F.interpolate(t.ones(1, 1, 4), scale_factor=nan)
F.interpolate(t.ones(1, 1, 4), (2 ** 63,))
F.pad(t.ones(2, 3, 4), (2 ** 63, 1), mode="replicate")
t.cdist(t.ones(2, 3), t.zeros(2, 3), p=nan)
t.polygamma(2 ** 31, t.ones(2))
t.polygamma(200, t.tensor([.5, 3.]))
t.scalar_tensor(t.tensor(2.5))
t.linalg.matrix_power(t.eye(2), 2 ** 63)
t.diff(t.ones(3), 2 ** 63)
t.tril(t.ones(2, 2), -2 ** 63)
t.ones(2, 2).random_(0, 10 ** 30)
F.l1_loss(np.ones(3), t.ones(3))
F.mse_loss(t.ones(3), np.ones(3))
F.adaptive_avg_pool2d(np.ones((1, 2, 2)), 1)
t.nn.init.orthogonal_(t.ones(2, 2), gain=t.ones(3))
F.binary_cross_entropy_with_logits(t.ones(2, 3), t.ones(2, 3), pos_weight=t.ones(2))
table_slope(t, lambda w: F.embedding_bag(t.tensor([0, 0, 1]), w, t.tensor([0]), scale_grad_by_freq=True, mode="sum"))
table_slope(t, lambda w: F.embedding_bag(t.tensor([0, 0, 1, 1, 2]), w, t.tensor([0, 2]), scale_grad_by_freq=True))
listed_twice(t, "SGD", lr=.1, momentum=.9)
listed_twice(t, "Adam")
listed_twice(t, "RMSprop")
""".strip().split("\n"))
def test_programs(expression):
    def program(t):
        names = dict(t=t, F=t.nn.functional, np=np, nan=float("nan"), inf=float("inf"), slope=slope,
                     table_slope=table_slope, listed_twice=listed_twice)
        return eval(expression, names)
    compare(lambda: program(torch), lambda: program(tinytorch))


@pytest.mark.parametrize("length", [1, 10, 2000])
@pytest.mark.parametrize("name", ["softmax", "sigmoid", "silu", "exp"])
def test_what_is_less_than_the_least_normal_number(name, length):
    """It is kept as torch keeps it, to a few of its last digits, in rows of any length."""
    def program(t):
        x = t.tensor([0., -86., -88., -90., -95., -103.] * length)
        functions = {"softmax": lambda x: t.softmax(x, 0), "silu": t.nn.functional.silu, "sigmoid": t.sigmoid,
                     "exp": t.exp}
        return functions[name](x)
    ours, theirs = [program(t).numpy().astype(float) for t in (tinytorch, torch)]
    assert (abs(ours - theirs) <= np.maximum(4 * 2. ** -149, abs(theirs) * 1e-5)).all(), (ours[:6], theirs[:6])


IN_PLACE = {
    "add_": lambda t, x: x.add_(1), "mul_": lambda t, x: x.mul_(2), "of itself": lambda t, x: x.add_(x),
    "neg_": lambda t, x: x.neg_(), "a tensor": lambda t, x: x.add_(t.arange(x.numel() * 1.).reshape(x.shape)),
    "clamp_": lambda t, x: x.clamp_(1, 3), "masked_fill_": lambda t, x: x.masked_fill_(x > 3, 5.),
    "copy_": lambda t, x: x.copy_(t.arange(x.numel() * 1.).reshape(x.shape)), "relu_": lambda t, x: x.relu_(),
    "lerp_": lambda t, x: x.lerp_(t.zeros(x.shape), .5), "pow_": lambda t, x: x.pow_(2),
    "addcdiv_": lambda t, x: x.addcdiv_(t.ones(x.shape), t.full(x.shape, 2.)), "fill_": lambda t, x: x.fill_(2.),
}
OVERLAPPING = {
    "unfold": lambda t: t.arange(6.).unfold(0, 3, 1), "by two": lambda t: t.arange(12.).unfold(0, 4, 2),
    "rows": lambda t: t.arange(24.).reshape(4, 6).unfold(1, 3, 1),
    "as_strided": lambda t: t.arange(20.).as_strided((3, 4), (2, 3)),
}


@pytest.mark.parametrize("view", OVERLAPPING)
@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_where_elements_overlap(name, view):
    """torch computes one row after the other: each reads what those before it wrote."""
    def program(t):
        x = OVERLAPPING[view](t)
        IN_PLACE[name](t, x)
        return x
    compare(lambda: program(torch), lambda: program(tinytorch))
