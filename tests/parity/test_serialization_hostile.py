"""The hostile files of the unit tests, and torch: it refuses them too, or it is said here why only we do; and files
that are merely odd, which both read alike."""
import io
import pickle
import re
import struct
import zipfile

import pytest
import torch

import tinytorch

from ..unit.test_serialization_archive import ARCHIVES, CRC, ordered, patched
from ..unit.test_serialization_hostile import (
    COMPLEX,
    INT,
    PICKLES,
    UNTYPED,
    archive,
    call,
    name,
    parameter,
    put,
    storage,
    tensor,
)
from .test_serialization import check, save

#: What harms torch: it is not shown to it.
HARMFUL = {"a deep tuple as key", "a bushy tuple as key", "a bushy tuple in a set",   # end the process, or never end
           "memory for a tensor", "memory for bytes"}                                # take the memory

#: What torch reads.
READ_BY_TORCH = {
    "no dtype", "arguments a list", "complex of text", "new object of a type", "other encodings",   # as Python would
    "bytes beyond 2^63", "empty beyond 2^63", "65 dimensions",         # there are no such arrays in NumPy
    "negative size, empty", "negative stride of one", "Size beyond 2^63",        # no tensor has such a shape
    "negated bools",                                                   # it cannot be read
    "one record, two types", "one record, two sizes",                  # the first decides: the second is not as saved
    "hooks in a parameter's state", "array in a parameter's state", "address in a parameter's state",
    "address in an OrderedDict",                                       # NumPy would read that address
    "state for a storage", "state for a Counter",                      # nobody writes these
    "text copied again and again", "list copied again and again",      # a limit of ours
    "two data.pkl", "two records",                                     # the first of them
    "parent", "backslash",                                             # names that are never used
    "checksum", "another name",                                        # not looked at
    "a folder", "expands to more", "cannot be expanded",               # memory as it happens to be
}


def outcome(t, file):
    try:
        return t.load(io.BytesIO(file), weights_only=True)
    except Exception as error:
        return error


CASES = {**{case: archive(body) for case, (body, _, _) in PICKLES.items()},
         **{case: file for case, (file, _) in ARCHIVES.items()}}


@pytest.mark.parametrize("case", [case for case in CASES if case not in HARMFUL])
def test_refused_by_both(case):
    ours, theirs = outcome(tinytorch, CASES[case]), outcome(torch, CASES[case])
    assert isinstance(ours, Exception)
    assert isinstance(theirs, Exception) != (case in READ_BY_TORCH), theirs


#: What torch has no words, or only an assertion, for.
OUR_WORDS = {"negative size", "conjugated floats", "a class as storage type", "name without an end", "device a number",
             "two folders", "absolute", "parent on top", "no folder", "no data.pkl", "fewer entries",
             "into the next record", "two records in one place"}


@pytest.mark.parametrize("case", [case for case in CASES if case not in HARMFUL | READ_BY_TORCH | OUR_WORDS])
def test_refused_in_the_same_words(case):
    ours, theirs = outcome(tinytorch, CASES[case]), outcome(torch, CASES[case])
    if type(theirs) is RuntimeError:
        assert type(ours) is RuntimeError and str(theirs)[:25] in str(ours)
    elif type(theirs).__name__ == "UnpicklingError" and case in PICKLES:
        assert type(ours) is type(theirs) and re.search(PICKLES[case][2], str(theirs))
    else:                                      # what falls out of torch's code is an error of the file's here
        assert type(ours) in (RuntimeError, pickle.UnpicklingError)


TENSORS = {
    "whole": tensor(),
    "repeated": tensor(size=(3, 2), stride=(0, 1)),
    "part": tensor(offset=1, size=(2,), stride=(2,)),
    "a number": tensor(offset=3, size=(), stride=()),
    "list as size": tensor(size=[2], stride=[1]),
    "Size as size": tensor(size=call("torch.Size", (2,))),
    "empty": tensor(offset=100, size=(0, 3), stride=(3, 1)),
    "grad": tensor(None, 0, (4,), (1,), True),
    "metadata none": tensor(None, 0, (4,), (1,), False, None),
    "metadata unknown": tensor(None, 0, (4,), (1,), False, {"odd": True}),
    "conj": tensor(COMPLEX, 1, (1,), (2,), False, {"conj": True}),
    "conj said to be false": tensor(COMPLEX, 0, (2,), (1,), False, {"conj": False}),
    "conj and neg": tensor(COMPLEX, 0, (2,), (1,), False, {"conj": True, "neg": True}),
    "neg of ints": tensor(INT, 0, (2, 2), (2, 1), False, {"neg": True}),
    "uint16": tensor(UNTYPED, 2, (3,), (2,), False, name("torch.uint16"), version=3),
    "bytes": tensor(UNTYPED, 0, (16,), (1,), False, name("torch.uint8"), version=3),
    "uint16 of floats": tensor(None, 2, (3,), (2,), False, name("torch.uint16"), version=3),
    "parameter": parameter(tensor()),
    "parameter without grad": parameter(tensor(), False),
    "parameter with a note": parameter(tensor(), True, {"note": 3}),
    "key a number": tensor(storage(key=0)),
    "text of Python 2": tensor(put((b"U\7storage", name("torch.FloatStorage"), b"U\0010", b"U\3cpu", 4)) + b"Q"),
}


@pytest.mark.parametrize("case", TENSORS)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_read_alike(case, method):
    file = archive(TENSORS[case], method=method)
    ours, theirs = outcome(tinytorch, file), outcome(torch, file)
    check(theirs, ours)
    assert isinstance(theirs, torch.Tensor) and vars(theirs) == {k: v for k, v in vars(ours).items() if k != "_grad"}


@pytest.mark.parametrize("file", [ordered(b"big", struct.pack(">4f", 1, 2, 3, 4)), archive(tensor()) + bytes(50),
                                  patched(archive(tensor()), "a/data/0", {CRC: (4, 0)})],
                         ids=["big-endian", "padded", "without a checksum"])
def test_archives_read_alike(file):
    check(outcome(torch, file), outcome(tinytorch, file))
    assert outcome(torch, file).tolist() == [1, 2, 3, 4]


def test_without_checksums():
    torch.serialization.set_crc32_options(False)
    try:
        file = save(torch, {"w": torch.arange(5.0)})
    finally:
        torch.serialization.set_crc32_options(True)
    check(torch.load(file), tinytorch.load(file))


def test_same_refusals_to_save():
    for t in (torch, tinytorch):
        x = t.ones(4)
        with pytest.raises(RuntimeError, match="^Cannot save multiple tensors or storages that view the same"):
            t.save([x, x.view(t.int32)], io.BytesIO())
        empty = t.ones(0)
        t.save([empty, empty.view(t.int32)], io.BytesIO())
