"""Modes of recording, inference tensors and anomaly mode: each program runs under both modules, and must end the same
way."""
import functools
import threading
import warnings

import pytest

from .test_graph import both_agree, leaf


# ------------------------------------------------------------------ grad modes
def state(lib):
    return lib.is_grad_enabled(), lib.is_inference_mode_enabled(), (leaf(lib) * 2).requires_grad


def each_alone(lib):
    found = []
    for make in ("no_grad()", "enable_grad()", "set_grad_enabled(True)", "set_grad_enabled(False)", "inference_mode()",
                 "inference_mode(False)", "inference_mode(mode=True)", "autograd.no_grad()",
                 "autograd.inference_mode()", "autograd.set_grad_enabled(mode=False)",
                 "autograd.grad_mode.enable_grad()"):
        with eval("lib." + make) as entered:
            found.append((make, state(lib), entered))
        found.append(state(lib))
    return found


def resized(lib):
    """In inference mode what requires grad has another size too."""
    found = []
    for make in (lambda x: x, lambda x: x * 1, lambda x: lib.ones(3) * x[:1]):
        x = make(lib.ones(2, requires_grad=True))
        with lib.inference_mode():
            found.append((x.resize_(1).requires_grad, tuple(x.shape), x.is_leaf))
        try:
            x.resize_(2)
        except RuntimeError as error:
            found.append(str(error))
    return found


def nested(lib):
    found = []
    makers = ["no_grad()", "enable_grad()", "set_grad_enabled(True)", "set_grad_enabled(False)", "inference_mode()",
              "inference_mode(False)"]
    for outer in makers:
        for inner in makers:
            with eval("lib." + outer):
                with eval("lib." + inner):
                    found.append((outer, inner, state(lib)))
                    for innermost in makers:
                        with eval("lib." + innermost):
                            found.append((innermost, state(lib)))
                        found.append(state(lib))
                found.append(state(lib))
    return found, state(lib)


def grad_mode_within_inference(lib):
    with lib.inference_mode():
        lib.set_grad_enabled(True)
        x = lib.ones(2, requires_grad=True)
        found = [state(lib), x.requires_grad, x.is_inference(), (x * 2).requires_grad, (x * 2).is_leaf]
        with lib.enable_grad(), lib.inference_mode(False), lib.no_grad():
            found.append(state(lib))
        lib.set_grad_enabled(False)
        found.append(state(lib))
    return found, state(lib)


def of_other_callables(lib):
    class Callable:
        def __call__(self):
            return state(lib)

    @lib.inference_mode()
    async def coroutine():
        return state(lib)
    running = coroutine()
    try:
        running.send(None)
    except StopIteration as stop:              # a coroutine runs after the mode has ended
        found = stop.value
    return found, lib.no_grad()(Callable().__call__)(), lib.no_grad()(functools.partial(state, lib))()


def at_once(lib):
    found = []
    try:
        lib.set_grad_enabled(False)
        found.append(state(lib))
        with lib.enable_grad():
            found.append(state(lib))
            lib.set_grad_enabled(False)
        found.append(state(lib))
    finally:
        lib.set_grad_enabled(True)
    return found


def left_by_an_error(lib):
    for make in ("no_grad", "inference_mode"):
        try:
            with getattr(lib, make)():
                raise KeyError
        except KeyError:
            pass
    return state(lib)


def decorated(make):
    def program(lib):
        decorator = eval("lib." + make)

        @decorator
        def function(a, b=2):
            "text"
            return state(lib), a, b

        @decorator
        def generator(n):
            for k in range(n):
                got = yield state(lib), k
            return got

        class Thing:
            @decorator
            def method(self):
                return state(lib)
        steps = list(generator(2))
        return function(1, b=3), function.__name__, function.__doc__, steps, Thing().method(), state(lib)
    program.__qualname__ = make
    return program


def generator_by_hand(lib):
    log = []

    @lib.no_grad()
    def generator():
        try:
            got = yield state(lib)
            log.append((got, state(lib)))
            yield state(lib)
        except KeyError as error:
            log.append((repr(error), state(lib)))
            yield "caught"
        finally:
            log.append(state(lib))
    first = generator()
    seen = [next(first), state(lib), first.send(3), first.throw(KeyError("k"))]
    first.close()
    second = generator()
    next(second)
    second.close()
    return seen, log, state(lib)


