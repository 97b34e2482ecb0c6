"""torch.linalg: linear algebra. The functions are in ops/linalg."""
from .ops.linalg.decompositions import (
                                        LinAlgError,
                                        inv,
                                        linalg_cholesky as cholesky,
                                        linalg_det as det,
                                        linalg_qr as qr,
                                        linalg_slogdet as slogdet,
                                        solve,
)
from .ops.linalg.functions import (
                                        cond,
                                        cross,
                                        diagonal,
                                        linalg_matrix_exp as matrix_exp,
                                        linalg_matrix_power as matrix_power,
                                        lstsq,
                                        matrix_rank,
                                        multi_dot,
                                        norm,
                                        pinv,
                                        vecdot,
)
from .ops.linalg.norms import matrix_norm, vector_norm
from .ops.linalg.products import matmul
from .ops.linalg.spectra import eig, eigh, eigvals, eigvalsh, linalg_svd as svd, svdvals
from .ops.linalg.triangular import solve_triangular

__all__ = ["LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
           "lstsq", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv",
           "qr", "slogdet", "solve", "solve_triangular", "svd", "svdvals", "vecdot", "vector_norm"]
