"""torch.load and pickles that are damaged, or made to do harm: what is refused, and how."""
import collections
import io
import pickle
import struct
import warnings
import zipfile

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.checkpoint import rebuild as _rebuild

FOUR = struct.pack("<4f", 1, 2, 3, 4)


# ------------------------------------------------------------------ pickles by hand
def put(value):
    """The instructions for a plain value; bytes are instructions already."""
    if isinstance(value, bytes):
        return value
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, tuple):
        return b"(" + b"".join(map(put, value)) + b"t"
    if isinstance(value, list):
        return b"](" + b"".join(map(put, value)) + b"e"
    if isinstance(value, dict):
        return b"}(" + b"".join(put(x) for pair in value.items() for x in pair) + b"u"
    data = pickle.encode_long(value)
    return b"\x8a" + bytes([len(data)]) + data


def name(full):
    module, _, attribute = full.rpartition(".")
    return f"c{module}\n{attribute}\n".encode()


def call(full, *args):
    return name(full) + put(args) + b"R"


def storage(kind="torch.FloatStorage", key="0", location="cpu", count=4):
    return put(("storage", name(kind), key, location, count)) + b"Q"


def tensor(memory=None, offset=0, size=(4,), stride=(1,), grad=False, *more, version=2):
    hooks = call("collections.OrderedDict")
    memory = storage() if memory is None else memory
    return call(f"torch._utils._rebuild_tensor_v{version}", memory, offset, size, stride, grad, hooks, *more)


def parameter(data, grad=True, state=None):
    hooks = call("collections.OrderedDict")
    if state is None:
        return call("torch._utils._rebuild_parameter", data, grad, hooks)
    return call("torch._utils._rebuild_parameter_with_state", data, grad, hooks, state)


def build(target, state):
    return put(target) + put(state) + b"b"


def archive(body, more=(("a/data/0", FOUR),), method=zipfile.ZIP_STORED):
    """A checkpoint whose pickle is `body` (between PROTO and STOP), and its other records."""
    return zipped([("a/data.pkl", b"\x80\x02" + body + b"."), ("a/byteorder", b"little"), *more, ("a/version", b"3\n")],
                  method)


