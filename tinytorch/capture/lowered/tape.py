"""What is done to the arrays of a program, as calls of kernels in C.

Functions of NumPy's, methods of arrays and calls of kernels come here (arrays.py, world.py), and become `Call`s and
`Each`es of places in memory. What there is no kernel for raises NotLowered.
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
    """A call of a kernel or a step: its words are numbers, Readings, Places and None. `reads` and `writes`: roots."""

    __slots__ = ("name", "words", "reads", "writes")

    def __init__(self, name, words, reads, writes):
        self.name, self.words = name, list(words)
        self.reads, self.writes = reads, writes

    def places(self):
        return [x if x.__class__ is Place else x.place for x in self.words if x.__class__ in (Place, Element)]


class Element:
    """A number of a call that is the one element of a place."""

    __slots__ = ("place",)

    def __init__(self, place):
        self.place = place


class Each:
    """An operation of the machine of elementwise.c on elements of one shape: operands are Places (broadcast to the
    shape by strides of 0) and numbers."""

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


#: NumPy's functions that are an operation of the machine, or made of some: of the operands, numbered.
_EACH = {np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "div", np.negative: "neg", np.less: "lt",
         np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge", np.equal: "eq", np.not_equal: "ne",
         np.absolute: "abs", np.fabs: "abs"}
_MADE_OF = {np.square: ("mul", 0, 0), np.reciprocal: ("div", 1.0, 0), np.isnan: ("ne", 0, 0),
            np.arctan: ("arctan2", 0, 1.0), np.positive: ("mul", 0, 1.0)}
_LOGICAL = {np.logical_and: ("mul", 0, 1), np.bitwise_and: ("mul", 0, 1), np.logical_or: ("maximum", 0, 1),
            np.bitwise_or: ("maximum", 0, 1), np.logical_not: ("eq", 0, 0.0), np.invert: ("eq", 0, 0.0),
            np.logical_xor: ("ne", 0, 1), np.bitwise_xor: ("ne", 0, 1)}
#: Those that give the same bits by whatever they are computed.
_ROUNDED = {np.add, np.subtract, np.multiply, np.divide, np.negative, np.less, np.less_equal, np.greater, np.sqrt,
            np.greater_equal, np.equal, np.not_equal, np.absolute, np.fabs, np.square, np.reciprocal, np.isnan,
            *_LOGICAL}
#: Operations of the machine that give other numbers than NumPy's function of that name.
_OTHERS = {"sign"}
#: Functions of NumPy's that are none of elements -> function(tape, ...): see functions.py.
FUNCTIONS: dict[Any, Any] = {}


class Tape(Sums):
    """What a program does, in order: `calls` of Call, Each and whatever the driver puts between."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.roots: list[Root] = []
        self._of_memory: dict[int, Root] = {}
        self._constants: dict[int, tuple] = {}
        self._held: list[Root] = []
        self.seed = 0
        self.exact = False                     # whether kernels take as few elements only as they do in eager
        self.bits = False                      # whether all that is computed is to have the bits of eager
        self.operations = {_FLOAT: native.operations("4"), _DOUBLE: native.operations("8")}

    # ------------------------------------------------------------- memory
    def root(self, kind: str, nbytes: int, real: np.ndarray | None = None) -> Root:
        """New memory."""
        memory = np.empty(max(nbytes, 1), np.uint8)
        constant = kind == "constant"          # which are found once, and so have no number
        root = Root(kind, memory, -1 if constant else len(self.roots), real)
        self.fill(root)
        self._held.append(root)                # so that no other memory has the same id
        if not constant:
            self.roots.append(root)
        self._of_memory[id(memory)] = root
        return root

    def fill(self, root: Root) -> None:
        """Puts numbers into it that depend on `seed`: what has looked at them shows by it."""
        memory, pattern, root.seed = root.array, _patterns(self.seed), self.seed
        part = memory[:len(pattern)]           # what computes with an array computes with its beginning
        part[:] = pattern[:len(part)]

    def untouched(self, root: Root) -> bool:
        """Whether it holds those numbers still: nothing has written to it past the tape."""
        pattern = _patterns(root.seed)
        part = root.array[:len(pattern)]
        return root.kind == "constant" or bool((part == pattern[:len(part)]).all())

    def described(self, x: Any) -> Any:
        """What a call or a value is, in a form in which it compares with that of another time."""
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
        """An array in it."""
        made = np.ndarray.__new__(Traced, shape, dtype, root.array, offset, strides)
        made.tape = self
        return made

    def new(self, shape: Any, dtype: Any = _FLOAT, zeros: bool = False) -> Traced:
        """A new array of a program's memory."""
        shape, dtype = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape), np.dtype(dtype)
        if dtype.kind not in "fbiu":
            raise NotLowered(f"arrays of {dtype}")
        root = self.root("made", prod(shape) * dtype.itemsize)
        if zeros and prod(shape):
            whole = Place(root, 0, (root.nbytes,), (1,), np.dtype("u1"))
            self.call("zero", [prod(shape) * dtype.itemsize, whole], set(), {root})
        return self.array(root, shape, dtype)

    def constant(self, array: np.ndarray) -> Traced:
        """An array of numbers that are there."""
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
        """The memory that an array lies in. NotLowered for one that is none of the program's."""
        base = array
        while isinstance(base, np.ndarray):
            found = self._of_memory.get(id(base))
            if found is not None:
                return found
            base = base.base
        raise NotLowered("an array that came from somewhere else")

    def known(self, array: np.ndarray) -> bool:
        """Whether it lies in memory of the program's."""
        try:
            self.owner(array)
            return True
        except NotLowered:
            return False

    def place(self, array: np.ndarray) -> Place:
        """Where an array is."""
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
        if root.kind == "constant":            # a copy of it is made at each call, before it is first read
            raise NotLowered("a constant is written to")

    def each(self, name: str, operands: list, out: Place) -> None:
        """An operation on elements: operands as Places of out's shape, or numbers."""
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
        """Elements from one place to another of its shape and dtype."""
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
        """to[...] = value."""
        if not isinstance(to, np.ndarray):
            raise NotLowered("an element is set")
        if type(value) in (int, float, bool, Reading) or isinstance(value, np.generic):
            if value.__class__ is not Reading:
                value = np.asarray(value, to.dtype)
            else:
                raise NotLowered("a reading is set")
        elif isinstance(value, (list, tuple)):
            raise NotLowered("a list is set")
        if value.dtype != to.dtype:
            if value.dtype == _BOOL and to.dtype in self.operations:
                return self.each("mul", [self.place(value), 1.0], self.place(to))
            raise NotLowered(f"{value.dtype} is set to {to.dtype}")
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
        """A call of a function of NumPy's that works by elements."""
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
        plain = [np.ndarray.view(x, np.ndarray) if isinstance(x, np.ndarray) else
                 float.__add__(x, 0.0) if x.__class__ is Reading else x for x in inputs]
        with np.errstate(all="ignore"):
            shown = np.asarray(ufunc(*plain))
        if out is None and self.are_constant(inputs):
            return self.constant(shown)
        return self.computed(ufunc, inputs, shown, out)

    def are_constant(self, inputs):
        """Whether all arrays among them are constants, whose numbers are known."""
        return all([self.owner(x).kind == "constant" for x in inputs if isinstance(x, np.ndarray)]) and not any(
            [x.__class__ is Reading for x in inputs])

    def computed(self, ufunc, inputs, shown, out):
        """What a function by elements makes of the inputs, whose result NumPy gives the form of `shown`."""
        name = ufunc.__name__
        dtypes = {x.dtype for x in inputs if isinstance(x, np.ndarray)}
        floats = dtypes - {_BOOL}
        if self.bits and ufunc not in _ROUNDED:
            if ufunc is np.maximum and out is None and shown.size and self._is_relu(*inputs, shown):
                return self.result("relu", shown.shape, shown.size, inputs[1])
            if not shown.ndim:                 # of NumPy's scalars, which eager may have, other functions compute
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
        operands = [self.place(x) if isinstance(x, np.ndarray) else x if x.__class__ is Reading else float(x)
                    for x in operands]
        if out is None:
            out = self.array(self.root("made", shown.nbytes), shown.shape, shown.dtype, 0, shown.strides)
        else:
            if type(out) is not Traced:
                raise NotLowered("an array from somewhere else is written to")
            if out.dtype != shown.dtype:
                if shown.dtype != _BOOL or out.dtype not in self.operations:
                    raise NotLowered(f"{shown.dtype} is written to {out.dtype}")
            if out.shape != shown.shape:
                raise NotLowered("a result is repeated")
        self.each(name, operands, self.place(out))
        return out

    def _is_relu(self, zero, x, shown):
        """Whether it is max(0, x), of which the kernel gives NumPy's bits."""
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
            raise NotLowered("a clip, of which zeros may have another sign")
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
                words.append((value if value.__class__ is Reading else float(value)) if marks else int(value))
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
                    raise NotLowered("an array from somewhere else is written to")
                writes.add(place.root)
        self.call(name, words, reads, writes)

    def _number(self, array, marks, reads):
        """A number of a kernel that is the element of an array."""
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
        """Whether there is a NaN: no, for if there is one the program does not hold."""
        x = self._contiguous(x)
        if self.bits and not all([self.is_inside(call) for call in self.calls]):
            raise NotLowered("something was written to before")
        self.call("no_nan", [x.size, self.place(x)], {self.owner(x)}, set())
        return False

    def is_inside(self, call: Any) -> bool:
        """Whether a call does nothing but fill memory of the program's own."""
        return call.__class__ in (Call, Each, InNumpy) and all([root.kind == "made" for root in call.writes])

    def take_rows(self, array: Traced, index: Traced) -> Traced:
        """kernels.scatter.take_rows, whatever is the faster one."""
        if array.dtype != _FLOAT or index.dtype != _LONG:
            raise NotLowered(f"rows of {array.dtype}")
        array, index = self._contiguous(array), self._contiguous(index)
        return self.result("take_rows", index.shape + array.shape[1:], len(array), prod(array.shape[1:]), index.size,
                           array, index)

    def any_outside(self, index: Traced, n: int) -> bool:
        """kernels.scatter.any_outside: no, for the call fails if there is one."""
        if index.dtype != _LONG:
            raise NotLowered(f"an index of {index.dtype}")
        self.kernel("in_range", index.size, n, self._contiguous(index))
        return False

    def by_element(self, name, twin):
        """What stands for a function that native.by_element made."""
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
        """What stands for a function that kernels/expressions.py made."""
        def compute(*operands):
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
                raise NotLowered("an expression that eager computes in another way")
            alike = next((x for x in given if x.shape == shape), None)
            strides = None if alike is None else np.empty_like(np.ndarray.view(alike, np.ndarray)).strides
            found = []
            for name, at in steps:
                parts = [found[x] if x.__class__ is int else x if x.__class__ is float else
                         self.place(given[x[1]]) if x[0] == "given" else numbers[x[1]] for x in at]
                parts = [x if x.__class__ in (Place, Reading) else float(x) for x in parts]
                out = self.place(self.array(self.root("made", prod(shape) * dtype.itemsize), shape, dtype, 0, strides))
                self.each(name, parts, out)
                found.append(out)
            last = found[-1]
            return self.array(last.root, shape, dtype, 0, last.strides)
        return compute

    # ------------------------------------------------------------- NumPy's other functions
    def function(self, function, args, kwargs):
        """A function of NumPy's that is none of elements."""
        made = FUNCTIONS.get(function)
        if made is None:
            raise NotLowered(f"np.{function.__name__}")
        return made(self, *args, **kwargs)


