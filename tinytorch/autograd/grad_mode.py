"""Whether operations are recorded: no_grad, enable_grad, set_grad_enabled, inference_mode.

Grad mode belongs to the thread, as in torch. Each of these works as a context manager and as a
decorator (of plain functions and of generator functions).
"""
import functools
import inspect
import threading


class _Mode(threading.local):
    grad = True
    inference = False


mode = _Mode()


def is_grad_enabled():
    """True where operations are being recorded in this thread.

    >>> import tinytorch as torch
    >>> torch.is_grad_enabled()
    True
    """
    return mode.grad


def is_inference_mode_enabled():
    """True inside `inference_mode`."""
    return mode.inference


class _GradContext:
    """Sets grad mode on entry and restores what was there on exit."""

    __slots__ = ("_before",)

    def _target(self):
        raise NotImplementedError

    def _renewed(self):
        return type(self)()

    def __enter__(self):
        self._before = (mode.grad, mode.inference)
        mode.grad, mode.inference = self._target()

    def __exit__(self, *exc_info):
        mode.grad, mode.inference = self._before
        return False

    def __call__(self, function):
        if inspect.isclass(function):
            function.__init__ = self(function.__init__)
            return function
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self._renewed():
                return function(*args, **kwargs)
        return wrapped

    def _wrap_generator(self, function):
        # The mode must hold only while the generator's own frame runs, not between its yields.
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            try:
                with self._renewed():
                    item = next(generator)
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        with self._renewed():
                            generator.close()
                        raise
                    except BaseException as error:
                        with self._renewed():
                            item = generator.throw(error)
                    else:
                        with self._renewed():
                            item = generator.send(sent)
            except StopIteration as stop:
                return stop.value
        return wrapped


class _ModeFunction(_GradContext):
    """no_grad and enable_grad may decorate with or without parentheses."""

    __slots__ = ()

    def __new__(cls, function=None):
        self = super().__new__(cls)
        return self if function is None else self(function)


class no_grad(_ModeFunction):
    """Nothing inside is recorded; results do not require gradients.

    >>> import tinytorch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    __slots__ = ()

    def _target(self):
        return False, mode.inference


class enable_grad(_ModeFunction):
    """Records inside even when an enclosing `no_grad` does not."""

    __slots__ = ()

    def _target(self):
        return True, mode.inference


class set_grad_enabled(_GradContext):
    """Sets grad mode to `mode` at once; as a context manager it restores the old one on exit.

    >>> import tinytorch as torch
    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    """

    __slots__ = ("mode",)

    def __init__(self, mode_):
        self.mode = bool(mode_)
        self._before = (mode.grad, mode.inference)
        mode.grad = self.mode

    def _target(self):
        return self.mode, mode.inference

    def _renewed(self):
        return set_grad_enabled(self.mode)

    def __call__(self, function):
        # Decorating must not change the mode that is in force while the function is defined.
        mode.grad = self._before[0]
        return super().__call__(function)

    def __enter__(self):
        mode.grad = self.mode


class inference_mode(_GradContext):
    """Like `no_grad`, and tensors made inside can never enter a recorded graph.

    `mode=False` switches it off again for the enclosed code.
    """

    __slots__ = ("mode",)

    def __new__(cls, mode_=True):
        self = super().__new__(cls)
        if callable(mode_):
            self.mode = True
            return self(mode_)
        return self

    def __init__(self, mode_=True):
        self.mode = bool(mode_)

    def _target(self):
        return (False if self.mode else mode.grad), self.mode

    def _renewed(self):
        return inference_mode(self.mode)
