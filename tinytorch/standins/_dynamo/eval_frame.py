"""torch._dynamo.eval_frame: `torch.compile`, and the class of a compiled module."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._inductor import config as inductor_config
from ..capture.compiled import Compiled, reset, settings
from ..capture.quick import MISSED
from ..nn import Module
from .exc import InvalidBackend
from .traced_for import TracedFor

__all__ = ["OptimizedModule", "compile", "is_dynamo_supported", "list_backends", "optimize", "reset"]

#: {name of a backend: its tags}. All names stand for the same backend.
_BACKENDS = {"inductor": (), "cudagraphs": (), **dict.fromkeys((
    "aot_eager", "eager", "aot_eager_decomp_partition", "eager_noexcept", "eager_debug", "ts", "aot_ts"), ("debug",))}
#: {mode: whether programs are lowered to native kernels, whose results may differ in the last digits}.
_MODES = {"default": False, "lite": False, "reduce-overhead": True, "max-autotune-no-cudagraphs": True,
          "max-autotune": True}
_registered: dict[str, Callable] = {}


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names for `backend` of torch.compile, without those that have one of these tags."""
    excluded = set(exclude_tags or ())
    return sorted([name for name, tags in _BACKENDS.items() if not excluded.intersection(tags)] + list(_registered))


def register_backend(compiler_fn: Callable | None = None, name: str | None = None, tags: Any = ()) -> Callable:
    """Registers a function of a graph and its inputs as a backend. Without a function, a decorator."""
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    _registered[name or compiler_fn.__name__] = compiler_fn
    return compiler_fn


def lookup_backend(compiler_fn: str | Callable) -> str | Callable:
    """The function of a backend, or the name of a built-in backend. InvalidBackend for an unknown name."""
    if isinstance(compiler_fn, str):
        if compiler_fn in _registered:
            return _registered[compiler_fn]
        if compiler_fn not in _BACKENDS:
            raise InvalidBackend(compiler_fn)
    return compiler_fn


def compile(model: Callable | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: str | Callable | None = None, mode: str | None = None, options: dict | None = None,
            name: str | None = None, disable: bool = False, recompile_limit: int | None = None,
            isolate_recompiles: bool = False, shapes_spec: Any = None) -> Callable:
    """A function or module that computes the same as `model`, after a few calls without running its Python code.

    The first calls with arguments of one kind (their structure, the layout of their tensors) run as usual, and their
    computations are recorded as a program: forward, backward, and an optimiser's step. If two calls give the same
    program, it is replayed from then on, with the same bits. A call that depends on numbers in Python (item, an `if` on
    a tensor), or has side effects beyond computing, always runs as usual; with `fullgraph` it is an error. `model` may
    be a whole training step.

    fullgraph  whether a call that cannot be recorded raises Unsupported, already the first call
    backend    "inductor", "eager" or another name of `torch._dynamo.list_backends()`, which all mean the same; or a
               function of an fx.GraphModule and the list of its inputs that returns the function to call
    mode       "default"; "reduce-overhead" and "max-autotune": programs are lowered to native kernels where possible,
               and results may differ in the last digits. RuntimeError for another mode
    options    settings of `torch._inductor.config`, which change nothing; not together with `mode`
    dynamic    bool or None; changes nothing: each shape has its own program
    disable    whether `model` itself is returned
    recompile_limit    the largest number of programs of this function, instead of
               `torch._dynamo.config.cache_size_limit`

    Without `model`, a decorator. InvalidBackend for an unknown backend, AssertionError for an object that is not
    callable.

    >>> import tinytorch as torch
    >>> model = torch.nn.Linear(2, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> @torch.compile
    ... def step(x, y):
    ...     optimizer.zero_grad()
    ...     loss = (model(x) - y).square().mean()
    ...     loss.backward()
    ...     optimizer.step()
    ...     return loss
    >>> losses = [step(torch.ones(4, 2), torch.ones(4, 1)).item() for _ in range(5)]
    >>> losses[4] < losses[0]
    True
    """
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
                                 options=options, name=name, disable=disable, recompile_limit=recompile_limit)
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if disable:
        return model
    _check_inductor_options(options or {})
    if dynamic is not None and not isinstance(dynamic, bool):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    if backend is None:
        backend = settings.backend
    if backend == "inductor" and mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    backend = lookup_backend(backend)
    native = _MODES.get(mode or "default", False)
    if isinstance(model, OptimizedModule):
        model = model._orig_mod
    if isinstance(model, Module):
        return OptimizedModule(model, _maker(backend, fullgraph, native, recompile_limit))
    if isinstance(model, type):
        return model
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    return _as_function(model, _maker(backend, fullgraph, native, recompile_limit)(model))


