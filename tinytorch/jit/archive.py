"""Reads and writes TorchScript archives: zips of code (language.py), a pickle of the module and the tensors' bytes.

Names in a file are looked up in tables: classes are those of the file's code, and functions in its pickles are those
that torch.jit.save writes. A file that is damaged, truncated or malicious raises a RuntimeError (or a
pickle.UnpicklingError) that says what is wrong, before any of its code runs.
"""
from __future__ import annotations

import functools
import io
import os
import pickle
import sys
from enum import Enum
from struct import pack
from typing import Any

from .. import dtypes as dt
from ..checkpoint.rebuild import guard
from ..checkpoint.storage_reader import reader
from ..checkpoint.unpickler import Unpickler
from ..checkpoint.whole_file import replacing
from ..checkpoint.zip_reader import Archive
from ..nn.parameter import Parameter
from ..tensor import Tensor
from .language import Refused, Script
from .modules import KEEPERS, RecursiveScriptModule
from .objects import Member, ScriptObject, Tuple

__all__ = ["read", "write"]

#: The largest size of all records of code together, in bytes.
_MOST_CODE = 32 << 20


# ------------------------------------------------------------------ to read
class _Name:
    """A name in a pickle: the name of a class of the archive, or of a function of torch.jit._pickle."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name


class _Raw:
    """An instance in a pickle: the name of its class, and its state."""

    __slots__ = ("name", "state", "made")

    def __init__(self, name):
        self.name, self.state, self.made = name, None, None


#: Functions that make typed lists: {name: type of the elements}.
_LISTS = {"build_intlist": int, "build_doublelist": float, "build_boollist": bool, "build_tensorlist": Tensor}


class _Reader(Unpickler):
    """The restricted unpickler, which also makes instances of the archive's classes."""

    def load_name(self):
        before = self.at
        module, name = self.line(), self.line()
        if module.partition(".")[0] == "__torch__":
            self.stack.append(_Name(f"{module}.{name}"))
        elif module == "torch.jit._pickle" and (name in _LISTS or name == "restore_type_tag"):
            self.stack.append(_Name(name))
        else:
            self.at = before
            Unpickler.load_name(self)

    def load_new_object(self):
        args, named = self.arguments(), self.pop()
        if type(named) is not _Name or args or named.name in _LISTS:
            raise pickle.UnpicklingError("only a class of the archive can make an object of the archive")
        self.stack.append(_Raw(named.name))

    def load_reduce(self):
        if len(self.stack) < 2 or type(self.stack[-2]) is not _Name:
            Unpickler.load_reduce(self)
            return
        if type(self.stack[-1]) in (int, float, str) and "." in self.stack[-2].name:
            value, named = self.pop(), self.pop()              # a member of an enumeration
            made = _Raw(named.name)
            made.state = (value,)
            self.stack.append(made)
            return
        args, named = self.arguments(), self.pop()
        if named.name == "restore_type_tag" and len(args) == 2 and type(args[1]) is str:
            self.stack.append(args[0])
        elif named.name in _LISTS and len(args) == 1 and type(args[0]) is list and all(
                [isinstance(x, _LISTS[named.name]) for x in args[0]]):
            self.stack.append(args[0])
        elif "." in named.name:                # a named tuple
            made = _Raw(named.name)
            made.state = args
            self.stack.append(made)
        else:
            raise pickle.UnpicklingError(f"{named.name} with arguments that torch.jit.save does not write")

    def load_build(self):
        if len(self.stack) >= 2 and type(self.stack[-2]) is _Raw:
            state, target = self.pop(), self.top()
            if target.state is not None:
                raise pickle.UnpicklingError("an object is built twice")
            target.state = state
        else:
            Unpickler.load_build(self)

    instructions = {**Unpickler.instructions, pickle.GLOBAL[0]: load_name, pickle.NEWOBJ[0]: load_new_object,
                    pickle.REDUCE[0]: load_reduce, pickle.BUILD[0]: load_build}


