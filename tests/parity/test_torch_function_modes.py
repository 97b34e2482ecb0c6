"""`__torch_function__` of classes that are no tensors, of functions of one's own and of modes: programs that run under
both modules and must see the same calls, and end the same way."""
import warnings

from .test_graph import both_agree
from .test_torch_function import ended, logging, shown


# ------------------------------------------------------------------ several classes, and those that are no tensors
def table(lib, name, handled):
    """A class whose handler looks functions up in a table."""
    def handler(cls, func, types, args=(), kwargs=None):
        return handled[func](*args, **(kwargs or {})) if func in handled else NotImplemented
    return type(name, (), {"__torch_function__": classmethod(handler)})


def test_the_order_of_classes():
    def program(lib):
        asked = []

        def made(name, bases, answer=NotImplemented):
            def handler(cls, func, types, args=(), kwargs=None):
                asked.append((cls.__name__, [kind.__name__ for kind in types]))
                return answer
            return type(name, bases, {"__torch_function__": classmethod(handler)})
        A = made("A", ())
        B = made("B", (A,), "of B")
        C = made("C", ())
        S = made("S", (lib.Tensor,))
        SS = made("SS", (S,), "of SS")
        a, b, c = A(), B(), C()
        s, ss = lib.ones(2).as_subclass(S), lib.ones(2).as_subclass(SS)
        one = lib.ones(2)
        acts = [lambda: lib.add(a, b), lambda: lib.add(b, a), lambda: lib.add(a, c), lambda: lib.add(c, a),
                lambda: lib.where(a, c, b), lambda: lib.cat([c, a, b]), lambda: lib.stack([s, a, ss]),
                lambda: s.add(ss),
                lambda: s + ss, lambda: one + a, lambda: a + one, lambda: one + b, lambda: one.add(a), lambda: s.add(a),
                lambda: lib.nn.functional.mse_loss(a, c), lambda: lib.nn.functional.mse_loss(one, b),
                lambda: lib.einsum("i,i", a, b), lambda: lib.addmm(one, c, a), lambda: lib.add(one, 1, out=b),
                lambda: lib.add(one, other=b), lambda: s.shape, lambda: ss.shape, lambda: s[0], lambda: one[b],
                lambda: len(s),
                lambda: lib.nn.functional.softmax(a, 0), lambda: lib.linalg.norm(a), lambda: lib.fft.fft(a),
                lambda: s == a,
                lambda: lib.special.expit(a), lambda: lib.nn.functional.linear(a, c), lambda: s.requires_grad,
                lambda: lib.autograd.grad(b, b), lambda: lib.zeros_like(b), lambda: lib.sum(b, dim=0)]
        return [(ended(act), asked.copy(), asked.clear()) for act in acts]
    both_agree(program)


def test_tables_of_functions():
    """As in torch's documentation: the tables are made before anything was overridden."""
    def program(lib):
        handled, narrower = {}, {}

        def implements(table, function):
            def decorate(f):
                table[function] = f
                return f
            return decorate
        Diagonal = table(lib, "Diagonal", handled)
        handler = vars(table(lib, "Narrower", narrower))["__torch_function__"]
        Scaled = type("Scaled", (Diagonal,), {"__torch_function__": handler})

        @implements(handled, lib.mean)
        def mean(x):
            return 0.5

        @implements(handled, lib.mm)
        def mm(a, b):
            return "mm"

        @implements(handled, lib.add)
        def add(a, b, alpha=1):
            raise ValueError("as asked")

        @implements(narrower, lib.mm)
        def narrower_mm(a, b):
            return "narrower"

        @implements(handled, lib.nn.functional.relu)
        def relu(x, inplace=False):
            return "relu", inplace

        @implements(handled, lib.Tensor.add)
        def method(x, y):
            return "method"
        d, e, t = Diagonal(), Scaled(), lib.ones(2, 2)
        acts = [lambda: lib.mean(d), lambda: lib.mean(e), lambda: lib.mm(d, t), lambda: lib.mm(t, d),
                lambda: lib.mm(d, e),
                lambda: lib.mm(e, t), lambda: lib.add(d, 1), lambda: lib.sub(d, 1), lambda: lib.nn.functional.relu(d),
                lambda: t.add(d), lambda: t + d, lambda: t - d, lambda: t * d]
        return [ended(act) for act in acts]
    both_agree(program)


