"""The zip archives that torch.save writes, read without trusting them.

The archive's claims are compared with the size of the file before anything is read or allocated: records lie within the
file and do not overlap, a stored record takes as many bytes as it claims, a compressed one may grow only so far
(`_GROWTH`), and all names lie under one folder. RuntimeError for any other archive.
"""
import zlib
from struct import error as StructError, unpack, unpack_from
from typing import NamedTuple

import numpy as np

_CHUNK = 1 << 20                               # bytes read at a time
_COMMENT = 0xFFFF                              # the longest comment after the index
_STORED, _DEFLATED = 0, 8                      # methods of compression
_ENCRYPTED = 1                                 # a flag
_ALIGNED = 16                                  # numbers of any type may begin at multiples of this
_FOLDER = 16                                   # an attribute
_IN_EXTRA = 0xFFFFFFFF                         # in place of a 32-bit number: the extra field holds it with 64 bits
_GROWTH = 10                                   # compressed records may expand to so many times the file's size,
_STORAGE_MARGIN = 64 << 20                     # plus so much if they are storages,
_TEXT_MARGIN = 256 << 10                       # or so much if not: objects take more room than their pickle


class _Record(NamedTuple):
    place: int                                 # the offset of the record's header from the archive's first byte
    end: int                                   # the offset of the next header, or of the index
    method: int
    flags: int
    crc: int
    packed: int                                # bytes in the file
    size: int                                  # bytes after decompression


