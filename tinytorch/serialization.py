"""torch.save and torch.load, in torch's own file format.

A file is an uncompressed zip archive. NAME/data.pkl is a pickle in which every storage (the memory behind
one or several tensors) is a persistent id ('storage', type, key, location, number of elements), and
NAME/data/KEY holds its bytes. Our classes are pickled under torch's names, so files can go both ways.
"""
import contextlib
import enum
import functools
import importlib
import io
import os
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes as dt
from .arguments.data import StorageBase
from .autograd.torch_function import DisableTorchFunction
from .checkpoint.rebuild import (
    KNOWN,
    STORAGES,
    UNTYPED,
    WRITTEN,
    StorageType,
    Written,
    _get_layout,
    _rebuild_from_type_v2,
    _rebuild_meta_tensor_no_storage,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_sparse_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
    guard,
)
from .checkpoint.storage_reader import reader, typed
from .checkpoint.whole_file import replacing
from .device import device
from .environment.names import torch_name
from .errors import warn
from .kinds.lazy import address_of, bits_of
from .memory_format import layout, strided
from .nn.parameter import Parameter, is_lazy
from .storage import UntypedStorage, _load_from_bytes, is_storage, memory_of
from .tensor import Size, Tensor, own_attributes, wrap

__all__ = ["load", "save"]

DEFAULT_PROTOCOL = 2

#: The types of `map_location`.
MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None

_ALIGNMENT = 64                                # the bytes of a storage begin at a multiple of this, as in torch


# ------------------------------------------------------------------ names in the pickle
_NO_STORAGE = {dt.uint16, dt.uint32, dt.uint64, dt.complex32, *dt.FLOAT8}      # torch stores these as bytes
_NAMES = {id(value): name for name, value in KNOWN.items()}
_NAMES[id(UNTYPED)] = "torch.storage.UntypedStorage"
_PACKAGE = __package__


def _torch_name(obj, name=None):
    """torch's (module, name) of a class or function of this package; None for any other object."""
    known = _NAMES.get(id(obj))
    if known is None:
        return torch_name(obj, name)
    return tuple(known.rsplit(".", 1)) if known.startswith("torch") else None


# ------------------------------------------------------------------ save
@functools.lru_cache(16)
def _pickler(base):
    """A class of pickler that writes tensors as torch does, on top of the pickler `base`, in Python or in C."""
    # pickle calls three methods of the class: `persistent_id` for storages, `reducer_override` for tensors and for
    # names of this package, and, in Python, `save_global` (`_in_python`) for functions and classes.
    theirs = getattr(base, "reducer_override", None)        # modules such as cloudpickle reduce further objects with it

    class Pickler(base):
        def __init__(self, file, protocol, more, shown):
            super().__init__(file, protocol=protocol)
            self.more = more                   # items at the end of each storage's persistent id
            self.shown = shown                 # Shown in compact files, or None
            self.storages = {}                 # (address, bytes) of the memory -> (key, its array, dtype)
            self.renamed = {}                  # our (module, name) -> torch's

        def persistent_id(self, obj):
            if not isinstance(obj, StorageBase):       # pickle asks for every object, numbers and strings included
                return None
            if not isinstance(obj, UntypedStorage) and obj.dtype in _NO_STORAGE:
                raise KeyError(f"dtype {obj.dtype!r} is not recognized")
            kind = UNTYPED if isinstance(obj, UntypedStorage) else STORAGES[obj.dtype]
            data, dtype = obj.memory.view(np.uint8), kind.dtype
            if self.shown is not None:
                self.shown.keep_whole(data)    # except storages of tensors, which `shown` has placed already
            place = data.__array_interface__["data"][0], data.nbytes
            key, _, first = self.storages.setdefault(place, (str(len(self.storages)), data, dtype))
            if dtype is not first and data.nbytes:
                raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different "
                                   "types")
            return "storage", kind, key, "cpu", data.nbytes // dtype.itemsize, *self.more

        def reducer_override(self, obj):
            ours = self._reduced(obj)
            return ours if ours is not NotImplemented or theirs is None else theirs(self, obj)

        def _reduced(self, obj):
            if isinstance(obj, Tensor):
                return self.function_first(_reduce(obj, self.shown))
            if isinstance(obj, layout):
                return self.function_first((_get_layout, (str(obj),)))
            name, named = None, obj
            if isinstance(obj, (dt.dtype, StorageType)):
                name = obj.name
            elif isinstance(obj, Written):
                name, named = obj.name, obj.function
            elif not isinstance(obj, (type, type(_reduce))):
                return NotImplemented
            found = _torch_name(named, None if named is not obj else name)
            if found is not None:
                self.renamed[obj.__module__, name or obj.__qualname__] = found
            return name or NotImplemented

        def function_first(self, reduced):
            """The function and arguments that a tensor is reduced to, in a form that this pickler can write."""
            if reduced is NotImplemented or issubclass(base, pickle._Pickler):
                return reduced
            function, args = reduced
            return WRITTEN[function], tuple([WRITTEN[x] if isinstance(x, type(_reduce)) else x for x in args])
    return Pickler


