"""Deeply nested sequences against torch: the same values or the same error. (Of lists that hold each other torch
overflows the stack: those are in tests/unit/test_nested.py.)"""
import warnings

import pytest
import torch

import tinytorch

from ..unit.test_nested import Mirror, further_on, in_itself, nested


def outcome(expression, t):
    names = dict(t=t, nested=nested, l=in_itself(), m=further_on(), Mirror=Mirror, one=t.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(expression, names)
        except Exception as error:
            return type(error).__name__, str(error).split("\nException raised from")[0]
    return tuple(result.shape), str(result.dtype).split(".")[1], result.tolist()


@pytest.mark.parametrize("expression", """
t.tensor(l); t.tensor(m); t.tensor((l,)); t.as_tensor(l); t.asarray(l); one.new_tensor(l); t.Tensor(l); t.FloatTensor(l)
one.new(l); t.tensor(l, dtype=t.float32); t.tensor(Mirror()); t.tensor([Mirror()]); t.tensor(nested(63))
t.tensor(nested(64)); t.tensor(nested(129)); t.tensor(nested(500)); t.tensor(nested(5000))
t.tensor(nested(3, t.ones(())))
t.tensor(nested(3, [])); t.tensor(nested(2, 'a')); t.scalar_tensor(l); t.scalar_tensor('a'); t.full((2,), l); one[(l,)]
one[l]; one.__setitem__(0, l); one.__setitem__(0, [1.]); one.__setitem__(l, 1.); one + l; t.zeros(l); t.cat(l)
t.stack(l)
t.tensor([[1, 2], [3]]); t.tensor([1, [2]]); t.tensor([[1], 2])
""".strip().replace("\n", "; ").split("; "))
def test_nested(expression):
    assert outcome(expression, tinytorch) == outcome(expression, torch)
