"""Layers' functions, containers, samplers and schedules at the edges of what they take: each program runs under both
modules, and gives the same numbers or the same error."""
import pytest

from .adapter import same_outcome

pytestmark = pytest.mark.filterwarnings("ignore")
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("shape", [(0, 5), (0, 5, 2), (0, 5, 2, 3)])
def test_classes_of_nothing(name, shape, reduction):
    same_outcome(lambda t: getattr(t.nn.functional, name)(
        t.ones(shape), t.ones(shape[:1] + shape[2:], dtype=t.int64), reduction=reduction))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "bool"])
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("shape", [(3, 4), (4,), (2, 4, 3), (2, 4, 3, 2), (2, 4, 3, 2, 2)])
def test_dtypes_of_classes(name, shape, dtype):
    target = shape[:1] + shape[2:] if len(shape) > 1 else ()
    same_outcome(lambda t: getattr(t.nn.functional, name)(t.ones(shape), t.ones(target, dtype=getattr(t, dtype))))


@pytest.mark.parametrize("weight", [(3,), (1,), (5,), (1, 3), ()])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4)])
def test_weights_of_probabilities(shape, smoothing, weight):
    same_outcome(lambda t: t.nn.functional.cross_entropy(
        t.arange(3.).reshape((3, 1) if len(shape) > 2 else 3) * t.ones(shape), t.full(shape, 0.3), t.ones(weight),
        label_smoothing=smoothing))


def soft_margin(t):
    x, y = t.tensor([-200., 200., 0., -80.], requires_grad=True), t.tensor([1., 1., -1., 1.])
    loss = t.nn.functional.soft_margin_loss(x, y, reduction="none")
    slope, = t.autograd.grad(loss.sum(), x, create_graph=True)
    return loss, slope, t.autograd.grad(slope.sum(), x)


def soft_margin_of_a_wanted_target(t):
    return t.nn.functional.soft_margin_loss(t.ones(2), t.ones(2, requires_grad=True))


def soft_margin_of_a_large_target(t):
    return t.nn.functional.soft_margin_loss(t.ones(2), t.ones(3, 2))


def soft_margin_of_a_complex_target(t):
    return t.nn.functional.soft_margin_loss(t.ones(2), t.ones(2, dtype=t.complex64))


def cross_entropy_at_the_ends(t):
    x = t.tensor([0., 1., 0., 1., .5], requires_grad=True)
    y = t.tensor([1., 1., 0., 0., .5], requires_grad=True)
    loss = t.nn.functional.binary_cross_entropy(x, y, reduction="none")
    gx, gy = t.autograd.grad(loss.sum(), [x, y], create_graph=True)
    return (loss, gx, gy, t.autograd.grad(gx.sum(), [x, y], retain_graph=True),
            t.autograd.grad(gy.sum(), [x, y], allow_unused=True))


def ctc(*targets, **given):
    def program(t):
        scores = t.arange(float(20 * given.get("batch", 1))).reshape(5, -1, 4).sin().log_softmax(2)
        scores = scores if "batch" in given else scores.squeeze(1)
        return t.nn.functional.ctc_loss(scores, t.tensor(*targets), given["frames"], given["lengths"])
    return program


def linear(x, weight, bias):
    return lambda t: t.nn.functional.linear(t.ones(x), t.ones(weight), t.ones(bias))


def clip_nothing(t):
    return t.nn.utils.clip_grad_value_([t.ones(2, requires_grad=True)], 1.)


def last_of_no_parameters(t):
    return t.nn.ParameterDict().popitem()


def last_parameters(t):
    d = t.nn.ParameterDict({"a": t.ones(1), "b": 3})
    return d.popitem(), len(d), d.popitem()[0], len(d)


def bags_of_no_length(t):
    return t.nn.functional.embedding_bag(t.zeros(2, 0, dtype=t.int64), t.ones(3, 2))


def complex_lookups(t):
    return t.nn.functional.embedding(t.tensor([1, 1, 0]), t.ones(3, 2, dtype=t.complex64, requires_grad=True))


def limited_integers(t):
    return t.nn.functional.embedding(t.tensor([1, 0]), t.ones(3, 2, dtype=t.int64), max_norm=1.)


def packed_complex_numbers(t):
    return t.nn.utils.rnn.pack_sequence([t.ones(2, dtype=t.complex64, requires_grad=True)])


