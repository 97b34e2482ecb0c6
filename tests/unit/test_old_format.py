"""Files in the format before PyTorch 1.6 that are cut off, damaged or made to harm."""
import io
import pickle
import random
import warnings

import pytest

import tinytorch as torch
from tinytorch.checkpoint import old_format as _old_format

REFUSALS = RuntimeError, pickle.UnpicklingError, EOFError, NotImplementedError


def saved(obj):
    file = io.BytesIO()
    torch.save(obj, file, _use_new_zipfile_serialization=False)
    return file.getvalue()


def load(content, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")        # of other protocols
        return torch.load(io.BytesIO(content), **how)


GOOD = saved({"w": torch.arange(4.0), "b": torch.ones(2, dtype=torch.int16), "c": torch.nn.Parameter(torch.ones(1))})


def test_cut_off():
    assert load(GOOD)["w"].tolist() == [0, 1, 2, 3]
    for size in range(len(GOOD)):
        with pytest.raises(REFUSALS):
            load(GOOD[:size])


def test_damaged():
    drawn, refused = random.Random(0), 0
    for _ in range(1500):
        content = bytearray(GOOD)
        for _ in range(drawn.choice((1, 1, 1, 3))):
            content[drawn.randrange(len(content))] = drawn.choice((0, 1, 255, drawn.randrange(256)))
        try:
            load(bytes(content))
        except REFUSALS:
            refused += 1
    assert refused > 300


def pickles(*parts):
    return b"".join([pickle.dumps(part, protocol=2) for part in parts])


def after(content, keys, *storages):
    """A file of which the object is the pickle `content`."""
    head = pickles(_old_format._MAGIC, _old_format._VERSION, {})
    return head + b"\x80\x02" + content + b"." + pickles(keys) + b"".join(storages)


def persistent(*parts):
    texts = []
    for part in parts:
        if isinstance(part, bytes):
            texts.append(part)
        else:
            texts.append(pickle.dumps(part, protocol=2)[2:-1])
    return b"(" + b"".join(texts) + b"tQ"


FLOATS = b"ctorch\nFloatStorage\n"
TWO = (2).to_bytes(8, "little") + bytes(8)


def test_storages():
    storage = persistent("storage", FLOATS, "0", "cpu", 2, None)
    assert load(after(storage, ["0"], TWO)).tolist() == [0, 0]
    half = persistent("storage", FLOATS, "0", "cpu", 2, ("1", 1, 1))
    assert load(after(half, ["0"], TWO)).tolist() == [0]
    for content, message in [
            (after(storage, ["1"], TWO), "storage key '1' not found"),
            (after(storage, [], TWO), "does not hold the elements"),
            (after(storage, ["0"], TWO[:-1]), "not saved or copied completely"),
            (after(storage, ["0"], (3).to_bytes(8, "little") + bytes(12)), "expected 8 got 12"),
            (after(persistent("storage", FLOATS, "0", "cpu", 2 ** 40, None), ["0"], TWO), "not all in it"),
            (after(persistent("storage", FLOATS, "0", "cuda:0", 2, None), ["0"], TWO), "CUDA device"),
            (after(persistent("storage", FLOATS, "0", "cpu", 2, ("1", 1, 2)), ["0"], TWO), "does not lie within"),
            (after(persistent("storage", FLOATS, "0", "cpu", 2, ("1", -1, 2)), ["0"], TWO), "does not lie within"),
            (pickles(1), "Invalid magic number"),
            (pickles(_old_format._MAGIC, 3), "Invalid protocol version: 3")]:
        with pytest.raises(RuntimeError, match=message):
            load(content)
    for content in (after(storage, 3), after(persistent("module", FLOATS, None, None), []),
                    after(persistent("storage", FLOATS, "0", "cpu", -1, None), ["0"]),
                    after(persistent("storage", FLOATS, "0", "cpu", 2, 3), ["0"], TWO)):
        with pytest.raises(pickle.UnpicklingError):
            load(content)


def test_code_is_refused():
    with pytest.raises(pickle.UnpicklingError, match="posix|os"):
        load(after(b"cos\nsystem\n(U\4truetR", []))


def test_sparse_tensors():
    file = saved(torch.eye(2).to_sparse())
    for weights_only in (True, False):
        with pytest.raises(NotImplementedError, match="sparse tensor in the format before PyTorch 1.6"):
            load(file, weights_only=weights_only)


def test_classes_of_modules():
    net = persistent("module", b"ctorch.nn\nLinear\n", "linear.py", "class Linear")
    assert load(after(net, []), weights_only=False) is torch.nn.Linear