def zipped(records, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as z, warnings.catch_warnings():
        warnings.simplefilter("ignore")        # of duplicate names
        for record, data in records:
            z.writestr(zipfile.ZipInfo(record), data, method)
    return file.getvalue()


def load(file, **options):
    return torch.load(io.BytesIO(file), **options)


# ------------------------------------------------------------------ what is refused
U, R = pickle.UnpicklingError, RuntimeError
DTYPE_OF_OBJECTS = build(call("collections.OrderedDict"), {"numpy": "O", "itemsize": 8})
UNTYPED = storage("torch.storage.UntypedStorage", count=16)
COMPLEX = storage("torch.ComplexFloatStorage", count=2)
INT = storage("torch.IntStorage")

#: name -> (pickle, exception, what its message says)
PICKLES = {
    "dtype of objects": (tensor(UNTYPED, 0, (2,), (1,), False, DTYPE_OF_OBJECTS, version=3), U, "'dtype' of a tensor"),
    "dtype of text": (tensor(UNTYPED, 0, (2,), (1,), False, "O", version=3), U, "'dtype' of a tensor must"),
    "no dtype": (tensor(UNTYPED, 0, (2,), (1,), False, None, version=3), U, "'dtype' of a tensor must"),
    "end beyond 2^64": (tensor(size=(2,) * 4, stride=(2 ** 60,) * 4), R, "Storage size calculation overflowed"),
    "end at 2^64": (tensor(size=(2 ** 60 + 1,), stride=(4,)), R, "Storage size calculation overflowed"),
    "end beyond 2^63": (tensor(size=(2,) * 2, stride=(2 ** 60,) * 2), R, "Storage size calculation overflowed"),
    "stride beyond 2^63": (tensor(size=(1,), stride=(2 ** 63,)), R, "Storage size calculation overflowed"),
    "size beyond 2^64": (tensor(size=(2 ** 64,)), R, "integer multiplication overflow"),
    "count beyond 2^63": (tensor(size=(2 ** 40, 2 ** 40), stride=(0, 0)), R, "integer multiplication overflow"),
    "bytes beyond 2^63": (tensor(size=(2 ** 62,), stride=(0,)), R, "integer multiplication overflow"),
    "empty beyond 2^63": (tensor(size=(0, 2 ** 62, 2), stride=(1, 1, 1)), R, "integer multiplication overflow"),
    "too long": (tensor(size=(5,)), R, "Trying to resize storage that is not resizable"),
    "offset too large": (tensor(offset=1), R, "Trying to resize storage that is not resizable"),
    "offset of a number": (tensor(offset=4, size=(), stride=()), R, "Trying to resize storage that is not resizable"),
    "stride too large": (tensor(size=(2, 2), stride=(3, 1)), R, "Trying to resize storage that is not resizable"),
    "negative offset": (tensor(offset=-1), R, "invalid storage offset -1"),
    "offset beyond 2^63, empty": (tensor(offset=2 ** 63, size=(0,)), R, "invalid storage offset"),
    "negative size": (tensor(size=(-1,)), R, "negative dimension"),
    "negative size, empty": (tensor(size=(0, -1), stride=(1, 1)), R, "negative dimension"),
    "negative stride": (tensor(offset=3, stride=(-1,)), R, "Storage size calculation overflowed"),
    "negative stride of one": (tensor(size=(1,), stride=(-1,)), R, "Storage size calculation overflowed"),
    "fewer strides": (tensor(size=(2, 2)), R, r"unequal size length \(2\) and stride length \(1\)"),
    "65 dimensions": (tensor(size=(1,) * 65, stride=(1,) * 65), R, "65 dimensions"),
    "size of floats": (tensor(size=(2.0,)), U, "'size' of a tensor must"),
    "size of bools": (tensor(size=(True,)), U, "'size' of a tensor must"),
    "size of text": (tensor(size="ab"), U, "'size' of a tensor must"),
    "size a number": (tensor(size=4), U, "'size' of a tensor must"),
    "stride of bools": (tensor(stride=(True,)), U, "'stride' of a tensor must"),
    "offset a bool": (tensor(offset=False), U, "'storage_offset' of a tensor must"),
    "offset a float": (tensor(offset=0.0), U, "'storage_offset' of a tensor must"),
    "no storage": (tensor(b"N"), U, "'storage' of a tensor must"),
    "a tensor as storage": (tensor(tensor()), U, "'storage' of a tensor must"),
    "a type as storage": (tensor(name("torch.FloatStorage")), U, "'storage' of a tensor must"),
    "grad a number": (tensor(grad=1), R, "requires_grad must be a bool"),
    "grad of ints": (tensor(INT, grad=True), R, "only Tensors of floating point and complex dtype can require grad"),
    "too few arguments": (call("torch._utils._rebuild_tensor_v2"), U, "missing"),
    "metadata of text": (tensor(None, 0, (4,), (1,), False, "conj"), U, "'metadata' of a tensor must"),
    "metadata of numbers": (tensor(None, 0, (4,), (1,), False, {1: True}), U, "'metadata' of a tensor must"),
    "conjugated floats": (tensor(None, 0, (4,), (1,), False, {"conj": True}), R, "cannot be conjugated"),
    "negated bools": (tensor(storage("torch.BoolStorage", count=16), 0, (4,), (1,), False, {"neg": True}), R,
                      "cannot be negated"),
    "parameter of a number": (parameter(4), U, "'data' of a tensor must"),
    "parameter with grad a number": (parameter(tensor(), 1), U, "'requires_grad' of a tensor must"),
    "parameter of ints": (parameter(tensor(INT)), R, "Only Tensors of floating point"),
    "state of a parameter a number": (parameter(tensor(), True, 3), U, "must be a dict"),
    "grad in a parameter's state": (parameter(tensor(), True, {"_grad": 3}), U, "not for a file to set"),
    "hooks in a parameter's state": (parameter(tensor(), True, {"_hooks": 3}), U, "not for a file to set"),
    "array in a parameter's state": (parameter(tensor(), True, {"_array": 3}), U, "'_array' is not an attribute"),
    "address in a parameter's state": (parameter(tensor(), True, {"__array_interface__": {}}), U, "__array_interf"),
    "number in a parameter's state": (parameter(tensor(), True, {1: 3}), U, "1 is not an attribute"),
    # storages
    "more than in the record": (tensor(storage(count=5)), R, r"record size \(16 bytes\) does not match expected size"),
    "less than in the record": (tensor(storage(count=3), size=(3,)), R, "does not match expected size"),
    "nothing, not as in the record": (tensor(storage(count=0), size=(0,)), R, "does not match expected size"),
    "count beyond 2^64": (tensor(storage(count=2 ** 64)), R, "does not match expected size"),
    "negative count": (tensor(storage(count=-4)), U, "a storage is given by"),
    "count a float": (tensor(storage(count=4.0)), U, "a storage is given by"),
    "no record": (tensor(storage(key="1")), R, "failed locating file data/1: file not found"),
    "record outside": (tensor(storage(key="../version")), R, "failed locating file"),
    "key a list": (tensor(storage(key=[])), U, "a storage is given by"),
    "location a number": (tensor(storage(location=1)), U, "a storage is given by"),
    "location unknown": (tensor(storage(location="there")), R, "don't know how to restore data location"),
    "a dtype as storage type": (tensor(storage("torch.float32")), U, "a storage is given by"),
    "a class as storage type": (tensor(storage("torch.Tensor")), U, "a storage is given by"),
    "one record, two types": (put((tensor(), tensor(INT))), R, "said to hold both float32 and int32"),
    "one record, two sizes": (put((tensor(), tensor(storage(count=3), size=(3,)))), R, "does not match expected size"),
    "other persistent ids": (put(("module", "0")) + b"Q", U, "Only persistent_load of storage is allowed"),
    "a number as persistent id": (put(5) + b"Q", U, "persistent_load id must be tuple"),
    "an empty persistent id": (put(()) + b"Q", U, "Only persistent_load of storage is allowed"),
    "a short persistent id": (put(("storage",)) + b"Q", U, "a storage is given by"),
    # calls
    "code": (call("builtins.eval", "1"), U, "Unsupported global: GLOBAL eval was not an allowed global"),
    "code of os": (call("os.system", "true"), U, "whose module os is blocked"),
    "getattr": (call("builtins.getattr", name("torch.Tensor"), "fill_"), U, "GLOBAL getattr was not an allowed global"),
    "calling a number": (put(5) + b")R", U, "Trying to call reduce for unrecognized function"),
    "calling a dtype": (call("torch.float32"), U, "Trying to call reduce for unrecognized function"),
    "calling a storage type": (call("torch.FloatStorage"), U, "Trying to call reduce for unrecognized function"),
    "arguments a list": (name("builtins.set") + b"]R", U, "arguments of a call must be a tuple"),
    "memory for a tensor": (call("torch.Tensor", 10 ** 11), U, "_tensor"),
    "memory for bytes": (call("builtins.bytearray", 10 ** 11), U, "a bytearray cannot be made of"),
    "other encodings": (call("_codecs.encode", "abc", "rot13"), U, "encoded as latin1 or utf-8"),
    "text that cannot be encoded": (call("_codecs.encode", "\u4e00", "latin1"), U, "UnicodeEncodeError"),
    "Size of text": (call("torch.Size", ("a",)), U, "takes an iterable of 'int' \\(item 0 is 'str'\\)"),
    "Size beyond 2^63": (call("torch.Size", (2 ** 63,)), U, "Overflow when unpacking long long"),
    "device unknown": (call("torch.device", "here"), R, "Expected one of cpu"),
    "device of odd digits": (call("torch.device", "cuda:\u00b2"), R, "Invalid device string"),
    "device below 0": (call("torch.device", "cuda", -1), R, "Device index must not be negative"),
    "device a number": (call("torch.device", 1), U, "a device is made of"),
    "complex of text": (call("builtins.complex", "1j"), U, "made of numbers"),
    "complex too large": (call("builtins.complex", 10 ** 400), U, "OverflowError"),
    "set of lists": (call("builtins.set", [[]]), U, "unhashable type: 'list'"),
    "Counter of a number": (call("collections.Counter", 5), U, "a set cannot be made of"),
    "OrderedDict of singles": (call("collections.OrderedDict", [("a",)]), U, "made of pairs"),
    # objects and their state
    "new object of a type": (name("builtins.set") + b")\x81", U, "Can only create new object for nn.Parameter"),
    "new object of a function": (name("_codecs.encode") + b")\x81", U, "Can only create new object for nn.Parameter"),
    "state for a dict": (build({}, {}), U, "Can only build Tensor, Parameter, OrderedDict"),
    "state for a tensor": (build(tensor(), {"note": 1}), U, "Can only build"),
    "state for a parameter": (build(parameter(tensor()), {"note": 1}), U, "Can only build"),
    "state for a Size": (build(call("torch.Size", ()), {"note": 1}), U, "Can only build"),
    "state for a device": (build(call("torch.device", "cpu"), {"type": "x"}), U, "Can only build"),
    "state for a storage": (build(storage(), {"data": b"N"}), U, "Can only build"),
    "state for a Counter": (build(call("collections.Counter"), {"note": 1}), U, "Can only build"),
    "state a number": (build(call("collections.OrderedDict"), 5), U, "must be a dict"),
    "address in an OrderedDict": (build(call("collections.OrderedDict"), {"__array_interface__": {}}), U,
                                  "__array_interface__"),
    # containers
    "item of a tensor": (tensor() + put(0) + put(9) + b"s", U, "Can only SETITEM for dict"),
    "item of a list": (put([1]) + put(0) + put(9) + b"s", U, "Can only SETITEM for dict"),
    "items, odd": (b"}(" + put(0) + b"u", U, "odd number of items"),
    "a list as key": (b"}]Ns", U, "unhashable type: 'list'"),
    "a dict in a tuple as key": (b"}" + put((1, {})) + b"Ns", U, "unhashable type: 'dict'"),
    "a deep tuple as key": (b"})" + b"\x85" * 200_000 + b"Ns", U, "as a key"),
    "a bushy tuple as key": (b"})" + b"q\0h\0\x86" * 60 + b"Ns", U, "as a key"),
    "a bushy tuple in a set": (call("builtins.set", [b")" + b"q\0h\0\x86" * 60]), U, "as a key"),
    "append to a set": (b"\x8f" + put(0) + b"a", U, "Can only append to lists"),
    "extend a tuple": (b")(" + put(0) + b"e", U, "Can only extend lists"),
    "text copied again and again": (put("x" * 4000) + b"q\0" + b"c_codecs\nencode\nq\1" + b"h\1h\0\x85R" * 100, U,
                                    "copied again and again"),
    "list copied again and again": (put(list(range(1000))) + b"q\0" + b"cbuiltins\nset\nq\1" + b"h\1h\0\x85R" * 100, U,
                                    "copied again and again"),
    # the instructions
    "nothing": (b"", U, "nothing on the stack"),
    "no mark": (b"t", U, "could not find MARK"),
    "below a mark": (b"N(0" + b"\x85", U, "Unsupported operand 48"),
    "past a mark": (b"N(" + b"\x85", U, "unexpected MARK"),
    "no value for the memo": (b"q\0", U, "nothing on the stack"),
    "not in the memo": (b"h\5", U, "Memo value not found at index 5"),
    "text longer than the file": (b"X\xff\xff\xff\x7fabc", U, "ends early"),
    "bytes that are no text": (b"X\2\0\0\0\xff\xfe", U, "can't decode"),
    "string that is no text": (b"U\2\xff\xfe", U, "can't decode"),
    "name that is no text": (b"c\xff\n\xfe\n", U, "can't decode"),
    "name without an end": (b"ctorch", U, "ends early"),
    "long number of protocol 2": (b"\x8b\4\0\0\0\1\1\1\1", U, "Unsupported operand 139"),
    "number as text": (b"I1\n", U, "Unsupported operand 73"),
    "bytes of protocol 3": (b"C\1a", U, "Unsupported operand 67"),
    "frame of protocol 4": (b"\x95" + bytes(8), U, "Unsupported operand 149"),
    "buffer of protocol 5": (b"\x96" + b"\xff" * 7 + b"\x7f", U, "Unsupported operand 150"),
    "extension": (b"\x82\1", U, "Unsupported operand 130"),
    "instance": (b"(ios\nsystem\n", U, "Unsupported operand 105"),
    "an unknown instruction": (b"\xff", U, "Unsupported operand 255"),
}


@pytest.mark.parametrize("case", PICKLES)
def test_pickles(case):
    body, error, message = PICKLES[case]
    with pytest.raises(error, match=message) as caught:
        load(archive(body))
    assert type(caught.value) is error and "the file" in str(caught.value)
    assert error is R or str(caught.value).startswith("Weights only load failed.")


#: The tensors among them: all but what Python's pickle does with one.
TENSORS = [case for case, (body, _, _) in PICKLES.items() if b"_rebuild_" in body and case not in (
    "state for a tensor", "state for a parameter", "item of a tensor")]


@pytest.mark.parametrize("case", TENSORS)
def test_rebuilding_is_as_careful_without_weights_only(case):
    body, error, message = PICKLES[case]
    with pytest.raises(error, match=message):
        load(archive(body), weights_only=False)


def test_views_of_nothing_are_refused():
    nothing = archive(tensor(storage("torch.ByteStorage", count=0), size=(2 ** 24,)), [("a/data/0", b"")])
    for weights_only in (True, False):
        with pytest.raises(RuntimeError, match="has 0 bytes, the tensor ends at byte 16777216"):
            load(nothing, weights_only=weights_only)


@pytest.mark.parametrize("full", [*_rebuild.KNOWN, "_codecs.encode"])
def test_no_file_changes_a_class(full):
    obj = _rebuild.KNOWN.get(full)
    for state in ({"backward": name("builtins.set")}, (None, {"backward": name("builtins.set")}),
                  {"numpy": "O", "itemsize": 8, "name": "x"}):
        before = dict(vars(obj)) if hasattr(obj, "__dict__") else repr(obj)
        with pytest.raises(pickle.UnpicklingError, match="Can only build Tensor, Parameter, OrderedDict"):
            load(archive(build(name(full), state)))
        assert before == (dict(vars(obj)) if hasattr(obj, "__dict__") else repr(obj))
    assert torch.zeros(2).dtype is torch.float32 and torch.zeros(2).numpy().dtype == np.float32


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_every_instruction_alone_and_every_cut():
    state = collections.OrderedDict(weight=torch.ones(2, 2), bias=torch.nn.Parameter(torch.ones(2)))
    state._metadata = {"": {"version": 1}}
    file = io.BytesIO()
    torch.save([state, {"a": (1, 2.5, b"x", {3})}], file)
    with zipfile.ZipFile(file) as z:
        records = [(n, z.read(n)) for n in z.namelist()]
    text = records[0][1]
    for end in range(len(text)):
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
            load(zipped([(records[0][0], text[:end]), *records[1:]]))
    loaded = 0
    for code in range(256):
        for operand in (b"", bytes(8), b"\xff" * 8, b"\0."):
            try:
                load(archive(b"N" + bytes([code]) + operand, []))
                loaded += 1
            except pickle.UnpicklingError as error:
                assert "Weights only load failed" in str(error)
    assert loaded > 15


def test_depth_costs_nothing():
    nested = load(archive(b")" + b"\x85" * 200_000))
    depth = 0
    while nested:
        nested, depth = nested[0], depth + 1
    assert depth == 200_000
