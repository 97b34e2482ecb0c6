"""Files of the safetensors format: the length of a header (8 bytes), the header in JSON, and the tensors' bytes."""
import json
import math
import sys

import numpy as np

from .. import dtypes as dt
from ..device import device
from ..storage import UntypedStorage
from ..tensor import Tensor, wrap
from .storage_reader import placed

_DTYPES = {"BOOL": dt.bool, "U8": dt.uint8, "I8": dt.int8, "U16": dt.uint16, "I16": dt.int16, "U32": dt.uint32,
           "I32": dt.int32, "U64": dt.uint64, "I64": dt.int64, "F16": dt.float16, "BF16": dt.bfloat16,
           "F32": dt.float32, "F64": dt.float64, "C64": dt.complex64, "F8_E4M3": dt.float8_e4m3fn,
           "F8_E5M2": dt.float8_e5m2, "F8_E8M0": dt.float8_e8m0fnu}
_LONGEST = 100_000_000                         # the longest header that the format allows


def read(path: str, map_location: object) -> dict[str, Tensor]:
    """{name: tensor} from the file at `path`, in the order of the file; RuntimeError if it is damaged.

    The tensors' memory is the file's, mapped; writes do not reach the file.
    """
    if isinstance(map_location, dict) or not (map_location is None or isinstance(map_location, (str, device))):
        kind = "dict" if isinstance(map_location, dict) else "callable"
        raise RuntimeError(f"Loading safetensors file with {kind} map_location is not supported. Use a device string "
                           "or torch.device instead.")
    whole = placed(UntypedStorage.from_file(path).memory, "cpu", map_location, path)
    size = int.from_bytes(whole[:8].tobytes(), "little")
    if len(whole) < 8 or size > min(_LONGEST, len(whole) - 8):
        raise RuntimeError(f"{path} is not a safetensors file, or is cut off")
    content = whole[8 + size:]
    try:
        header = json.loads(whole[8:8 + size].tobytes())
        header.pop("__metadata__", None)
        entries = [(*entry["data_offsets"], _DTYPES.get(entry["dtype"], entry["dtype"]), tuple(entry["shape"]), name)
                   for name, entry in header.items()]
        for begin, end, *_, shape, _ in entries:
            if not all(type(n) is int and n >= 0 for n in (begin, end, *shape)):
                raise ValueError("sizes and places are numbers")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RuntimeError(f"the header of {path} is damaged: {error}") from None
    return {name: _tensor(content, begin, end, d, shape, f"{name} in {path}")
            for begin, end, d, shape, name in sorted(entries, key=lambda entry: (*entry[:2], entry[-1]))}


def _tensor(content, begin, end, d, shape, name):
    if isinstance(d, str):
        raise NotImplementedError(f"{name} is of the type {d:.20}, which is not supported")
    counted = math.prod(n or 1 for n in shape) * d.itemsize < 2 ** 63 and len(shape) <= 64     # NumPy's limits
    if not counted or math.prod(shape) * d.itemsize != end - begin or end > len(content):
        raise RuntimeError(f"{name} does not lie within the file, or is of another size")
    part = content[begin:end]
    if part.ctypes.data % d.itemsize:          # the header has an odd length
        part = part.copy()
    if sys.byteorder == "big":                 # the format is little-endian
        part = part.copy().view(d.numpy).byteswap(inplace=True)
    return wrap(np.ndarray(shape, d.numpy, part))
