"""Counts and numbers of places are int64 on every machine, and numbers of 32 bits stay what they are: NumPy counts in
numbers as long as an address, which on some machines are those of torch.int32."""
import copy
import io
import pickle

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import dtypes as dt
from tinytorch.nn import functional as F
from tinytorch.nn.utils import rnn

X = torch.tensor([[3., 1., 2., 1.], [0., 5., 4., 2.]])
WHOLE = torch.tensor([[3, 1, 2], [1, 0, 2]], dtype=torch.int32)
IMAGE = torch.arange(36.).reshape(1, 1, 6, 6)
COUNTS = torch.tensor([1, 2, 3])

#: Whose results are all counts or places.
PLACES = {
    "argmax": lambda x: x.argmax(1), "argmin": lambda x: x.argmin(), "argsort": lambda x: x.argsort(1),
    **{name: lambda x, name=name: getattr(x, name)(1)[1]
       for name in ("max", "min", "sort", "median", "nanmedian", "mode", "cummax", "cummin")},
    "topk": lambda x: x.topk(2)[1], "kthvalue": lambda x: x.kthvalue(2)[1],
    "nonzero": lambda x: x.nonzero(), "nonzero as a tuple": lambda x: x.nonzero(as_tuple=True),
    "argwhere": torch.argwhere, "where": lambda x: torch.where(x > 1),
    "unique": lambda x: torch.unique(x, return_inverse=True, return_counts=True)[1:],
    "unique_consecutive": lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True)[1:],
    "count_nonzero": lambda x: torch.count_nonzero(x, 1), "sum of truth values": lambda x: (x > 1).sum(1),
    "cumsum of truth values": lambda x: (x > 1).cumsum(1),
    "searchsorted": lambda x: torch.searchsorted(x[:1, :1], x[:1]),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([1, 2])),
}
#: The same that are made of other things.
OTHERS = {
    "arange": lambda: torch.arange(5), "tensor": lambda: torch.tensor([1, 2]), "full": lambda: torch.full((2,), 3),
    "randperm": lambda: torch.randperm(5), "randint": lambda: torch.randint(5, (3,)),
    "multinomial": lambda: torch.multinomial(torch.ones(3), 2), "bincount": lambda: torch.bincount(COUNTS),
    "tril_indices": lambda: torch.tril_indices(3, 3), "one_hot": lambda: F.one_hot(X.argmax(1)),
    "repeat_interleave": lambda: torch.repeat_interleave(COUNTS),
    "adaptive_max_pool2d": lambda: F.adaptive_max_pool2d(IMAGE, 2, return_indices=True)[1],
    "max_pool2d": lambda: F.max_pool2d(IMAGE, 2, return_indices=True)[1],
    "pack_sequence": lambda: rnn.pack_sequence([torch.ones(3, 2), torch.ones(2, 2)]).batch_sizes,
    "indices of a sparse tensor": lambda: X.to_sparse().indices(),
    "sum": lambda: WHOLE.sum(), "cumsum": lambda: WHOLE.cumsum(0), "prod": lambda: WHOLE.prod(1),
}


def checked(found):
    for x in found if isinstance(found, tuple) else (found,):
        assert x.dtype is torch.int64 and x._array.dtype == np.int64


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_places(place):
    for x in (X, X.double(), WHOLE, WHOLE.long(), WHOLE.to(torch.int16)):
        checked(place(x))


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_others(make):
    checked(make())


def test_counts_of_64_bits_are_taken():
    assert torch.repeat_interleave(X[0, :3], COUNTS).tolist() == [3, 1, 1, 2, 2, 2]
    assert F.embedding_bag(COUNTS, torch.eye(4), torch.tensor([0, 2]), mode="mean").shape == (2, 4)
    for sparse in (X.to_sparse(), X[:, :2].to_sparse() @ X[:2].to_sparse()):
        assert torch.sparse.mm(sparse, torch.ones(4, 3)).shape == (2, 3)
    padded, _ = rnn.pad_packed_sequence(rnn.pack_sequence([torch.ones(3, 2), torch.ones(2, 2)]))
    assert padded.sum() == 10
    large = torch.full((4,), 2 ** 31 - 1, dtype=torch.int32)
    assert large.sum() == large.cumsum(0)[-1] == 4 * (2 ** 31 - 1)


def test_numbers_of_32_bits_stay():
    stream = io.BytesIO()
    torch.save(WHOLE, stream)
    stream.seek(0)
    array = np.array([3, 1, 2], np.int32)
    shared = torch.from_numpy(array)
    shared[0] = 9
    assert array[0] == 9
    kept = [WHOLE, shared, torch.tensor(array), torch.tensor([1], dtype=torch.int32), torch.load(stream),
            WHOLE.max(1)[0], pickle.loads(pickle.dumps(WHOLE)), copy.deepcopy(WHOLE), X.int(), X.view(torch.int32),
            WHOLE.sort(1)[0],
            torch.searchsorted(COUNTS, COUNTS, out_int32=True), torch.linalg.lu_factor(X[:, :2])[1], torch.frexp(X)[1],
            torch.cat([WHOLE, WHOLE]), WHOLE[:, COUNTS - 1], WHOLE.gather(1, WHOLE.argsort(1))]
    for x in kept:
        for y in (x, x + 1, x * x, x // 2, -x, x.clone(), x.flip(0), torch.maximum(x, x), torch.where(x > 1, x, x)):
            assert y.dtype is torch.int32 and y._array.dtype == np.int32


def test_the_rule_where_an_address_has_32_bits(monkeypatch):
    """Which is what NumPy's long is there, and its int is what torch.int32 is."""
    monkeypatch.setattr(dt, "NARROW", True)
    monkeypatch.setattr(dt, "_COUNT", np.dtype(np.int32).num)
    places = np.arange(3, dtype=np.int32)
    assert dt.counted(places).dtype == np.int64 and dt.counted(places).tolist() == [0, 1, 2]
    other = np.arange(3, dtype=np.int16)
    assert dt.counted(other) is other and dt.given(other) is other
    assert np.shares_memory(dt.given(places), places) and dt.given(places).dtype == np.int32