# ------------------------------------------------------------------ what is switched off, and functions of one's own
def test_what_is_switched_off():
    def program(lib):
        Log, log = logging(lib)
        x = lib.ones(2).as_subclass(Log)

        class Mode(lib.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                log.append(lib.overrides.resolve_name(func))
                return func(*args, **(kwargs or {}))
        found = []
        for context in (lib._C.DisableTorchFunctionSubclass, lib._C.DisableTorchFunction):
            log.clear()
            with context():
                found += [shown(x + 1), lib.overrides.has_torch_function((x,)), lib._C._is_torch_function_enabled()]
                with Mode():
                    found += [shown(lib.add(x, 1)), shown(lib.ones(1)), lib.overrides.has_torch_function_unary(x)]
            found += [[str(entry) for entry in log], lib._C._is_torch_function_enabled()]
        with lib._C.DisableTorchFunction(), lib.overrides._enable_torch_function():
            found.append(shown(x * 2))
        return found
    both_agree(program)


def test_functions_of_ones_own():
    def program(lib):
        o = lib.overrides
        seen = []

        def double(x, y=None):
            if o.has_torch_function((x, y)):
                return o.handle_torch_function(double, (x, y), x, y=y)
            return x + x

        @o.wrap_torch_function(lambda x: (x,))
        def triple(x):
            return x * 3

        class Duck:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                seen.append((func.__name__, [kind.__name__ for kind in types], len(args), sorted(kwargs or {})))
                return "seen"

        class Log(lib.Tensor):
            depth = 0

            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                seen.append(func.__name__)
                return o.redispatch_function(func, types, args, kwargs or {})
        t, d, x = lib.ones(2), Duck(), lib.ones(2).as_subclass(Log)
        found = [ended(act) for act in (
            lambda: double(t), lambda: double(d), lambda: double(t, y=d), lambda: triple(t), lambda: triple(d),
            lambda: double(x), lambda: triple(x), lambda: o.is_tensor_like(t), lambda: o.is_tensor_like(d),
            lambda: o.is_tensor_like(3), lambda: o.has_torch_function([t, 3, d]), lambda: o.has_torch_function([t, 3]),
            lambda: o.has_torch_function_variadic(t, d), lambda: o.has_torch_function_unary(t),
            lambda: o.is_tensor_method_or_property(lib.Tensor.add), lambda: o.is_tensor_method_or_property(lib.add),
            lambda: o.is_tensor_method_or_property(lib.Tensor.shape.__get__), lambda: o.resolve_name(lib.Tensor.add),
            lambda: o.resolve_name(lib.add), lambda: o.resolve_name(lib.Tensor.grad.__get__),
            lambda: o.resolve_name(lib.nn.functional.relu), lambda: o.resolve_name(lib.linalg.det),
            lambda: o.resolve_name(lib.Tensor.__add__), lambda: o.resolve_name(len),
            lambda: o.handle_torch_function(double, (t,), t))]
        return found, seen
    both_agree(program)


# ------------------------------------------------------------------ modes
def mode(lib, log, name, answer=None):
    class Mode(lib.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append((name, lib.overrides.resolve_name(func), [kind.__name__ for kind in types]))
            return func(*args, **(kwargs or {})) if answer is None else answer
    return Mode()


def test_modes_in_modes():
    def program(lib):
        log, found = [], []
        Log, seen = logging(lib)
        x = lib.ones(2).as_subclass(Log)
        with mode(lib, log, "outer"):
            found.append(lib.ones(2) + 1)
            with mode(lib, log, "inner"):
                found += [lib.add(x, 1), lib.zeros(1), x.shape, lib.nn.functional.softmax(x, 0), lib.arange(3)[1:],
                          lib.tensor([1, 2]), lib.is_tensor(x), lib.nn.functional.relu(lib.ones(1))]
            found.append(lib.full((1,), 3.))
        lib.ones(1)
        notes = list(log), list(seen)
        return [shown(x) for x in found], notes
    both_agree(program)


def test_modes_that_answer_or_fail():
    def program(lib):
        log, found = [], []

        class Failing(lib.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                raise ValueError(func.__name__)

        class Undefined(lib.overrides.TorchFunctionMode):
            pass
        o = lib.overrides
        stack = o._get_current_function_mode_stack
        for make in (lambda: mode(lib, log, "a", 3), lambda: mode(lib, log, "b", NotImplemented), Failing, Undefined,
                     o.BaseTorchFunctionMode):
            with mode(lib, log, "around") as around, make() as entered:
                found += [len(stack()), stack()[-1] is entered, stack()[0] is around,
                          o._get_current_function_mode() is entered]
                for act in (lambda: lib.add(1, 2), lambda: lib.ones(1).shape, lambda: lib.ones(1) + 1,
                            lambda: lib.zeros(2),
                            lambda: lib.nn.functional.relu(3)):
                    try:
                        found.append(type(act()).__name__)
                    except Exception as error:
                        found.append((type(error).__name__, str(error).split("object at")[0]))
                found.append(len(stack()))
            found.append(len(stack()))
        return found, log
    both_agree(program)


def test_modes_that_enter_themselves_again():
    def program(lib):
        log = []

        def scaled(a, b):
            if lib.overrides.has_torch_function((a, b)):
                return lib.overrides.handle_torch_function(scaled, (a, b), a, b)
            return a * b + 1

        class Deep(lib.overrides.TorchFunctionMode):
            depth = 0

            def __torch_function__(self, func, types, args=(), kwargs=None):
                log.append((self.depth, func.__name__))
                self.depth += 1
                with self:
                    result = lib.overrides.redispatch_function(func, types, args, kwargs or {})
                self.depth -= 1
                return result

        class Factory(lib.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                kwargs = dict(kwargs or {})
                if func in (lib.ones, lib.zeros, lib.full, lib.tensor):
                    kwargs.setdefault("dtype", lib.float64)
                return func(*args, **kwargs)
        with Deep():
            result = scaled(lib.tensor([3.]), lib.tensor([4.]))
        with Factory():
            made = [shown(lib.ones(1)), shown(lib.tensor([1])), shown(lib.ones(1, dtype=lib.int8)), shown(lib.empty(0))]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Factory.push()
        return shown(result), log, made, [(w.category, str(w.message)) for w in caught]
    both_agree(program)


def test_plain_methods_as_handlers_are_warned_of():
    def program(lib):
        class Duck:
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return "seen"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = lib.nn.functional.softmax(Duck(), 0)
        return found, [(w.category, str(w.message)) for w in caught]
    both_agree(program)