def of_a_class(lib):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        @lib.no_grad()
        class Thing:
            def __init__(self):
                self.seen = state(lib)
    return isinstance(Thing, type), Thing().seen, [(str(w.message), w.category.__name__) for w in caught]


def in_another_thread(lib):
    found = []

    def look():
        found.append(state(lib))
        lib.set_grad_enabled(False)
        found.append(state(lib))
    with lib.no_grad():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        found.append(state(lib))
    with lib.inference_mode():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    return found, state(lib)


def values_and_copies(lib):
    made = [lib.no_grad(), lib.set_grad_enabled(True), lib.inference_mode(False)]
    return [(type(m.clone()).__name__, getattr(m.clone(), "mode", None)) for m in made], repr(made[1]).split(".")[1:]


def what_no_grad_leaves(lib):
    x = leaf(lib)
    with lib.no_grad():
        y, v, w = x * 2, x[:2], lib.ones(2, requires_grad=True)
        x.add_(1)
        d = x.detach()
    return [(t.requires_grad, t.is_leaf, t._version, t._is_view(), t.grad_fn) for t in (x, y, v, w, d)]


def backward_in_no_grad(lib):
    x = leaf(lib)
    y = (x * x).sum()
    with lib.no_grad():
        y.backward()
    return x.grad, lib.autograd.grad((x * x).sum(), x, create_graph=True)[0].requires_grad


def multithreading(lib):
    find = lib._C._is_multithreading_enabled
    seen = [find()]
    with lib.autograd.set_multithreading_enabled(False):
        seen.append(find())
        x = leaf(lib)
        (x * 2).sum().backward()
    return seen, find(), x.grad


# ------------------------------------------------------------------ inference tensors
def inference(use):
    def program(lib):
        with lib.inference_mode():
            a = lib.ones(3)
            b = a * 2
        return use(lib, a, b, leaf(lib))
    return program


def inside(lib, a, b, x):
    with lib.inference_mode():
        a.add_(1)
        a[0] = 5
        y = x * a
        v = x[:2]
        seen = [(t.is_inference(), t.requires_grad, t._is_view()) for t in (a, y, v, x, x.view(3), lib.zeros(2))]
    return seen, a, y


def version_inside(lib, a, b, x):
    with lib.inference_mode():
        return a._version


def write_to_normal(lib, a, b, x):
    y = lib.ones(3)
    with lib.inference_mode():
        y.add_(1)
        v = y[:2]
        v.add_(1)
    y.add_(a)
    return y, y._version, y.is_inference()


def grad_of_inference(lib, a, b, x):
    with lib.inference_mode():
        w = lib.ones(3, requires_grad=True)
        return w.requires_grad, w.is_leaf, (w * 2).requires_grad


# ------------------------------------------------------------------ anomaly mode
def anomaly(make, **options):
    """A program: make(lib) under detect_anomaly; the error, the warnings, and the source lines that they name."""
    def program(lib):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with lib.autograd.detect_anomaly(**options):
                    result = make(lib)
            except RuntimeError as error:
                result = str(error).partition("\nIt ")[0]           # what tinytorch says besides
        lines = [str(w.message) for w in caught if w.category is UserWarning]      # NumPy warns of nan itself
        here = [line.strip() for text in lines for line in text.splitlines() if line.strip().endswith("# here")]
        return [text.partition("Traceback of forward call")[0] for text in lines], here, result
    return program


def nan(lib):
    a = leaf(lib, 0., 1.)
    b = a * 0
    y = b / a  # here
    y.sum().backward()


def written(lib):
    y = leaf(lib).exp()
    z = y * y  # here
    y.add_(1)
    z.sum().backward()


def failing(lib):
    def backward(ctx, g):
        raise RuntimeError("mine")
    apply = type("Fn", (lib.autograd.Function,), dict(
        forward=staticmethod(lambda ctx, x: x * 2), backward=staticmethod(backward))).apply
    y = apply(leaf(lib))  # here
    y.sum().backward()