@functools.lru_cache(16)
def _in_python(base):
    class Pickler(_pickler(base)):
        """Writes names of this package as torch's names."""

        def save_global(self, obj, name=None):
            found = _torch_name(obj, name)
            if found is None:
                return super().save_global(obj, name)
            self.write(pickle.GLOBAL + "\n".join(found).encode() + b"\n")
            self.memoize(obj)

        # pickle chooses its method for functions and classes by type, so overriding save_global is not enough
        dispatch = dict(base.dispatch)
        dispatch[type(_rebuild_parameter)] = save_global

        def save_type(self, obj):
            if obj in (type(None), type(NotImplemented), type(...)):
                return super().save_type(obj)
            self.save_global(obj)

        dispatch[type] = save_type
    return Pickler


def _pickled(obj, base, protocol, more=(), shown=None):
    """(the pickle of `obj`, its storages). pickle's implementation in C writes it. That refuses a global that it cannot
    import, so it writes our names, and torch's names replace them in the text afterwards. Where a name cannot be told
    from the user's data, and for newer protocols, pickle's implementation in Python writes it."""
    refusal = None
    if not issubclass(base, pickle._Pickler) and protocol in (2, 3):
        text = io.BytesIO()
        pickler = _pickler(base)(text, protocol, more, shown)
        try:
            pickler.dump(obj)
        except (pickle.PicklingError, AttributeError) as error:
            refusal = error                    # raised below, unless it was one of our names that was refused
        else:
            content = text.getvalue()
            for ours, theirs in pickler.renamed.items():
                name = b"c%s\n%s\n" % tuple([part.encode() for part in ours])
                if content.count(name) != 1:
                    break
                content = content.replace(name, b"c%s\n%s\n" % tuple([part.encode() for part in theirs]))
            else:
                return content, pickler.storages
    text = io.BytesIO()
    pickler = _in_python(base if issubclass(base, pickle._Pickler) else pickle._Pickler)(text, protocol, more, shown)
    try:
        pickler.dump(obj)
    except pickle.PicklingError:
        if refusal is None:
            raise
        raise refusal from None
    return text.getvalue(), pickler.storages


def _compactly_pickled(obj, base, protocol, more=()):
    """`_pickled` with no more memory than tensors show. The first of two passes finds out what they show."""
    # In the first pass `shown` gathers the parts of each memory, in the second it places tensors in shorter memory.
    from .checkpoint.shown import Shown  # imported here, because few programs need it
    shown = Shown()
    _pickled(obj, base, protocol, more, shown)
    shown.settle()
    return _pickled(obj, base, protocol, more, shown)


def _reduce(tensor, shown=None):
    """torch's pickled form of a tensor: a function and its arguments. NotImplemented: its class says how."""
    kind = type(tensor)
    if is_lazy(tensor):
        return NotImplemented
    if tensor.layout is not strided:
        return _reduce_tensor(tensor, shown)
    state = own_attributes(tensor)
    if issubclass(kind, Parameter):
        function, args = _reduce_tensor(tensor, shown)
        return (_rebuild_parameter_with_state, (*args, state)) if state else (function, args)
    if kind is Tensor and not state:
        return _reduce_tensor(tensor, shown)
    if kind is not Tensor and kind.__reduce_ex__ is not Tensor.__reduce_ex__:
        return NotImplemented
    with DisableTorchFunction():
        function, args = _reduce_tensor(tensor, shown)
        return _rebuild_from_type_v2, (function, kind, args, state)