class Archive:
    """The archive that begins at byte `start` of the binary file `file`. `name` is the file's name in messages.

    RuntimeError, here or when a record is read, if it is damaged or not as torch writes it.
    """

    def __init__(self, file, start, name):
        self.file, self.start, self.name = file, start, name
        self.size = file.seek(0, 2) - start
        self.grown = 0                         # bytes of memory that are not in the file
        self.folder, self.records = self._index()

    def error(self, message):
        """A RuntimeError with this message and the file's name."""
        message = message.encode(errors="backslashreplace").decode()
        return RuntimeError(f"PytorchStreamReader failed {message} (in {self.name})")

    def __contains__(self, record):
        return record in self.records

    def size_of(self, record):
        """The number of bytes of a record. RuntimeError if there is no record of this name."""
        if record not in self.records:
            raise self.error(f"locating file {record}: file not found. The file was not saved or copied completely")
        return self.records[record].size

    def grow(self, nbytes, margin=_STORAGE_MARGIN):
        """Count memory that is not in the file. RuntimeError if it is out of proportion to the file's size."""
        self.grown += nbytes
        if self.grown > _GROWTH * self.size + margin:
            raise self.error(f"reading zip archive: its contents expand to more than {_GROWTH} times its size")

    def read(self, record, make=bytearray):
        """The bytes of a record, read once into the writable buffer `make(number of bytes)`."""
        size, found = self.size_of(record), self.records[record]
        if found.flags & _ENCRYPTED or found.method not in (_STORED, _DEFLATED):
            raise self.error(f"reading file {record}: it is encrypted or compressed in an unknown way")
        self._go_to_data(record, found)
        if found.method == _DEFLATED:
            self.grow(size, _STORAGE_MARGIN if record.startswith("data/") else _TEXT_MARGIN)
        content = make(size)
        if found.method == _STORED:
            crc = self._copy(record, memoryview(content))
        else:
            crc = self._inflate(record, memoryview(content), found.packed)
        if found.crc not in (crc, 0):          # torch writes 0 if checksums are switched off
            raise self.error(f"reading the file: Bad CRC-32 for file {record!r}. The file is damaged")
        return content

    def mapped(self, record, whole):
        """The bytes of a record as an ndarray: a part of `whole`, the file mapped into memory, if that is given and the
        record can be used as it lies there; otherwise a copy that is read."""
        size, found = self.size_of(record), self.records[record]
        if whole is not None and found.method == _STORED and not found.flags & _ENCRYPTED:
            self._go_to_data(record, found)
            at = self.file.tell()
            if not at % _ALIGNED:
                return whole[at:at + size]
        return self.read(record, lambda nbytes: np.empty(nbytes, np.uint8))

    # -------------------------------------------------------------- data
    def _bytes(self, place, count):
        """`count` bytes from `place` on; fewer at the end of the file."""
        self.file.seek(self.start + place)
        return self.file.read(count)

    def _go_to_data(self, record, found):
        """Move the file's position to the data of a record, which follow a second header."""
        header = self._bytes(found.place, 30)
        if len(header) < 30 or header[:4] != b"PK\3\4":
            raise self.error(f"reading file {record}: there is no header where the index says")
        name, extra = unpack("<HH", header[26:])
        if self.file.read(name) != self.folder + b"/" + record.encode("utf-8", "surrogateescape"):
            raise self.error(f"reading file {record}: its header has another name than the index")
        data = found.place + 30 + name + extra
        if data + found.packed > found.end:
            raise self.error(f"reading file {record}: it does not lie within the archive")
        self.file.seek(self.start + data)

    def _copy(self, record, content):
        crc = at = 0
        read_into = getattr(self.file, "readinto", None)
        while at < len(content):
            part = content[at:at + _CHUNK]
            if read_into is not None:
                count = read_into(part) or 0
            else:                              # a file-like object of the user that has only read()
                data = self.file.read(len(part))
                count = len(data)
                part[:count] = data
            if not count:
                raise self.error(f"reading file {record}: the file is cut off")
            crc = zlib.crc32(part[:count], crc)
            at += count
        return crc

    def _inflate(self, record, content, packed):
        crc = at = 0
        stream = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            while not stream.eof:
                data = stream.unconsumed_tail
                if not data:
                    data = self.file.read(min(packed, _CHUNK))
                    packed -= len(data)
                    if not data:
                        break
                part = stream.decompress(data, min(len(content) - at + 1, _CHUNK))   # + 1 detects data beyond the end
                if len(part) > len(content) - at:
                    raise self.error(f"reading file {record}: it is longer than it claims")
                content[at:at + len(part)] = part
                crc = zlib.crc32(part, crc)
                at += len(part)
        except zlib.error as error:
            raise self.error(f"reading file {record}: {error}") from None
        if at < len(content) or not stream.eof:
            raise self.error(f"reading file {record}: it is cut off, or shorter than it claims")
        return crc

    # -------------------------------------------------------------- index
    def _index(self):
        """(folder, {name below the folder: record}) from the index at the end of the archive."""
        begin, size, count = self._index_place()
        data = self._bytes(begin, size)
        folder, records, places, at = None, {}, [], 0
        if count * (30 + 46) > self.size:      # the two headers of every file
            raise self.error("reading zip archive: its index is damaged")
        for _ in range(count):
            try:
                entry, at = self._entry(data, at)
            except (StructError, IndexError):
                raise self.error("reading zip archive: its index is damaged") from None
            name, place, *rest = entry
            folder, below = self._checked_name(name, folder)
            if below in records:
                raise self.error(f"reading zip archive: it has two files called {below}")
            places.append((place, 30 + len(name) + rest[-2], below))
            if below:                          # not an entry for the folder itself
                records[below] = place, rest
        if at != size or not records:
            raise self.error("reading zip archive: its index is damaged" if records or at != size else
                             "locating file data.pkl: file not found")
        places.sort(reverse=True)
        ends, end = {}, begin
        for place, length, below in places:
            if place + length > end:
                raise self.error(f"reading file {below}: it does not lie within the archive, or overlaps another")
            ends[place] = end
            end = place
        return folder, {name: _Record(place, ends[place], *rest) for name, (place, rest) in records.items()}

    def _index_place(self):
        """(offset, number of bytes, number of entries) of the index."""
        tail_begin = max(self.size - 22 - _COMMENT, 0)
        tail = self._bytes(tail_begin, self.size - tail_begin)
        at = tail.rfind(b"PK\5\6", 0, max(len(tail) - 18, 0))
        if at < 0:
            raise self.error("reading zip archive: failed finding central directory. The file is corrupted: it was not "
                             "saved or copied completely")
        _, here, disk, part, count, size, begin = unpack_from("<I4H2I", tail, at)
        end = tail_begin + at
        locator = self._bytes(end - 20, 20) if end >= 20 else b""
        if locator[:4] == b"PK\6\7":           # a second record holds the same with 64-bit numbers
            end = unpack("<Q", locator[8:16])[0]
            wide = self._bytes(end, 56) if end <= self.size - 56 else b""
            if wide[:4] != b"PK\6\6":
                raise self.error("reading zip archive: its index is damaged")
            small = count, size, begin
            count, size, begin = unpack("<3Q", wide[32:])
            if any(s not in (w, full) for s, w, full in zip(small, (count, size, begin), (0xFFFF, *[_IN_EXTRA] * 2))):
                raise self.error("reading zip archive: its index is damaged")
        elif here or disk or part != count:
            raise self.error("reading zip archive: it is in several parts")
        if begin + size > end:
            raise self.error("reading zip archive: its index is damaged")
        return begin, size, count

    def _entry(self, data, at):
        """((name, place, method, flags, crc, packed size, size), the position of the next entry)."""
        (sign, _, _, flags, method, _, _, crc, packed, size, name, extra, comment, _, _, attributes,
         place) = unpack_from("<I6H3I5H2I", data, at)
        if sign != 0x02014B50:
            raise IndexError
        begin = at + 46
        after = begin + name + extra + comment
        if after > len(data):
            raise IndexError
        numbers = [size, packed, place]
        if _IN_EXTRA in numbers:
            wide = _wide_numbers(data[begin + name:begin + name + extra])
            numbers = [next(wide) if n == _IN_EXTRA else n for n in numbers]
        size, packed, place = numbers
        name = data[begin:begin + name]
        if size and attributes & _FOLDER:
            raise self.error(f"reading file {name.decode(errors='replace')}: it is said to be a folder, and not empty")
        if method == _STORED and size != packed:
            raise self.error(f"reading file {name.decode(errors='replace')}: it is stored in {packed} bytes and claims "
                             f"{size}")
        return (name, place, method, flags, crc, packed, size), after

    def _checked_name(self, name, folder):
        """(top folder, the path below it as text). `folder` is the top folder of the entries before."""
        shown = name.decode(errors="replace")
        top, slash, below = name.partition(b"/")
        parts = name.split(b"/")
        if not parts[-1]:                      # the entry of a folder
            parts.pop()
        if not slash:
            raise self.error(f"reading zip archive: file in archive is not in a subdirectory: {shown}")
        if not {b"", b".", b".."}.isdisjoint(parts) or b"\\" in name or b"\0" in name:
            raise self.error(f"reading zip archive: {shown!r} is not the name of a file in it")
        if folder not in (None, top):
            raise self.error("reading zip archive: it has more than one top folder: "
                             f"{folder.decode(errors='replace')} and {top.decode(errors='replace')}")
        return top, below.decode("utf-8", "surrogateescape")


def _wide_numbers(extra):
    """The 64-bit numbers in an entry's extra field, one after the other; IndexError if there are too few."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = unpack_from("<HH", extra, at)
        if kind == 1:
            yield from (n for (n,) in (unpack_from("<Q", extra, at + 4 + i) for i in range(0, length - 7, 8)))
            break
        at += 4 + length
    raise IndexError