@functools.cache
def _patterns(seed):
    """Floats of about 1, as bytes."""
    return (1 + np.random.RandomState(seed).rand(1 << 14).astype(np.float32)).view(np.uint8)


def offset_in(array: np.ndarray, root: Root) -> int:
    """Of the first element of an array in the memory that it lies in, in bytes."""
    if not array.size:
        return 0
    return array.__array_interface__["data"][0] - root.array.__array_interface__["data"][0]


def _spread(place, shape):
    """A place as one of a shape that it is broadcast to."""
    if place.shape == shape:
        return place
    if len(place.shape) > len(shape):
        if set(place.shape[:len(place.shape) - len(shape)]) != {1}:
            raise NotLowered("a shape that is not broadcast")
        return _spread(place._replace(shape=place.shape[1:], strides=place.strides[1:]), shape)
    ahead = len(shape) - len(place.shape)
    strides = []
    for n, m, s in zip(shape[ahead:], place.shape, place.strides):
        if m != n and m != 1:
            raise NotLowered("a shape that is not broadcast")
        strides.append(0 if m != n else s)
    return place._replace(shape=shape, strides=(0,) * ahead + tuple(strides))


def _dense(place):
    """Whether its elements fill their stretch of memory."""
    step = place.dtype.itemsize
    for stride, n in sorted((s, n) for s, n in zip(place.strides, place.shape) if n != 1):
        if stride != step:
            return False
        step *= n
    return True


def _apart(a, b):
    """Of two places in one root: True if they do not meet, None if they are the same elements in order, else False."""
    if a.offset == b.offset and a.strides == b.strides and a.shape == b.shape and a.dtype == b.dtype:
        return None
    (first, last), (start, stop) = a.reach(), b.reach()
    return last <= start or stop <= first


def _together(shape, *strides):
    """[(size, step of each ...)] of dimensions, those as one that are walked through in equal steps by all; the last
    one is the one with the smallest step of the last of them."""
    dims = [(n, *steps) for n, *steps in zip(shape, *strides) if n != 1]
    dims.sort(key=lambda d: -abs(d[-1]))
    found = []
    for n, *steps in dims:
        if found and all([a == n * b for a, b in zip(found[-1][1:], steps)]):
            found[-1] = (found[-1][0] * n, *steps)
        else:
            found.append((n, *steps))
    return found
