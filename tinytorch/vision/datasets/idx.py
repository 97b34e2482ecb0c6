"""Arrays in idx files, LeCun's format: magic number, sizes, big-endian data."""
import gzip
import math
import os
import struct
import zlib

import numpy as np

from ...kernels.memory import check_size

__all__ = ["read_idx"]

_PIECE = 1 << 18
#: The dtypes of idx files, by the third byte of their magic number.
_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path):
    """The array in an idx file (LeCun's format: magic, sizes, big-endian data), compressed or not.

    RuntimeError, which names the file, if it is no idx file or its length differs from its header.
    """
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
            head = f.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES or not head[3]:
                raise RuntimeError(f"{path} is not an idx file: it begins with {head.hex(' ') or 'nothing'}")
            kind, ndim = np.dtype(_TYPES[head[2]]), head[3]
            sizes = f.read(4 * ndim)
            shape = struct.unpack(f">{len(sizes) // 4}I", sizes[:len(sizes) // 4 * 4])
            expected = math.prod(shape) * kind.itemsize
            # No compressed file holds more than 1032 times its own length. One more byte shows that a file is too long.
            content, length = _content(f, min(expected, 1032 * os.path.getsize(path)))
            length += len(f.read(1))
    except (EOFError, OSError, zlib.error) as error:
        raise RuntimeError(f"{path} is truncated or corrupt: {error}") from error
    if len(shape) != ndim or length != expected:
        found = "more" if length > expected else f"{length} bytes"
        raise RuntimeError(f"{path} is truncated or corrupt: {found} where its header, of {ndim} dimensions with shape "
                           f"{list(shape)}, asks for {expected} bytes")
    try:
        check_size(shape, kind.itemsize)
    except RuntimeError as error:
        raise RuntimeError(f"{path} holds no array: {error}") from None
    return content.view(kind).reshape(shape).astype(kind.newbyteorder("="), copy=False)


def _content(file, most):
    """(an array of so many bytes, how many of them the file had). It is read in pieces: as a whole there would be two
    of it for a while."""
    content, length = np.empty(most, np.uint8), 0
    while length < most and (piece := file.read(min(_PIECE, most - length))):
        content[length:length + len(piece)] = np.frombuffer(piece, np.uint8)
        length += len(piece)
    return content, length