def _reduce_tensor(tensor, shown=None):
    if issubclass(type(tensor), Parameter):
        data = wrap(tensor._array)
        return _rebuild_parameter, (data, tensor.requires_grad, OrderedDict())
    array = tensor._array
    if tensor.layout is not strided:
        parts = (array.plan,) if tensor.is_sparse else array.plan
        data = (*map(wrap, parts), wrap(array.values), Size(array.shape)) + (array.coalesced,) * tensor.is_sparse
        return _rebuild_sparse_tensor, (tensor.layout, data)
    if tensor.is_meta:
        return _rebuild_meta_tensor_no_storage, (tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad)
    memory = memory_of(array)
    if memory is None:
        array = array.copy()
        memory, shown = memory_of(array), None          # the copy has no more memory than it shows
    d = dt.of(array)
    n = array.itemsize
    offset = (address_of(array) - address_of(memory)) // n if array.size else 0
    strides = tuple(s // n for s in array.strides) if array.size else tensor.stride()
    if shown is not None:
        memory, offset, strides = shown.place(memory, offset, array.shape, strides, n)
    untyped = d in _NO_STORAGE
    storage = UntypedStorage._over(memory) if untyped else typed(memory, d)
    args = storage, offset, array.shape, strides, tensor.requires_grad, OrderedDict()
    if untyped:
        args += (d,)
    marks = {name: True for name, bit in zip(("conj", "neg"), bits_of(array)) if bit}
    if marks:
        args += (marks,)
    return _rebuild_tensor_v3 if untyped else _rebuild_tensor_v2, args


def plain_form(x):
    """The form in which torch lets pickle itself write a tensor or storage; None where torch refuses."""
    if is_storage(x):
        if isinstance(x, UntypedStorage):
            return None
        file = io.BytesIO()
        save(x, file, _use_new_zipfile_serialization=False)
        return _load_from_bytes, (file.getvalue(),)
    if x.dtype in _NO_STORAGE:
        return None
    found = _reduce(x)
    return None if found is NotImplemented else found


def _aligned(archive, name, data):
    """Add an entry whose bytes begin at a multiple of the alignment, so that torch's readers can map them."""
    from zipfile import ZipInfo  # imported here, because it costs a tenth of `import tinytorch`
    info = ZipInfo(name)
    begin = archive.fp.tell() + 30 + len(name.encode()) + 4
    padding = -begin % _ALIGNMENT
    info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
    archive.writestr(info, data)


def save(obj, f, pickle_module=pickle, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True, *,
         compact=False):
    """Write `obj` (tensors, modules' state dicts, any nesting of Python objects) to a path or binary file.

    Tensors that share memory still do when loaded. PyTorch can read the file. An older file at the path stays until the
    new file is written completely: after an error, with a full disk or at the end of the process the old file is there.

    _use_new_zipfile_serialization  False writes the format before PyTorch 1.6
    compact                         write no more memory than tensors show: for the first row of a matrix that row
                                    alone, and not the whole matrix. Tensors that share memory still do, and strides
                                    become shorter where there are gaps. Storages that are saved themselves are written
                                    whole. Objects are asked for their state twice.

    >>> import io, tinytorch as torch
    >>> file = io.BytesIO(); torch.save({"w": torch.ones(2)}, file); file.seek(0)
    0
    >>> torch.load(file)
    {'w': tensor([1., 1.])}
    >>> file = io.BytesIO(); torch.save(torch.ones(1000, 1000)[:2, 0], file, compact=True)
    >>> file.tell() < 2000
    True
    """
    pickled = _compactly_pickled if compact else _pickled
    pickled = functools.partial(pickled, base=pickle_module.Pickler, protocol=pickle_protocol)
    write = _archive if _use_new_zipfile_serialization else _old
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {folder} does not exist.")
        finish = write(obj, pickled, os.path.splitext(os.path.basename(path))[0] or "archive")
        with replacing(path) as file:
            finish(file)
    elif hasattr(f, "write"):
        write(obj, pickled, "archive")(_Stream(f))
    else:
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")


class _Stream:
    """A file-like object of the user, which only needs `write` and `flush`. Each entry of an archive is one `write`.
    The archive may begin behind other contents."""

    def __init__(self, file):
        self.file, self.sent, self.held = file, 0, io.BytesIO()

    def write(self, data):
        return self.held.write(data)

    def tell(self):
        return self.sent + self.held.tell()

    def seek(self, at):
        self.held.seek(at - self.sent)

    def flush(self):
        """Does nothing: the entry is not complete yet."""

    def send(self):
        self.file.write(self.held.getvalue())
        self.sent, self.held = self.tell(), io.BytesIO()

    def finish(self):
        self.send()
        if hasattr(self.file, "flush"):
            self.file.flush()


def _archive(obj, pickled, name):
    """A function that writes the pickle of `obj` and its storages to a file, as an archive with one folder."""
    text, storages = pickled(obj)

    def finish(file):
        from zipfile import ZipFile
        stream = isinstance(file, _Stream)
        with ZipFile(file, "w") as archive:
            _aligned(archive, f"{name}/data.pkl", text)
            _aligned(archive, f"{name}/byteorder", sys.byteorder.encode())
            for key, data, _ in storages.values():
                if stream:
                    file.send()
                _aligned(archive, f"{name}/data/{key}", memoryview(data))
            _aligned(archive, f"{name}/version", b"3\n")
        if stream:
            file.finish()
    return finish


def _old(obj, pickled, name):
    """`_archive` for the format before PyTorch 1.6."""
    from .checkpoint.old_format import write

    def finish(file):
        write(obj, pickled, file)
        if isinstance(file, _Stream):
            file.finish()
    return finish


# ------------------------------------------------------------------ the names that a file may use
_safe = {}                                     # name -> the object that the user has declared safe


def _full_name(obj):
    found = _torch_name(obj)
    return ".".join(found) if found else f"{obj.__module__}.{obj.__qualname__}"


def _named(safe_globals):
    found = {}
    for entry in safe_globals:
        value, name = entry if isinstance(entry, tuple) else (entry, None)
        found[_full_name(value) if name is None else name] = value
    return found


def add_safe_globals(safe_globals):
    """Let `load(weights_only=True)` build these classes and call these functions (or pairs (object, name)).

    >>> import tinytorch as torch
    >>> class Config: pass
    >>> torch.serialization.add_safe_globals([Config])
    >>> torch.serialization.clear_safe_globals()
    """
    _safe.update(_named(safe_globals))


def get_safe_globals():
    """The objects added by `add_safe_globals`."""
    return list(_safe.values())


def clear_safe_globals():
    """Remove the objects added by `add_safe_globals`."""
    _safe.clear()


@contextlib.contextmanager
def safe_globals(safe_globals):
    """`add_safe_globals` for the time of a with statement."""
    before = dict(_safe)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _safe.clear()
        _safe.update(before)


class LoadEndianness(enum.Enum):
    """The byte order of files that do not state their own."""

    NATIVE, LITTLE, BIG = 1, 2, 3


def get_default_load_endianness():
    """None: files that do not state their byte order are read as little-endian."""
    return None


def set_default_load_endianness(endianness):
    """Does nothing for None and for the little-endian order; NotImplementedError for the big-endian one."""
    if endianness not in (None, LoadEndianness.LITTLE):
        if not isinstance(endianness, LoadEndianness):
            raise TypeError("Invalid argument type in function set_default_load_endianness")
        raise NotImplementedError("files that do not say their byte order are read as little-endian alone")


def get_crc32_options():
    """True: archives hold the checksums of their entries."""
    return True


def set_crc32_options(compute_crc32):
    """Does nothing: the checksums are always computed."""


def register_package(priority, tagger, deserializer):
    """NotImplementedError: storages are on the CPU, and there are no other locations."""
    raise NotImplementedError("register_package: storages are on the CPU, and no other places are known")


class skip_data:
    """NotImplementedError on entry: files are always written with their data."""

    def __init__(self, materialize_fake_tensors=False):
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self):
        raise NotImplementedError("skip_data: files are written whole")

    def __exit__(self, *error):
        """Never called."""


