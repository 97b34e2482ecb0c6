"""The format of checkpoints before PyTorch 1.6: several pickles, and then the bytes of the storages.

The pickles are: a magic number, the version of the format, facts about the machine, the object, and the keys of the
storages. Then follow, for each key, the number of elements (8 bytes) and the elements. All numbers are little-endian.
"""
import pickle
import sys

import numpy as np

from ..nn.modules.module import Module
from .rebuild import _rebuild_sparse_tensor, guard
from .storage_reader import parsed, placed, typed

_MAGIC = 0x1950a86a20f9469cfc6c
_VERSION = 1001


# ------------------------------------------------------------------ write
def write(obj, pickled, file):
    """Write `obj` to a binary file. pickled(obj, more=) returns its pickle and its storages."""
    system = {"protocol_version": _VERSION, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    for part in _MAGIC, _VERSION, system:
        file.write(pickled(part)[0])
    text, storages = pickled(obj, more=(None,))
    file.write(text)
    storages = {key: (data, dtype) for key, data, dtype in storages.values()}
    file.write(pickled(sorted(storages))[0])
    for key in sorted(storages):
        data, dtype = storages[key]
        file.write((data.nbytes // dtype.itemsize).to_bytes(8, "little"))
        file.write(memoryview(_little_endian(data, dtype)))


def _little_endian(data, dtype):
    return data if sys.byteorder == "little" else data.view(dtype.numpy).byteswap().view(np.uint8)


# ------------------------------------------------------------------ read
def read(content, name, map_location, unpickle):
    """(the object in the bytes `content`, the number of bytes that it takes).

    name      the name of the file in messages
    unpickle  a function (position in the content, function that returns the storage of an id) -> (object, its end)
    """
    found, views, filled = {}, {}, set()
    allocated = 0

    def storage(pid):
        nonlocal allocated
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module" and isinstance(pid[1], type) \
                and issubclass(pid[1], Module):
            return pid[1]                      # the pickled source of the class is ignored
        storage_type, key, location, count, view = parsed(pid, 6)
        d = storage_type.dtype
        if key not in found:
            allocated += count * d.itemsize
            if allocated > len(content):       # checked before the memory is allocated
                raise RuntimeError(f"the storages of {name} are not all in it: it was not saved or copied completely")
            found[key] = typed(placed(np.empty(count * d.itemsize, np.uint8), location, map_location, name), d)
        made = found[key]
        if made.dtype is not d and made.nbytes():
            raise RuntimeError(f"a storage is said to hold both {made.dtype.name} and {d.name} (in {name})")
        return made if view is None else _view(made, view, views)

    magic, at = unpickle(0, storage)
    if magic != _MAGIC:
        raise RuntimeError(f"Invalid magic number; corrupt file? (in {name})")
    version, at = unpickle(at, storage)
    if version != _VERSION:
        raise RuntimeError(f"Invalid protocol version: {version!r:.50} (in {name})")
    _, at = unpickle(at, storage)
    result, at = unpickle(at, storage)
    keys, at = unpickle(at, storage)
    if type(keys) is not list:
        raise pickle.UnpicklingError(f"the keys of storages must be a list, but got {type(keys).__name__}")
    for key in keys:
        if not isinstance(key, (str, int)) or key not in found:
            raise RuntimeError(f"storage key {key!r:.50} not found in deserialized_objects (in {name})")
        at = _fill(found[key], content, at, name)
        filled.add(key)
    if len(filled) != len(found):
        raise RuntimeError(f"{name} does not hold the elements of all storages")
    return result, at


def guarded(file, function, *args):
    """`guard`, which refuses sparse tensors: their indices can only be checked when all storages are read."""
    if getattr(function, "__wrapped__", function) is _rebuild_sparse_tensor:
        raise NotImplementedError(f"{file} holds a sparse tensor in the format before PyTorch 1.6: that is not "
                                  "supported")
    return guard(file, function, *args)


def _view(whole, view, views):
    """A part of a storage; `view` is (key, first element, number of elements)."""
    if type(view) is not tuple or len(view) != 3 or not all(map(isinstance, view, ((str, int), int, int))):
        raise pickle.UnpicklingError("a view of a storage is given by key, offset and number of elements")
    key, begin, count = view
    if begin < 0 or count < 0 or begin + count > len(whole):
        raise RuntimeError("a view of a storage does not lie within it")
    return views.setdefault(key, typed(whole.memory[begin:begin + count].view(np.uint8), whole.dtype))


def _fill(storage, content, at, name):
    """Read the elements of a storage. Returns the position of the next storage."""
    count, at = int.from_bytes(content[at:at + 8], "little"), at + 8
    data = storage.memory.view(np.uint8)
    if count * storage.element_size() != data.nbytes:
        raise RuntimeError(f"storage has wrong byte size: expected {data.nbytes} got {count * storage.element_size()} "
                           f"(in {name})")
    part = content[at:at + data.nbytes]
    if len(part) != data.nbytes:
        raise RuntimeError(f"unexpected EOF: {name} was not saved or copied completely")
    data[...] = np.frombuffer(part, np.uint8)
    data[...] = _little_endian(data, storage.dtype)
    return at + data.nbytes
