"""Views, joins and other changes of shape, against the real torch."""
import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome


def views(x):
    """Which tensors of a result are views."""
    if isinstance(x, (tuple, list)) and not isinstance(x, (torch.Size, tinytorch.Size)):
        return [views(item) for item in x]
    return isinstance(x, (torch.Tensor, tinytorch.Tensor)) and x._is_view()


@pytest.mark.parametrize("expression", [
    "x.t().view(6)", "x.view(4, -1)", "x.view(7)", "x.view(-1, -1)", "x.view(2.0, 3)", "x.view(-2, 3)",
    "x.reshape(-2, -3)", "x.expand(4, 3)", "x.expand(3)", "x.expand(-1, 2, 3)", "x.squeeze(5)", "x.squeeze((0, 0))",
    "t.zeros(1, 2, 1).squeeze((0, 2))", "x.unsqueeze(4)", "t.broadcast_shapes((2, 3), (4, ))",
    "t.broadcast_shapes(2, (3, 1))", "t.broadcast_tensors(x, t.zeros(4))", "x.permute(0)", "x.permute(0, 0)",
    "x.permute(0, 5)", "x.t().contiguous().stride()", "x[0].mT", "x[0].H", "x[0].adjoint()", "t.zeros(2, 2, 2).t()",
    "x.movedim((0, 0), (1, 0))", "x.flatten(1, 0)", "x.unflatten(1, (2, -1))", "x.unflatten(1, (3, -1))",
    "x.unflatten(1, ())", "x.transpose(0, 3)", "t.zeros(2, 3, 4).transpose_(0, 1).is_contiguous()",
    "x.narrow(1, 2, 2)", "x.narrow(1, -5, 2)", "x.narrow(0, 1, -1)", "x.select(1, 5)", "x[0][0].select(0, 0)",
    "x.split(0)", "x.split(-1)", "x.split([1, 1], 1)", "x.split(2, 1)", "x.chunk(0)", "x.chunk(5, 1)",
    "x.tensor_split(2, 1)", "x.tensor_split((1, 2), 1)", "x.unbind(2)", "t.tensor(1).unbind()", "t.hsplit(x, 2)",
    "t.vsplit(x[0], 2)", "t.dsplit(x, 2)", "t.tensor(1.).hsplit(2)", "x.view(t.int32)", "x.view(t.int64)",
    "t.zeros(2, 4).view(t.int64)", "x.view(t.int8)", "x.diagonal(5)", "x.unfold(1, 4, 1)", "x.unfold(1, 2, 0)",
    "x.as_strided((2, 2), (1, 4), 1)", "x.as_strided((2, 2), (1, 5), 1)", "x.swapaxes(0, 1)", "list(t.tensor(1))",
    "3 in x", "x.T", "t.zeros(2, 2, 2).T", "x.broadcast_to((4, 2, 3))", "t.ravel(x.t()).shape",
    "x.view(3, 2).view_as(x)", "x.reshape(()) ", "x.view(size=(3, 2))", "t.reshape(x, shape=(3, 2))",
    "x.view([3, 2])", "x.view(t.Size([6]))", "x.expand((2, 2, 3))", "t.numel(x)", "x.view(())", "t.cat([])",
    "t.cat([x, i])", "t.cat([x, t.tensor([])])", "t.cat([t.tensor([]), x], 1)", "t.cat([x, x[:, :2]])",
    "t.cat([x, x], 5)", "t.cat([x, x.long()])", "t.cat(x)", "t.cat([x, 1])", "t.cat([t.tensor(1), t.tensor(2)])",
    "t.cat(tensors=[x, x], dim=-1)", "t.cat([x, x], axis=1)", "t.stack([])", "t.stack([x, i])", "t.stack([x, x], 3)",
    "t.stack([x, x.long()], -1)", "t.hstack([x, i])", "t.vstack([i, x])", "t.column_stack([i, i])",
    "t.dstack([x, x])", "t.block_diag(x, i, t.tensor(2))", "t.cartesian_prod(i, i)", "t.cartesian_prod(i)",
    "t.combinations(i, 2)", "t.combinations(i, 2, True)", "t.meshgrid(i, i)[0]", "t.meshgrid(i, x)",
    "t.meshgrid([i, i], indexing='xy')[0]", "t.meshgrid(i, i, indexing='q')", "x.tile(2, 1, 1)", "x.repeat(2)",
    "x.repeat(2, 1, 1)", "x.repeat_interleave(2) + 0", "x.repeat_interleave(t.tensor([1, 2]), 0)",
    "x.repeat_interleave(t.tensor([1, 2]), 1)", "t.repeat_interleave(t.tensor([1, 2]))",
    "x.repeat_interleave(2, dim=1, output_size=6) + 0", "x.roll(1)", "x.roll((1, 2), (0, 1))", "x.roll((1, 2))",
    "x.flip(0, 1)", "x.flip(0, 0)", "x.flip(5)", "x.fliplr()", "i.fliplr()", "i.flipud()", "x.rot90(1, [0, 0])",
    "x.rot90(3, (0, 1))", "t.tril(i)", "x.tril(1)", "x.triu_()", "t.tril_indices(3, 3)", "t.triu_indices(2, 3, 1)",
    "t.diag(i)", "t.diag(x, 1)", "t.diag(t.zeros(2, 2, 2))", "t.diagflat(x)", "t.diag_embed(x, 1)",
    "t.diag_embed(x, 0, 0, 2)", "x.roll(1, 5)", "x.repeat(-1, 2)", "x.tile(())", "t.combinations(x)", "x.flip([])",
    "t.tensor(1).flip(0)", "x.repeat_interleave(-1)", "x.repeat_interleave(t.tensor([1.]))", "t.tril_indices(-1, 2)",
])
def test_same(expression):
    def program(t):
        result = eval(expression, dict(t=t, np=np, x=t.arange(6.).reshape(2, 3), i=t.arange(3)))
        return result, views(result)
    same_outcome(program)


NAMES = """
x[0]; x[1:]; x[None]; x[0, 1:]; x[:, 0]; x[...]; x[:]; x[[0, 1]]; x.t().reshape(6); x.view(6); x.unsqueeze(0); x.T
x.t(); x.transpose(0, 1); x.mT; x.flatten(); x.unflatten(1, (3, 1)); x.expand(2, 2, 3); x.narrow(0, 0, 1); x.split(1)[0]
x.split([1, 1])[0]; x.chunk(2)[0]; x.tensor_split(2)[0]; x.unbind()[0]; x.diagonal(); x.movedim(0, 1); x.unfold(1, 2, 1)
x.flip(0); x.repeat(2, 2); x.tile(2); x.tril(); x.as_strided((2,), (1,)); t.cat([x, x]); t.stack([x, x]); x.diag_embed()
x.index_select(0, t.tensor([0])); x.gather(0, t.tensor([[0]])); x.masked_fill(x > 2, 1); x.clone(); x.t().contiguous()
"""


@pytest.mark.parametrize("expression", [text.strip() for text in NAMES.replace("\n", ";").split(";") if text.strip()])
def test_names_of_nodes(expression):
    x, y = torch.ones(2, 3, requires_grad=True) * 1, tinytorch.ones(2, 3, requires_grad=True) * 1
    ours, theirs = eval(expression, dict(x=y, t=tinytorch)), eval(expression, dict(x=x, t=torch))
    assert ours.grad_fn.name() == theirs.grad_fn.name()
