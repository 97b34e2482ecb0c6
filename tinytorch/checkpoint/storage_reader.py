"""Persistent ids of a checkpoint: each stands for a storage, whose bytes are in the file."""
import pickle
import sys

import numpy as np

from ..device import META, check_device, device
from ..ops.creation.options import new_without_numbers
from ..storage import TypedStorage, UntypedStorage, is_storage
from .rebuild import UNTYPED, StorageType


def parsed(pid, count):
    """(storage type, key, location, number of elements, further items) of a persistent id of `count` parts."""
    parts = pid if isinstance(pid, tuple) and pid else (pid,)
    # Python 2 wrote strings as bytes.
    kind, *rest = (x.decode("latin1") if isinstance(x, bytes) else x for x in parts)
    if kind != "storage":
        raise pickle.UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(kind)}")
    if len(rest) != count - 1 or not all(map(isinstance, rest, (StorageType, (str, int), str, int))) or rest[3] < 0:
        raise pickle.UnpicklingError("a storage is given by type, key, location and number of elements, but got "
                                     f"{', '.join(type(x).__name__ for x in rest)}")
    return rest


def typed(memory, dtype):
    """Memory as a storage of numbers of a dtype."""
    return TypedStorage._over(memory.view(dtype.numpy), dtype)


def placed(memory, location, map_location, name):
    """The memory of a storage at its location: a function `map_location` may replace it. RuntimeError for a device that
    is not available."""
    if isinstance(map_location, dict):
        location = str(map_location.get(location, location))
    elif isinstance(map_location, (str, device)):
        location = str(map_location)
        if check_device(device(map_location)) is META:
            return new_without_numbers(memory.shape, memory.dtype)
    elif map_location is not None:
        given = map_location(UntypedStorage._over(memory), location)
        if given is not None:
            if not is_storage(given):
                raise TypeError(f"map_location must return a storage or None, but it returned {type(given).__name__}")
            return given.memory.view(np.uint8)
    if location.startswith("cuda"):
        raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. "
                           "If you are running on a CPU-only machine, please use torch.load with "
                           "map_location=torch.device('cpu') to map your storages to the CPU.")
    if location.split(":")[0] not in device._TYPES:
        raise RuntimeError("don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
                           f"{location!r:.50}, in {name})")
    return memory


def reader(archive, map_location, path=None, folder="data"):
    """A function that returns the storage of a persistent id, each read once from `folder` of an archive, or mapped
    into memory from the file at `path`."""
    found = {}
    order = archive.read("byteorder") if "byteorder" in archive else b"little"
    if order not in (b"little", b"big"):
        order = order.decode(errors="backslashreplace")
        raise RuntimeError(f"Unknown endianness type: {order:.50} (in {archive.name})")
    swapped = order.decode() != sys.byteorder
    whole = None if path is None else UntypedStorage.from_file(path).memory

    def storage(pid):
        storage_type, key, location, count = parsed(pid, 5)
        record, d = f"{folder}/{key}", storage_type.dtype
        size = archive.size_of(record)
        if size != count * d.itemsize:
            raise archive.error(f"reading file {record}: record size ({size} bytes) does not match expected size "
                                f"({count * d.itemsize} bytes = {count} elements * {d.itemsize} bytes/element) for "
                                f"dtype {d.name}")
        if record not in found:
            data = archive.mapped(record, whole)
            if swapped:
                data.view(d.numpy).byteswap(inplace=True)
            made = typed(placed(data, location, map_location, archive.name), d)
            if not size:                       # empty storages may be used with several types
                return made
            if swapped and storage_type is UNTYPED:
                made.swapped = None            # the width of the numbers in it, as soon as a tensor says it
            found[record] = made
        elif found[record].dtype is not d:
            raise archive.error(f"reading file {record}: it is said to hold both {found[record].dtype.name} and "
                                f"{d.name}")
        return found[record]
    return storage