def read(f: Any, map_location: Any = None, extra_files: dict[str, Any] | None = None) -> RecursiveScriptModule:
    """The module in an archive of TorchScript at a path or in a binary file: see `torch.jit.load`."""
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        if not os.path.exists(path):
            raise ValueError(f"The provided filename {path} does not exist")
        if os.path.isdir(path):
            raise ValueError(f"The provided filename {path} is a directory")
        with open(path, "rb") as file:
            return _read(file, path, map_location, extra_files)
    return _read(f, "the file", map_location, extra_files)


def _read(file, name, map_location, extra_files):
    archive = Archive(file, 0, name)
    if "constants.pkl" not in archive:
        raise RuntimeError(f"PytorchStreamReader failed locating file constants.pkl: file not found (in {name}): this "
                           "is not a TorchScript archive; torch.load reads files of weights")
    try:
        files = {}
        for record in archive.records:
            if record.startswith("code/") and record.endswith(".py"):
                if sum(map(len, files.values())) + archive.size_of(record) > _MOST_CODE:
                    raise Refused(f"more than {_MOST_CODE} bytes of code")
                module = record[len("code/"):-len(".py")].replace("/", ".")
                files[module] = _text(archive, record)
        constants = _unpickled(archive, "constants.pkl", "constants", map_location)
        if not isinstance(constants, tuple):
            raise pickle.UnpicklingError("the constants are not a tuple")
        script = Script(files, list(constants))
        raw = _unpickled(archive, "data.pkl", "data", map_location)
        if not isinstance(raw, _Raw):
            raise pickle.UnpicklingError("the archive holds no module")
        module = _Maker(script).made(raw)
        if not isinstance(module, RecursiveScriptModule):
            raise Refused(f"{raw.name} is not a module")
        for key in extra_files or ():
            if f"extra/{key}" in archive:
                extra_files[key] = bytes(archive.read(f"extra/{key}"))
        return module
    except (Refused, pickle.UnpicklingError) as error:
        raise type(error)(f"{error} (in {name})") from None
    except RecursionError:
        raise Refused(f"what the archive holds nests too deeply (in {name})") from None
    except MemoryError as error:
        raise RuntimeError(f"there is not enough memory for what {name} holds") from error


def _text(archive, record):
    try:
        return bytes(archive.read(record)).decode()
    except UnicodeDecodeError:
        raise Refused(f"{record} is not text") from None


def _unpickled(archive, record, folder, map_location):
    storage = reader(archive, map_location, folder=folder)
    return _Reader(archive.read(record), {}, storage, functools.partial(guard, archive.name)).load()


class _Maker:
    """Makes modules and objects from the pickled values."""

    def __init__(self, script):
        self.script, self.parameters = script, {}

    def made(self, raw):
        """The value in a program for a pickled value."""
        kind = type(raw)
        if kind is _Raw:
            if raw.made is None:
                self._make(raw)
            return raw.made
        if kind is list:
            return [self.made(x) for x in raw]
        if kind is tuple:
            return tuple([self.made(x) for x in raw])
        if kind is dict:
            return {key: self.made(x) for key, x in raw.items()}
        if isinstance(raw, Tensor):
            return self.parameters.get(id(raw), (raw,))[0]
        if raw is None or kind in (bool, int, float, str, complex):
            return raw
        raise Refused(f"a value of type {kind.__name__}")

    def _make(self, raw):
        script_class = self.script.classes.get(raw.name)
        if script_class is None:
            raise Refused(f"there is no class {raw.name:.80} in the archive")
        if script_class.kind == "enum":
            members = [x for x in script_class.constants.values()
                       if isinstance(raw.state, tuple) and [x.value] == list(raw.state)]
            if len(members) != 1:
                raise Refused(f"{raw.name:.80} has no such member")
            raw.made = members[0]
            return
        if script_class.kind == "tuple":
            if not isinstance(raw.state, tuple) or len(raw.state) != len(script_class.fields):
                raise Refused(f"{raw.name:.80}: a tuple of another length")
            raw.made = Tuple(script_class, [self.made(x) for x in raw.state])
            return
        if not isinstance(raw.state, dict) or not all([type(key) is str for key in raw.state]):
            raise Refused(f"{raw.name:.80} has no state")
        unknown = [key for key in raw.state if key not in script_class.fields]
        if unknown:
            raise Refused(f"{raw.name:.80} declares no attribute {unknown[0]!r:.60}")
        if script_class.kind == "module":
            self._module(raw, script_class)
            return
        raw.made = ScriptObject(script_class)
        for key, value in raw.state.items():
            raw.made.values[key] = self.made(value)

    def _module(self, raw, script_class):
        module = raw.made = RecursiveScriptModule(script_class, self.script.machine)
        for key in script_class.parameters:
            value = raw.state.get(key)
            if value is None and key in raw.state:
                module._parameters[key] = None
                continue
            if not isinstance(value, Tensor):
                raise Refused(f"{raw.name:.80}: the parameter {key!r:.60} is not a tensor")
            if id(value) not in self.parameters:
                self.parameters[id(value)] = Parameter(value.detach(), value.requires_grad), value
            module._parameters[key] = self.parameters[id(value)][0]
        for key, value in raw.state.items():
            if key in script_class.parameters:
                continue
            if key == "training":
                if type(value) is not bool:
                    raise Refused(f"{raw.name:.80}: training is not a bool")
                module.training = value
            elif key in script_class.buffers and isinstance(value, (Tensor, type(None))):
                module._buffers[key] = self.made(value)
            else:
                found = self.made(value)
                table = module._modules if isinstance(found, RecursiveScriptModule) else module._values
                table[key] = found


