"""Reads the pickle of a checkpoint without running anything that the file could choose.

Only the instructions that torch.save writes are known. A name stands for an object of a list (`KNOWN`, and the objects
that the user has declared safe). Objects that may be called are called with checked arguments. Attributes are set on
instances of a few classes only, never on a class. Memory is bounded by the length of the pickle: lengths are compared
with the bytes that are left, and items that an instruction copies are counted. The loop is flat, so a deeply nested
file needs no deep stack.
"""
import codecs
import functools
import pickle
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from pickle import UnpicklingError
from struct import unpack

from ..device import device
from ..errors import warn
from ..nn.parameter import Parameter
from ..tensor import Size, Tensor
from .rebuild import (
    KNOWN,
    _get_layout,
    _rebuild_from_type_v2,
    _rebuild_meta_tensor_no_storage,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_sparse_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
    check_state,
)

_BLOCKED = {"sys", "os", "posix", "nt"}        # no object of these modules is used, even if declared safe
ALLOWED = {**KNOWN, "_codecs.encode": codecs.encode}       # pickles hold bytes as text that is encoded when read
_KEY_ITEMS = 1000                              # the most items in a tuple that is a key, nested ones included
_UNHASHABLE = (list, dict, set, bytearray)     # and their subclasses, unless these define __hash__
_ENCODINGS = ("latin1", "latin-1", "utf-8")
_NUMPY_READS = ("__array_interface__", "__array_struct__")     # NumPy reads memory at the addresses in these attributes
_INSTRUCTIONS = {}                             # first byte -> method
_CALLS = {}                                    # id of a known object -> the function that runs when a file calls it


def called(module: str, name: str) -> tuple[str, str]:
    """(the module, the full name) of a name in a pickle, which may be a name of Python 2."""
    module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
    return module, f"{module}.{name}"


def _instruction(code):
    def register(method):
        _INSTRUCTIONS[code[0]] = method
        return method
    return register


def _call(known):
    def register(method):
        _CALLS[id(known)] = method
        return method
    return register


