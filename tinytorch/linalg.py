"""torch.linalg: linear algebra. The functions are in ops/decompose.py, ops/matrix.py and ops/linear.py."""
from .ops.decompose import (LinAlgError, cholesky, det, eigh, eigvalsh, inv, linalg_qr as qr, linalg_slogdet as slogdet,
                            linalg_svd as svd, solve, svdvals)
from .ops.distance import vector_norm
from .ops.linear import matmul
from .ops.matrix import (cond, cross, diagonal, eig, eigvals, lstsq, matrix_exp, matrix_norm, matrix_power, matrix_rank,
                         multi_dot, norm, pinv, solve_triangular, vecdot)

__all__ = ["LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
           "lstsq", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv",
           "qr", "slogdet", "solve", "solve_triangular", "svd", "svdvals", "vecdot", "vector_norm"]
