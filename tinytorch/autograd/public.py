"""The door: what a public function says of itself, once, above its definition, and what follows from it.

    @public(dtypes=dt.FLOATING + dt.COMPLEX, kernel="logcumsumexp_out_cpu", widen=True, out=EXACT, method=True)
    def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
        return _logcumsumexp(input, check_dim(dim, input.array.ndim))

The annotations say what the arguments may be, in the words of torch's schemas: a call with anything else is torch's
TypeError before the function runs. NumPy's names of arguments (`axis`, `keepdims`, `x`) are taken for torch's. From the
same table, TABLE, come the Tensor methods and their in-place forms and the stubs.

Two kinds of functions are entered in the table and not wrapped. `hot` ones are called so often that a wrapper would be
felt, and check by hand (`refuse`); operations made by `unary` and `binary` (op.py) are hot. `python` ones are written
in Python in torch, where nothing is checked at the door either.
"""
import numpy as np

from .. import dtypes as dt
from ..errors import not_a_tensor, not_implemented
from ..tensor import Tensor
from .in_place import in_place
from .promotion import OPERANDS, converted, write_out

#: Every public function, as it is called -> Public.
TABLE = {}

#: What NumPy calls an argument, and torch.
_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other",
                "from": "from_"}               # which no parameter can be called in Python

_FLOAT32 = np.dtype(np.float32)


# ------------------------------------------------------------------ what arguments may be
def _is_number(x, kinds, fitting):
    """Whether `x` is a NumPy number of `kinds`, or a tensor without dimensions that torch takes for a number."""
    if isinstance(x, Tensor):
        return not x.array.ndim and not x.requires_grad and x.array.dtype.kind in fitting
    return isinstance(x, np.generic) and x.dtype.kind in kinds


def _is_int(x):
    return x.__class__ is int or isinstance(x, int) and not isinstance(x, bool) or _is_number(x, "iu", "iu")


def _is_float(x):
    return isinstance(x, (float, int)) or _is_number(x, "iuf", "biufV")


def _is_sequence(x, fits):
    return isinstance(x, (tuple, list)) and all([fits(item) for item in x])


def _is_tensor(x):
    return isinstance(x, Tensor)


#: Annotation -> (classes that will do, whether a value of another class does, torch's word for it).
KINDS = {
    "Tensor": ((Tensor,), _is_tensor, "Tensor"),
    "Tensors": ((), lambda x: _is_sequence(x, _is_tensor), "tuple of Tensors"),
    "int": ((int,), _is_int, "int"),
    "Ints": ((), lambda x: isinstance(x, (tuple, list)) and (not x or hasattr(x[0], "__index__")), "tuple of ints"),
    "float": ((float, int), _is_float, "float"),
    "Number": ((float, int, bool, complex), lambda x: _is_number(x, "biufc", "biufcV"), "Number"),
    "bool": ((bool,), lambda x: isinstance(x, np.bool_), "bool"),
    "str": ((str,), lambda x: isinstance(x, str), "str"),
    "dt.dtype": ((dt.dtype,), lambda x: False, "torch.dtype"),
    "None": ((type(None),), lambda x: False, ""),
}


class _Any:
    """The classes of an argument that may be anything."""

    def __contains__(self, given):
        return True


_ANY = _Any()


def _read(annotation):
    """(classes, functions that say whether another value fits, torch's word) of an annotation as it stands in the
    source."""
    kinds = [KINDS.get(name.strip()) for name in (annotation or "").split("|")]
    if None in kinds:
        return _ANY, (), ""
    return frozenset([c for kind in kinds for c in kind[0]]), [kind[1] for kind in kinds], kinds[0][2]