def _check_inductor_options(options):
    known = [key for key in vars(inductor_config) if key[0] != "_"]
    for option in dict(options.items()):
        if option.replace("-", "_").partition(".")[0] not in known:
            raise RuntimeError(f"Unexpected optimization option {option}, known options are {known}")


def optimize(backend: str | Callable = "inductor", *args: Any, nopython: bool = False, dynamic: bool | None = None,
             **kwargs: Any) -> Callable:
    """A decorator that compiles a function: see torch.compile."""
    return functools.partial(compile, backend=backend, fullgraph=nopython, dynamic=dynamic)


def _maker(backend, fullgraph, native, limit):
    """A function of a callable that returns its compiled form."""
    if callable(backend):
        return lambda function: TracedFor(function, backend, fullgraph)
    return lambda function: Compiled(function, fullgraph, native, limit=limit)


def _as_function(function, compiled):
    """A function that calls a compiled callable. It tries the callable's short ways itself, which saves a call."""
    ways = compiled.quick if compiled.__class__ is Compiled else ()

    def call(*args, **kwargs):
        if not kwargs:
            for way in ways:
                if (result := way.run(compiled, args)) is not MISSED:
                    return result
        return compiled(*args, **kwargs)
    functools.update_wrapper(call, function)
    call._torchdynamo_orig_callable, call._compiled = function, compiled
    return call


#: The attributes of an OptimizedModule itself. All others belong to its module.
_OWN = {"_orig_mod", "_compiled", "_make", "forward"}


class OptimizedModule(Module):
    """A compiled module. It reads and sets the attributes of the original module, `_orig_mod`; its call is compiled.

    >>> import tinytorch as torch
    >>> model = torch.compile(torch.nn.Linear(2, 1))
    >>> list(model.state_dict()), model.in_features
    (['_orig_mod.weight', '_orig_mod.bias'], 2)
    """

    def __init__(self, mod, make=None):
        super().__init__()
        self.__dict__.pop("training", None)
        self._modules["_orig_mod"] = mod
        self.__dict__["_make"] = make or _maker("inductor", False, False, None)
        self._start()

    def _start(self):
        self.__dict__["_compiled"] = self.__dict__["_make"](self._modules["_orig_mod"])

    def __call__(self, *args, **kwargs):
        if self._hooked:
            return super().__call__(*args, **kwargs)
        return self.__dict__["_compiled"](*args, **kwargs)

    def forward(self, *args, **kwargs):
        """The result of the module."""
        return self.__dict__["_compiled"](*args, **kwargs)

    @property
    def training(self):
        return self._modules["_orig_mod"].training

    @training.setter
    def training(self, value):
        if "_orig_mod" in self._modules:
            self._modules["_orig_mod"].training = value

    def __getattr__(self, name):
        own = self.__dict__.get("_modules", {})
        if name == "_orig_mod" and "_orig_mod" in own:
            return own["_orig_mod"]
        if "_orig_mod" not in own:
            raise AttributeError(f"'OptimizedModule' object has no attribute '{name}'")
        return getattr(own["_orig_mod"], name)

    def __setattr__(self, name, value):
        if name in _OWN or name in self.__dict__ or name == "training":
            super().__setattr__(name, value)
        else:
            setattr(self._modules["_orig_mod"], name, value)

    def __delattr__(self, name):
        if name in _OWN or name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(self._modules["_orig_mod"], name)

    def __getstate__(self):
        state = dict(self.__dict__)
        state.pop("_compiled", None)
        state.pop("_make", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.__dict__["_make"] = _maker("inductor", False, False, None)
        self._start()

    def __dir__(self):
        return [*super().__dir__(), *dir(self._modules["_orig_mod"])]

    def __reduce__(self):
        return _rebuilt, (), self.__getstate__()


OptimizedModule.__module__ = "torch._dynamo.eval_frame"


def _rebuilt():
    return OptimizedModule.__new__(OptimizedModule)


def is_dynamo_supported() -> bool:
    """False: there is no compiler for Python's bytecode."""
    return False
