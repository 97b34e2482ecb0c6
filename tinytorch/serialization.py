"""torch.save and torch.load, in torch's own file format.

A file is an uncompressed zip archive: NAME/data.pkl is a pickle in which every storage (the memory behind
one or several tensors) is a persistent id ('storage', type, key, location, number of elements), and
NAME/data/KEY holds its bytes. Our classes are pickled under torch's names, so that the files go both ways.
"""
import contextlib
import importlib
import io
import os
import pickle
import sys
from collections import Counter, OrderedDict

import numpy as np

from . import dtypes as dt
from .device import check_device, device
from .nn.parameter import Parameter
from .tensor import Size, Tensor, root_of, wrap

__all__ = ["load", "save"]

_ALIGNMENT = 64                                # where the bytes of a storage may begin, as torch has it


# ------------------------------------------------------------------ names in the pickle
class _StorageType:
    """Stands for torch.FloatStorage and its like in the pickle: says what a storage's bytes are."""

    def __init__(self, name, dtype):
        self.name, self.dtype = name, dtype


_STORAGES = {d: _StorageType(d.tensor_type[:-6] + "Storage", d) for d in dt.ALL}
_UNTYPED = _StorageType("UntypedStorage", dt.uint8)
_NO_STORAGE = {dt.uint16, dt.uint32, dt.uint64}      # torch stores these untyped


class _Storage:
    """A piece of memory: `data` its bytes as a uint8 array, `type` what they are in the pickle."""

    def __init__(self, data, type):
        self.data, self.type = data, type


def _rebuild_tensor(storage, offset, size, stride, requires_grad, hooks, dtype=None, metadata=None):
    d = dtype or storage.type.dtype
    if 0 in size:
        array = np.empty(size, d.numpy)
    else:
        n = d.itemsize
        array = np.ndarray(tuple(size), d.numpy, storage.data, offset * n, tuple(s * n for s in stride))
    if metadata and metadata.get("conj"):
        array = array.conjugate()
    if metadata and metadata.get("neg"):
        array = -array
    tensor = wrap(array)
    tensor.tracked = bool(requires_grad)
    return tensor


def _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks, metadata=None):
    return _rebuild_tensor(storage, offset, size, stride, requires_grad, hooks, None, metadata)


def _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None):
    return _rebuild_tensor(storage, offset, size, stride, requires_grad, hooks, dtype, metadata)


def _rebuild_parameter(data, requires_grad, hooks):
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, hooks, state):
    parameter = Parameter(data, requires_grad)
    parameter.__dict__.update(state)
    return parameter


#: What any file may name: torch's name -> our object.
_KNOWN = {
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.Tensor": Tensor,
    "torch.Size": Size,
    "torch.device": device,
    "torch.storage.UntypedStorage": _UNTYPED,
    "torch.UntypedStorage": _UNTYPED,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "builtins.bytearray": bytearray,
    "builtins.set": set,
    "builtins.complex": complex,
}
_KNOWN.update({f"torch.{d.name}": d for d in dt.ALL})
_KNOWN.update({f"torch.{s.name}": s for s in _STORAGES.values()})
_NAMES = {id(value): name for name, value in _KNOWN.items()}
_NAMES[id(_UNTYPED)] = "torch.storage.UntypedStorage"
_PACKAGE = __package__


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
    return "torch" + module[len(_PACKAGE):], name


# ------------------------------------------------------------------ save
def _pickler(base):
    class Pickler(base):
        """Writes tensors as torch does and our own names as torch's. In Python, since pickle's C
        implementation refuses a global that it cannot import."""

        def __init__(self, file, protocol):
            super().__init__(file, protocol=protocol)
            self.storages = {}                 # (address, bytes) of the memory -> (key, its array)

        def persistent_id(self, obj):
            if not isinstance(obj, _Storage):
                return None
            data = obj.data
            place = data.__array_interface__["data"][0], data.nbytes
            key, _ = self.storages.setdefault(place, (str(len(self.storages)), data))
            return "storage", obj.type, key, "cpu", data.nbytes // obj.type.dtype.itemsize

        def reducer_override(self, obj):
            if isinstance(obj, Tensor):
                return _reduce_tensor(obj)
            if isinstance(obj, dt.dtype):
                return obj.name
            if isinstance(obj, _StorageType):
                return obj.name
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