def complex_bilinear(t):
    return t.nn.functional.bilinear(*[t.ones(s, dtype=t.complex64, requires_grad=True)
                                      for s in ((2, 3), (2, 4), (5, 3, 4))])


def bilinear_of_bools(t):
    return t.nn.functional.bilinear(*[t.ones(s, dtype=t.bool) for s in ((2, 3), (2, 4), (5, 3, 4))])


def complex_weight_norm(t):
    return t.nn.utils.parametrizations.weight_norm(t.nn.Linear(3, 2, dtype=t.complex64))(t.ones(1, 3) * 1j)


def complex_native_dropout(t):
    return t.native_dropout(t.ones(3, dtype=t.complex64, requires_grad=True), 0.5, True)


def nobodys_samples(t):
    return [(len(s), list(s)) for s in [t.utils.data.DistributedSampler([], 3, k, drop_last=k == 2) for k in range(3)]]


def a_group_without_a_rate(t):
    optimizer = t.optim.SGD([t.ones(2, requires_grad=True)], lr=.1)
    schedule = t.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: .5 ** epoch)
    optimizer.add_param_group({"params": [t.ones(1, requires_grad=True)]})
    optimizer.step()
    schedule.step()
    return schedule.get_last_lr()


PROGRAMS = [
    soft_margin, soft_margin_of_a_wanted_target, soft_margin_of_a_large_target, soft_margin_of_a_complex_target,
    cross_entropy_at_the_ends, clip_nothing, last_of_no_parameters, last_parameters, bags_of_no_length, complex_lookups,
    limited_integers, packed_complex_numbers, complex_bilinear, bilinear_of_bools, complex_weight_norm,
    complex_native_dropout, nobodys_samples, a_group_without_a_rate]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_program(program):
    same_outcome(program)


@pytest.mark.parametrize("program", [
    ctc([1, 2, 3], frames=(5,), lengths=(2,)), ctc([1, 2], frames=(5,), lengths=(2,)),
    ctc([[1, 2]], frames=(5,), lengths=(3,)), ctc([1, 2, 3], frames=(5, 5), lengths=(1, 1), batch=2),
    ctc([[1, 2], [1, 2]], frames=(5, 5), lengths=(3, 1), batch=2), ctc([1, 2], frames=(6, 5), lengths=(1, 1), batch=2)])
def test_ctc_lengths(program):
    same_outcome(program)


@pytest.mark.parametrize("sizes", [
    ((1, 3), (3,), ()), ((1, 3), (3,), (1,)), ((2, 3), (3,), (2,)), ((3,), (3,), (1,)), ((3,), (3,), ()),
    ((2, 2, 3), (3,), (1,)), ((2, 2, 3), (3,), ())])
def test_linear_with_one_output(sizes):
    same_outcome(linear(*sizes))


@pytest.mark.parametrize("value", [NAN, INF, 1.5, 300., -1., 2. ** 40, 1e6])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool", "float16", "bfloat16", "complex64"])
def test_what_pads(dtype, value):
    def sequences(t):
        return [t.ones(n, dtype=getattr(t, dtype)) for n in (2, 1)]
    same_outcome(lambda t: t.nn.utils.rnn.pad_sequence(sequences(t), padding_value=value))
    same_outcome(lambda t: t.nn.utils.rnn.pad_packed_sequence(t.nn.utils.rnn.pack_sequence(sequences(t)),
                                                              padding_value=value))


MARGINS = [("multi_margin_loss", [0, 1]), ("multilabel_margin_loss", [[0, -1], [1, -1]])]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64", "complex64"])
@pytest.mark.parametrize("name, target", MARGINS)
def test_margins_of_other_dtypes(name, target, dtype):
    same_outcome(lambda t: getattr(t.nn.functional, name)(t.ones(2, 2).to(getattr(t, dtype)), t.tensor(target)))


@pytest.mark.parametrize("name, target", MARGINS)
def test_margins_are_derived_once(name, target):
    def program(t, second):
        x = t.tensor([[1., 2.], [.5, -1.]], requires_grad=True)
        slope, = t.autograd.grad(getattr(t.nn.functional, name)(x, t.tensor(target)), x, create_graph=True)
        return t.autograd.grad(slope.sum(), x) if second else slope
    same_outcome(lambda t: program(t, False))
    same_outcome(lambda t: program(t, True))