def get_unsafe_globals_in_checkpoint(f):
    """The names in a file of `save` that `load(weights_only=True)` would refuse, in alphabetical order. ValueError if
    the file is no archive.

    >>> import io, tinytorch as torch
    >>> file = io.BytesIO(); torch.save(torch.nn.Linear(1, 1), file); file.seek(0)
    0
    >>> torch.serialization.get_unsafe_globals_in_checkpoint(file)[:1]
    ['torch.nn.modules.linear.Linear']
    """
    import pickletools

    from .checkpoint.unpickler import ALLOWED, called
    from .checkpoint.zip_reader import Archive
    opened = open(f, "rb") if isinstance(f, (str, os.PathLike)) else contextlib.nullcontext(f)
    with opened as file:
        name, (begin, zipped) = _name_of(file), _begin(file)
        if not zipped:
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        text = Archive(file, begin, name).read("data.pkl")
    found, words, memo, word = set(), [], [], None
    for code, argument, _ in pickletools.genops(text):
        if code.name == "GLOBAL":
            found.add(called(*argument.split(" ", 1))[1])
        elif code.name == "STACK_GLOBAL":
            found.add(".".join(words[-2:]))
        elif code.name == "MEMOIZE":
            memo.append(word)
            continue
        elif code.name in ("BINGET", "LONG_BINGET") and argument < len(memo):
            argument = memo[argument]
        word = argument if isinstance(argument, str) else None
        if word is not None:
            words.append(word)
    return sorted(found.difference(ALLOWED, _safe))


