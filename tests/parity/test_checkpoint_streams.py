"""Checkpoints in files that are no more than they must be, and the environment's switches, against torch."""
import gzip
import io
import pickle
import socket
import threading
import warnings

import numpy as np
import pytest
import torch

import tinytorch

BOTH = [torch, tinytorch]
formats = pytest.mark.parametrize("zipped", [True, False])


def made(t):
    return {"a": t.arange(6.0), "b": [1, "z"], "c": t.ones(300, 300)}


def check(loaded):
    assert loaded["a"].tolist() == list(range(6)) and loaded["b"] == [1, "z"] and float(loaded["c"].sum()) == 90000


class Writer:
    """As little of a file as torch asks for."""

    def __init__(self):
        self.parts, self.flushed = [], False

    def write(self, data):
        self.parts.append(bytes(data))
        return len(data)

    def flush(self):
        self.flushed = True


@formats
def test_what_has_write(zipped, tmp_path):
    for t in BOTH:
        writer = Writer()
        t.save(made(t), writer, _use_new_zipfile_serialization=zipped)
        assert writer.flushed
        for reader in BOTH:
            check(reader.load(io.BytesIO(b"".join(writer.parts))))
    with gzip.open(tmp_path / "a.gz", "wb") as file:
        tinytorch.save(made(tinytorch), file, _use_new_zipfile_serialization=zipped)
    for t in BOTH:
        with gzip.open(tmp_path / "a.gz", "rb") as file:
            check(t.load(file))


@formats
def test_sockets(zipped):
    one, two = socket.socketpair()
    received = []
    thread = threading.Thread(target=lambda: received.append(two.makefile("rb").read()))
    thread.start()
    with one.makefile("wb") as file:
        tinytorch.save(made(tinytorch), file, _use_new_zipfile_serialization=zipped)
    one.close()
    thread.join(60)
    two.close()
    for t in BOTH:
        check(t.load(io.BytesIO(received[0])))


@formats
@pytest.mark.parametrize("writer", BOTH)
@pytest.mark.parametrize("reader", BOTH)
def test_the_middle_of_a_stream(zipped, writer, reader, tmp_path):
    file = io.BytesIO()
    pickle.dump([1, 2], file)
    writer.save(made(writer), file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    assert pickle.load(file) == [1, 2]
    check(reader.load(file))
    path = tmp_path / "appended"
    path.write_bytes(b"OLD")
    with open(path, "ab") as file:
        writer.save(made(writer), file, _use_new_zipfile_serialization=zipped)
    with open(path, "rb") as file:
        file.seek(3)
        check(reader.load(file))


@formats
def test_what_cannot_be_pickled(zipped):
    class Local:
        pass
    for obj in (lambda: 1, Local(), (i for i in range(2)), threading.Lock()):
        told = []
        for t in BOTH:
            with pytest.raises((AttributeError, TypeError, pickle.PicklingError)) as error:
                t.save(obj, io.BytesIO(), _use_new_zipfile_serialization=zipped)
            told.append((error.type, str(error.value)))
        assert told[0] == told[1]
    for wrong in (None, 3):
        for t in BOTH:
            with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object with a "
                                                     "'write' attribute$"):
                t.save(1, wrong)


class Stranger:
    """Writes what looks like the name of one of our functions, as a word."""

    def __init__(self):
        self.words = ["ctinytorch.checkpoint.rebuild\nwritten_rebuild_tensor_v2\n", "ctinytorch.dtypes\nfloat32\n"]


def test_names_in_data_are_left_alone():
    file = io.BytesIO()
    x = {"words": Stranger().words, "x": tinytorch.ones(2), "dtype": tinytorch.float32}
    tinytorch.save(x, file)
    for t in BOTH:
        file.seek(0)
        loaded = t.load(file)
        assert loaded["words"] == x["words"] and loaded["x"].tolist() == [1, 1] and loaded["dtype"] is t.float32


SWITCHES = ["TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"]


@pytest.mark.parametrize("values", [("0", "0"), ("1", "0"), ("0", "1"), ("1", "yes"), ("TRUE", ""), ("no", "y")],
                         ids=str)
@pytest.mark.parametrize("asked", [None, True, False])
def test_switches_of_the_environment(values, asked, monkeypatch):
    file = io.BytesIO()
    torch.save({"x": np.random.RandomState(0)}, file)
    for name, value in zip(SWITCHES, values):
        monkeypatch.setenv(name, value)
    told = []
    for t in BOTH:
        file.seek(0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                t.load(file, **{} if asked is None else {"weights_only": asked})
                outcome = "loaded"
            except (RuntimeError, pickle.UnpicklingError) as error:
                outcome = type(error), "Only one of" in str(error)
        told.append((outcome, sum("TORCH_FORCE" in str(w.message) for w in caught)))
    assert told[0] == told[1]
