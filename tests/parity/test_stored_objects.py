"""What else than tensors is in files: objects of Python, written by either and read by both."""
import _pickle
import collections
import datetime
import decimal
import fractions
import functools
import io
import operator
import pathlib
import pickle
import sys
import types
import uuid

import pytest
import torch

import tinytorch

from .adapter import same_outcome

OBJECTS = [
    range(3), int, str, bytes, list, dict, set, type, object, range, map, filter, zip, len, chr, input,
    functools.reduce, sys.intern, operator.add, operator.attrgetter("a"), slice(1, 2), {1}, frozenset([1]), b"abc",
    bytearray(b"a"),
    1j, 2**70, -5, 1.5, None, ..., "\u00e9", collections.OrderedDict(a=1), collections.defaultdict(int, a=1),
    collections.Counter("aab"), collections.deque([1]), collections.ChainMap({"a": 1}), collections.UserDict(a=1),
    fractions.Fraction(1, 2), decimal.Decimal("1.5"), datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1),
    datetime.timedelta(1), functools.partial(int, "3"), uuid.UUID(int=3), pathlib.PurePosixPath("a"), ValueError("a"),
    OSError("x"), ImportError("a"), KeyboardInterrupt("b"), types.SimpleNamespace(a=1, b=range(2))]


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("thing", OBJECTS, ids=repr)
def test_objects_of_python(thing, protocol, zipped):
    for lib in (torch, tinytorch):
        file = io.BytesIO()
        lib.save([thing, lib.ones(1)], file, pickle_protocol=protocol, _use_new_zipfile_serialization=zipped)
        for reader in (torch, tinytorch):
            file.seek(0)
            found = reader.load(file, weights_only=False)[0]
            assert type(found) is type(thing) and (repr(found) == repr(thing) or found == thing)

        def program(reader, file=file):
            file.seek(0)
            try:
                return repr(reader.load(file, weights_only=True)[0]) + " is read"
            except pickle.UnpicklingError:
                return "refused"
        same_outcome(program)


@pytest.mark.parametrize("thing", OBJECTS, ids=repr)
def test_names_that_are_not_safe(thing):
    def program(t):
        file = io.BytesIO()
        t.save([thing, t.ones(1)], file)
        file.seek(0)
        names = " ".join(sorted(t.serialization.get_unsafe_globals_in_checkpoint(file)))
        return names.replace("exceptions.", "builtins.") + "."         # Python 2's name, which torch leaves as it is
    same_outcome(program)


class Overriding(_pickle.Pickler):
    """As cloudpickle's: in C, with an answer of its own for what others cannot write."""

    def reducer_override(self, obj):
        return (int, ("7",)) if getattr(obj, "__name__", "") == "<lambda>" else NotImplemented


class OverridingInPython(pickle._Pickler):
    reducer_override = Overriding.reducer_override


class ByTable(_pickle.Pickler):
    dispatch_table = {types.LambdaType: lambda f: (int, ("3",)), types.CodeType: lambda code: (int, ("3",))}


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("kind", [Overriding, OverridingInPython, ByTable])
def test_picklers_of_other_modules(kind, zipped):
    def program(t):
        module = types.ModuleType("theirs")
        module.Pickler = kind
        module.dumps = pickle.dumps
        module.dump = lambda obj, file, protocol=None: kind(file, protocol).dump(obj)
        file = io.BytesIO()
        thing = (lambda: 0) if kind is not ByTable else (lambda: 0).__code__
        t.save({"x": t.ones(2), "f": thing, "relu": t.nn.ReLU(), "dtype": t.float64}, file, pickle_module=module,
               _use_new_zipfile_serialization=zipped)
        file.seek(0)
        found = t.load(file, weights_only=False)
        return found["x"], found["f"], repr(found["relu"]), str(found["dtype"])
    same_outcome(program)