# ------------------------------------------------------------------ load
#: Modules of Python 2, whose names protocol 2 uses -> their present names.
_PYTHON_2 = {"__builtin__": "builtins"}
#: torch's classes and modules of functions written in C++. A pickle names a function as an attribute of these.
_BUILTIN = {"TensorBase": Tensor, "_VariableFunctionsClass": sys.modules[_PACKAGE]}


class _Unpickler(pickle.Unpickler):
    """Finds torch's names in this package. It runs any function that the file names."""

    storage = guard = None                     # set by _read

    def persistent_load(self, pid):
        return self.storage(pid)

    def find_class(self, module, name):
        known = KNOWN.get(f"{_PYTHON_2.get(module, module)}.{name}")
        if known is not None:
            return functools.partial(self.guard, known) if module == "torch._utils" else known
        if module == "torch._C" and name in _BUILTIN:
            return _BUILTIN[name]
        if module == "torch._C._nn":
            module = "torch.nn.functional"
        if module == "torch" or module.startswith("torch."):
            place = importlib.import_module(_PACKAGE + module[len("torch"):])
            return getattr(place, name)
        return super().find_class(module, name)


def _name_of(file):
    """The name of an open file in messages."""
    name = getattr(file, "name", None)
    return os.fspath(name) if isinstance(name, (str, os.PathLike)) else "the file"


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Read a file of `save`, or of PyTorch's, from a path or binary file, or the tensors of a path `*.safetensors`.

    With `weights_only` (the default) the file may hold only tensors, numbers, strings, plain containers, and objects
    that `torch.serialization.add_safe_globals` allows: pickle.UnpicklingError otherwise. Without it, the file can
    run any code. RuntimeError (or pickle.UnpicklingError) for a file that is cut off, damaged or malicious,
    EOFError for an empty one, NotImplementedError for the format before PyTorch 0.1.10. See docs/security.md.

    map_location  "cpu", a device, a dict of locations, or a function (storage, location) -> storage or None
    mmap          map the file into memory: tensors are read when they are used, and writes do not reach the file
    """
    weights_only = _weights_only(weights_only, pickle_module is None)
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if weights_only and pickle_load_args:
        warn("pickle_load_args only works if `weights_only=False`.")
    read = functools.partial(_read, map_location=map_location, pickle_module=pickle_module, weights_only=weights_only,
                             pickle_load_args=pickle_load_args)
    if isinstance(f, (str, os.PathLike)):
        if os.fspath(f).endswith(".safetensors"):
            from .checkpoint.safetensors import read as read_safetensors
            return read_safetensors(os.fspath(f), map_location)
        with open(f, "rb") as file:
            return read(file, mapped=os.fspath(f) if mmap else None)
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    return read(f)


def _weights_only(wanted, default):
    """Whether a file may hold weights only: by `load`'s argument or `default`, unless the environment decides."""
    always, unless_given = [os.environ.get(f"TORCH_FORCE_{name}_LOAD", "0").lower() in ("1", "y", "yes", "true")
                            for name in ("WEIGHTS_ONLY", "NO_WEIGHTS_ONLY")]
    if always and unless_given:
        raise RuntimeError("Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should "
                           "be set, but both were set.")
    if always:
        return True
    if wanted is None and unless_given:
        warn("Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` "
             "argument was not explicitly passed to `torch.load`, forcing weights_only=False.")
        return False
    return default if wanted is None else wanted


