"""torch.load: memory, archives that are damaged or lie, names in messages, classes that users declare safe."""
import collections
import io
import itertools
import os
import pickle
import struct
import sys
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

import tinytorch as torch

from .test_serialization_hostile import (
    COMPLEX,
    FOUR,
    INT,
    UNTYPED,
    archive,
    build,
    call,
    load,
    name,
    parameter,
    put,
    storage,
    tensor,
    zipped,
)


# ------------------------------------------------------------------ memory
def peak(call):
    """The most memory that Python and NumPy held beyond what they had, in bytes."""
    load(archive(tensor()))                    # imports
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memo_indices_cost_nothing():
    assert peak(lambda: load(archive(b"Nr\xff\xff\xff\x07r\xfe\xff\xff\x7f"))) < 1 << 20


def test_a_storage_is_read_once():
    file = io.BytesIO()
    torch.save(torch.ones(1 << 20), file)
    data = file.getvalue()
    assert peak(lambda: torch.load(io.BytesIO(data))) < 1.2 * len(data)      # a BytesIO shares the bytes it is made of


@pytest.mark.skipif(sys.maxsize < 2 ** 40, reason="NumPy has no array of so many elements")
def test_views_that_repeat_take_no_memory():
    big = load(archive(tensor(COMPLEX, 0, (2 ** 40,), (0,), False, {"conj": True})))
    assert big.shape == (2 ** 40,) and big.stride() == (0,) and big[-1].item() == 1 - 2j


def test_conjugates_and_negatives_take_no_memory():
    count = 1 << 20
    kinds = [(d, marks) for d in ("complex64", "complex128")
             for marks in ({"conj": 1}, {"neg": 1}, {"conj": 1, "neg": 1})]
    kinds += [(f"{sign}int{bits}", {"neg": 1}) for sign in ("", "u") for bits in (8, 16, 32)]
    memory = storage("torch.storage.UntypedStorage", count=16 * count)
    tensors = tuple([tensor(memory, 0, (count,), (1,), False, name(f"torch.{d}"), marks, version=3)
                     for d, marks in kinds])
    data = archive(put(tensors), [("a/data/0", bytes(16 * count))])
    assert peak(lambda: load(data)) < 1.2 * len(data)
    assert [(x.is_conj(), x.is_neg()) for x in load(data)] == [("conj" in marks, "neg" in marks) for _, marks in kinds]
    assert len({x.data_ptr() for x in load(data)}) == 1


def test_bombs():
    zeros = bytes(80 << 20)                    # 80 KB when compressed
    bomb = archive(tensor(storage("torch.ByteStorage", count=len(zeros)), size=(len(zeros),)), [("a/data/0", zeros)],
                   zipfile.ZIP_DEFLATED)
    with pytest.raises(RuntimeError, match="expand to more than 10 times its size"):
        assert peak(lambda: load(bomb)) < 1 << 20
    text = archive(b"]" * (4 << 20), [], zipfile.ZIP_DEFLATED)
    with pytest.raises(RuntimeError, match="expand to more than 10 times its size"):
        load(text)
    small = bytes(1 << 20)
    fine = archive(tensor(storage("torch.ByteStorage", count=len(small)), size=(len(small),)), [("a/data/0", small)],
                   zipfile.ZIP_DEFLATED)
    assert load(fine).tolist() == list(small)


# ------------------------------------------------------------------ archives
def patched(file, record, values, sign=b"PK\1\2"):
    """`file` with fields, {offset: (width, value)}, of the index entry of `record` (or of its own header) changed."""
    file = bytearray(file)
    name_at = {b"PK\1\2": 46, b"PK\3\4": 30}[sign]
    places = [i for i in range(len(file)) if file.startswith(sign, i) and file.startswith(record.encode(), i + name_at)]
    place, = places
    for field, (width, value) in values.items():
        file[place + field:place + field + width] = value.to_bytes(width, "little")
    return bytes(file)


GOOD = archive(tensor())
SIZE, PACKED, CRC, FLAGS, METHOD, PLACE = 24, 20, 16, 8, 10, 42