# ------------------------------------------------------------------ to write
_STORAGES = {dt.float32: "FloatStorage", dt.float64: "DoubleStorage", dt.float16: "HalfStorage",
             dt.int64: "LongStorage",
             dt.int32: "IntStorage", dt.int16: "ShortStorage", dt.int8: "CharStorage", dt.uint8: "ByteStorage",
             dt.bool: "BoolStorage", dt.bfloat16: "BFloat16Storage", dt.complex64: "ComplexFloatStorage",
             dt.complex128: "ComplexDoubleStorage"}


class _Writer:
    """Writes a pickle that torch's reader in C++ can read: instances by class and state, tensors by storage."""

    def __init__(self, enums=None):
        self.enums = enums or {}               # {Python enumeration: the name of its class}
        self.parts, self.memo, self.storages, self.held = [b"\x80\x02"], {}, {}, []

    def finished(self):
        """The pickle."""
        return b"".join([*self.parts, b"."])

    def write(self, x):
        """One value."""
        put = self.parts.append
        if x is None:
            put(b"N")
        elif x is True or x is False:
            put(b"\x88" if x else b"\x89")
        elif type(x) is int:
            put(b"J" + pack("<i", x) if -1 << 31 <= x < 1 << 31 else b"\x8a\x08" + pack("<q", x))
        elif type(x) is float:
            put(b"G" + pack(">d", x))
        elif type(x) is str:
            text = x.encode()
            put(b"X" + pack("<I", len(text)) + text)
        elif isinstance(x, Tensor):
            self._remembered(x, self._tensor)
        elif isinstance(x, (RecursiveScriptModule, ScriptObject)):
            self._remembered(x, self._object)
        elif isinstance(x, (Member, Enum)):
            module, _, name = (x.script_class.name if isinstance(x, Member) else self.enums[type(x)]).rpartition(".")
            self._name(module, name)
            self.write(x.value)                # not in a tuple: PyTorch reads it this way
            put(b"R")
        elif type(x) is list:
            self._remembered(x, self._list)
        elif type(x) is dict:
            self._remembered(x, self._dict)
        elif isinstance(x, tuple):
            put(b"(")
            for y in x:
                self.write(y)
            put(b"t")
        else:
            raise RuntimeError(f"a value of type {type(x).__name__} cannot be saved in an archive of TorchScript")

    def _remembered(self, x, write):
        if id(x) in self.memo:
            self.parts.append(b"j" + pack("<I", self.memo[id(x)]))
            return
        self.held.append(x)
        write(x)
        self.memo[id(x)] = len(self.memo)
        self.parts.append(b"r" + pack("<I", self.memo[id(x)]))

    def _name(self, module, name):
        self.parts.append(f"c{module}\n{name}\n".encode())

    def _list(self, x):
        typed = next((name for name, kind in _LISTS.items() if x and all(
            [type(y) is kind or kind is Tensor and isinstance(y, Tensor) for y in x])), None)
        if typed is not None:
            self._name("torch.jit._pickle", typed)
        self.parts.append(b"](")
        for y in x:
            self.write(y)
        self.parts.append(b"e" if typed is None else b"e\x85R")

    def _dict(self, x):
        self.parts.append(b"}(")
        for key, y in x.items():
            self.write(key)
            self.write(y)
        self.parts.append(b"u")

    def _object(self, x):
        module, _, name = x.script_class.name.rpartition(".")
        self._name(module, name)
        self.parts.append(b")\x81}(")
        for key in x.script_class.fields:
            there, value = x.find(key)
            if not there and key in x.script_class.constants:
                continue
            self.write(key)
            self.write(value)
        self.parts.append(b"ub")

    def _tensor(self, x):
        dtype, array = x.dtype, x.detach()
        if dtype not in _STORAGES:
            raise RuntimeError(f"a tensor of {dtype} cannot be saved in an archive of TorchScript")
        storage = x.untyped_storage()
        place = storage.data_ptr(), storage.nbytes()
        if place not in self.storages:
            self.storages[place] = str(len(self.storages)), storage
        key, count = self.storages[place][0], storage.nbytes() // dtype.itemsize
        self._name("torch._utils", "_rebuild_tensor_v2")
        self.parts.append(b"((")
        for part in ("storage", None, key, "cpu", count):
            if part is None:
                self._name("torch", _STORAGES[dtype])
            else:
                self.write(part)
        self.parts.append(b"tQ")
        self.write(array.storage_offset())
        for numbers in (tuple(array.shape), array.stride()):
            self.write(tuple([int(n) for n in numbers]))
        self.write(bool(x.requires_grad))
        self._name("collections", "OrderedDict")
        self.parts.append(b")RtR")