def _read(file, map_location, pickle_module, weights_only, pickle_load_args, mapped=None):
    name = _name_of(file)
    begin, zipped = _begin(file)

    def unpickle(content, at, storage, guard=guard):
        checked = functools.partial(guard, name)
        if weights_only:
            from .checkpoint.unpickler import Unpickler
            unpickler = Unpickler(content, _safe, storage, checked, at=at, **pickle_load_args)
            return unpickler.load(), unpickler.at
        make = _Unpickler
        if pickle_module is not None and pickle_module is not pickle:
            make = type("Unpickler", (_Unpickler, pickle_module.Unpickler), {})
        text = io.BytesIO(content)
        text.seek(at)
        unpickler = make(text, **pickle_load_args)
        unpickler.storage, unpickler.guard = storage, checked
        try:
            return unpickler.load(), text.tell()
        except EOFError as error:
            raise pickle.UnpicklingError(f"the pickle ends early: {error}") from None

    try:
        if not zipped:
            if mapped is not None:
                raise RuntimeError(f"mmap can only be used with files saved with `torch.save({mapped}, "
                                   "_use_new_zipfile_serialization=True), please torch.save your checkpoint with this "
                                   "option in order to use mmap.")
            return _read_old(file, begin, name, weights_only, map_location, unpickle)
        from .checkpoint.zip_reader import Archive  # imported here, like zipfile
        archive = Archive(file, begin, name)
        text = archive.read("data.pkl")
        if weights_only and "constants.pkl" in archive:
            raise RuntimeError("Cannot use ``weights_only=True`` with TorchScript archives passed to "
                               f"``torch.load``. {name} is one.")
        return unpickle(text, 0, reader(archive, map_location, mapped))[0]
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(_explained(str(error), name) if weights_only else f"{error} (in {name})") from None
    except MemoryError as error:
        raise RuntimeError(f"there is not enough memory for what {name} holds") from error


def _read_old(file, begin, name, weights_only, map_location, unpickle):
    from .checkpoint.old_format import guarded, read
    file.seek(begin)
    content = file.read()
    if content[257:262] == b"ustar":
        if weights_only:
            raise RuntimeError(f"Cannot use ``weights_only=True`` with files saved in the legacy .tar format: {name}")
        raise NotImplementedError(f"{name} is in the format before PyTorch 0.1.10, which is not supported")
    result, size = read(content, name, map_location, functools.partial(unpickle, content, guard=guarded))
    file.seek(begin + size)                    # another file may begin there
    return result


def _explained(message, name):
    """The message for a file that the weights_only unpickler has refused."""
    hint = "The file is damaged, or holds objects that a file of weights does not"
    if "not an allowed global" in message or "allowlisted" in message:
        hint = ("If you trust the source of the file, load it with `weights_only=False` (which lets it run any code), "
                "or allow what it needs")
    return f"Weights only load failed. {hint}.\n\tThe file: {name}\n\tWeightsUnpickler error: {message}"


def _begin(file):
    """(the position at which a checkpoint begins in an open file, whether it is an archive). It begins at the file's
    position; an archive may also begin at the file's first byte."""
    try:
        start = file.seek(file.tell())
    except (AttributeError, io.UnsupportedOperation) as error:
        if "seek" not in str(error) and "tell" not in str(error):
            raise
        raise type(error)(f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data "
                          "into a buffer like io.BytesIO and try to load from it instead.") from None
    heads = []
    for begin in (start, 0):
        file.seek(begin)
        heads.append(file.read(4))
        if heads[-1] in (b"PK\3\4", b"PK\5\6"):             # the head of an entry, or of an archive without entries
            return begin, True
    if not heads[0]:
        raise EOFError
    return start, False