def end_record(file, values):
    file = bytearray(file)
    for field, (width, value) in values.items():
        file[len(file) - 22 + field:len(file) - 22 + field + width] = value.to_bytes(width, "little")
    return bytes(file)


def compressed(claim):
    """A compressed record that claims to be `claim` bytes long; it is 16."""
    file = archive(tensor(storage(count=claim // 4), size=(0,)), method=zipfile.ZIP_DEFLATED)
    return patched(file, "a/data/0", {SIZE: (4, claim)})


def garbled():
    """A compressed record that cannot be expanded."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(FOUR) + packer.flush()
    file = archive(tensor(), method=zipfile.ZIP_DEFLATED)
    return file.replace(packed, b"\xff" * len(packed))


def ordered(order, data=FOUR, content=None):
    """A checkpoint that says in which order the bytes of its numbers are."""
    return zipped([("a/data.pkl", b"\x80\2" + (content or tensor()) + b"."), ("a/byteorder", order),
                   ("a/data/0", data), ("a/version", b"3")])


def place_of(file, record):
    return next(i.header_offset for i in zipfile.ZipFile(io.BytesIO(file)).infolist() if i.filename == record)


ARCHIVES = {
    "two data.pkl": (archive(b"}", [("a/data.pkl", b"\x80\2].")]), "two files called data.pkl"),
    "two records": (archive(tensor(), [("a/data/0", FOUR), ("a/data/0", bytes(16))]), "two files called data/0"),
    "two folders": (zipped([("a/data.pkl", b"\x80\2}."), ("b/data.pkl", b"\x80\2].")]), "one top folder: a and b"),
    "absolute": (zipped([("/data.pkl", b"\x80\2}.")]), "'/data.pkl' is not the name of a file in it"),
    "parent": (archive(tensor(), [("a/data/0", FOUR), ("a/../../x", b"")]), "is not the name of a file in it"),
    "parent on top": (zipped([("../data.pkl", b"\x80\2}.")]), "is not the name of a file in it"),
    "backslash": (archive(tensor(), [("a/data/0", FOUR), ("a/..\\x", b"")]), "is not the name of a file in it"),
    "no folder": (zipped([("data.pkl", b"\x80\2}.")]), "file in archive is not in a subdirectory: data.pkl"),
    "no data.pkl": (zipped([("a/b/data.pkl", b"\x80\2}.")]), "failed locating file data.pkl: file not found"),
    "no files": (zipped([]), "failed locating file data.pkl: file not found"),
    "stored, claims more": (patched(GOOD, "a/data/0", {SIZE: (4, 1 << 30)}), "stored in 16 bytes and claims 10737"),
    "longer than the file": (patched(GOOD, "a/data/0", {SIZE: (4, 1 << 30), PACKED: (4, 1 << 30)}), "not lie within"),
    "into the next record": (patched(GOOD, "a/data/0", {SIZE: (4, 20), PACKED: (4, 20)}), "not lie within"),
    "beyond the file": (patched(GOOD, "a/data/0", {PLACE: (4, 1 << 30)}), "not lie within"),
    "two records in one place": (patched(GOOD, "a/version", {PLACE: (4, place_of(GOOD, "a/data/0"))}), "not lie with"),
    "no header": (patched(GOOD, "a/data/0", {0: (4, 0)}, b"PK\3\4"), "no header where the index says"),
    "another name": (patched(GOOD, "a/data/0", {30 + 7: (1, ord("1"))}, b"PK\3\4"), "another name than the index"),
    "long header": (patched(GOOD, "a/data/0", {28: (2, 500)}, b"PK\3\4"), "does not lie within the archive"),
    "encrypted": (patched(GOOD, "a/data/0", {FLAGS: (2, 1)}), "encrypted or compressed in an unknown way"),
    "unknown method": (patched(GOOD, "a/data/0", {METHOD: (2, 99)}), "encrypted or compressed in an unknown way"),
    "a folder": (patched(GOOD, "a/data/0", {38: (4, 16)}), "said to be a folder, and not empty"),
    "checksum": (GOOD.replace(FOUR, FOUR[::-1]), "failed reading the file: Bad CRC-32 for file 'data/0'"),
    "checksum of the pickle": (GOOD.replace(b"tensor_v2", b"tensor_v3"), "Bad CRC-32 for file 'data.pkl'"),
    "expands to more": (compressed(8), "longer than it claims"),
    "expands to less": (compressed(400), "shorter than it claims"),
    "cannot be expanded": (garbled(), "failed reading file data/0: Error"),
    "cut off": (GOOD[:-30], "failed finding central directory"),
    "cut in two": (GOOD[:len(GOOD) // 2], "failed finding central directory"),
    "index cut off": (end_record(GOOD, {12: (4, 100)}), "its index is damaged"),
    "index beyond the file": (end_record(GOOD, {12: (4, 0xFFFFFFFF)}), "its index is damaged"),
    "index elsewhere": (end_record(GOOD, {16: (4, 3)}), "its index is damaged"),
    "more entries": (end_record(GOOD, {8: (2, 9), 10: (2, 9)}), "its index is damaged"),
    "fewer entries": (end_record(GOOD, {8: (2, 2), 10: (2, 2)}), "its index is damaged"),
    "several parts": (end_record(GOOD, {4: (2, 1)}), "in several parts"),
    "numbers of 64 bits left out": (patched(GOOD, "a/data/0", {SIZE: (4, 0xFFFFFFFF)}), "its index is damaged"),
    "byte order": (ordered(b"middle"), "Unknown endianness type: middle"),
    "byte order that is no text": (ordered(b"\xff"), "Unknown endianness type"),
    "a script": (archive(b"}", [("a/constants.pkl", b"\x80\2}.")]), "TorchScript archives"),
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_archives(case, tmp_path):
    file, message = ARCHIVES[case]
    with pytest.raises(RuntimeError, match=message) as caught:
        load(file)
    assert type(caught.value) is RuntimeError and "the file" in str(caught.value)
    path = tmp_path / "weights.pt"
    path.write_bytes(file)
    with path.open("rb") as opened:
        for given in (path, opened):
            with pytest.raises(RuntimeError, match="weights.pt"):
                torch.load(given)


def test_wide_indices_agree_with_narrow_ones():
    def wide(count, size, begin):
        """GOOD with an index of 64-bit numbers as well."""
        end = GOOD.rindex(b"PK\5\6")
        record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, begin)
        return GOOD[:end] + record + struct.pack("<4sIQI", b"PK\6\7", 0, end, 1) + GOOD[end:]
    count, size, begin = struct.unpack("<H2I", GOOD[-12:-2])
    assert load(wide(count, size, begin)).tolist() == [1, 2, 3, 4]
    for numbers in itertools.islice(itertools.product((count, 2), (size, 1 << 62), (begin, 1 << 63)), 1, None):
        with pytest.raises(RuntimeError, match="its index is damaged"):
            load(wide(*numbers))


def test_names_of_files(tmp_path):
    path = tmp_path / "weights.pt"
    for content, error, message in [(b"", EOFError, None),
                                    (b"hello", pickle.UnpicklingError, "weights.pt"),
                                    (archive(b"\xff"), pickle.UnpicklingError, "weights.pt"),
                                    (archive(tensor(size=(5,))), RuntimeError, "weights.pt")]:
        path.write_bytes(content)
        for weights_only in (True, False):
            with pytest.raises(error, match=message) as caught:
                torch.load(path, weights_only=weights_only)
            assert type(caught.value) is error
    path.write_bytes(archive(b"}")[:-60])
    with pytest.raises(RuntimeError, match=str(path)):
        torch.load(path)
    with pytest.raises(pickle.UnpicklingError, match="ends early.*weights.pt"):
        path.write_bytes(zipped([("a/data.pkl", b"\x80\2}")]))
        torch.load(path, weights_only=False)


class OnlyRead:
    """A file that has no readinto, and gives a little at a time."""

    def __init__(self, data):
        self.file = io.BytesIO(data)
        self.seek, self.tell = self.file.seek, self.file.tell

    def read(self, count=-1):
        return self.file.read(count if 0 <= count < 64 else min(count, 64) if count > 2000 else count)


def untyped(dtype, offset, count):
    return tensor(UNTYPED, offset, (count,), (1,), False, name(f"torch.{dtype}"), version=3)


@pytest.mark.parametrize("order", ["little", "big"])
def test_untyped_storages_of_the_other_byte_order(order):
    """torch saves unsigned integers of several bytes as untyped storages. The bytes are swapped once, whatever the
    number of tensors over them."""
    for width in (2, 4, 8):
        numbers = np.arange(1, 16 // width + 1, dtype=f"u{width}") * 259
        data, n = numbers.astype(f"{'<>'[order == 'big']}u{width}").tobytes(), numbers.size
        dtype = f"uint{8 * width}"
        assert load(ordered(order.encode(), data, untyped(dtype, 0, n))).tolist() == numbers.tolist()
        both = load(ordered(order.encode(), data, b"(" + untyped(dtype, 0, n) + untyped(dtype, 1, n - 1) + b"t"))
        assert [x.tolist() for x in both] == [numbers.tolist(), numbers[1:].tolist()]
    if order != sys.byteorder:
        mixed = ordered(order.encode(), bytes(16), b"(" + untyped("uint16", 0, 8) + untyped("uint32", 0, 4) + b"t")
        with pytest.raises(RuntimeError, match="numbers of 2 and of 4 bytes share an untyped storage"):
            load(mixed)


def test_what_goes_on_loading():
    four = [1, 2, 3, 4]
    assert torch.load(OnlyRead(GOOD)).tolist() == four
    assert load(GOOD + bytes(100)).tolist() == four                    # padded
    inside = io.BytesIO(b"before" + GOOD)
    inside.seek(6)
    assert torch.load(inside).tolist() == four
    assert load(patched(GOOD, "a/data/0", {CRC: (4, 0)})).tolist() == four       # torch can leave checksums out
    folders = zipped([("a/", b""), ("a/data/", b""), ("a/data.pkl", b"\x80\2" + tensor() + b"."), ("a/data/0", FOUR)])
    assert load(folders).tolist() == four
    assert load(archive(tensor(), method=zipfile.ZIP_DEFLATED)).tolist() == four
    assert load(ordered(b"big", np.array(four, ">f4").tobytes())).tolist() == four
    assert load(archive(tensor(UNTYPED, 0, (2,), (3,), False, name("torch.uint16"), version=3))).tolist() == [0, 0x4000]
    old = archive(tensor(put((b"U\7storage", name("torch.FloatStorage"), b"U\1" + b"0", b"U\3cpu", 4)) + b"Q"))
    assert load(old).tolist() == four                                  # Python 2 wrote texts so
    assert load(archive(tensor(size=[2], stride=(2,)))).tolist() == [1, 3]
    assert load(archive(tensor(size=call("torch.Size", (2,)), stride=(2,)))).tolist() == [1, 3]
    assert load(archive(tensor(size=(1,) * 64, stride=(1,) * 64))).shape == (1,) * 64
    assert load(archive(tensor(offset=100, size=(0, 3), stride=(3, 1)))).shape == (0, 3)
    assert load(archive(tensor(COMPLEX, 1, (1,), (2,), True, {"conj": True}))).tolist() == [3 - 4j]
    assert load(archive(tensor(INT, 3, (), (), False, {"neg": True}))).tolist() == -struct.unpack("<4i", FOUR)[3]
    half = struct.pack("<2H", 0x3F80, 0x7FC0)
    negated = load(archive(tensor(storage("torch.BFloat16Storage", count=2), 0, (2,), (1,), False, {"neg": True}),
                           [("a/data/0", half)]))
    assert negated[0].item() == -1 and negated[1].isnan()
    made = load(archive(parameter(tensor(), False, {"note": 3})))
    assert type(made) is torch.nn.Parameter and made.note == 3 and not made.requires_grad


# ------------------------------------------------------------------ classes that users declare safe
class Plain:
    def __init__(self, value):
        self.value = value


class Slots:
    __slots__ = ("value", "other")


class Stateful(Plain):
    def __setstate__(self, state):
        if state["value"] == 0:
            raise ZeroDivisionError("a value of 0")
        self.value = state["value"] * 2


class Named(collections.namedtuple("Named", "a b")):
    pass


class Items(dict):
    pass


class Rows(list):
    pass


def round_trip(obj):
    file = io.BytesIO()
    torch.save(obj, file)
    return load(file.getvalue())


def test_users_classes():
    slots = Slots()
    slots.value = torch.ones(2)
    items, rows = Items(a=1), Rows([1, 2])
    items.note = rows.note = "x"
    everything = [Plain(3), slots, Stateful(3), Named(1, (2,)), items, rows, collections.defaultdict(list, a=[1]),
                  torch.nn.Linear(2, 3)]
    for obj in everything:
        with pytest.raises(pickle.UnpicklingError, match="was not an allowed global"):
            round_trip(obj)
    classes = [Plain, Slots, Stateful, Named, Items, Rows, collections.defaultdict, list, torch.nn.Linear]
    with torch.serialization.safe_globals(classes):
        back = [round_trip(obj) for obj in everything]
        with pytest.raises(ZeroDivisionError, match="a value of 0"):           # the user's own errors are theirs
            round_trip(Stateful(0))
        with pytest.raises(pickle.UnpicklingError, match="__array_interface__"):
            load(archive(build(name(f"{__name__}.Plain") + b")\x81", {"__array_interface__": {}})))
        with pytest.raises(pickle.UnpicklingError, match="Can only build"):    # not the class itself
            load(archive(build(name(f"{__name__}.Plain"), {"value": 1})))
        with pytest.raises(pickle.UnpicklingError, match="has no attributes to set"):
            load(archive(build(name(f"{__name__}.Slots") + b")\x81", {"value": 1})))
        with pytest.raises(pickle.UnpicklingError, match="must be a dict"):
            load(archive(build(name(f"{__name__}.Plain") + b")\x81", [("value", 1)])))
    assert [type(a) for a in back] == [type(a) for a in everything]
    plain, slots, stateful, named, items, rows, default, linear = back
    assert plain.value == 3 and slots.value.tolist() == [1, 1] and stateful.value == 6 and named == (1, (2,))
    assert items == {"a": 1} and rows == [1, 2] and items.note == rows.note == "x" and default["b"] == []
    assert linear(torch.ones(1, 2)).shape == (1, 3) and not hasattr(Plain, "value")
    with torch.serialization.safe_globals([(Plain, "other.Name")]):
        assert type(load(archive(name("other.Name") + b")\x81"))) is Plain
    with torch.serialization.safe_globals([os.getpid]), pytest.raises(pickle.UnpicklingError, match="is blocked"):
        round_trip(os.getpid)


def test_pickle_arguments():
    old = archive(b"U\2\xc3\xa9")
    with pytest.warns(UserWarning, match="pickle_load_args only works if `weights_only=False`"):
        assert load(old, encoding="bytes") == b"\xc3\xa9"
    with pytest.warns(UserWarning), pytest.raises(TypeError, match="errors"):
        load(old, errors="replace")
    assert load(old) == "\xe9"
    with pytest.warns(UserWarning, match="Detected pickle protocol 3 in the checkpoint"):
        load(zipped([("a/data.pkl", b"\x80\3}.")]))


# ------------------------------------------------------------------ what save writes
def test_memory_of_two_types_is_not_saved():
    x = torch.ones(4)
    for pair in ([x, x.view(torch.int32)], [torch.zeros(2, dtype=torch.uint16).view(torch.int16),
                                            torch.zeros(2, dtype=torch.int16)]):
        shares = pair[0].data_ptr() == pair[1].data_ptr()
        if shares:
            with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same"):
                torch.save(pair, io.BytesIO())
        else:
            assert len(round_trip(pair)) == 2
    empty = torch.zeros(0)
    assert [t.dtype for t in round_trip([empty, empty.view(torch.int32)])] == [torch.float32, torch.int32]


def test_memory_that_is_no_multiple_of_its_numbers():
    x = torch.arange(10, dtype=torch.uint8)[:8].view(torch.float32)
    assert round_trip(x).tolist() == x.tolist()
