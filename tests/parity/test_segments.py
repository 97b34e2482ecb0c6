"""segment_reduce, hash_tensor, _chunk_cat and indices beside masks: what torch's tables do not hold."""
import pytest

from .adapter import same_outcome


@pytest.mark.parametrize("reduce, given", [
    ("sum", {"lengths": [1, 2, 3]}), ("sum", {"offsets": [0, 1, 3, 5]}), ("mean", {"lengths": [0, 6]}),
    ("max", {"lengths": [0, 6]}), ("prod", {"lengths": [0, 6], "initial": 2.0}), ("sum", {"lengths": [1, 2, 2]}),
    ("sum", {"lengths": [1, 2, 2], "unsafe": True}), ("amax", {"lengths": [1, 2, 3]}), ("sum", {}),
    ("sum", {"indices": [1, 2, 3]}), ("sum", {"lengths": [1, -1, 6]}), ("sum", {"lengths": [1, 2, 3], "axis": 1}),
    ("sum", {"lengths": [[1, 2, 3]]}), ("sum", {"lengths": [1, 2, 3], "offsets": [0, 2, 6]})])
def test_segment_reduce(reduce, given):
    def program(t):
        x = t.tensor([0., 1., 2., 2., 0., 5.], requires_grad=True)
        y = t.segment_reduce(x, reduce, **{name: t.tensor(v) if isinstance(v, list) else v
                                           for name, v in given.items()})
        return y, y.grad_fn.name(), t.autograd.grad((y * y).sum(), x)
    same_outcome(program)


@pytest.mark.parametrize("reduce", ["min", "max", "prod", "mean"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_nans_zeros_and_equals_in_two_dimensions(reduce, dtype):
    def program(t):
        x = t.tensor([[3., 1., 1., 0.], [float("nan"), 2., 2.5, 0.]]).to(getattr(t, dtype)).requires_grad_()
        y = t.segment_reduce(x, reduce, lengths=t.tensor([[3, 1], [2, 2]]), axis=1)
        z = t.segment_reduce(x, reduce, lengths=t.tensor([2, 0]), initial=1)
        return y, z, t.autograd.grad(y, x, t.tensor([[1., -1.], [2., 3.]]).to(y.dtype)), t.autograd.grad(
            z, x, -t.ones_like(z))
    same_outcome(program)


@pytest.mark.parametrize("call", [
    lambda t: t.hash_tensor(t.tensor([1.5, -2.]).half()), lambda t: t.hash_tensor(t.tensor([-3], dtype=t.int8)),
    lambda t: t.hash_tensor(t.ones(2, 3), 1, keepdim=True), lambda t: t.ones(2).hash_tensor(),
    lambda t: t.hash_tensor(t.ones(0)), lambda t: t.hash_tensor(t.ones(2, 0), 1), lambda t: t.hash_tensor(
        t.ones(2), mode=1), lambda t: t.hash_tensor(t.ones(2).cfloat()), lambda t: t.hash_tensor(t.ones(2), 2),
    lambda t: t.hash_tensor(t.ones(2, 2), (0, 0)), lambda t: t.hash_tensor(t.ones(2), out=t.empty(0)),
    lambda t: t.hash_tensor(t.ones(2).to(t.uint16)),
    lambda t: t._chunk_cat([t.ones(1, 2), t.ones(5, 2, 2)], 0, 4), lambda t: t._chunk_cat([t.ones(2, 3)], 1, 7),
    lambda t: t._chunk_cat([t.ones(2, 3)], 0, 0), lambda t: t._chunk_cat([t.ones(2, 3)], -3, 2),
    lambda t: t._chunk_cat([t.ones(2, 3), t.ones(2, 4).long()], 1, 2), lambda t: t._chunk_cat([t.ones(2, 0)], 0, 2),
    lambda t: t._chunk_cat(t.ones(2, 3), 0, 2)])
def test_calls(call):
    same_outcome(call)


def test_indices_out_of_range():
    def program(t):
        x, values = t.arange(6.).requires_grad_(), t.ones(3, requires_grad=True)
        mask, at = t.tensor([True, False, True]), [t.tensor([9, -1, -9])]
        y = t._unsafe_masked_index(x, mask, at, 7.)
        z = t._unsafe_masked_index_put_accumulate(x, mask, at, values)
        return (y, y.grad_fn.name(), z, z.grad_fn.name(), t.autograd.grad((y * y).sum(), x),
                t.autograd.grad((z * z).sum(), (x, values)),
                t._unsafe_masked_index(x.detach()[:0], mask, at, 7.),
                t._unsafe_masked_index(x.detach().long(), mask, at, 7.5))
    same_outcome(program)
