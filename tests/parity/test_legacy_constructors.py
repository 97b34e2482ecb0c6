"""Old constructors against torch: what they take for a size, for data, for memory to share, for a tensor to view."""
import copy
import warnings

import numpy as np
import pytest
import torch

import tinytorch

VALUES = [np.int64(2), np.int32(2), np.uint8(3), np.int64(-1), np.array(2), np.array([2]), np.array(2.0), np.float32(2),
          np.bool_(True), True, 2, 2.0, None, "ab", (2, 3), [2, 3], range(2), 1j]
MAKERS = {"FloatTensor": lambda t: t.FloatTensor, "LongTensor": lambda t: t.LongTensor, "Tensor": lambda t: t.Tensor,
          "new": lambda t: t.ones(1).new, "new of long": lambda t: t.ones(1).long().new}


def told(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(f()).replace("tinytorch", "torch")
        except Exception as error:
            return type(error).__name__, str(error).replace("torch.storage.", "").split(" but expected one of")[0]


def same(f):
    ours = told(lambda: f(tinytorch))
    assert ours == told(lambda: f(torch))
    return ours


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_sizes_and_data(maker, value):
    def made(t):
        y = MAKERS[maker](t)(value)
        return tuple(y.shape), y.dtype, y.tolist() if y.numel() and y.shape[0] not in (2, 3) else None
    same(made)


def test_sizes():
    for f in (lambda t: t.FloatTensor(np.int64(2), np.int32(3)).shape, lambda t: t.ones(1).new(size=(2, 3)).shape,
              lambda t: t.Tensor(t.Size([2, 3])).shape, lambda t: t.FloatTensor(t.tensor(2), 3).shape,
              lambda t: t.tensor(1.0).size(0), lambda t: t.tensor(1.0).size(1), lambda t: t.tensor(1.0).size(-1)):
        same(f)


STORAGES = {
    "Tensor": lambda t, s, u: t.Tensor(s), "untyped": lambda t, s, u: t.Tensor(u),
    "FloatTensor": lambda t, s, u: t.FloatTensor(s), "FloatTensor of bytes": lambda t, s, u: t.FloatTensor(u),
    "DoubleTensor of bytes": lambda t, s, u: t.DoubleTensor(u), "ByteTensor": lambda t, s, u: t.ByteTensor(u),
    "DoubleTensor": lambda t, s, u: t.DoubleTensor(s), "new": lambda t, s, u: t.ones(1).new(s),
    "new of bytes": lambda t, s, u: t.ones(1).long().new(u), "another new": lambda t, s, u: t.ones(1).long().new(s),
    "tensor": lambda t, s, u: t.tensor(s), "tensor of bytes": lambda t, s, u: t.tensor(u, dtype=t.float32),
    "tensor of bytes alone": lambda t, s, u: t.tensor(u), "another dtype": lambda t, s, u: t.tensor(s, dtype=t.float64),
    "as_tensor": lambda t, s, u: t.as_tensor(s), "asarray": lambda t, s, u: t.asarray(s),
    "new_tensor": lambda t, s, u: t.ones(1).new_tensor(s), "two": lambda t, s, u: t.Tensor(s, 2),
}


@pytest.mark.parametrize("name", STORAGES)
def test_the_memory_of_a_storage_is_shared(name):
    def made(t):
        a = t.arange(6.0)
        y = STORAGES[name](t, a.storage(), a.untyped_storage())
        y.view(-1)[0] = 77
        return y.dtype, tuple(y.shape), y.data_ptr() == a.data_ptr(), a.tolist()
    same(made)


def test_what_is_given_a_tensor_is_a_view_of_it():
    def of(make):
        def made(t):
            class Special(t.Tensor):
                pass
            x = t.ones(3, requires_grad=True)
            y = make(t, Special, x * 3)
            y.sum().backward()
            z = make(t, Special, base := t.zeros(2))
            z.add_(1)
            seen = type(y.grad_fn).__name__, type(y).__name__, x.grad
            return y.requires_grad, seen, base, base._version, z._is_view()
        return made
    for make in (lambda t, kind, x: t.Tensor(x), lambda t, kind, x: t.FloatTensor(x), lambda t, kind, x: x.new(x),
                 lambda t, kind, x: kind(x), lambda t, kind, x: t.Tensor.__new__(kind, x)):
        assert "AliasBackward0" in same(of(make))
    same(lambda t: t.Tensor(t.ones(2, requires_grad=True)).add_(1))
    same(lambda t: t.LongTensor(t.ones(2)))


def test_deep_copies_share_memory_as_what_was_copied():
    def copied(t, make):
        x = t.arange(3.0)
        parts = copy.deepcopy(make(x))
        x = next(p for p in parts if isinstance(p, t.Tensor))
        x[0] = 7
        return [p.tolist() for p in parts]
    for make in (lambda x: [x, x.storage()], lambda x: [x.untyped_storage(), x], lambda x: [x, x[1:], x.storage()],
                 lambda x: [x.storage(), x.view(3, 1), x]):
        same(lambda t, make=make: copied(t, make))


@pytest.mark.parametrize("name", ["FloatTensor", "HalfTensor", "LongTensor", "BoolTensor", "BFloat16Tensor"])
def test_types_of_cuda(name):
    same(lambda t: (getattr(t.cuda, name), getattr(t.cuda, name).dtype, isinstance(t.ones(1), getattr(t.cuda, name))))
    same(lambda t: getattr(t.cuda, name)(2))
    same(lambda t: t.set_default_tensor_type("torch.cuda." + name))
    same(lambda t: t.set_default_tensor_type(getattr(t.cuda, name)))
    for kind in (getattr(tinytorch.cuda, name), "torch.cuda." + name):
        with pytest.raises(RuntimeError, match="Cannot initialize CUDA without ATen_cuda library"):
            tinytorch.ones(1).type(kind)


def test_types():
    for name in ("torch.Tensor", "torch.FloatTensor", "torch.Wrong"):
        same(lambda t: t.ones(1).double().type(name).dtype)
    for name in ("torch.Tensor", "FloatTensor", "torch.sparse.FloatTensor", "torch.LongTensor"):
        same(lambda t: t.set_default_tensor_type(name))
    same(lambda t: t.ones(1).double().type(t.Tensor).dtype)
    same(lambda t: t.set_default_tensor_type(t.nn.Parameter))
    same(lambda t: t.set_default_tensor_type(t.Tensor))