def nan_in_the_second_derivative(lib):
    x = leaf(lib, 0., 1.)
    y = x ** 1.5  # here
    g, = lib.autograd.grad(y.sum(), x, create_graph=True)
    (g.sum() * 0).backward()


def forward_outside(lib):
    a = leaf(lib, 0., 1.)
    y = ((a * 0) / a).sum()
    with lib.autograd.detect_anomaly():
        y.backward()


def where_it_was_written(lib):
    """In anomaly mode the error of a changed tensor names the line of the write too, where the library notes it."""
    y = leaf(lib).exp()
    with lib.autograd.detect_anomaly():
        z = y * y
        y.add_(1)
        try:
            z.sum().backward()
        except RuntimeError as error:
            return str(error).split("Hint")[0], "Good luck!" in str(error)


def anomaly_switches(lib):
    check = lib.autograd.anomaly_mode
    seen = [lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled()]
    with check.set_detect_anomaly(True, check_nan=False):
        seen += [lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled()]
        with lib.autograd.set_detect_anomaly(False):
            seen += [lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled()]
        seen += [lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled()]
    lib.autograd.set_detect_anomaly(True)
    seen += [lib.is_anomaly_enabled()]
    lib.autograd.set_detect_anomaly(False)
    return seen, lib.is_anomaly_enabled()


def no_nan_check(lib):
    a = leaf(lib, 0., 1.)
    ((a * 0) / a).sum().backward()
    return a.grad


PROGRAMS = [
    each_alone, resized, nested, at_once, left_by_an_error, generator_by_hand, of_a_class, in_another_thread,
    grad_mode_within_inference, of_other_callables, values_and_copies, lambda lib: lib.set_grad_enabled(1),
    what_no_grad_leaves, backward_in_no_grad, multithreading,
    *map(decorated, ["no_grad()", "no_grad", "enable_grad()", "enable_grad", "set_grad_enabled(False)",
                     "inference_mode()", "inference_mode", "inference_mode(False)"]),
    inference(inside), inference(version_inside), inference(write_to_normal), inference(grad_of_inference),
    inference(lambda lib, a, b, x: (a + b, (a + b).is_inference())), inference(lambda lib, a, b, x: a * x),
    inference(lambda lib, a, b, x: a.view(3).is_inference()), inference(lambda lib, a, b, x: a[0].fill_(2)),
    inference(lambda lib, a, b, x: a.copy_(b)), inference(lambda lib, a, b, x: lib.add(b, b, out=a)),
    inference(lambda lib, a, b, x: a.requires_grad), inference(lambda lib, a, b, x: a.detach().is_inference()),
    inference(lambda lib, a, b, x: ((x + a).sum().backward(), x.grad)), inference(lambda lib, a, b, x: lib.cat([a, x])),
    inference(lambda lib, a, b, x: x.exp() * a), inference(lambda lib, a, b, x: a.__setitem__(0, 1)),
    inference(lambda lib, a, b, x: lib.ones(3).add_(a)), inference(lambda lib, a, b, x: (x * 2).add_(a).detach()),
    inference(lambda lib, a, b, x: (x * 2).mul_(a)), inference(lambda lib, a, b, x: a.to(lib.float64).is_inference()),
    inference(lambda lib, a, b, x: a.tolist()), inference(lambda lib, a, b, x: a.clone().add_(1)),
    inference(lambda lib, a, b, x: a.unsqueeze_(0)), inference(lambda lib, a, b, x: a.detach_()),
    inference(lambda lib, a, b, x: (setattr(x, "grad", a), x.grad)),
    inference(lambda lib, a, b, x: lib.nn.Parameter(a)),
    anomaly(nan), anomaly(nan_in_the_second_derivative), anomaly(nan, check_nan=False), anomaly(written),
    anomaly(failing), forward_outside, where_it_was_written, anomaly_switches, anomaly(no_nan_check, check_nan=False),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__qualname__.replace(".<locals>", ""))
def test_programs(program):
    both_agree(program)
