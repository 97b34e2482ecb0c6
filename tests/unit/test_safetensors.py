"""torch.load of safetensors files: those that are right, and those that are not."""
import json
from types import SimpleNamespace

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.checkpoint import safetensors


def write(path, header, content=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_tensors(path):
    numbers = np.arange(6, dtype="<f4")
    header = {"__metadata__": {"format": "pt"},
              "b": {"dtype": "I64", "shape": [], "data_offsets": [24, 32]},
              "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
              "h": {"dtype": "BF16", "shape": [1], "data_offsets": [32, 34]},
              "e": {"dtype": "BOOL", "shape": [0, 4], "data_offsets": [34, 34]}}
    content = numbers.tobytes() + (7).to_bytes(8, "little") + b"\x80\x3f"
    for spaces in range(8):                    # wherever the tensors then begin
        found = torch.load(write(path, json.dumps(header).encode() + b" " * spaces, content))
        assert list(found) == ["a", "b", "h", "e"] and found["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
        assert found["b"].item() == 7 and found["b"].dtype is torch.int64 and found["e"].shape == (0, 4)
        assert found["h"].item() == 1 and found["h"].dtype is torch.bfloat16
    before = path.read_bytes()
    found["a"] += 1
    assert found["a"].sum() == 21 and path.read_bytes() == before


def test_on_a_machine_of_the_other_byte_order(path, monkeypatch):
    """The bytes of each number are swapped, once, however a number is made of them, and the file stays as it is."""
    monkeypatch.setattr(safetensors, "sys", SimpleNamespace(byteorder="big"))
    parts = {"F32": np.arange(6, dtype=np.float32), "I64": np.array([7, -2 ** 40]), "BOOL": np.array([True, False]),
             "C64": np.array([1 + 2j], np.complex64), "F16": np.array([0.5, -3], np.float16),
             "BF16": torch.ones(2).bfloat16()._array}
    header, content = {}, b""
    for kind, array in parts.items():
        swapped = array.byteswap().tobytes()
        offsets = [len(content), len(content) + len(swapped)]
        header[kind] = {"dtype": kind, "shape": [len(array)], "data_offsets": offsets}
        content += swapped
    found = torch.load(write(path, header, content))
    for kind, array in parts.items():
        assert found[kind]._array.dtype == array.dtype and found[kind]._array.tobytes() == array.tobytes(), kind
    before = path.read_bytes()
    found["F32"] += 1
    assert path.read_bytes() == before


ONE = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize("header", [
    b"{", b"[]", b"3", b"[" * 100_000, {"a": 1}, {"a": {**ONE, "shape": [3]}}, {"a": {**ONE, "shape": [-2]}},
    {"a": {**ONE, "shape": ["2"]}}, {"a": {**ONE, "data_offsets": [8, 16]}}, {"a": {**ONE, "data_offsets": [-8, 0]}},
    {"a": {**ONE, "data_offsets": [0]}}, {"a": {**ONE, "shape": 2}}, {"a": {**ONE, "dtype": []}},
    {"a": {**ONE, "shape": [1] * 70 + [2]}}, {"a": {**ONE, "shape": [2 ** 40, 2 ** 40]}},
    {"a": {**ONE, "shape": [0, 2 ** 70], "data_offsets": [0, 0]}}], ids=lambda x: str(x)[:40])
def test_damaged(path, header):
    with pytest.raises(RuntimeError, match=r"model\.safetensors"):
        torch.load(write(path, header, bytes(8)))


def test_refused(path):
    with pytest.raises(NotImplementedError, match="a in .* is of the type F4"):
        torch.load(write(path, {"a": {**ONE, "dtype": "F4"}}, bytes(8)))
    with pytest.raises(RuntimeError, match="not a safetensors file, or is cut off"):
        path.write_bytes((2 ** 63).to_bytes(8, "little"))
        torch.load(path)
    write(path, {"a": ONE}, bytes(8))
    for location, kind in [({"cpu": "cpu"}, "dict"), (lambda s, p: s, "callable")]:
        with pytest.raises(RuntimeError, match=f"with {kind} map_location is not supported"):
            torch.load(path, map_location=location)
    assert torch.load(path, map_location="cpu")["a"].tolist() == [0, 0]
