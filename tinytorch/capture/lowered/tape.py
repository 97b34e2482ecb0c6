"""Records operations on the arrays of a program as calls of kernels in C.

The tape receives NumPy functions, methods of arrays and calls of kernels (arrays.py, world.py). It records them as
`Call`s and `Each`es of places in memory. An operation without a kernel raises NotLowered.
"""
from __future__ import annotations

import functools
from math import prod
from typing import Any

import numpy as np

from ...kernels import expressions, native
from ...kernels.expressions import _COMPARISONS as COMPARISONS
from ...kernels.native.table import KERNELS, parsed
from .arrays import NotLowered, Place, Reading, Root, Traced
from .sums import InNumpy, Sums

__all__ = ["Call", "Each", "InNumpy", "Tape"]

_FLOAT, _DOUBLE, _BOOL, _LONG = map(np.dtype, (np.float32, np.float64, np.bool_, np.int64))


class Call:
    """A call of a kernel or of a step of native/replay.c. Its words are numbers, Readings, Elements, Places and None.
    `reads` and `writes` are sets of roots."""

    __slots__ = ("name", "words", "reads", "writes")

    def __init__(self, name, words, reads, writes):
        self.name, self.words = name, list(words)
        self.reads, self.writes = reads, writes

    def places(self):
        return [x if x.__class__ is Place else x.place for x in self.words if x.__class__ in (Place, Element)]


class Element:
    """A number argument of a call that is the only element of a place."""

    __slots__ = ("place",)

    def __init__(self, place):
        self.place = place


class Each:
    """An elementwise operation of the machine of elementwise.c. Its operands are numbers and Places of the shape of
    `out`, where strides of 0 broadcast."""

    __slots__ = ("name", "operands", "out")

    def __init__(self, name, operands, out):
        self.name, self.operands, self.out = name, operands, out

    @property
    def reads(self):
        return {x.root for x in self.operands if x.__class__ is Place}

    @property
    def writes(self):
        return {self.out.root}

    def places(self):
        return [*[x for x in self.operands if x.__class__ is Place], self.out]


#: NumPy's functions as operations of the machine: {function: operation}, or {function: (operation, *operands)}, where
#: an int is the index of an input and a float is a number.
_EACH = {np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "div", np.negative: "neg", np.less: "lt",
         np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge", np.equal: "eq", np.not_equal: "ne",
         np.absolute: "abs", np.fabs: "abs"}
_MADE_OF = {np.square: ("mul", 0, 0), np.reciprocal: ("div", 1.0, 0), np.isnan: ("ne", 0, 0),
            np.arctan: ("arctan2", 0, 1.0), np.positive: ("mul", 0, 1.0)}
_LOGICAL = {np.logical_and: ("mul", 0, 1), np.bitwise_and: ("mul", 0, 1), np.logical_or: ("maximum", 0, 1),
            np.bitwise_or: ("maximum", 0, 1), np.logical_not: ("eq", 0, 0.0), np.invert: ("eq", 0, 0.0),
            np.logical_xor: ("ne", 0, 1), np.bitwise_xor: ("ne", 0, 1)}
#: Functions whose results are rounded correctly, so NumPy and C give the same bits.
_ROUNDED = {np.add, np.subtract, np.multiply, np.divide, np.negative, np.less, np.less_equal, np.greater, np.sqrt,
            np.greater_equal, np.equal, np.not_equal, np.absolute, np.fabs, np.square, np.reciprocal, np.isnan,
            *_LOGICAL}
#: Operations of the machine that give other values than NumPy's function of the same name.
_OTHERS = {"sign"}
#: NumPy functions that are not elementwise -> function(tape, ...): see functions.py.
FUNCTIONS: dict[Any, Any] = {}