class Unpickler:
    """Reads one pickle.

    data, at           the bytes, and the position at which the pickle begins
    allowed            the objects that the user has declared safe: {full name: class or function}
    persistent_load    a function that returns the storage of a persistent id, a tuple
    guard              a function that calls one of our functions, and raises its errors as those of a damaged file
    encoding           of the byte strings of Python 2; "bytes" leaves them as bytes
    """

    instructions = _INSTRUCTIONS               # a subclass may replace this

    def __init__(self, data, allowed, persistent_load, guard, *, at=0, encoding="utf-8"):
        self.data, self.at, self.room = data, at, len(data)
        self.allowed, self.allowed_ids = dict(allowed), {id(value) for value in allowed.values()}
        self.persistent_load, self.guard, self.encoding = persistent_load, guard, encoding
        self.stack, self.outer, self.memo = [], [], {}         # outer: the stacks below the marks

    def load(self):
        """The object in the pickle. UnpicklingError if it is damaged or holds an object that is not allowed."""
        data, stop = self.data, pickle.STOP[0]
        while True:
            if self.at >= len(data):
                raise UnpicklingError("the pickle ends early")
            code = data[self.at]
            self.at += 1
            if code == stop:
                return self.pop()
            method = self.instructions.get(code)
            if method is None:
                raise UnpicklingError(f"Unsupported operand {code}")
            method(self)

    # -------------------------------------------------------------- reading
    def take(self, count):
        """The next `count` bytes."""
        begin, self.at = self.at, self.at + count
        if self.at > len(self.data):
            raise UnpicklingError("the pickle ends early")
        return self.data[begin:self.at]

    def line(self):
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise UnpicklingError("the pickle ends early")
        text = self.text(end - self.at)
        self.at = end + 1
        return text

    def text(self, count, encoding="utf-8", errors="strict"):
        try:
            return str(self.take(count), encoding, errors)
        except UnicodeDecodeError as error:
            raise UnpicklingError(str(error)) from None

    def pop(self):
        if not self.stack:
            raise UnpicklingError("unexpected MARK, or nothing on the stack")
        return self.stack.pop()

    def top(self):
        if not self.stack:
            raise UnpicklingError("unexpected MARK, or nothing on the stack")
        return self.stack[-1]

    def pop_mark(self):
        """The list of the items after the last mark."""
        if not self.outer:
            raise UnpicklingError("could not find MARK")
        items, self.stack = self.stack, self.outer.pop()
        return items

    def spend(self, count):
        """Count items that are copied. They may not be more than the bytes of the pickle."""
        self.room -= count
        if self.room < 0:
            raise UnpicklingError("the same data is copied again and again")

    def check_key(self, key):
        """UnpicklingError for a key that cannot be hashed, or would take too much time or depth."""
        seen, pending = 0, [key]
        while pending:
            item = pending.pop()
            if isinstance(item, tuple):
                seen += len(item)
                if seen > _KEY_ITEMS:
                    raise UnpicklingError(f"a tuple of more than {_KEY_ITEMS} items as a key")
                pending += item
            elif isinstance(item, _UNHASHABLE) and type(item).__hash__ is None:
                raise UnpicklingError(f"unhashable type: '{type(item).__name__}'")

    def is_allowed(self, value):
        """Whether the user has declared this object itself safe."""
        return id(value) in self.allowed_ids

    # -------------------------------------------------------------- plain values
    @_instruction(pickle.PROTO)
    def load_proto(self):
        protocol = self.take(1)[0]
        if protocol != 2:
            warn(
                f"Detected pickle protocol {protocol} in the checkpoint, which was not the default pickle protocol "
                "used by `torch.load` (2). The weights_only Unpickler might not support all instructions implemented "
                "by this protocol.")

    @_instruction(pickle.NONE)
    def load_none(self):
        self.stack.append(None)

    @_instruction(pickle.NEWTRUE)
    def load_true(self):
        self.stack.append(True)

    @_instruction(pickle.NEWFALSE)
    def load_false(self):
        self.stack.append(False)

    @_instruction(pickle.BININT)
    def load_int4(self):
        self.stack.append(unpack("<i", self.take(4))[0])

    @_instruction(pickle.BININT1)
    def load_int1(self):
        self.stack.append(self.take(1)[0])

    @_instruction(pickle.BININT2)
    def load_int2(self):
        self.stack.append(unpack("<H", self.take(2))[0])

    @_instruction(pickle.LONG1)
    def load_long(self):
        self.stack.append(int.from_bytes(self.take(self.take(1)[0]), "little", signed=True))

    @_instruction(pickle.BINFLOAT)
    def load_float(self):
        self.stack.append(unpack(">d", self.take(8))[0])

    @_instruction(pickle.BINUNICODE)
    def load_unicode(self):
        self.stack.append(self.text(unpack("<I", self.take(4))[0], errors="surrogatepass"))

    @_instruction(pickle.SHORT_BINSTRING)
    def load_string(self):
        count = self.take(1)[0]
        self.stack.append(bytes(self.take(count)) if self.encoding == "bytes" else self.text(count, self.encoding))

    # -------------------------------------------------------------- containers
    @_instruction(pickle.MARK)
    def load_mark(self):
        self.outer.append(self.stack)
        self.stack = []

    @_instruction(pickle.EMPTY_TUPLE)
    def load_empty_tuple(self):
        self.stack.append(())

    @_instruction(pickle.EMPTY_LIST)
    def load_empty_list(self):
        self.stack.append([])

    @_instruction(pickle.EMPTY_DICT)
    def load_empty_dict(self):
        self.stack.append({})

    @_instruction(pickle.EMPTY_SET)
    def load_empty_set(self):
        self.stack.append(set())

    @_instruction(pickle.TUPLE)
    def load_tuple(self):
        items = self.pop_mark()
        self.stack.append(tuple(items))

    @_instruction(pickle.TUPLE1)
    def load_tuple1(self):
        self.stack.append((self.pop(),))

    @_instruction(pickle.TUPLE2)
    def load_tuple2(self):
        b, a = self.pop(), self.pop()
        self.stack.append((a, b))

    @_instruction(pickle.TUPLE3)
    def load_tuple3(self):
        c, b, a = self.pop(), self.pop(), self.pop()
        self.stack.append((a, b, c))

    def extend(self, items, what):
        target = self.top()
        if type(target) is not list and not (isinstance(target, list) and self.is_allowed(type(target))):
            raise UnpicklingError(f"Can only {what} lists, but got {type(target)}")
        target.extend(items)

    @_instruction(pickle.APPEND)
    def load_append(self):
        self.extend([self.pop()], "append to")

    @_instruction(pickle.APPENDS)
    def load_appends(self):
        self.extend(self.pop_mark(), "extend")

    def set_items(self, items, what):
        target = self.top()
        kind = type(target)
        if kind not in (dict, OrderedDict, Counter) and not (isinstance(target, dict) and self.is_allowed(kind)):
            raise UnpicklingError(f"Can only {what} for dict, collections.OrderedDict, collections.Counter, but got "
                                  f"{kind}")
        if len(items) % 2:
            raise UnpicklingError(f"odd number of items for {what}")
        for i in range(0, len(items), 2):
            key = items[i]
            if type(key) is not str:
                self.check_key(key)
            target[key] = items[i + 1]

    @_instruction(pickle.SETITEM)
    def load_setitem(self):
        value, key = self.pop(), self.pop()
        self.set_items((key, value), "SETITEM")

    @_instruction(pickle.SETITEMS)
    def load_setitems(self):
        self.set_items(self.pop_mark(), "SETITEMS")

    # -------------------------------------------------------------- the memo
    @_instruction(pickle.BINPUT)
    def load_put(self):
        self.memo[self.take(1)[0]] = self.top()

    @_instruction(pickle.LONG_BINPUT)
    def load_long_put(self):
        self.memo[unpack("<I", self.take(4))[0]] = self.top()

    def remember(self, index):
        if index not in self.memo:
            raise UnpicklingError(f"Memo value not found at index {index}")
        self.stack.append(self.memo[index])

    @_instruction(pickle.BINGET)
    def load_get(self):
        self.remember(self.take(1)[0])

    @_instruction(pickle.LONG_BINGET)
    def load_long_get(self):
        self.remember(unpack("<I", self.take(4))[0])

    # -------------------------------------------------------------- names, calls, objects
    @_instruction(pickle.GLOBAL)
    def load_name(self):
        module, full = called(self.line(), self.line())
        if module in _BLOCKED:
            raise UnpicklingError(f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked.")
        for table in (ALLOWED, self.allowed):
            if full in table:
                self.stack.append(table[full])
                return
        full = full.removeprefix("builtins.")
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{full}])` or the `torch.serialization.safe_globals([{full}])` "
            "context manager to allowlist this global if you trust this class/function.")

    @_instruction(pickle.BINPERSID)
    def load_persistent_id(self):
        pid = self.pop()
        if type(pid) is not tuple:
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(pid)}")
        self.stack.append(self.persistent_load(pid))

    def arguments(self):
        args = self.pop()
        if type(args) is not tuple:
            raise UnpicklingError(f"the arguments of a call must be a tuple, but got {type(args)}")
        return args

    @_instruction(pickle.REDUCE)
    def load_reduce(self):
        args, function = self.arguments(), self.pop()
        if id(function) in _CALLS:
            result = self.guard(_CALLS[id(function)], self, *args)
        elif self.is_allowed(function):
            result = function(*args)
        else:
            raise UnpicklingError(f"Trying to call reduce for unrecognized function of type {type(function)}")
        self.stack.append(result)

    @_instruction(pickle.NEWOBJ)
    def load_new_object(self):
        args, cls = self.arguments(), self.pop()
        if cls is Parameter:
            result = self.guard(_CALLS[id(cls)], self, *args)
        elif isinstance(cls, type) and self.is_allowed(cls) and id(cls) not in _CALLS:
            result = cls.__new__(cls, *args)
        else:
            raise UnpicklingError("Can only create new object for nn.Parameter or classes allowlisted via "
                                  f"`add_safe_globals` but got {cls if isinstance(cls, type) else type(cls)}")
        self.stack.append(result)

    @_instruction(pickle.BUILD)
    def load_build(self):
        state, target = self.pop(), self.top()
        cls = type(target)
        if cls is OrderedDict:
            check_state(cls, state)
            self.spend(len(state))
            target.__dict__.update(state)
        elif self.is_allowed(cls) and id(cls) not in _CALLS and not isinstance(target, type):
            _build(target, state)
        else:
            raise UnpicklingError("Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                                  f"`add_safe_globals`, but got {cls}")


def _build(target, state):
    """Set the state of an object whose class the user has declared safe, as pickle does."""
    cls = type(target)
    if hasattr(cls, "__setstate__"):
        cls.__setstate__(target, state)
        return
    state, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    for part in (state, slots):
        if part is not None and type(part) is not dict:
            raise UnpicklingError(f"the state of an object must be a dict, but got {type(part)}")
        for name in part or ():
            if type(name) is not str or name in _NUMPY_READS:
                raise UnpicklingError(f"{name!r:.50} is not an attribute that a file may set")
    if state:
        if not hasattr(target, "__dict__"):
            raise UnpicklingError(f"an object of type {cls} has no attributes to set")
        target.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


# ------------------------------------------------------------------ calls of the known names
_ITERABLE = (str, bytes, tuple, Size, list, dict, set, OrderedDict, Counter)


def _keys(unpickler, items):
    """`items`, if they can be keys of a new set or dict."""
    if type(items) not in _ITERABLE:
        raise UnpicklingError(f"a set cannot be made of {type(items)}")
    unpickler.spend(len(items))
    for item in items:
        unpickler.check_key(item)
    return items


@_call(set)
def _set(unpickler, items=()):
    return set(_keys(unpickler, items))


@_call(Counter)
def _counter(unpickler, items=()):
    return Counter(_keys(unpickler, items))


@_call(OrderedDict)
def _ordered_dict(unpickler, items=()):
    if isinstance(items, (list, tuple)):
        for pair in items:
            if type(pair) not in (list, tuple) or len(pair) != 2:
                raise UnpicklingError("an OrderedDict is made of pairs")
        _keys(unpickler, [key for key, _ in items])
    else:
        _keys(unpickler, items)
    return OrderedDict(items)


@_call(bytearray)
def _bytearray(unpickler, content=b"", encoding=None):
    if encoding is not None:
        return bytearray(_encode(unpickler, content, encoding))
    if type(content) not in (bytes, bytearray):            # a number would be a length
        raise UnpicklingError(f"a bytearray cannot be made of {type(content)}")
    unpickler.spend(len(content))
    return bytearray(content)


@_call(codecs.encode)
def _encode(unpickler, text, encoding="utf-8"):
    if type(text) is not str or encoding not in _ENCODINGS:
        raise UnpicklingError(f"text is encoded as latin1 or utf-8, not {type(text)} as {encoding!r:.50}")
    unpickler.spend(len(text))
    return text.encode(encoding)


@_call(complex)
def _complex(unpickler, *parts):
    if any(type(part) not in (int, float) for part in parts):
        raise UnpicklingError("a complex number is made of numbers")
    return complex(*parts)


@_call(Size)
def _size(unpickler, items=()):
    if not isinstance(items, (tuple, list)):
        raise UnpicklingError(f"torch.Size() cannot be made of {type(items)}")
    unpickler.spend(len(items))
    for i, n in enumerate(items):
        if type(n) not in (int, bool):
            raise UnpicklingError(f"torch.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')")
        if not -2 ** 63 <= n < 2 ** 63:
            raise UnpicklingError("torch.Size(): Overflow when unpacking long long")
    return Size(map(int, items))


@_call(device)
def _device(unpickler, kind, index=None):
    if type(kind) is not str or type(index) not in (int, type(None)):
        raise UnpicklingError("a device is made of its type and an index")
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    if not kind.isascii():                     # it may have other digits than 0 to 9
        raise RuntimeError(f"Invalid device string: {kind!r:.50}")
    return device(kind, index)


@_call(Tensor)
def _tensor(unpickler):
    return Tensor()


@_call(Parameter)
def _parameter(unpickler, data=None, requires_grad=True):
    return _rebuild_parameter(Tensor() if data is None else data, requires_grad, None)


@_call(_rebuild_parameter_with_state)
def _with_state(unpickler, data, requires_grad, hooks, state):
    check_state(Parameter, state)
    unpickler.spend(len(state))
    return _rebuild_parameter_with_state(data, requires_grad, hooks, state)


@_call(_rebuild_from_type_v2)
def _from_type(unpickler, function, kind, args, state):
    unpickler.spend(len(state))
    return _rebuild_from_type_v2(function, kind, args, state)


def _without_unpickler(function):
    _call(function)(functools.wraps(function)(lambda unpickler, *args: function(*args)))


for _function in (_rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_meta_tensor_no_storage, _rebuild_sparse_tensor,
                  _get_layout, _rebuild_parameter):
    _without_unpickler(_function)
