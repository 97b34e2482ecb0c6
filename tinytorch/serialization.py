"""torch.save and torch.load, in torch's own file format.

A file is an uncompressed zip archive: NAME/data.pkl is a pickle in which every storage (the memory behind
one or several tensors) is a persistent id ('storage', type, key, location, number of elements), and
NAME/data/KEY holds its bytes. Our classes are pickled under torch's names, so that the files go both ways.
"""
import contextlib
import functools
import importlib
import io
import os
import pickle
import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes as dt
from ._rebuild import (
    KNOWN,
    STORAGES,
    UNTYPED,
    Storage,
    StorageType,
    _get_layout,
    _rebuild_from_type_v2,
    _rebuild_parameter,
    _rebuild_sparse_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
    guard,
)
from .autograd.overridable import Overridable
from .autograd.torch_function import DisableTorchFunction
from .device import check_device, device
from .lazy import address_of, bits_of, root_of
from .memory_format import layout, strided
from .nn.parameter import Parameter, is_lazy
from .tensor import Size, Tensor, own_attributes, wrap

__all__ = ["load", "save"]

#: What `map_location` may be.
MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None

_ALIGNMENT = 64                                # where the bytes of a storage may begin, as torch has it


# ------------------------------------------------------------------ names in the pickle
_NO_STORAGE = {dt.uint16, dt.uint32, dt.uint64, dt.complex32, *dt.FLOAT8}      # torch stores these untyped
_NAMES = {id(value): name for name, value in KNOWN.items()}
_NAMES[id(UNTYPED)] = "torch.storage.UntypedStorage"
_PACKAGE = __package__
#: Files of classes that torch has in another one.
_ELSEWHERE = {".autograd.hooks": ".utils.hooks", ".nn.modules.multihead_attention": ".nn.modules.activation",
              ".nn.modules.softmax": ".nn.modules.activation", ".nn.modules.state": ".nn.modules.module"}


def _torch_name(obj, name=None):
    """(module, name) under which torch knows one of our classes or functions, or None if not ours."""
    known = _NAMES.get(id(obj))
    if known is not None:
        return tuple(known.rsplit(".", 1)) if known.startswith("torch") else None
    module = getattr(obj, "__module__", None) or ""
    name = name or getattr(obj, "__qualname__", None)
    if module != _PACKAGE and not module.startswith(_PACKAGE + "."):
        return None
    if module.startswith(_PACKAGE + ".ops."):  # torch has its functions elsewhere
        functional = sys.modules.get(_PACKAGE + ".nn.functional")
        return ("torch.nn.functional" if hasattr(functional, name) else "torch"), name
    inner = module[len(_PACKAGE):]
    return "torch" + _ELSEWHERE.get(inner, inner), name


# ------------------------------------------------------------------ save
def _pickler(base):
    class Pickler(base):
        """Writes tensors as torch does and our own names as torch's. In Python, since pickle's C
        implementation refuses a global that it cannot import."""

        def __init__(self, file, protocol):
            super().__init__(file, protocol=protocol)
            self.storages = {}                 # (address, bytes) of the memory -> (key, its array, dtype)

        def persistent_id(self, obj):
            if not isinstance(obj, Storage):
                return None
            data, dtype = obj.data, obj.type.dtype
            place = data.__array_interface__["data"][0], data.nbytes
            key, _, first = self.storages.setdefault(place, (str(len(self.storages)), data, dtype))
            if dtype is not first and data.nbytes:
                raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different "
                                   "types")
            return "storage", obj.type, key, "cpu", data.nbytes // obj.type.dtype.itemsize

        def reducer_override(self, obj):
            if isinstance(obj, Tensor):
                return _reduce(obj)
            if isinstance(obj, Overridable):
                return obj.__name__
            if isinstance(obj, dt.dtype):
                return obj.name
            if isinstance(obj, StorageType):
                return obj.name
            if isinstance(obj, layout):
                return _get_layout, (str(obj),)
            return NotImplemented

        def save_global(self, obj, name=None):
            found = _torch_name(obj, name)
            if found is None:
                return super().save_global(obj, name)
            self.write(pickle.GLOBAL + "\n".join(found).encode() + b"\n")
            self.memoize(obj)

        # pickle looks functions and classes up by type, before it would call save_global
        dispatch = dict(base.dispatch)
        dispatch[type(_rebuild_parameter)] = save_global

        def save_type(self, obj):
            if obj in (type(None), type(NotImplemented), type(...)):
                return super().save_type(obj)
            self.save_global(obj)

        dispatch[type] = save_type
    return Pickler