def write(module: RecursiveScriptModule, f: Any, extra_files: dict[str, Any] | None = None) -> None:
    """Writes a module to a path, or to a binary file, as an archive that torch.jit.load reads here and in PyTorch.
    If writing fails, no file is left at the path."""
    if not isinstance(module, RecursiveScriptModule):
        raise ValueError(f"only modules and functions that were traced or read can be saved, not "
                         f"{type(module).__name__}: use torch.save(module.state_dict(), f)")
    for name in module._machine.script.python:
        raise RuntimeError(f"\nCould not export Python function call '{name.rpartition('_')[0]}'. Remove calls to "
                           "Python functions before export. Did you forget to add @script or @script_method "
                           "annotation? If this is a nn.ModuleList, add it to __constants__:\n")
    named = os.path.splitext(os.path.basename(os.fspath(f)))[0] if isinstance(f, (str, os.PathLike)) else "archive"
    records = _records(module, extra_files)
    if isinstance(f, (str, os.PathLike)):
        with replacing(os.fspath(f)) as file:
            _zipped(file, named or "archive", records)
    else:
        buffer = io.BytesIO()
        _zipped(buffer, named, records)
        f.write(buffer.getvalue())


def _records(module, extra_files):
    enums = module._machine.script.enums
    data, constants = _Writer(enums), _Writer(enums)
    data.write(module)
    constants.write(tuple(module._machine.constants))
    records = {"data.pkl": data.finished(), "constants.pkl": constants.finished(), "version": b"10\n",
               "byteorder": sys.byteorder.encode()}
    for name, text in module._machine.script.files.items():
        records[f"code/{name.replace('.', '/')}.py"] = text.encode()
    for folder, pickled in (("data", data), ("constants", constants)):
        for key, storage in pickled.storages.values():
            records[f"{folder}/{key}"] = storage.memory.tobytes()
    for key, text in (extra_files or {}).items():
        records[f"extra/{key}"] = text.encode() if isinstance(text, str) else bytes(text)
    return records


def _zipped(file, named, records):
    from zipfile import ZipFile

    from ..serialization import _aligned
    with ZipFile(file, "w") as archive:
        for name, content in records.items():
            _aligned(archive, f"{named}/{name}", content)


KEEPERS |= {"read": read, "write": write}