# ------------------------------------------------------------------ the table
class Public:
    """What is known of one public function.

    name      in torch's messages
    function  as defined; `call`: as called, with the checks
    dtypes    kinds of the dtypes that its first tensor may have (dt.FLOATING ...), None: any
    kernel    what torch's message about another dtype calls the routine
    widen     bfloat16 is computed in float32 and rounded
    out       the words of the error for an `out` of another dtype (EXACT ...), "" if what can be cast may be written;
              None: the function sees to `out` itself, if it has it
    apart     `out` may not share memory with an input at all; None: it may in any way
    methods   the names under which it is a Tensor method, in-place forms among them
    """

    __slots__ = ("name", "function", "dtypes", "kernel", "widen", "out", "apart", "methods", "classes", "_kinds")

    def __init__(self, function, name=None, dtypes=None, kernel=None, widen=False, out=None, apart=False):
        self.name, self.function, self.methods, self.classes = name or function.__name__, function, [], None
        self.dtypes, self.kernel, self.widen, self.out, self.apart = dtypes, kernel or self.name, widen, out, apart

    def parameters(self):
        """Names of the positional parameters, and of those by keyword."""
        code = getattr(self.function, "__wrapped__", self.function).__code__
        positional = code.co_varnames[:code.co_argcount]
        return positional, code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]

    def read(self):
        """Reads the annotations, at the first call: the classes of the positional arguments, in order."""
        positional, by_keyword = self.parameters()
        annotations = self.function.__annotations__
        self._kinds = {p: _read(annotations.get(p)) for p in positional + by_keyword}
        classes = self.classes = [self._kinds[p][0] for p in positional]
        return classes

    def check(self, args):
        """TypeError for the first positional argument that is not what the annotation says."""
        for i, (value, name) in enumerate(zip(args, self._kinds), 1):
            self._check(value, name, i)

    def _check(self, value, name, position=None):
        classes, fits, word = self._kinds[name]
        if value.__class__ not in classes and not any([fit(value) for fit in fits]):
            if word == "Tensor":
                raise not_a_tensor(self.name, name, position, value)
            where = "" if position is None else f" (position {position})"
            raise TypeError(f"{self.name}(): argument '{name}'{where} must be {word}, not {type(value).__name__}")

    def keywords(self, args, kwargs):
        """The arguments with torch's names for NumPy's, those by keyword checked, the first one by position."""
        for numpy, name in _NUMPY_NAMES.items():
            if numpy in kwargs and numpy not in self._kinds and name in self._kinds and name not in kwargs:
                kwargs[name] = kwargs.pop(numpy)
        for name, value in kwargs.items():
            if name in self._kinds:
                self._check(value, name)
        first = next(iter(self._kinds), None)
        if not args and first in kwargs and first in self.parameters()[0]:
            args = kwargs.pop(first),
        return args, kwargs

    def compute(self, args, kwargs):
        """The function's result for arguments that were checked, by what is said of dtypes and `out`."""
        out = kwargs.pop("out", None) if self.out is not None else None
        function, input = self.function, args[0] if args else None
        if self.dtypes is not None and input is not None and input.array.dtype.kind not in self.dtypes:
            raise not_implemented(self.kernel, input)
        if self.widen and any([isinstance(x, Tensor) and x.array.dtype.kind == "V" for x in args]):
            result = _in_float32(function, args, kwargs)
        else:
            result = function(*args, **kwargs)
        if out is None:
            return result
        inputs = [] if self.apart is None else [x for x in args if isinstance(x, Tensor)]

        def write(out, result):
            return write_out(out, result, *inputs, apart=self.apart, exact=self.out or None, level=5)
        if not isinstance(result, tuple):
            return write(out, result)
        if not isinstance(out, (tuple, list)):
            raise TypeError(f"{self.name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
        return _like(result, list(map(write, out, result)))    # here: `level` counts


def _in_float32(function, args, kwargs):
    """bfloat16: computed in float32, and what comes out in that rounded."""
    wide = [converted(x, _FLOAT32) if isinstance(x, Tensor) and x.array.dtype == dt.BFLOAT16 else x for x in args]
    result = function(*wide, **kwargs)
    return _like(result, map(_rounded, result)) if isinstance(result, tuple) else _rounded(result)


def _rounded(x):
    return converted(x, dt.BFLOAT16) if isinstance(x, Tensor) and x.array.dtype == _FLOAT32 else x


def _like(result, values):
    """A tuple, or a named one, of other values."""
    return type(result)(*values) if hasattr(result, "_fields") else tuple(values)


# ------------------------------------------------------------------ the decorators
def public(name=None, *, hot=False, python=False, method=False, inplace=False, aliases="", ioperator=None, **said):
    """Decorator of a public function; see the head of this file, and `Public` for what else can be `said`.

    name       in torch's messages, where it is not the function's own: "linalg_det"
    method     True: the Tensor method of the function's name. A string: methods of those names
    inplace    True: the method `name_` too. A function: what makes it of this one (in_place.py)
    aliases    other names of the method, operators among them, and of its in-place form
    ioperator  the operator that is the in-place form: "__iadd__"
    """
    def decorate(function):
        record = Public(function, name, **said)
        call = function if hot or python else _checked(record, function)
        enter(record, call, method, inplace, aliases, ioperator)
        return call
    return decorate


def enter(record, call, method=True, inplace=False, aliases="", ioperator=None):
    """Enters a function in the table, and makes it the Tensor methods that are asked for."""
    TABLE[call] = record
    names = method.split() if isinstance(method, str) else [call.__name__] * method
    _set(record, call, names + aliases.split() * bool(names))
    if inplace:
        changing = in_place(call) if inplace is True else inplace(call)
        names = [changing.__name__] + [alias + "_" for alias in aliases.split() if alias[:2] != "__"]
        _set(record, changing, names + ([ioperator] if ioperator else []))


def _set(record, call, names):
    for name in names:
        setattr(Tensor, name, call)
        record.methods.append(name)


def method(*names):
    """Decorator: the Tensor method of these names (its own, if none is given), which is no function of torch."""
    def decorate(function):
        for name in names or (function.__name__,):
            setattr(Tensor, name, function)
        return function
    return decorate


def reflected(function):
    """The operator for a number on the left: other OP self."""
    def call(self, other):
        return function(other, self) if isinstance(other, (Tensor, *OPERANDS)) else NotImplemented
    return call


def refuse(function, *args):
    """Raise torch's TypeError for the first of the arguments of a hot function that is not what its annotation says;
    return if there is none."""
    record = TABLE[function]
    record.read()
    record.check(args)


def _checked(record, function):
    writes = record.out is not None
    plain = record.dtypes or dt.BOOL + dt.INTEGER + dt.FLOATING + dt.COMPLEX       # kinds to be computed as they are
    if record.widen:
        plain = plain.replace(dt.WIDENED, "")
    looks = record.widen or record.dtypes is not None

    def call(*args, **kwargs):
        known = record.classes
        for value, classes in zip(args, record.read() if known is None else known):    # f(*sizes): known, and empty
            if value.__class__ not in classes:
                record.check(args)
                break
        if kwargs:
            args, kwargs = record.keywords(args, kwargs)
            if writes and "out" in kwargs:
                return record.compute(args, kwargs)
        if looks and args and args[0].array.dtype.kind not in plain:
            return record.compute(args, kwargs)
        return function(*args, **kwargs)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__"):
        setattr(call, name, getattr(function, name))
    call.__wrapped__ = function                # whose source and signature inspect shows
    return call


def attach(function, method=True, inplace=False):
    enter(Public(function), function, method, inplace)


def methods(*functions, inplace=()):
    for function in functions:
        attach(function)
    for function in inplace:
        attach(function, True, True)