_Pickler = _pickler(pickle._Pickler)


def _reduce(tensor):
    """How torch pickles a tensor: a function and its arguments; NotImplemented: as its class says."""
    kind = type(tensor)
    if is_lazy(tensor):
        return NotImplemented
    if tensor.layout is not strided:
        return _reduce_tensor(tensor)
    if kind is Tensor or issubclass(kind, Parameter):
        return _reduce_tensor(tensor)
    if kind.__reduce_ex__ is not Tensor.__reduce_ex__:
        return NotImplemented
    with DisableTorchFunction():
        function, args = _reduce_tensor(tensor)
        return _rebuild_from_type_v2, (function, kind, args, own_attributes(tensor))


def _reduce_tensor(tensor):
    if issubclass(type(tensor), Parameter):
        data = wrap(tensor.array)
        return _rebuild_parameter, (data, tensor.requires_grad, OrderedDict())
    array = tensor.array
    if tensor.layout is not strided:
        parts = (array.plan,) if tensor.is_sparse else array.plan
        data = (*map(wrap, parts), wrap(array.values), Size(array.shape)) + (array.coalesced,) * tensor.is_sparse
        return _rebuild_sparse_tensor, (tensor.layout, data)
    memory = _memory_of(array)
    if memory is None:
        array = array.copy()
        memory = _memory_of(array)
    d = dt.of(array)
    n = array.itemsize
    offset = (address_of(array) - address_of(memory)) // n if array.size else 0
    untyped = d in _NO_STORAGE
    storage = Storage(memory, UNTYPED if untyped else STORAGES[d])
    args = storage, offset, array.shape, tuple(s // n for s in array.strides), tensor.requires_grad, OrderedDict()
    if untyped:
        args += (d,)
    marks = {name: True for name, bit in zip(("conj", "neg"), bits_of(array)) if bit}
    return _rebuild_tensor_v3 if untyped else _rebuild_tensor_v2, args + (marks,) if marks else args


def _memory_of(array):
    """The whole memory that `array` is a view of, as a flat uint8 array; None if torch could not describe it."""
    if any(s < 0 or s % array.itemsize for s in array.strides) or not array.dtype.isnative:
        return None
    root = root_of(array)
    if root.nbytes % array.itemsize:
        return None
    flat = root.transpose(np.argsort(root.strides)[::-1]).reshape(-1) if root.ndim != 1 else root
    if not flat.flags.c_contiguous or root.size and not np.may_share_memory(flat, root):
        return None
    return flat.view(np.uint8)


def _aligned(archive, name, data):
    """Add an entry whose bytes begin at a multiple of the alignment, as torch's readers may map them."""
    from zipfile import ZipInfo  # imported where used: it costs a tenth of `import tinytorch`
    info = ZipInfo(name)
    begin = archive.fp.tell() + 30 + len(name.encode()) + 4
    padding = -begin % _ALIGNMENT
    info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
    archive.writestr(info, data)


def save(obj, f, pickle_module=pickle, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Write `obj` (tensors, modules' state dicts, any nesting of Python objects) to a path or binary file.

    Tensors that share memory still do when loaded. The file is one that PyTorch reads.

    >>> import io, tinytorch as torch
    >>> file = io.BytesIO(); torch.save({"w": torch.ones(2)}, file); file.seek(0)
    0
    >>> torch.load(file)
    {'w': tensor([1., 1.])}
    """
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("the format before PyTorch 1.6 is not supported")
    make = _Pickler
    if pickle_module is not pickle:
        if not issubclass(pickle_module.Pickler, pickle._Pickler):
            raise NotImplementedError(f"pickle_module {pickle_module.__name__} is not based on Python's pickle")
        make = _pickler(pickle_module.Pickler)
    text = io.BytesIO()
    pickler = make(text, pickle_protocol)
    pickler.dump(obj)
    name = "archive"
    if isinstance(f, (str, os.PathLike)):
        name = os.path.splitext(os.path.basename(os.fspath(f)))[0] or name
        folder = os.path.dirname(os.fspath(f))
        if folder and not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {folder} does not exist.")
    elif not hasattr(f, "write"):
        raise AttributeError(f"expected 'f' to be string, path, or a file-like object with a 'write' attribute, "
                             f"got {type(f).__name__}")
    from zipfile import ZipFile
    with ZipFile(f, "w") as archive:
        _aligned(archive, f"{name}/data.pkl", text.getvalue())
        _aligned(archive, f"{name}/byteorder", sys.byteorder.encode())
        for key, data, _ in pickler.storages.values():
            _aligned(archive, f"{name}/data/{key}", memoryview(data))
        _aligned(archive, f"{name}/version", b"3\n")


# ------------------------------------------------------------------ what a file may name
_safe = {}                                     # name -> what users have declared safe


def _full_name(obj):
    found = _torch_name(obj)
    return ".".join(found) if found else f"{obj.__module__}.{obj.__qualname__}"


def _named(safe_globals):
    return {entry[1] if isinstance(entry, tuple) else _full_name(entry):
            entry[0] if isinstance(entry, tuple) else entry for entry in safe_globals}


def add_safe_globals(safe_globals):
    """Let `load(weights_only=True)` build these classes and call these functions (or pairs (object, name)).

    >>> import tinytorch as torch
    >>> class Config: pass
    >>> torch.serialization.add_safe_globals([Config])
    >>> torch.serialization.clear_safe_globals()
    """
    _safe.update(_named(safe_globals))


def get_safe_globals():
    """What has been added by `add_safe_globals`."""
    return list(_safe.values())


def clear_safe_globals():
    """Forget what has been added by `add_safe_globals`."""
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


# ------------------------------------------------------------------ load
#: What holds torch's functions that are written in C++, of which a pickle names the attribute.
_BUILTIN = {"TensorBase": Tensor, "_VariableFunctionsClass": sys.modules[_PACKAGE]}


class _Unpickler(pickle.Unpickler):
    """Finds torch's names in this package; runs what the file says."""

    storage = guard = None                     # set by _read

    def persistent_load(self, pid):
        return self.storage(pid)

    def find_class(self, module, name):
        module = {"__builtin__": "builtins"}.get(module, module)
        known = KNOWN.get(f"{module}.{name}")
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


def _check_location(location, map_location, name):
    """RuntimeError if a storage belongs on a device that is not there and nobody moves it."""
    if isinstance(map_location, dict):
        location = str(map_location.get(location, location))
    elif isinstance(map_location, (str, device)):
        location = str(map_location)
        check_device(device(map_location))
    elif map_location is not None:             # a function: whatever it says, memory is the CPU's
        return
    if location.startswith("cuda"):
        raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. "
                           "If you are running on a CPU-only machine, please use torch.load with "
                           "map_location=torch.device('cpu') to map your storages to the CPU.")
    if location.split(":")[0] not in device._TYPES:
        raise RuntimeError("don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
                           f"{location!r:.50}, in {name})")


def _storage_reader(archive, map_location):
    """A function that returns the storage of a persistent id, each read once."""
    found = {}
    order = archive.read("byteorder") if "byteorder" in archive else b"little"
    if order not in (b"little", b"big"):
        order = order.decode(errors="backslashreplace")
        raise RuntimeError(f"Unknown endianness type: {order:.50} (in {archive.name})")
    swapped = order.decode() != sys.byteorder

    def storage(pid):
        # Python 2 wrote the texts as bytes
        parts = pid if isinstance(pid, tuple) and pid else (pid,)
        kind, *rest = (x.decode("latin1") if isinstance(x, bytes) else x for x in parts)
        if kind != "storage":
            raise pickle.UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(kind)}")
        if len(rest) != 4 or not all(map(isinstance, rest, (StorageType, (str, int), str, int))) or rest[3] < 0:
            raise pickle.UnpicklingError("a storage is given by type, key, location and number of elements, but got "
                                         f"{', '.join(type(x).__name__ for x in rest)}")
        storage_type, key, location, count = rest
        record, d = f"data/{key}", storage_type.dtype
        size = archive.size_of(record)
        if size != count * d.itemsize:
            raise archive.error(f"reading file {record}: record size ({size} bytes) does not match expected size "
                                f"({count * d.itemsize} bytes = {count} elements * {d.itemsize} bytes/element) for "
                                f"dtype {d.name}")
        if record not in found:
            _check_location(location, map_location, archive.name)
            data = archive.read(record, lambda nbytes: np.empty(nbytes, np.uint8))
            if swapped:
                data.view(d.numpy).byteswap(inplace=True)
            if not size:                       # what has no memory may be of several types
                return Storage(data, storage_type)
            found[record] = Storage(data, storage_type)
        elif found[record].type.dtype is not d:
            raise archive.error(f"reading file {record}: it is said to hold both {found[record].type.dtype.name} and "
                                f"{d.name}")
        return found[record]
    return storage


def _name_of(file):
    """What messages call an open file."""
    name = getattr(file, "name", None)
    return os.fspath(name) if isinstance(name, (str, os.PathLike)) else "the file"


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Read what `save`, or PyTorch's, wrote to a path or binary file.

    With `weights_only` (the default) the file may hold only tensors, numbers, strings and plain containers, and
    what `torch.serialization.add_safe_globals` allows: pickle.UnpicklingError otherwise. Without, the file can
    run any code. RuntimeError (or pickle.UnpicklingError) for a file that is cut off, damaged or made to harm,
    EOFError for an empty one, NotImplementedError for the format before PyTorch 1.6. See docs/security.md.
    """
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if weights_only and pickle_load_args:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _read(file, map_location, pickle_module, weights_only, pickle_load_args)
    return _read(f, map_location, pickle_module, weights_only, pickle_load_args)


def _read(file, map_location, pickle_module, weights_only, pickle_load_args):
    from ._zip_reader import Archive  # imported where used, as zipfile is
    name = _name_of(file)
    begin = _begin(file, name)
    try:
        archive = Archive(file, begin, name)
        text = archive.read("data.pkl")
        storage, checked = _storage_reader(archive, map_location), functools.partial(guard, name)
        if weights_only:
            from ._weights_only_unpickler import Unpickler
            if "constants.pkl" in archive:
                raise RuntimeError("Cannot use ``weights_only=True`` with TorchScript archives passed to "
                                   f"``torch.load``. {name} is one.")
            return Unpickler(text, _safe, storage, checked, **pickle_load_args).load()
        make = _Unpickler
        if pickle_module is not None and pickle_module is not pickle:
            make = type("Unpickler", (_Unpickler, pickle_module.Unpickler), {})
        unpickler = make(io.BytesIO(text), **pickle_load_args)
        unpickler.storage, unpickler.guard = storage, checked
        try:
            return unpickler.load()
        except EOFError as error:
            raise pickle.UnpicklingError(f"the pickle ends early: {error}") from None
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(_explained(str(error), name) if weights_only else f"{error} (in {name})") from None
    except MemoryError as error:
        raise RuntimeError(f"there is not enough memory for what {name} holds") from error


def _explained(message, name):
    """What to tell the user of a file that the weights_only unpickler has refused."""
    hint = "The file is damaged, or holds what a file of weights does not"
    if "not an allowed global" in message or "allowlisted" in message:
        hint = ("If you trust the source of the file, load it with `weights_only=False` (which lets it run any code), "
                "or allow what it needs")
    return f"Weights only load failed. {hint}.\n\tThe file: {name}\n\tWeightsUnpickler error: {message}"


def _begin(file, name):
    """Where the archive begins in an open file: at its position, or at its first byte. What is no archive raises
    torch's error."""
    try:
        start = file.seek(file.tell())
    except (AttributeError, io.UnsupportedOperation) as error:
        if "seek" not in str(error) and "tell" not in str(error):
            raise
        raise type(error)(f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data "
                          "into a buffer like io.BytesIO and try to load from it instead.") from None
    for begin in (start, 0):
        file.seek(begin)
        head = file.read(4)
        if head in (b"PK\3\4", b"PK\5\6"):    # a file in the archive, or an archive without any
            return begin
    if not head:
        raise EOFError
    raise NotImplementedError(f"torch.load: {name} is not a zip archive; files in the format before PyTorch 1.6 "
                              "are not supported")
