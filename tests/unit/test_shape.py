"""Views, joins and other changes of shape."""
import pytest

import tinytorch as torch


def test_reshape_shares_memory_where_it_can():
    x = torch.zeros(2, 3)
    x.reshape(6)[0] = 1
    assert x[0, 0] == 1
    y = x.t().reshape(6)
    y[1] = 5
    assert not y._is_view() and x.max() == 1


def test_view_refuses_to_copy():
    with pytest.raises(RuntimeError, match="Use .reshape"):
        torch.zeros(2, 3).t().view(6)


def test_clone_of_an_expanded_tensor_is_contiguous():
    assert torch.zeros(4).expand(3, 4).clone().view(12).is_contiguous()


def test_view_as_another_dtype_shares_memory():
    x = torch.zeros(2)
    x.view(torch.int32)[0] = 0x3F800000
    assert x.tolist() == [1, 0]


@pytest.mark.parametrize("inplace, shape", [("unsqueeze_", (0,)), ("t_", ()), ("transpose_", (0, 1))])
def test_metadata_in_place(inplace, shape):
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    assert getattr(y, inplace)(*shape) is y
    assert y.shape == getattr(torch.ones(2, 3), inplace[:-1])(*shape).shape
    y.sum().backward()
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


@pytest.mark.parametrize("take", [lambda x: x.split(1, 1), lambda x: x.chunk(3, 1), lambda x: x.unbind(1),
                                  lambda x: x.split([1, 1, 1], 1), list])
def test_parts_share_one_node(take):
    x = torch.ones(3, 3, requires_grad=True)
    parts = take(x * 1)
    assert len({id(part.grad_fn) for part in parts}) == 1
    (parts[0] * 2 + parts[2] * 3).sum().backward()
    total = x.grad.sum()
    assert total == 15 and x.grad.unique().tolist() == [0, 2, 3]


def test_parts_may_not_be_written_to():
    x = torch.ones(2, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Output 0 of Unbind is a view and is being modified inplace"):
        (x * 1).unbind()[0].mul_(2)
    plain = torch.ones(2, 2)
    plain.unbind()[0].mul_(2)
    assert plain[0].tolist() == [2, 2]


def test_cat_promotes_and_skips_legacy_empties():
    result = torch.cat([torch.tensor([]), torch.ones(2, 2, dtype=torch.int64), torch.zeros(1, 2)])
    assert result.dtype is torch.float32 and result.shape == (3, 2)


def test_cat_gradient():
    a, b = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)
    (torch.cat([a, b]) * torch.tensor([1., 2, 3])).sum().backward()
    assert a.grad.tolist() == [1, 2] and b.grad.tolist() == [3]


@pytest.mark.parametrize("function", [
    lambda x: x.repeat(2, 2), lambda x: x.tile(2), lambda x: x.repeat_interleave(2, 1), lambda x: x.roll(1, 0),
    lambda x: x.flip(0, 1), lambda x: x.rot90(), lambda x: x.tril(), lambda x: x.diag_embed(),
    lambda x: x.unfold(1, 2, 1), lambda x: x.as_strided((3, 2), (1, 2)), lambda x: x.t().reshape(-1),
    lambda x: torch.stack([x, x], 1), lambda x: x.expand(2, 2, 3), lambda x: x.diagonal(1),
    lambda x: x.repeat_interleave(torch.tensor([2, 1]), 0)])
def test_backward_is_the_adjoint(function):
    x = torch.arange(6.).reshape(2, 3).requires_grad_()
    y = function(x)
    w = torch.arange(float(y.numel())).reshape(y.shape)
    g, = torch.autograd.grad((y * w).sum(), x, create_graph=True)
    assert torch.allclose((y * w).sum(), (g * x).sum())


def test_memory_formats():
    x = torch.zeros(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    assert x.stride() == (60, 1, 15, 3) and x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()
    assert torch.empty_like(x).stride() == x.stride() and x.clone().stride() == x.stride()
    assert x.contiguous().is_contiguous() and repr(torch.channels_last) == "torch.channels_last"


def test_as_strided_sees_all_memory_through_other_views():
    part = torch.arange(20.)[5:15].as_strided((4,), (2,))
    assert part.storage_offset() == 5
    assert part.as_strided((2, 2), (1, 2), 0).tolist() == [[0, 2], [1, 3]]
    windows = torch.arange(6.)[2:].unfold(0, 2, 1)
    assert windows.storage_offset() == 2 and windows.as_strided((2,), (1,), 0).tolist() == [0, 1]


def test_as_strided_backward_outside_the_input():
    base = torch.arange(6.)
    x = base[3:].requires_grad_()
    y = x.as_strided((2,), (1,), 0)            # elements of the memory that are not in x
    w = torch.ones(2, requires_grad=True)
    g, = torch.autograd.grad(y, x, w, create_graph=True)
    assert g.tolist() == [0, 0, 0]
    assert torch.autograd.grad(g.sum(), w)[0].tolist() == [0, 0]
