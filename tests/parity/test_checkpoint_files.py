"""Checkpoints in both of torch's formats, mapped, with storages and others: written by one, read by the other."""
import io
import warnings

import pytest
import torch

import tinytorch

from .adapter import same_outcome

WAYS = [(torch, tinytorch), (tinytorch, torch), (tinytorch, tinytorch)]


def _noted(tensor):
    tensor.note = "kept"
    return tensor


def _objects(t):
    base = t.arange(12.0).reshape(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        typed = base.storage()
    return {
        "dtypes": [base.to(getattr(t, name)) for name in
                   "float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128".split()],
        "views": [base, base[1], base.t(), base[:, ::2], t.zeros(0, 3)],
        "attributes": _noted(t.ones(2)),
        "parameters": [t.nn.Parameter(base, False), _noted(t.nn.Parameter(base))],
        "storage": [base, typed],
        "named tuple": base.max(0),
        "optimizer": t.optim.Adam([t.nn.Parameter(base)]).state_dict(),
    }


def _new_objects(t):
    """What only the newer format holds."""
    base = t.arange(4.0)
    return {"dtypes": [base.to(getattr(t, name)) for name in
                       "uint16 uint32 uint64 complex32 float8_e4m3fn float8_e5m2 float8_e4m3fnuz".split()],
            "bytes": base.untyped_storage(), "empty": t.zeros(0).untyped_storage(), "sparse": base.to_sparse()}


def _shown(obj):
    if isinstance(obj, (torch.Tensor, tinytorch.Tensor)):
        dense = obj.to_dense() if obj.layout not in (torch.strided, tinytorch.strided) else obj
        wide = dense.to({torch: torch, tinytorch: tinytorch}[_library(obj)].complex128)
        return (str(obj.dtype), str(obj.layout), wide.tolist(), tuple(dense.stride()), obj.requires_grad,
                getattr(obj, "note", None))
    if isinstance(obj, dict):
        return {key: _shown(value) for key, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        return type(obj).__name__, [_shown(x) for x in obj]
    return (str(obj.dtype), list(obj)) if hasattr(obj, "data_ptr") else repr(obj)


def _library(obj):
    return tinytorch if isinstance(obj, tinytorch.Tensor) else torch


def _through(writer, reader, obj, zipped, weights_only):
    file = io.BytesIO()
    writer.save(obj, file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    return reader.load(file, weights_only=weights_only)


CASES = [(_objects, zipped, name) for zipped in (True, False) for name in _objects(tinytorch)]
CASES += [(_new_objects, True, name) for name in _new_objects(tinytorch)]


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("objects, zipped, name", CASES)
@pytest.mark.parametrize("writer, reader", WAYS, ids=["read", "write", "both"])
def test_objects(writer, reader, objects, zipped, name):
    for weights_only in [True, False] if name != "named tuple" else [False]:
        expected = _through(torch, torch, objects(torch)[name], zipped, weights_only)
        assert _shown(_through(writer, reader, objects(writer)[name], zipped, weights_only)) == _shown(expected)


@pytest.mark.parametrize("writer, reader", WAYS, ids=["read", "write", "both"])
@pytest.mark.parametrize("zipped", [True, False])
def test_whole_objects(writer, reader, zipped):
    """Objects of torch's own classes, whole."""
    data = writer.utils.data
    loader = data.DataLoader(data.TensorDataset(writer.arange(6.0)), batch_size=4, shuffle=False)
    net = writer.nn.Sequential(writer.nn.LSTM(3, 2), writer.nn.LazyLinear(3), writer.nn.BatchNorm1d(2))
    found = _through(writer, reader, [net, loader, writer.relu], zipped, False)
    assert [x.tolist() for (x,) in found[1]] == [[0, 1, 2, 3], [4, 5]]
    assert found[2](reader.tensor(-1.0)).item() == 0 and repr(found[0]) == repr(net)
    assert [p.tolist() for p in found[0][0].parameters()] == [p.tolist() for p in net[0].parameters()]
    assert found[0][1](reader.ones(2, 5)).shape == (2, 3) and found[0][0](reader.ones(1, 3))[0].shape == (1, 2)


@pytest.mark.parametrize("zipped", [True, False])
def test_compact_files(zipped):
    """What tinytorch writes of views alone: torch reads the same, with the same memory in common."""
    big = tinytorch.arange(1000.0)
    views = [big[3:9], big[7:11].view(2, 2), big.view(10, 100)[:, 50], big[20:40:2].t(), big[5], big[:0]]
    views += [tinytorch.nn.Parameter(big[900:902]), (big[400:402] + 1j * big[500:502]).conj(), big[600].expand(2, 3)]
    file = io.BytesIO()
    tinytorch.save(views, file, _use_new_zipfile_serialization=zipped, compact=True)
    assert file.tell() < 4000
    for reader in (torch, tinytorch):
        file.seek(0)
        found = reader.load(file)
        assert [x.tolist() for x in found] == [x.tolist() for x in views] and found[6].requires_grad
        found[0][4] = -1
        assert found[1][0, 0] == -1 and found[0].untyped_storage().nbytes() < 4000


@pytest.mark.parametrize("writer", [torch, tinytorch])
def test_mapped(writer, tmp_path):
    path = tmp_path / "model.pt"
    writer.save({"w": writer.arange(1000.0), "b": writer.ones(3).bfloat16()}, path)
    before = path.read_bytes()

    def program(lib):
        found = lib.load(path, mmap=True)
        found["w"] += 1
        return found, found["w"].data_ptr() % 64
    same_outcome(program)
    assert path.read_bytes() == before
    root = tinytorch.load(str(path), mmap=True)["w"]._array
    while getattr(root, "base", None) is not None:
        root = root.base
    assert type(root).__name__ == "mmap"


def _files(lib, zipped=True):
    file = io.BytesIO()
    lib.save([lib.ones(2), lib.zeros(3)], file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    return file


def _one_more(lib, storage):
    wide = lib.UntypedStorage(storage.nbytes())
    lib.tensor([], dtype=lib.uint8).set_(wide).fill_(0)
    return wide


PROGRAMS = {
    "function": lambda lib, asked=None: lib.load(_files(lib), lambda s, place: s),
    "function of none": lambda lib: lib.load(_files(lib), lambda s, place: None),
    "other memory": lambda lib: lib.load(_files(lib), lambda s, place: _one_more(lib, s)),
    "function's place": lambda lib: [lib.load(_files(lib), lambda s, p: asked.append((p, s.nbytes())) or s) and asked
                                     for asked in [[]]],
    "function, old": lambda lib: lib.load(_files(lib, False), lambda s, place: s),
    "dict": lambda lib: lib.load(_files(lib), {"cpu": "cpu"}),
    "text": lambda lib: lib.load(_files(lib, False), "cpu"),
    "device": lambda lib: lib.load(_files(lib), lib.device("cpu")),
    "mapped file object": lambda lib: lib.load(_files(lib), mmap=True),
    "garbage": lambda lib: lib.load(io.BytesIO(b"hello"), weights_only=False),
    "wrong number": lambda lib: lib.load(io.BytesIO(b"\x80\x02K\x01."), weights_only=False),
}


def two_in_a_file(lib):
    """The older format may be written and read one after the other."""
    file = io.BytesIO()
    for n in range(2):
        lib.save(lib.arange(n + 2), file, _use_new_zipfile_serialization=False)
    file.seek(0)
    return lib.load(file), lib.load(file), file.tell() == len(file.getvalue())


@pytest.mark.parametrize("program", [*PROGRAMS.values(), two_in_a_file], ids=[*PROGRAMS, "two in a file"])
def test_programs(program):
    same_outcome(program, lambda text: text.partition(" (in the file)")[0].rstrip("."))


@pytest.mark.parametrize("lib", [torch, tinytorch])
def test_mapping_the_older_format(lib, tmp_path):
    path = str(tmp_path / "model.pt")
    lib.save(lib.ones(2), path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with `torch.save.*in order to use"):
        lib.load(path, mmap=True)