class Tape(Sums):
    """The operations of a program in order: `calls` has Call, Each, InNumpy and the steps in Python (InPython)."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.roots: list[Root] = []
        self._of_memory: dict[int, Root] = {}
        self._constants: dict[int, tuple] = {}
        self._held: list[Root] = []
        self.seed = 0
        self.exact = False                     # whether kernels need as many elements as in eager
        self.bits = False                      # whether results must have the bits of eager
        self.operations = {_FLOAT: native.operations("4"), _DOUBLE: native.operations("8")}

    # ------------------------------------------------------------- memory
    def root(self, kind: str, nbytes: int, real: np.ndarray | None = None) -> Root:
        """Allocates memory and registers it."""
        memory = np.empty(max(nbytes, 1), np.uint8)
        constant = kind == "constant"          # constants are registered once and have no number
        root = Root(kind, memory, -1 if constant else len(self.roots), real)
        self.fill(root)
        self._held.append(root)                # so that its id is not used again
        if not constant:
            self.roots.append(root)
        self._of_memory[id(memory)] = root
        return root

    def fill(self, root: Root) -> None:
        """Fills memory with numbers that depend on `seed`, which reveals code that reads them."""
        memory, pattern, root.seed = root.array, _patterns(self.seed), self.seed
        part = memory[:len(pattern)]           # code that reads an array reads its beginning
        part[:] = pattern[:len(part)]

    def untouched(self, root: Root) -> bool:
        """Whether memory still has the contents of `fill`. If not, it was written to without the tape."""
        pattern = _patterns(root.seed)
        part = root.array[:len(pattern)]
        return root.kind == "constant" or bool((part == pattern[:len(part)]).all())

    def described(self, x: Any) -> Any:
        """A description of a call or a value, which is equal for equal calls of two traces."""
        if isinstance(x, Traced):
            x = self.place(x)
        if x.__class__ is Place:
            root = x.root.real.tobytes() if x.root.kind == "constant" else x.root.number
            return (root, *x[1:])
        if x.__class__ is Reading:
            return x.text
        if x.__class__ is Element:
            return "element", self.described(x.place)
        if x.__class__ is Call:
            return (x.name, *[self.described(y) for y in x.words])
        if x.__class__ is Each:
            return (x.name, *[self.described(y) for y in x.operands], self.described(x.out))
        if x.__class__ is InNumpy:
            return (x.call.__qualname__, *[self.described(y) for y in x.args], repr(x.kwargs), self.described(x.out))
        if isinstance(x, (tuple, list)):
            return [self.described(y) for y in x]
        if isinstance(x, np.ndarray):
            return x.dtype, x.shape, x.tobytes()
        return repr(x) if isinstance(x, (float, np.generic)) else x

    def array(self, root: Root, shape: Any, dtype: np.dtype, offset: int = 0, strides: Any = None) -> Traced:
        """An array in the memory of a root."""
        made = np.ndarray.__new__(Traced, shape, dtype, root.array, offset, strides)
        made.tape = self
        return made

    def new(self, shape: Any, dtype: Any = _FLOAT, zeros: bool = False) -> Traced:
        """A new array in memory that the program allocates."""
        shape, dtype = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape), np.dtype(dtype)
        if dtype.kind not in "fbiu":
            raise NotLowered(f"arrays of {dtype}")
        root = self.root("made", prod(shape) * dtype.itemsize)
        if zeros and prod(shape):
            whole = Place(root, 0, (root.nbytes,), (1,), np.dtype("u1"))
            self.call("zero", [prod(shape) * dtype.itemsize, whole], set(), {root})
        return self.array(root, shape, dtype)

    def constant(self, array: np.ndarray) -> Traced:
        """A traced array with the values of an actual array, which are constant."""
        if id(array) in self._constants:
            return self._constants[id(array)][1]
        if type(array) is not np.ndarray or array.dtype.kind not in "fbiu":
            raise NotLowered(f"a constant array of {array.dtype}")
        kept = np.array(array, order="C", copy=True)
        root = self.root("constant", kept.nbytes, kept)
        root.array[:kept.nbytes] = kept.reshape(-1).view(np.uint8)
        made = self.array(root, kept.shape, kept.dtype)
        self._constants[id(array)] = array, made
        return made

    def owner(self, array: np.ndarray) -> Root:
        """The root whose memory an array is in. NotLowered for an array in memory outside the program."""
        base = array
        while isinstance(base, np.ndarray):
            found = self._of_memory.get(id(base))
            if found is not None:
                return found
            base = base.base
        raise NotLowered("an array of memory outside the program")

    def known(self, array: np.ndarray) -> bool:
        """Whether an array is in memory of the program."""
        try:
            self.owner(array)
            return True
        except NotLowered:
            return False

    def place(self, array: np.ndarray) -> Place:
        """The place of an array."""
        if type(array) is np.ndarray:
            array = self.constant(array)
        root = self.owner(array)
        return Place(root, offset_in(array, root), array.shape, array.strides, array.dtype)

    # ------------------------------------------------------------- calls
    def call(self, name, words, reads, writes):
        for root in writes:
            self._written(root)
        self.calls.append(Call(name, words, reads, writes))

    def _written(self, root):
        if root.kind == "constant":            # its contents have to be the same at each call
            raise NotLowered("a constant is written to")

    def each(self, name: str, operands: list, out: Place) -> None:
        """Records an elementwise operation. Operands are numbers and Places that broadcast to the shape of `out`."""
        operands = [x if x.__class__ is not Place else _spread(x, out.shape) for x in operands]
        self._written(out.root)
        if not out.size:
            return
        if not _dense(out) or any([x.__class__ is Place and x.root is out.root and _apart(x, out) is False
                                   for x in operands]):
            other = self.place(self.new(out.shape, out.dtype))
            self.calls.append(Each(name, operands, other))
            self.copy_place(other, out)
            return
        self.calls.append(Each(name, operands, out))

    def copy_place(self, source: Place, to: Place) -> None:
        """Records a copy between two places of one dtype. The shape of `source` broadcasts to that of `to`."""
        source = _spread(source, to.shape)
        self._written(to.root)
        if not to.size:
            return
        if source.root is to.root and _apart(source, to) is False:
            other = self.place(self.new(to.shape, to.dtype))
            self.copy_place(source, other)
            return self.copy_place(other, to)
        if source.root is to.root and source.offset == to.offset and source.strides == to.strides:
            return
        dims = _together(to.shape, source.strides, to.strides)
        size = to.dtype.itemsize
        if not dims or len(dims) == 1 and dims[0][1:] == (size, size):
            n = dims[0][0] if dims else 1
            self.calls.append(Call("run", [n * size, source, to], {source.root}, {to.root}))
            return
        if size == 16:
            size, dims = 8, [*dims, (2, 8, 8)]
        dims = [(1, 0, 0)] * (2 - len(dims)) + dims
        self.calls.append(Call("move", [size, source, to, len(dims), *[x for d in dims for x in d]], {source.root},
                               {to.root}))

    def move(self, value: Any, to: Traced) -> None:
        """Records to[...] = value."""
        if not isinstance(to, np.ndarray):
            raise NotLowered("an element is assigned")
        if type(value) in (int, float, bool, Reading) or isinstance(value, np.generic):
            if value.__class__ is not Reading:
                value = np.asarray(value, to.dtype)
            else:
                raise NotLowered("a number that changes is assigned")
        elif isinstance(value, (list, tuple)):
            raise NotLowered("a list is assigned")
        if value.dtype != to.dtype:
            if value.dtype == _BOOL and to.dtype in self.operations:
                return self.each("mul", [self.place(value), 1.0], self.place(to))
            raise NotLowered(f"{value.dtype} is assigned to {to.dtype}")
        np.broadcast_shapes(value.shape, to.shape)
        while value.ndim > to.ndim and value.shape[0] == 1:
            value = value[0]
        self.copy_place(self.place(value), self.place(to))

    def moved(self, x: Traced, order: str = "C") -> Traced:
        """x.copy(order)"""
        plain = np.ndarray.view(x, np.ndarray)
        with_order = np.empty_like(plain, order=order if order != "A" else "K", subok=False)
        new = self.array(self.root("made", x.nbytes), x.shape, x.dtype, 0, with_order.strides)
        self.copy_place(self.place(x), self.place(new))
        return new

    def cast(self, x, dtype, order):
        if x.dtype == _BOOL and dtype in self.operations:
            new = self.new(x.shape, dtype)
            self.each("mul", [self.place(x), 1.0], self.place(new))
            return new
        raise NotLowered(f"{x.dtype} to {dtype}")

    def check_index(self, index):
        for x in index if type(index) is tuple else (index,):
            if x is None or x is Ellipsis or isinstance(x, (slice, int, np.integer)) and not isinstance(x, bool):
                continue
            raise NotLowered("an index that is an array")

    # ------------------------------------------------------------- NumPy
    def ufunc(self, ufunc, method, inputs, kwargs):
        """Records a call of a ufunc."""
        out, = kwargs.pop("out", None) or (None,)
        inputs = [self.constant(np.asarray(x)) if isinstance(x, np.generic) or type(x) is np.ndarray else x
                  for x in inputs]
        name = ufunc.__name__
        if method == "reduce":
            return self.reduce(ufunc, *inputs, out=out, **kwargs)
        if method != "__call__":
            raise NotLowered(f"{name}.{method}")
        kwargs.pop("order", None)
        if kwargs.get("casting") in ("same_kind", "unsafe"):
            kwargs.pop("casting")
        if kwargs:
            raise NotLowered(f"{name} with {', '.join(kwargs)}")
        if name == "matmul":
            return self.matmul(*inputs, out=out)
        if name == "vecdot" and not self.bits:
            a, b = inputs
            if a.dtype != _FLOAT:
                raise NotLowered("vecdot")
            return np.add.reduce(a * b, axis=-1)
        if name == "clip" and not self.bits:
            return self.clip(*inputs, out)
        plain = [_plain(x) for x in inputs]
        with np.errstate(all="ignore"):
            shown = np.asarray(ufunc(*plain))
        if out is None and self.are_constant(inputs):
            return self.constant(shown)
        return self.computed(ufunc, inputs, shown, out)

    def are_constant(self, inputs):
        """Whether all inputs are known: the arrays are constants, and no number is a Reading."""
        return all([self.owner(x).kind == "constant" for x in inputs if isinstance(x, np.ndarray)]) and not any(
            [x.__class__ is Reading for x in inputs])

    def computed(self, ufunc, inputs, shown, out):
        """Records a ufunc of the inputs. Its result has the shape, dtype and strides of `shown`."""
        # The cases, in this order:
        #   the bits of eager are required, and C rounds otherwise: relu has a kernel, NumPy computes anything else
        #   a count of int64 plus or minus an int: the kernel "count"
        #   a logical or bitwise function of bools; a power; a function of one dtype of floats: elementwise operations
        name = ufunc.__name__
        dtypes = {x.dtype for x in inputs if isinstance(x, np.ndarray)}
        floats = dtypes - {_BOOL}
        if self.bits and ufunc not in _ROUNDED and not (ufunc in expressions.FINE and floats == {_FLOAT}):
            if ufunc is np.maximum and out is None and shown.size and self._is_relu(*inputs, shown):
                return self.result("relu", shown.shape, shown.size, inputs[1])
            if not shown.ndim:                 # eager may have a NumPy scalar, which other functions compute
                raise NotLowered(f"{name} of a number")
            return self.in_numpy(ufunc, inputs, {}, shown, out)
        if dtypes == {_LONG} and name in ("add", "subtract") and type(inputs[1]) is int and out is None:
            x = self._contiguous(inputs[0])
            made = self.new(x.shape, _LONG)
            self.call("count", [x.size, inputs[1] if name == "add" else -inputs[1], self.place(x), self.place(made)],
                      {self.owner(x)}, {self.owner(made)})
            return made
        if ufunc in _LOGICAL and not floats:
            wide, (name, *at) = _FLOAT, _LOGICAL[ufunc]
        elif name == "power":
            return self._power(*inputs, shown, out)
        elif len(floats) != 1 or not floats <= set(self.operations):
            raise NotLowered(f"{name} of {', '.join(map(str, dtypes))}")
        else:
            wide, = floats
            name, *at = _MADE_OF.get(ufunc) or (_EACH.get(ufunc, name), *range(len(inputs)))
        if name not in self.operations[wide] or name in _OTHERS:
            raise NotLowered(name)
        if shown.dtype != (_BOOL if name in COMPARISONS or not floats else wide):
            raise NotLowered(f"{name} gives {shown.dtype}")
        operands = [inputs[i] if i.__class__ is int else i for i in at]
        return self._each_of(name, operands, shown, out)

    def _each_of(self, name, operands, shown, out):
        operands = [self.place(x) if isinstance(x, np.ndarray) else _number(x) for x in operands]
        if out is None:
            out = self.array(self.root("made", shown.nbytes), shown.shape, shown.dtype, 0, shown.strides)
        else:
            if type(out) is not Traced:
                raise NotLowered("an array of memory outside the program is written to")
            if out.dtype != shown.dtype:
                if shown.dtype != _BOOL or out.dtype not in self.operations:
                    raise NotLowered(f"{shown.dtype} is written to {out.dtype}")
            if out.shape != shown.shape:
                raise NotLowered("out has another shape than the result")
        self.each(name, operands, self.place(out))
        return out

    def _is_relu(self, zero, x, shown):
        """Whether this is max(0, x) of float32, for which the kernel gives NumPy's bits."""
        return isinstance(zero, np.ndarray) and isinstance(x, np.ndarray) and zero.size == 1 and (
            self.owner(zero).kind == "constant" and not np.ndarray.view(zero, np.ndarray).any()) and (
                x.dtype == zero.dtype == _FLOAT and x.flags.c_contiguous and x.shape == shown.shape)

    def _power(self, x, exponent, shown, out):
        if exponent.__class__ not in (int, float) or shown.dtype != x.dtype:
            raise NotLowered("a power")
        name = {2: ("mul", x, x), 1: ("mul", x, 1.0), -1: ("div", 1.0, x), 0.5: ("sqrt", x)}.get(exponent)
        if name is None or x.dtype not in self.operations:
            raise NotLowered(f"the power of {exponent}")
        return self._each_of(name[0], name[1:], shown, out)

    def clip(self, x, low, high, out):
        if self.bits:
            raise NotLowered("a clip, which may give zeros another sign")
        result = x
        if low is not None:
            result = np.maximum(result, low, out=out)
        if high is not None:
            result = np.minimum(result, high, out=out)
        return result

    # ------------------------------------------------------------- kernels
    def kernel(self, name: str, *args: Any) -> None:
        """native.run"""
        if "twister" in KERNELS[name][1]:
            raise NotLowered("random numbers")
        words, reads, writes = [], set(), set()
        declared = list(parsed(KERNELS[name][1]))
        if len(args) != len(declared):
            raise NotLowered(name)
        scope = {x: value for (_, x, kind, *_), value in zip(declared, args) if not kind}
        for (marks, _, kind, inside, dtype, _), value in zip(declared, args):
            if not kind:
                if isinstance(value, np.ndarray):
                    words.append(self._number(value, marks, reads))
                    continue
                words.append(_number(value) if marks else int(value))
                continue
            if value is None:
                if "?" not in marks:
                    raise NotLowered(name)
                words.append(None)
                continue
            wanted = np.dtype(dtype or np.float32)
            place = self.place(value)
            if place.dtype != wanted:
                raise NotLowered(f"{name} of {place.dtype}")
            if kind == "[":
                if not place.contiguous or place.size != int(eval(inside, {"max": max}, scope)):
                    raise NotLowered(f"{name} of an array with gaps")
            else:
                self._check_matrix(place, *[int(eval(part, {"max": max}, scope)) for part in inside.split(",")])
            words.append(place)
            reads.add(place.root)
            if ">" in marks:
                if type(value) is not Traced:
                    raise NotLowered("an array of memory outside the program is written to")
                writes.add(place.root)
        self.call(name, words, reads, writes)

    def _number(self, array, marks, reads):
        """A number argument of a kernel that is given as an array of one element."""
        if array.size != 1 or not marks:
            raise NotLowered("a number in an array")
        if self.owner(array).kind == "constant":
            return float(np.ndarray.view(array, np.ndarray).reshape(()))
        if array.dtype != _FLOAT:
            raise NotLowered("a number in an array")
        reads.add(self.owner(array))
        return Element(self.place(array))

    def _check_matrix(self, place, turned, rows, columns, distance, *several):
        shape, strides = (columns, rows) if turned else (rows, columns), (distance * 4, 4)
        if several:
            outer, inner, by_outer, by_inner = several
            shape, strides = (outer, inner, *shape), (by_outer * 4, by_inner * 4, *strides)
        if place.shape != shape or any([n != 1 and a != b for n, a, b in zip(shape, place.strides, strides)]) or (
                distance < shape[-1]):
            raise NotLowered("a matrix in another layout")

    def takes(self, name, *arrays):
        """native.takes"""
        if self.exact and not native.many(name, arrays[0].size):
            return False
        return all([x is None or isinstance(x, np.ndarray) and x.dtype == _FLOAT and x.flags.c_contiguous
                    for x in arrays])

    def done(self, name, *args):
        """native.done"""
        if not self.fits(name, args):
            return False
        self.kernel(name, *args)
        return True

    def fits(self, name, args):
        if self.exact and not native.many(name, args[native._given[name][0][0]].size):
            return False
        return all([args[i] is None or isinstance(args[i], np.ndarray) and args[i].dtype == wanted
                    and args[i].flags.c_contiguous for i, wanted in native._given[name]])

    def result(self, name, shape, *args):
        """native.result"""
        made = self.new(shape)
        self.kernel(name, *args, made)
        return made

    def made(self, name, shape, *args):
        """native.made"""
        return self.result(name, shape, *args) if self.fits(name, args) else None

    def any_nan(self, x: Traced) -> bool:
        """Always False, because the program is not valid for arrays with a NaN: the recorded call then fails."""
        x = self._contiguous(x)
        if self.bits and not all([self.is_inside(call) for call in self.calls]):
            raise NotLowered("a check for NaN after a write to memory that the program does not allocate")
        self.call("no_nan", [x.size, self.place(x)], {self.owner(x)}, set())
        return False

    def is_inside(self, call: Any) -> bool:
        """Whether a call writes only to memory that the program allocates."""
        return call.__class__ in (Call, Each, InNumpy) and all([root.kind == "made" for root in call.writes])

    def take_rows(self, array: Traced, index: Traced) -> Traced:
        """kernels.scatter.take_rows, always with the kernel."""
        if array.dtype != _FLOAT or index.dtype != _LONG:
            raise NotLowered(f"rows of {array.dtype}")
        array, index = self._contiguous(array), self._contiguous(index)
        return self.result("take_rows", index.shape + array.shape[1:], len(array), prod(array.shape[1:]), index.size,
                           array, index)

    def any_outside(self, index: Traced, n: int) -> bool:
        """kernels.scatter.any_outside. Always False, because the recorded call fails if an index is outside."""
        if index.dtype != _LONG:
            raise NotLowered(f"an index of {index.dtype}")
        self.kernel("in_range", index.size, n, self._contiguous(index))
        return False

    def by_element(self, name, twin):
        """The replacement for a function that native.by_element made."""
        def compute(*arrays):
            first = arrays[0]
            if self.bits and not all([isinstance(x, np.ndarray) and x.flags.c_contiguous for x in arrays]):
                raise NotLowered(f"{name} of an array with gaps")
            if first.dtype == _FLOAT and all([x.shape == first.shape and x.dtype == _FLOAT for x in arrays]):
                order = sorted(range(first.ndim), key=lambda i: -first.strides[i])
                turned = [self._contiguous(x.transpose(order)) for x in arrays]
                made = self.new(turned[0].shape)
                self.kernel(name, first.size, *turned, made)
                return made.transpose(np.argsort(order))
            return twin(*arrays)
        return compute

    def expression(self, function):
        """The replacement for a function that kernels/expressions.py made."""
        def compute(*operands):
            # Each step of the expression becomes an elementwise operation. Its operands are results of earlier steps
            # (int), constants (float), arrays ("given") and numbers of the call
            given, numbers = list(operands[:function.arrays]), operands[function.arrays:]
            dtypes = {x.dtype for x in given if isinstance(x, np.ndarray)} - {_BOOL}
            if len(dtypes) != 1 or not dtypes <= set(self.operations):
                raise NotLowered(f"an expression of {dtypes}")
            dtype, = dtypes
            steps = expressions._traced(function.text, function.arrays, len(numbers))
            if any([name not in self.operations[dtype] for name, _ in steps]):
                raise NotLowered("an expression of other operations")
            given = [x if isinstance(x, np.ndarray) else self.constant(np.asarray(x, dtype)) for x in given]
            shape = np.broadcast_shapes(*[x.shape for x in given])
            if self.bits and not all([x.dtype == dtype and x.flags.c_contiguous and x.size and x.shape in (shape, ())
                                      for x in given]):
                raise NotLowered("an expression that eager does not compute with a kernel")
            alike = next((x for x in given if x.shape == shape), None)
            strides = None if alike is None else np.empty_like(np.ndarray.view(alike, np.ndarray)).strides
            found = []
            for name, at in steps:
                parts: list[Any] = []
                for x in at:
                    if x.__class__ is int:
                        parts.append(found[x])
                    elif x.__class__ is float:
                        parts.append(x)
                    elif x[0] == "given":
                        parts.append(self.place(given[x[1]]))
                    else:
                        parts.append(_number(numbers[x[1]]))
                out = self.place(self.array(self.root("made", prod(shape) * dtype.itemsize), shape, dtype, 0, strides))
                self.each(name, parts, out)
                found.append(out)
            last = found[-1]
            return self.array(last.root, shape, dtype, 0, last.strides)
        return compute

    # ------------------------------------------------------------- NumPy's other functions
    def function(self, function, args, kwargs):
        """Records a NumPy function that is not a ufunc."""
        made = FUNCTIONS.get(function)
        if made is None:
            raise NotLowered(f"np.{function.__name__}")
        return made(self, *args, **kwargs)


