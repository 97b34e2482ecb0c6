"""torch.save and torch.load: what comes back, what is shared, what is refused."""
import io
import os
import pickle
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

import tinytorch as torch


def through_file(obj, **options):
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return torch.load(file, **options)


class Thing:
    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8",
                                  "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128"])
def test_every_dtype(name):
    x = torch.tensor([[0, 1], [1, 0]]).to(getattr(torch, name))
    y = through_file(x)
    assert y.dtype == x.dtype and y.tolist() == x.tolist()


def test_containers_and_numbers():
    obj = {"a": [1, 2.5, None, True, "x", b"bytes", 1j, {1, 2}], "b": OrderedDict(c=(torch.Size([2]), torch.float16)),
           "device": torch.device("cpu"), "scalar": torch.tensor(3), "empty": torch.zeros(0, 3)}
    back = through_file(obj)
    assert back["a"] == obj["a"] and back["b"] == obj["b"] and back["device"] == obj["device"]
    assert back["scalar"].item() == 3 and back["empty"].shape == (0, 3)


def test_views_keep_sharing_memory():
    x = torch.arange(12.0).reshape(3, 4)
    a, b, c = through_file([x, x[1], x.t()])
    a[1, 0] = 100
    assert b[0].item() == 100 and c[0, 1].item() == 100 and c.stride() == (1, 4)


def test_layouts():
    for x in (torch.ones(1).expand(3), torch.from_numpy(np.asfortranarray(np.arange(6.0).reshape(2, 3))),
              torch.arange(24).reshape(2, 3, 4).permute(2, 0, 1).clone()):
        assert through_file(x).tolist() == x.tolist()


def test_requires_grad_and_parameters():
    x, p = through_file([torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2))])
    assert x.requires_grad and x.is_leaf
    assert type(p) is torch.nn.Parameter and p.requires_grad
    y = torch.ones(2, requires_grad=True) * 2
    assert through_file(y).requires_grad and through_file(y).is_leaf


def test_paths_and_archive_names(tmp_path):
    path = tmp_path / "model.pt"
    torch.save({"w": torch.ones(2)}, path)
    assert torch.load(str(path))["w"].tolist() == [1, 1]
    assert "model/data.pkl" in zipfile.ZipFile(path).namelist()
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        torch.save(1, os.path.join(tmp_path, "none", "x.pt"))


def test_weights_only_refuses_code():
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed(.|\n)*Thing was not an allowed global"):
        through_file(Thing(1))
    assert through_file(Thing(1), weights_only=False).value == 1
    with torch.serialization.safe_globals([Thing]):
        assert through_file(Thing(1)).value == 1
    torch.serialization.add_safe_globals([Thing])
    assert torch.serialization.get_safe_globals() == [Thing] and through_file(Thing(2)).value == 2
    torch.serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        through_file(os.system)
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        through_file(1, pickle_module=pickle, weights_only=True)


def test_map_location():
    for location in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, place: storage):
        assert through_file(torch.ones(1), map_location=location).tolist() == [1]


def test_other_formats_are_refused():
    with pytest.raises(NotImplementedError, match="before PyTorch 0.1.10"):
        torch.load(io.BytesIO(bytes(257) + b"ustar"), weights_only=False)
    with pytest.raises(AttributeError, match="write"):
        torch.save(1, 5)


def test_whole_modules():
    module = through_file(torch.nn.Linear(2, 3), weights_only=False)
    assert isinstance(module, torch.nn.Linear) and module.weight.shape == (3, 2)


def test_plain_pickle():
    x = pickle.loads(pickle.dumps(torch.ones(2, requires_grad=True)))
    assert x.tolist() == [1, 1] and x.requires_grad


def test_names_of_python_2_in_files():
    """Protocol 2 names int, str and range as Python 2 had them."""
    for thing in (range(3), int, str, chr, [int, range(2)]):
        file = io.BytesIO()
        torch.save(thing, file)
        file.seek(0)
        assert torch.load(file, weights_only=False) == thing