def _reduce_tensor(tensor):
    """How torch pickles a tensor: a function and its arguments."""
    if isinstance(tensor, Parameter):
        data = wrap(tensor.array)
        return _rebuild_parameter, (data, tensor.requires_grad, OrderedDict())
    array = tensor.array
    memory = _memory_of(array)
    if memory is None:
        array = array.copy()
        memory = _memory_of(array)
    d = dt.of(array)
    n = array.itemsize
    offset = (array.__array_interface__["data"][0] - memory.__array_interface__["data"][0]) // n if array.size else 0
    untyped = d in _NO_STORAGE
    storage = _Storage(memory, _UNTYPED if untyped else _STORAGES[d])
    args = storage, offset, array.shape, tuple(s // n for s in array.strides), tensor.requires_grad, OrderedDict()
    return (_rebuild_tensor_v3, args + (d,)) if untyped else (_rebuild_tensor_v2, args)


def _memory_of(array):
    """The whole memory that `array` is a view of, as a flat uint8 array; None if torch could not describe it."""
    if any(s < 0 or s % array.itemsize for s in array.strides) or not array.dtype.isnative:
        return None
    root = root_of(array)
    flat = root.transpose(np.argsort(root.strides)[::-1]).reshape(-1) if root.ndim != 1 else root
    if not flat.flags.c_contiguous or root.size and not np.may_share_memory(flat, root):
        return None
    return flat.view(np.uint8)


def _aligned(archive, name, data):
    """Add an entry whose bytes begin at a multiple of the alignment, as torch's readers may map them."""
    from zipfile import ZipInfo            # imported where used: it costs a tenth of `import tinytorch`
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
        for key, data in pickler.storages.values():
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
def _encode(text, encoding="utf-8"):
    """What `_codecs.encode` may do for a file: bytes are pickled so in protocol 2."""
    if encoding not in ("latin1", "utf-8"):
        raise pickle.UnpicklingError(f"unsupported encoding {encoding}")
    return text.encode(encoding)


class _Unpickler(pickle.Unpickler):
    """Finds torch's names in this package."""

    storages = None

    def persistent_load(self, pid):
        if not isinstance(pid, tuple) or not pid or pid[0] != "storage":
            raise pickle.UnpicklingError(f"Only persistent_load of storage is allowed, but got {pid!r}")
        return self.storages(*pid[1:])

    def find_class(self, module, name):
        module = {"__builtin__": "builtins"}.get(module, module)
        known = _KNOWN.get(f"{module}.{name}")
        if known is not None:
            return known
        if module == "torch" or module.startswith("torch."):
            place = importlib.import_module(_PACKAGE + module[len("torch"):])
            return getattr(place, name)
        return super().find_class(module, name)


class _SafeUnpickler(_Unpickler):
    """Finds only what cannot do harm: tensors, containers, and what users have declared safe."""

    def find_class(self, module, name):
        full = f"{'builtins' if module == '__builtin__' else module}.{name}"
        for table in (_KNOWN, _safe):
            if full in table:
                return table[full]
        if full == "_codecs.encode":
            return _encode
        raise pickle.UnpicklingError(
            "Weights only load failed. If you trust the source of the file, load it with `weights_only=False`, or "
            f"allow what it needs.\n\tWeightsUnpickler error: Unsupported global: GLOBAL {full} was not an allowed "
            f"global by default. Please use `torch.serialization.add_safe_globals([{full}])` or the "
            f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this global if you trust "
            "this class/function.")


def _check_location(location, map_location):
    """RuntimeError if a storage belongs on a device that is not there and nobody moves it."""
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif isinstance(map_location, (str, device)):
        location = str(map_location)
        check_device(device(map_location))
    elif map_location is not None:             # a function: whatever it says, memory is the CPU's
        return
    if location.startswith("cuda"):
        raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. "
                           "If you are running on a CPU-only machine, please use torch.load with "
                           "map_location=torch.device('cpu') to map your storages to the CPU.")


def _storage_reader(archive, name, map_location):
    """A function that returns the storage of a persistent id, each read once."""
    found = {}
    swapped = f"{name}/byteorder" in archive.namelist() and \
        archive.read(f"{name}/byteorder").decode() != sys.byteorder

    def read(type, key, location, count):
        if key not in found:
            _check_location(location, map_location)
            data = np.frombuffer(bytearray(archive.read(f"{name}/data/{key}")), np.uint8)
            if swapped:
                data = data.view(type.dtype.numpy).byteswap().view(np.uint8)
            found[key] = data
        return _Storage(found[key], type)
    return read


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Read what `save`, or PyTorch's, wrote to a path or binary file.

    With `weights_only` (the default) the file may hold only tensors, numbers, strings and plain containers, and
    what `torch.serialization.add_safe_globals` allows: pickle.UnpicklingError otherwise. Without, the file can
    run any code. RuntimeError for a file that is cut off or damaged, NotImplementedError for the format before
    PyTorch 1.6.
    """
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _read(file, map_location, pickle_module, weights_only, pickle_load_args)
    return _read(f, map_location, pickle_module, weights_only, pickle_load_args)


def _read(file, map_location, pickle_module, weights_only, pickle_load_args):
    from zipfile import BadZipFile, ZipFile
    _check_archive(file)
    try:
        with ZipFile(file) as archive:
            entry = next((n for n in archive.namelist() if n.count("/") == 1 and n.endswith("/data.pkl")), None)
            if entry is None:
                raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
            make = _SafeUnpickler if weights_only else _Unpickler
            if pickle_module is not None and pickle_module is not pickle:
                make = type("Unpickler", (_Unpickler, pickle_module.Unpickler), {})
            unpickler = make(io.BytesIO(archive.read(entry)), **pickle_load_args)
            unpickler.storages = _storage_reader(archive, entry.split("/")[0], map_location)
            return unpickler.load()
    except BadZipFile as error:                # a checksum
        raise RuntimeError(f"PytorchStreamReader failed reading the file: {error}") from None


def _check_archive(file):
    """What an open file that is no zip archive raises."""
    from zipfile import is_zipfile
    if not hasattr(file, "seek"):
        raise AttributeError(f"'{type(file).__name__}' object has no attribute 'seek'. You can only torch.load from a "
                             "file that is seekable. Please pre-load the data into a buffer like io.BytesIO and try to "
                             "load from it instead.")
    if is_zipfile(file):
        return
    file.seek(0)
    head = file.read(4)
    if not head:
        raise EOFError
    if head == b"PK\3\4":                      # the index of an archive is at its end
        raise RuntimeError("PytorchStreamReader failed reading zip archive: failed finding central directory. The file "
                           "is corrupted: it was not saved or copied completely.")
    raise NotImplementedError("torch.load: the file is not a zip archive; files in the format before PyTorch 1.6 "
                              "are not supported")
