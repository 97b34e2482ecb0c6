"""The door: a registration states facts about a public function once, above its definition; all else follows from it.

    @public(dtypes=dt.FLOATING + dt.COMPLEX, kernel="logcumsumexp_out_cpu", widen=True, out=EXACT, method=True)
    def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
        return _logcumsumexp(input, check_dim(dim, input._array.ndim))

The annotations say what the arguments may be, in the words of torch's schemas: a call with any other argument raises
torch's TypeError before the function runs. NumPy's names of arguments (`axis`, `keepdims`, `x`) stand for torch's. The
same table, TABLE, gives the Tensor methods and their in-place forms, the stubs and the page of functions. Arguments
that do not fit may override the function (`overridable.py`): the door asks for that before it raises the TypeError.

Two kinds of functions are in the table and not checked at the door. `hot` functions are called so often that a check
would slow programs down: their arguments are checked after an exception (`_hot`), and they check by hand (`refuse`)
arguments for which no exception would come. Operations made by `unary` and `binary` (op.py) are hot. `python` functions
are written in Python in torch too, where nothing checks their arguments at the door either.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index as as_int
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..arguments import extent, in_64_bits, ints_of, is_extent, is_int, is_one_int
from ..errors import kind_of, not_a_tensor, not_implemented, warn
from ..kernels.memory import LARGEST, refusal
from ..seam import UNSEEN, door, door_of_python, known_as, named_as, repeating_door, seam, shown_as, twin
from ..tensor import Tensor, method
from . import late_bound
from .annotations import ANY, LEAST, LISTS, PARAMETERS, Ints, are_ints, is_number, read_annotation
from .in_place import in_place
from .overridable import TABLE, Repeats, answer, has_override
from .promotion import NUMBERS, converted, like_tuple, write_out
from .record_dtypes import in_float32
from .torch_function import PLAIN

__all__ = ["PARAMETERS", "TABLE", "Public", "checked_method", "enter", "method", "public", "reflected", "refuse"]

#: NumPy's name of an argument -> torch's name.
_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other",
                "from": "from_"}               # no Python parameter can have the name "from"

_ALL = dt.INTEGRAL + dt.FLOATING + dt.COMPLEX
#: Classes of arguments that never override a function.
_TAKEN = PLAIN | {tuple, list}


# ------------------------------------------------------------------ the table
def _is_sparse(x):
    return isinstance(x, Tensor) and x._array.__class__ is late_bound.sparse_array


class _SparseKeyword(Exception):
    """An argument by keyword is sparse, and the function is one of dense tensors."""


class Claims(NamedTuple):
    """What a call of a public function does with arrays: see `writes`, `draws`, `shares` and `looks` of `Public`. All
    tensors among its arguments are read, except `out`, which is only written to."""

    writes: tuple[str, ...]
    draws: bool
    shares: bool
    looks: bool


class Public:
    """The facts that a registration states about one public function.

    name      its name in torch's messages
    function  the function as defined, without the checks
    dtypes    kinds of the dtypes that its first tensor may have (dt.FLOATING ...), None: any
    kernel    the name of the kernel in torch's message about another dtype
    widen     bfloat16 is computed in float32 and rounded
    out       the error message for an `out` of another dtype (EXACT ...), "" if any dtype that can be cast is written;
              None: the function handles `out` itself, if it has it
    apart     `out` may not share memory with an input at all; None: it may in any way
    checks    who checks the arguments: "door", "own" (hot) or "Python"
    older     deprecated orders of its arguments, each a string of names: "beta input mat1 mat2"
    methods   the names under which it is a Tensor method, in-place forms among them
    checked   the callables that run `function` behind the checks of the door: the public function and the methods
    any_layout  it handles sparse tensors itself
    elementwise  each element of the result follows from the elements at its place: the in-place form works in pieces
    ints      the positions of its arguments that are ints, known after the first call
    of_batches   the function that takes batches too, once vmap has been used (func/dispatch.py)
    autocast  what autocast does with its arguments (casts.py): "down", "up" or "widest". None: autocast changes
              neither its arguments nor anything that it calls; "within": autocast applies to the functions that it
              calls (users wrote them); "parts": it is made of products, whose arguments it casts itself
    in_python whether torch's function is written in Python, which passes all its arguments on to handlers by name. A
              string: the function of that namespace is, or ("Tensor") the method is
    handed    a function of a call's arguments that returns the arguments which handlers see, where torch's function in
              Python brings them into one form first
    seen      whether handlers see a call; "modes": modes see it, and classes of its arguments do not
    writes    the names of arguments that it may write to, besides `out`. The first argument of a function `name_`, or
              of a function that takes `inplace`, need not be named
    draws     whether it may draw random numbers; a function that takes a generator need not say so
    shares    whether its result may lie in the memory of an argument, as views do, or be an argument. Results of other
              functions are in new memory
    looks     whether the shape of its result, or a Python number that it returns, depends on the values of its
              arguments
    leaves    whether it gives a Python number alone: see `tensor.said`
    repeats   what answers calls like earlier ones (repeats.py), if the function says that the numbers in its tensors
              reach kernels alone; else None
    keyword_kinds  {argument: annotation} of arguments that accept less by keyword than by position
    spread    the method accepts the ints of its list as single arguments too: x.squeeze(0, 1)
    makes     whether its result is put on the default device. By default it is if the function has a parameter
              `device` and its first argument is no tensor
    """

    dtypes: str | None
    out: Any
    autocast: str | None
    makes: bool | None
    classes: Any               # of each positional argument, set when the annotations are read
    of_batches: Any
    handed: Any
    checks: str
    older: tuple[str, ...]
    ints: tuple[int, ...]
    function: Any
    methods: list[str]
    dtypes = out = autocast = makes = classes = of_batches = handed = None
    widen = apart = any_layout = elementwise = in_python = draws = shares = looks = leaves = spread = False
    checks, seen, older, ints, writes, keyword_kinds = "own", True, (), (), "", None

    def __init__(self, function: Callable, name: str | None = None, kernel: str | None = None, repeats: bool = False,
                 **said: Any) -> None:
        self.repeats = Repeats() if repeats else None
        self.name = name or function.__name__
        self.function, self.kernel, self.methods = function, kernel or self.name, []
        for what, value in said.items():
            if what not in vars(Public):
                raise TypeError(f"nothing is known of public functions by the name {what}")
            setattr(self, what, value)

    def claims(self, in_place: bool = False) -> Claims:
        """What a call does with arrays. `in_place`: a call of the in-place form."""
        positional, by_keyword = self.parameters()
        last = self.function.__name__[-1:] == "_" or in_place
        first = positional[:1] if last or "inplace" in positional + by_keyword else ()
        return Claims((*first, *self.writes.split()), self.draws or "generator" in positional + by_keyword,
                      self.shares or bool(first), self.looks)

    def on_default_device(self) -> bool:
        """Whether its result is put on the default device."""
        if self.makes is None:
            positional, by_keyword = self.parameters()
            first = self.function.__annotations__.get(positional[0]) if positional else None
            self.makes = "device" in positional + by_keyword and first != "Tensor"
        return self.makes

    def parameters(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the positional parameters, and of the keyword-only parameters."""
        code = getattr(self.function, "__wrapped__", self.function).__code__        # an op's forward has the parameters
        positional = code.co_varnames[:code.co_argcount]
        return positional, code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]

    def _looks(self):
        """Whether the dtype of the first tensor matters."""
        return self.widen or self.dtypes is not None

    def read(self) -> list:
        """Read the annotations, at the first call. Returns the classes of the positional arguments, in order."""
        positional, by_keyword = self.parameters()
        annotations = self.function.__annotations__ or self.function.__wrapped__.__annotations__
        self._kinds = self._by_keyword = {p: read_annotation(annotations.get(p)) for p in positional + by_keyword}
        if self.keyword_kinds:
            self._by_keyword = {**self._kinds, **{p: read_annotation(kind) for p, kind in self.keyword_kinds.items()}}
        classes = self.classes = [self._kinds[p][0] for p in positional] or [ANY]     # not empty, so it is read once
        classes += [frozenset()] * bool(self.older or self.spread)        # no class fits one argument too many
        self.ints = tuple([i for i, c in enumerate(classes) if c is not ANY and int in c and float not in c])
        return classes

    def kinds(self) -> tuple[str, ...]:
        """How each positional argument is checked, in the words of fitting.py."""
        from . import fitting  # loaded with the first call of a door
        found = []
        for i, p in enumerate(self.parameters()[0]):
            classes, is_int = self._kinds[p][0], i in self.ints
            if classes is ANY:
                found.append(fitting.ANY)
            elif Ints in classes:
                found.append(fitting.INT_OR_INTS if is_int else fitting.INTS)
            elif is_int:
                found.append(fitting.INT)
            else:
                found.append(fitting.TENSOR if Tensor in classes else fitting.OTHER)
        return tuple(found)

    def by_keyword(self) -> dict[str, Any]:
        """The classes of the arguments that may be passed on unchanged by keyword: of all arguments except the first
        one, and `out` if the door writes to it."""
        others = self.parameters()[0][:1] + (("out",) if self.out is not None else ())
        return {name: kind[0] for name, kind in self._by_keyword.items() if name not in others}

    def takes_sparse(self, args: Iterable[Any]) -> bool:
        """Whether an argument, or an item of a tuple or list among the arguments, is sparse and the function is one of
        dense tensors."""
        return not self.any_layout and any([_is_sparse(x) or x.__class__ in (tuple, list) and any(map(_is_sparse, x))
                                            for x in args])

    def check(self, args: Sequence[Any], as_method: bool = False) -> list:
        """The positional arguments, with NumPy's numbers as Python's. TypeError for the first argument that does not
        fit its annotation; `self` of a method does not count as a position."""
        if self.spread and as_method:
            args = self.gathered(args)
        checked = list(args)
        if (self.older or self.spread) and len(args) >= len(self.classes):
            raise TypeError(f"{self.name}() takes {len(self.classes) - 1} positional arguments but {len(args)} were "
                            "given")
        for i, (value, name) in enumerate(zip(args, self._kinds)):
            position = i + (not as_method) or 1
            self._check(value, name, position)
            checked[i] = self._number(value, name, position)
        return checked

    def gathered(self, args: Sequence[Any]) -> Sequence[Any]:
        """The arguments of a method, with its ints in a list if they are given as single arguments. An object with
        `__index__` that counts as no int is always put in a list."""
        first, *rest = args
        if len(rest) > 1 or rest and not is_int(rest[0]) and is_extent(rest[0]):
            return first, ints_of(tuple(rest), self.name, self.parameters()[0][1], 1)
        return args

    def refuse(self, args: Sequence[Any], kwargs: Any = None) -> None:
        """TypeError for the first of the arguments that does not fit its annotation, if there is such an argument."""
        for value, classes in zip(args, self.classes or self.read()):
            if value.__class__ not in classes:
                self.check(args)
        for position, name in enumerate(self._kinds if kwargs else (), 1):
            if name in kwargs:                 # functions in Python pass keyword arguments on by position
                self._check(kwargs[name], name, position if self.in_python else None)

    def reordered(self, args: tuple, kwargs: dict[str, Any], as_method: bool | str) -> tuple[list, dict] | None:
        """The arguments in the current order, with torch's warning, if they are in a deprecated order.
        `as_method`: the function was called as a method, "_": as the in-place method."""
        positional, by_keyword = self.parameters()
        for order in self.older:
            names = order.split()
            if as_method:
                names.remove("input")
                names.insert(0, "input")
            given = {**dict(zip(names, args)), **kwargs}
            given.pop("out", None)
            if list(given) != names or len(args) + len(kwargs) - ("out" in kwargs) != len(names):
                continue
            try:
                for name, value in given.items():
                    self._check(value, name)
            except TypeError:
                continue
            self._warn_of_order(names, positional, by_keyword, as_method)
            rest = {name: value for name, value in {**kwargs, **given}.items() if name not in positional}
            return [given[name] for name in positional], rest
        return None

    def _warn_of_order(self, names, positional, by_keyword, as_method):
        def described(names, keywords):
            keywords = keywords + out
            return ", ".join([f"{self._kinds[name][2]} {name}" for name in names[bool(as_method):]]
                             + ["*"] * bool(keywords) + keywords)
        out = ["Tensor out = None"] * ("out" in by_keyword and not as_method)
        numbers = [f"Number {name} = 1" for name in by_keyword if name != "out"]
        name = self.name + "_" * (as_method == "_")
        warn(f"This overload of {name} is deprecated:\n\t{name}({described(names, [])})\nConsider using one "
             f"of the following signatures instead:\n\t{name}({described(positional, numbers)})")

    def _number(self, value, name, position=None):
        """An argument that was checked, with NumPy's numbers as Python's, and ints checked to fit in 64 bits.

        The cases, by the annotation: anything; a list of ints; bytes; any number; a float, unless a tensor may stand
        there; an Extent, unless it is a tensor that may stand there; an int.
        """
        classes, _, word, extents = self._kinds[name]
        if classes is ANY or value is None:
            return value
        if word == "tuple of ints" and isinstance(value, (tuple, list)):
            if any([n.__class__ is not int or not LEAST <= n <= LARGEST for n in value]):
                return ints_of(value, self.name, name, position, "Extents" in extents)
            return value
        if isinstance(value, bytes):
            return value.decode(errors="replace")
        if complex in classes:
            return value.item() if isinstance(value, Tensor) and Tensor not in classes else dt.number_of(value)
        if float in classes:
            if Tensor not in classes:
                if isinstance(value, Tensor):
                    return value.item()
                if isinstance(value, np.generic):
                    return dt.number_of(value).real
        elif int in classes:
            if "Extent" in extents:
                return extent(value) if Tensor not in classes or not isinstance(value, Tensor) else value
            if is_int(value) or is_one_int(value):
                return in_64_bits(as_int(value))
        return value

    def check_sizes_of_ints(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """torch's error if an argument of a call that failed is an int that does not fit in 64 bits: torch reads all
        ints before it does anything else."""
        for i, (name, value) in enumerate([*zip(self._kinds, args), *kwargs.items()], 1):
            if name not in self._kinds:
                continue
            classes, _, word, _ = self._kinds[name]
            if word == "tuple of ints" and isinstance(value, (tuple, list)) and all(map(is_int, value)):
                ints_of(value, self.name, name, i if i <= len(args) else None)
            if value.__class__ is not int or classes is ANY or int not in classes:
                continue
            if complex in classes:
                dt.check_long(value)
            elif float not in classes:
                in_64_bits(value)

    def failed(self, error: Exception, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Raise torch's error for a call that failed with `error`, if torch has another one: for an int that does not
        fit in 64 bits, or an array that is too large."""
        self.check_sizes_of_ints(args, kwargs)
        if (instead := refusal(error)) is not error:
            raise instead from None

    def _check(self, value, name, position=None, kinds=None):
        classes, fits, word, _ = (kinds or self._kinds)[name]
        if value.__class__ not in classes and not any([fit(value) for fit in fits]):
            if word == "Tensor":
                raise not_a_tensor(self.name, name, position, value)
            if word == "float" and is_number(value, "", dt.COMPLEX):
                raise RuntimeError("value cannot be converted to type double without overflow")
            where = "" if position is None else f" (position {position})"
            given = f"not {kind_of(value)}"
            if word == "tuple of Tensors" and isinstance(value, (tuple, list)):
                i = next(i for i, item in enumerate(value) if not isinstance(item, Tensor))
                raise TypeError(f"expected Tensor as element {i} in argument {(position or 1) - 1}, but got "
                                f"{type(value[i]).__name__}")
            raise TypeError(f"{self.name}(): argument '{name}'{where} must be {word}, {given}")

    def keywords(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments with torch's names for NumPy's. Keyword arguments are checked, and the first argument of the
        function is moved to its position."""
        kinds = self._by_keyword
        for given in [name for name in kwargs if name not in kinds]:
            name = _NUMPY_NAMES.get(given)
            if name in kinds and name not in kwargs:
                kwargs[name] = kwargs.pop(given)
        for name, value in kwargs.items():
            if value.__class__ is int and name in kinds and not LEAST <= value <= LARGEST:
                self.check_sizes_of_ints((), {name: value})
            if name in kinds and value.__class__ not in kinds[name][0]:
                if self.takes_sparse((value,)):
                    raise _SparseKeyword
                self._check(value, name, kinds=kinds)
                kwargs[name] = self._number(value, name)
                if value.__class__ is type:    # dtype=float
                    kwargs[name] = dt.PYTHON_TYPES.get(value, value)
        if not args:
            first = next(iter(kinds), None)
            if first in kwargs and first in self.parameters()[0]:
                args = kwargs.pop(first),
        return args, kwargs

    def compute(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The function's result for arguments that were checked, following `dtypes`, `widen` and `out`."""
        out = kwargs.pop("out", None) if self.out is not None else None
        function = self.of_batches or self.function
        input: Any = args[0] if args else None
        if input is not None and (self.dtypes is not None and input._array.dtype.kind not in self.dtypes
                                  or self._looks() and input._array.dtype in dt.ONLY_STORED):
            raise not_implemented(self.kernel, input)
        dtype = kwargs.get("dtype")            # the dtype to compute in, and the result's
        if self.widen and dtype is dt.bfloat16:
            args, kwargs["dtype"] = (converted(input, dt.BFLOAT16), *args[1:]), None
            result = in_float32(function, *args, **kwargs)
        elif self.widen and dtype is None and any([isinstance(x, Tensor) and x._array.dtype == dt.BFLOAT16
                                                   for x in args]):
            result = in_float32(function, *args, **kwargs)
        else:
            result = function(*args, **kwargs)
        return result if out is None else self._write(out, result, (*args, *kwargs.values()))

    def _write(self, out, result, arguments):
        """Write `result`, a tensor or a tuple of tensors, into `out`."""
        inputs = [] if self.apart is None else [x for x in arguments if isinstance(x, Tensor)]

        def write(out, result):
            return write_out(out, result, *inputs, apart=self.apart, exact=self.out or None)
        if not isinstance(result, tuple):
            return write(out, result)
        if not isinstance(out, (tuple, list)):
            raise TypeError(f"{self.name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
        if len(out) != len(result):
            raise TypeError(f"expected tuple of {len(result)} elements but got {len(out)}")
        return like_tuple(result, list(map(write, out, result)))


# ------------------------------------------------------------------ the decorators
def public(name: str | None = None, *, hot: bool = False, python: bool = False, method: bool | str = False,
           inplace: bool | Callable = False, aliases: str = "", ioperator: str | None = None,
           **said: Any) -> Callable[[Callable], Callable]:
    """Decorator of a public function. The head of this file explains it, `Public` lists what else can be `said`.

    name       its name in torch's messages, if that is not the function's own name: "linalg_det"
    method     True: the Tensor method of the function's name. A string: methods of those names
    inplace    True: the method `name_` too. A function: makes the in-place form of this function (in_place.py)
    aliases    other names of the method, operators among them, and of its in-place form
    ioperator  the operator that is the in-place form: "__iadd__"
    """
    def decorate(function):
        record = Public(function, name, **{"in_python": python, **said})
        if hot or python:
            record.checks = "Python" if python else "own"
            call = for_tensor = _hot(record, function) if hot else _guarded(function, record.repeats)
        else:
            record.checks, call = "door", _checked(record, function)
            for_tensor = _checked(record, function, True) if method or inplace else call
        known_as(call)
        make = inplace
        if inplace and record.older:           # the warning about a deprecated order names the method
            make = lambda _: (in_place if inplace is True else inplace)(_checked(record, function, "_"))
        enter(record, call, method, make, aliases, ioperator, for_tensor)
        return call
    return decorate


def checked_method(function: Callable) -> Callable:
    """Decorator: the Tensor method of the function's name, which is no function of torch. The door checks its arguments
    by the annotations."""
    call = known_as(_checked(Public(function), function, True))
    setattr(Tensor, function.__name__, call)
    return call


def enter(record: Public, call: Any, method: bool | str = True, inplace: bool | Callable = False,
          aliases: str = "", ioperator: str | None = None, for_tensor: Any = None) -> None:
    """Enter a function in the table, and make it the Tensor methods that are asked for. `for_tensor` is the callable
    for methods, which counts positions of arguments as a method does; by default `call` itself."""
    TABLE[call] = call.record = record
    for_tensor = for_tensor or call
    for_tensor.record = record
    names = method.split() if isinstance(method, str) else [call.__name__] * method
    if names:
        first, *others = names + aliases.split()
        if for_tensor is call or inplace or record.older:      # (the function for a deprecated order calls itself)
            _set(record, for_tensor, [first])
        else:                                  # `for_tensor` has no other use, so no copy of it is needed
            setattr(Tensor, first, shown_as(first, for_tensor))
            record.methods.append(first)
        _set(record, for_tensor, others)
    if inplace:
        if for_tensor is call:
            for_tensor = twin(call, seen=False)        # handlers see the in-place form, not the function in it
        if record.elementwise:
            for_tensor.elementwise = True
        changing: Any = inplace(for_tensor) if callable(inplace) else in_place(for_tensor)
        _set(record, changing, [changing.__name__] + [alias + "_" for alias in aliases.split() if alias[:2] != "__"])
        if ioperator:
            _set(record, changing.as_operator, [ioperator], changing.__name__)


def _set(record, call, names, shown=None):
    for name in names:
        made: Any = twin(call, name)
        if name[:2] == "__":
            made.said = {"shown": shown or call.__name__}
        setattr(Tensor, name, made)
        record.methods.append(name)


def reflected(function: Callable) -> Callable:
    """The operator for a number on the left: other OP self."""

    public: Any = None

    def call(self, other):
        if seam.up and public is not None and (seen := seam.see(public, (self, other), {})) is not UNSEEN:
            return seen
        if isinstance(other, (Tensor, *NUMBERS)) and isinstance(self, (Tensor, *NUMBERS)):
            return function(other, self)
        return answer(public, (self, other)) if has_override(call, (other,)) else NotImplemented
    return call


def refuse(function: Callable, *args: Any) -> None:
    """Raise torch's TypeError for the first argument of a hot function that does not fit its annotation; return if all
    fit."""
    TABLE[function].refuse(args)


def _hot(record, function):
    """The door of a function that checks little before it computes. After an exception it checks the arguments, since
    one of them may be the cause."""
    def failed(public, error, args, kwargs):
        if record.spread and public is not call and (gathered := record.gathered(args)) is not args:
            return function(*gathered, **kwargs)
        if error.__traceback__.tb_next is None:                # the arguments do not match the signature
            raise
        if has_override(call, args, kwargs):
            return answer(public, args, kwargs)
        if isinstance(error, TypeError) and "(): argument '" in str(error):
            raise                              # the function has checked its arguments itself
        if (instead := refusal(error)) is not error:
            raise instead from None
        if record.checks != "Python" and (record.in_python is not True or isinstance(error, AttributeError)):
            record.refuse(args, kwargs)        # torch's Python code may raise its own errors before it checks types
        raise
    if record.in_python is True:
        call = door_of_python(function, failed, record.repeats)
    elif record.repeats is not None:
        call = repeating_door(function, failed, record.repeats)
    else:
        call = door(function, failed)
    return call


def _guarded(function, repeats):
    """The door of a function in Python that may fail for arguments which override it: then the override answers."""
    public: Any = None

    def call(*args, **kwargs):
        if seam.up:
            if public is not None and (seen := seam.see(public, args, kwargs)) is not UNSEEN:
                return seen
        else:
            if repeats is not None:
                key = (len(args), *args, *kwargs, *kwargs.values()) if kwargs else args
                if (found := repeats.again(key)) is not None:
                    return repeats.learn(key, function, args, kwargs) if found is True else found
            for x in args:                     # ask first: the function may warn, or write, before it fails
                if x.__class__ not in _TAKEN and has_override(call, args, kwargs):
                    return answer(public, args, kwargs)
        try:
            return function(*args, **kwargs)
        except (AttributeError, RuntimeError, TypeError, ValueError):
            if has_override(call, args, kwargs):
                return answer(public, args, kwargs)
            raise
    return named_as(function, call)


def _checked(record, function, as_method=False):
    """The door that checks all arguments. At its first call it gets generated code for calls whose arguments fit
    (fitting.py), which has the same free variables as `call` here. All other calls go to `fallback`."""
    writes, looks = record.out is not None, record._looks()
    plain: Any = None
    if looks:                                  # `plain`: kinds of dtypes that are computed without conversion
        plain = (record.dtypes or _ALL).replace(dt.WIDENED, "")
    failed = record.failed
    repeats = record.repeats
    classes: list[Any] = []
    keywords: dict[str, Any] = {}

    def fallback(public, args, kwargs):
        # The cases, in order: the seam answers; arguments are checked and converted, and named as torch names them; a
        # sparse argument goes to the sparse functions; arguments in a deprecated order are put in today's, arguments
        # that override step in, else the TypeError goes out; `out`, bfloat16 and dtypes that need conversion go to
        # `compute`; the function is called, and after an exception `failed` looks for torch's.
        if (up := seam.up) and public is not None and (seen := seam.see(public, args, kwargs)) is not UNSEEN:
            return seen
        try:
            for value, fitting in zip(args, record.classes or record.read()):
                if value.__class__ not in fitting:
                    if value.__class__ in LISTS and Ints in fitting and are_ints(value):
                        continue
                    if record.takes_sparse(args):
                        return late_bound.sparse(record.name, args, kwargs)
                    args = record.check(args, as_method)
                    break
            for i in record.ints:
                if i < len(args):
                    n = args[i]
                    if n.__class__ is int and not LEAST <= n <= LARGEST:
                        record.check_sizes_of_ints(args, {})
            if kwargs:
                args, kwargs = record.keywords(args, kwargs)
        except _SparseKeyword:
            return late_bound.sparse(record.name, args, kwargs)
        except TypeError:
            if record.older and (found := record.reordered(args, kwargs, as_method)):
                return first(*found[0], **found[1])
            if has_override(fallback, args, kwargs):      # the generated code calls `fallback`
                return answer(public, args, kwargs)
            raise
        if kwargs:
            if writes and "out" in kwargs or kwargs.get("dtype") is dt.bfloat16:
                return record.compute(args, kwargs)
        try:
            if looks and args and args[0]._array.dtype.kind not in plain:
                return record.compute(args, kwargs)
            compute = record.of_batches or function if up else function
            return compute(*args, **kwargs) if kwargs else compute(*args)      # the second makes no dictionary
        except Exception as error:
            failed(error, args, kwargs)
            raise

    public: Any = None
    own: Any = None

    def call(*args, **kwargs):
        def free():                            # names the free variables that the generated code reads
            return fallback, classes, failed, function, keywords, plain, public, repeats
        if not classes:
            record.read()
            keywords.update(record.by_keyword())
            classes[:] = record.classes
        from .fitting import code  # loaded with the first call of a door
        own.__code__ = code(record.kinds(), looks, repeats is not None, own.__code__.co_freevars)
        return own(*args, **kwargs)
    call.elementwise = record.elementwise      # type: ignore[attr-defined]
    own = first = named_as(function, call)
    return call