@functools.cache
def _patterns(seed):
    """Random floats between 1 and 2, as bytes."""
    return (1 + np.random.RandomState(seed).rand(1 << 14).astype(np.float32)).view(np.uint8)


def _plain(x):
    """An input of a ufunc without tape: an array as an ndarray, a Reading as a float."""
    if isinstance(x, np.ndarray):
        return np.ndarray.view(x, np.ndarray)
    return float.__add__(x, 0.0) if x.__class__ is Reading else x


def _number(x):
    """A number as a float, or the Reading itself."""
    return x if x.__class__ is Reading else float(x)


def offset_in(array: np.ndarray, root: Root) -> int:
    """The offset of an array's first element in the memory of its root, in bytes."""
    if not array.size:
        return 0
    return array.__array_interface__["data"][0] - root.array.__array_interface__["data"][0]


def _spread(place, shape):
    """A place broadcast to a shape."""
    if place.shape == shape:
        return place
    if len(place.shape) > len(shape):
        if set(place.shape[:len(place.shape) - len(shape)]) != {1}:
            raise NotLowered("shapes that do not broadcast")
        return _spread(place._replace(shape=place.shape[1:], strides=place.strides[1:]), shape)
    ahead = len(shape) - len(place.shape)
    strides = []
    for n, m, s in zip(shape[ahead:], place.shape, place.strides):
        if m != n and m != 1:
            raise NotLowered("shapes that do not broadcast")
        strides.append(0 if m != n else s)
    return place._replace(shape=shape, strides=(0,) * ahead + tuple(strides))


def _dense(place):
    """Whether the elements of a place fill a range of memory without gaps."""
    step = place.dtype.itemsize
    for stride, n in sorted((s, n) for s, n in zip(place.strides, place.shape) if n != 1):
        if stride != step:
            return False
        step *= n
    return True


def _apart(a, b):
    """For two places in one root: True if they do not overlap, None if they are identical, else False."""
    if a.offset == b.offset and a.strides == b.strides and a.shape == b.shape and a.dtype == b.dtype:
        return None
    (first, last), (start, stop) = a.reach(), b.reach()
    return last <= start or stop <= first


def _together(shape, *strides):
    """[(size, stride of each array ...)] of the dimensions. They are sorted by the strides of the last array, largest
    first, and adjacent dimensions are merged where all arrays allow it. Dimensions of size 1 are dropped."""
    dims = [(n, *steps) for n, *steps in zip(shape, *strides) if n != 1]
    dims.sort(key=lambda d: -abs(d[-1]))
    found = []
    for n, *steps in dims:
        if found and all([a == n * b for a, b in zip(found[-1][1:], steps)]):
            found[-1] = (found[-1][0] * n, *steps)
        else:
            found.append((n, *steps))
    return found
