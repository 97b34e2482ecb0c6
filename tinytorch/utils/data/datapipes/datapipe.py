"""IterDataPipe and MapDataPipe: datasets with a method for each kind of next step."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..dataset import Dataset, IterableDataset

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "argument_validation", "functional_datapipe",
           "guaranteed_datapipes_determinism", "non_deterministic", "runtime_validation",
           "runtime_validation_disabled"]


# ------------------------------------------------------------------ iterators: a pipe has one at a time
class _OneIterator:
    """The iterator of a pipe. It raises RuntimeError once the same pipe has another iterator."""

    def __init__(self, pipe: IterDataPipe, made: Iterator) -> None:
        self._pipe, self._made, self._number = pipe, made, pipe._valid_iterator_id

    def __iter__(self) -> _OneIterator:
        return self

    def __next__(self) -> Any:
        if self._pipe._valid_iterator_id != self._number:
            raise RuntimeError(
                "This iterator has been invalidated because another iterator has been created from the same "
                f"IterDataPipe: {self._pipe!r}\nThis may be caused multiple references to the same IterDataPipe. We "
                "recommend using `.fork()` if that is necessary.")
        return next(self._made)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)


def _one_at_a_time(function):
    @functools.wraps(function)
    def __iter__(self):
        if getattr(self, "_inside", False):    # a class calls the `__iter__` of its base
            return function(self)
        self._valid_iterator_id += 1
        self.reset()
        try:
            self._inside = True
            made = function(self)
        finally:
            self._inside = False
        return _OneIterator(self, made)
    return __iter__


class _Pipe:
    """The base of both kinds of pipes: registered functions, each of which makes a new pipe from this pipe."""

    functions: dict[str, Callable] = {}

    def __getattr__(self, name: str) -> Any:
        found = type(self).functions.get(name)
        if found is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        made = functools.partial(found, self)
        functools.update_wrapper(made, found, assigned=("__doc__",))
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_inside"}

    def __repr__(self) -> str:
        return type(self).__qualname__

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *type(self).functions]

    @classmethod
    def register_function(cls, function_name: str, function: Callable) -> None:
        """Makes `pipe.name(...)` call function(pipe, ...)."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name: str, cls_to_register: type,
                                      enable_df_api_tracing: bool = False) -> None:
        """Makes `pipe.name(...)` return a pipe of another class. Exception for a name that is in use."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")

        def function(source, *args, **kwargs):
            return cls_to_register(source, *args, **kwargs)
        function.__doc__ = cls_to_register.__doc__
        cls.functions[function_name] = function


class IterDataPipe(_Pipe, IterableDataset):
    """Base class of datasets that are read in order. Subclasses define `__iter__`. A pipe has one iterator at a time: a
    new iterator calls `reset`, and the former iterator raises RuntimeError from then on.

    >>> from tinytorch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(5)).map(lambda x: x * x).batch(2))
    [[0, 1], [4, 9], [16]]
    """

    functions: dict[str, Callable] = {}
    _valid_iterator_id = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__iter__" in vars(cls):
            cls.__iter__ = _one_at_a_time(vars(cls)["__iter__"])       # type: ignore[method-assign]

    def __iter__(self) -> Iterator:
        return self

    def reset(self) -> None:
        """Resets the state of a subclass. It is called before each iteration."""


class DFIterDataPipe(IterDataPipe):
    """Base class of pipes of data frames."""


class MapDataPipe(_Pipe, Dataset):
    """Base class of datasets with items by key. Subclasses define `__getitem__`.

    >>> from tinytorch.utils.data.datapipes.map import SequenceWrapper
    >>> list(SequenceWrapper(range(3)).map(lambda x: x * x))
    [0, 1, 4]
    """

    functions: dict[str, Callable] = {}

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError


class functional_datapipe:
    """Decorator of a class of pipes: all pipes of its kind get a method of this name, which makes a pipe of the class.
    Classes that are not pipes stay as they are.

    >>> @functional_datapipe("doubled")
    ... class Doubled(IterDataPipe):
    ...     def __init__(self, source):
    ...         self.source = source
    ...     def __iter__(self):
    ...         for x in self.source:
    ...             yield 2 * x
    >>> from tinytorch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([1, 2]).doubled())
    [2, 4]
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls: type) -> type:
        for kind in (IterDataPipe, MapDataPipe):
            if isinstance(cls, type) and issubclass(cls, kind):
                kind.register_datapipe_as_function(self.name, cls)
                break
        return cls


class DataChunk(list):
    """A list of items that a pipe yields as one item."""

    def __init__(self, items: Iterable) -> None:
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        """The items as text."""
        return indent + "[" + ", ".join([str(i) for i in iter(self)]) + "]"

    def raw_iterator(self) -> Iterator:
        """The items."""
        yield from self.items


# ------------------------------------------------------------------ declarations
class guaranteed_datapipes_determinism:
    """A context in which making a pipe that is not deterministic raises TypeError."""

    _on = False

    def __enter__(self) -> None:
        guaranteed_datapipes_determinism._on = True

    def __exit__(self, *error: Any) -> None:
        guaranteed_datapipes_determinism._on = False


class non_deterministic:
    """Decorator of a class of pipes that are not deterministic, or of a function of the arguments that says whether a
    pipe is. Within `guaranteed_datapipes_determinism` such a pipe raises TypeError when it is made."""

    def __init__(self, arg: Any) -> None:
        self.cls = arg if isinstance(arg, type) and issubclass(arg, IterDataPipe) else None
        self.deterministic_fn: Any = None if self.cls else arg
        if self.cls is None and not callable(arg):
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.cls is not None:
            return self._made(self.cls, True, args, kwargs)
        cls = args[0]
        if not isinstance(cls, type) or not issubclass(cls, IterDataPipe):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {cls.__name__} is found")
        return lambda *args, **kwargs: self._made(cls, self.deterministic_fn(*args, **kwargs), args, kwargs)

    @staticmethod
    def _made(cls, refused, args, kwargs):
        if refused and guaranteed_datapipes_determinism._on:
            raise TypeError(f"{cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. You "
                            "can turn off determinism for this DataPipe if that is acceptable for your application")
        return cls(*args, **kwargs)


def argument_validation(f: Callable) -> Callable:
    """The function itself: annotations of pipes are not checked. TypeError for an object that is not callable."""
    if not callable(f):
        raise TypeError(f"{f} is not a callable object")
    return f


def runtime_validation(f: Callable) -> Callable:
    """The `__iter__` itself: the items of pipes are not checked. TypeError for another function."""
    if f.__name__ != "__iter__":
        raise TypeError("Can not decorate function " + f.__name__ + " with 'runtime_validation'")
    return f


class runtime_validation_disabled:
    """A context that changes nothing: the items of pipes are not checked."""

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(self, *error: Any) -> None:
        """Nothing."""
