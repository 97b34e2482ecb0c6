"""linear-operator: matrices of known structure solved, decomposed and multiplied without being written out."""
import linear_operator as lo
import torch
from linear_operator import operators as op
from outcome import show

torch.set_default_dtype(torch.double)
base, right, places, found = torch.randn(8, 20), torch.randn(8, 3), torch.arange(8.0).unsqueeze(1), {}
leaves = torch.cov(base), torch.exp(-torch.arange(8.0)), torch.randn(8, 2), torch.tensor([[0.7]])
dense, column, root, scale = [leaf.requires_grad_() for leaf in leaves]
kinds = {"dense": op.to_linear_operator(dense), "toeplitz": op.ToeplitzLinearOperator(column),
         "kronecker": op.KroneckerProductLinearOperator(dense[:2, :2], dense[:4, :4]),
         "kernel": op.KernelLinearOperator(places, places, lambda a, b, s: torch.exp(-torch.cdist(a, b) / s), s=scale),
         "sum": op.LowRankRootLinearOperator(root) + op.DiagLinearOperator(column),
         "block": op.BlockDiagLinearOperator(op.to_linear_operator(torch.stack([dense[:4, :4], dense[4:, 4:]]))),
         "product": op.to_linear_operator(dense) * op.ToeplitzLinearOperator(column)}
for name, matrix in kinds.items():
    total = sum(matrix.inv_quad_logdet(right, logdet=True)) + (matrix @ right).square().sum() + matrix[2:5, 1].sum()
    found[name] = [total, lo.solve(matrix, right), matrix.diagonal(),
                   *torch.autograd.grad(total, leaves, materialize_grads=True)]
with lo.settings.max_cholesky_size(1), lo.settings.cg_tolerance(1e-10):
    found["iterated"] = [matrix.solve(right) for matrix in kinds.values()]
cut = op.InterpolatedLinearOperator(dense, torch.tensor([[0, 1], [3, 4]]), torch.full((2, 2), 0.5)).repeat(2, 1, 1)
show(**found, cut=cut.to_dense(), triangle=kinds["sum"].cholesky().to_dense(),
     pivoted=lo.pivoted_cholesky(kinds["kernel"], rank=4), contour=lo.sqrt_inv_matmul(kinds["dense"], right))
