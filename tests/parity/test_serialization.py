"""Files written by torch read here, and the reverse."""
import copy
import io
import pickle

import pytest
import torch

import tinytorch

from .adapter import same_outcome

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32",
          "uint64", "bool", "complex64", "complex128"]


def objects(t):
    base = t.arange(12.0).reshape(3, 4)
    return {
        "tensors": [t.tensor([[0, 1], [1, 0]]).to(getattr(t, name)) for name in DTYPES],
        "views": [base, base[1], base.t(), base[:, ::2], t.ones(1).expand(3)],
        "leaves": [t.ones(2, requires_grad=True), t.nn.Parameter(t.ones(2)), t.nn.Parameter(t.ones(2), False)],
        "odd": [t.tensor(3), t.zeros(0, 3), t.Size([1, 2]), t.float16, t.device("cpu")],
        "plain": [1, 2.5, None, True, "x", b"\x00\xff", 1j, {1, 2}, (1, (2,)), 10 ** 30],
    }


def save(t, obj):
    file = io.BytesIO()
    t.save(obj, file)
    return io.BytesIO(file.getvalue())


def check(a, b):
    """Objects of the two packages are alike."""
    assert type(a).__name__ == type(b).__name__
    if hasattr(a, "stride"):
        assert repr(a.dtype) == repr(b.dtype) and a.tolist() == b.tolist() and tuple(a.shape) == tuple(b.shape)
        assert a.requires_grad == b.requires_grad and a.is_leaf == b.is_leaf
        assert a.numel() == 0 or a.stride() == b.stride() and a.storage_offset() == b.storage_offset()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            check(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            check(x, y)
    else:
        assert repr(a) == repr(b)


@pytest.mark.parametrize("writer, reader", [(torch, tinytorch), (tinytorch, torch), (tinytorch, tinytorch)],
                         ids=["read", "write", "both"])
@pytest.mark.parametrize("name", objects(torch))
def test_both_ways(writer, reader, name):
    check(objects(torch)[name], reader.load(save(writer, objects(writer)[name])))


@pytest.mark.parametrize("writer, reader", [(torch, tinytorch), (tinytorch, torch)], ids=["read", "write"])
def test_views_still_share(writer, reader):
    whole, row, turned, *_ = reader.load(save(writer, objects(writer)["views"]))
    whole[1, 0] = 100
    assert row[0].item() == 100 and turned[0, 1].item() == 100


def trained(t):
    """A model and its optimizer after one step."""
    model = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4), t.nn.ReLU(), t.nn.Linear(4, 1))
    optimizer = t.optim.Adam(model.parameters(), lr=0.01)
    model(t.arange(12.0).reshape(4, 3)).sum().backward()
    optimizer.step()
    return model, optimizer


@pytest.mark.parametrize("writer, reader", [(torch, tinytorch), (tinytorch, torch)], ids=["read", "write"])
def test_checkpoints(writer, reader, tmp_path):
    model, optimizer = trained(writer)
    path = tmp_path / "checkpoint.pt"
    writer.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path)
    found = reader.load(path, map_location="cpu")
    other, other_optimizer = trained(reader)
    other.load_state_dict(found["model"])
    other_optimizer.load_state_dict(found["optimizer"])
    check(dict(model.state_dict()), dict(other.state_dict()))
    check(optimizer.state_dict()["state"], other_optimizer.state_dict()["state"])


class Config:
    def __init__(self):
        self.size = 3


def test_same_refusals():
    for t in (torch, tinytorch):
        with pytest.raises(Exception, match="Unsupported global: GLOBAL .*Config was not an allowed global") as caught:
            t.load(save(t, Config()))
        assert type(caught.value).__name__ == "UnpicklingError"
        with t.serialization.safe_globals([Config]):
            assert t.load(save(t, Config())).size == 3
        assert t.load(save(t, Config()), weights_only=False).size == 3


@pytest.mark.parametrize("writer, reader", [(torch, tinytorch), (tinytorch, torch)], ids=["read", "write"])
def test_whole_module(writer, reader):
    module = reader.load(save(writer, writer.nn.Linear(2, 3)), weights_only=False)
    assert isinstance(module, reader.nn.Linear) and tuple(module(reader.ones(1, 2)).shape) == (1, 3)


def copied_together(t):
    x = t.arange(6.0).reshape(2, 3)
    x.note = [1]
    whole, row, turned = copy.deepcopy([x, x[1], x.t()[1:]])
    row.fill_(9)
    return whole, row.stride(), row.storage_offset(), whole.note, whole.note is x.note, row._is_view(), turned


def copied_view_of_copy(t):
    part = copy.deepcopy(t.arange(6.0)[::2])
    return part, part.stride(), pickle.loads(pickle.dumps(part))


def pickled_note(t):
    x = t.ones(2, requires_grad=True)
    x.note = [1]
    x.grad = t.ones(2)
    y = pickle.loads(pickle.dumps(x))
    return y, y.note, y.grad


@pytest.mark.parametrize("program", [copied_together, copied_view_of_copy, pickled_note])
def test_copies(program):
    same_outcome(program)


@pytest.mark.parametrize("content", [None, b"", "cut off"])
def test_unreadable_file(content, tmp_path):
    path = tmp_path / "model.pt"
    torch.save(torch.arange(1000), path)
    whole = path.read_bytes()
    path.unlink() if content is None else path.write_bytes(whole[:1000] if content == "cut off" else content)
    errors = []
    for t in (torch, tinytorch):
        with pytest.raises(Exception) as caught:
            t.load(path)
        errors.append((caught.type, str(caught.value).split(".")[0]))
    assert errors[0] == errors[1]


def test_damaged_file(tmp_path):
    path = tmp_path / "model.pt"
    tinytorch.save(tinytorch.arange(1000), path)
    path.write_bytes(path.read_bytes().replace(bytes([100, 0, 0, 0, 0, 0, 0, 0]), bytes(8)))
    with pytest.raises(RuntimeError, match="PytorchStreamReader failed reading the file: Bad CRC-32"):
        tinytorch.load(path)


def test_load_nothing():
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'seek'. You can only torch.load from"):
        tinytorch.load(None)
