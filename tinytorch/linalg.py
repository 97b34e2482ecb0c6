"""torch.linalg: linear algebra. The functions are in ops/linalg."""
from .ops.linalg.decompositions import (
                                        LinAlgError,
                                        cholesky,
                                        det,
                                        eigh,
                                        eigvalsh,
                                        inv,
                                        linalg_qr as qr,
                                        linalg_slogdet as slogdet,
                                        linalg_svd as svd,
                                        solve,
                                        svdvals,
)
from .ops.linalg.functions import (
                                        cond,
                                        cross,
                                        diagonal,
                                        eig,
                                        eigvals,
                                        lstsq,
                                        matrix_exp,
                                        matrix_power,
                                        matrix_rank,
                                        multi_dot,
                                        norm,
                                        pinv,
                                        solve_triangular,
                                        vecdot,
)
from .ops.linalg.norms import matrix_norm, vector_norm
from .ops.linalg.products import matmul

__all__ = ["LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
           "lstsq", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv",
           "qr", "slogdet", "solve", "solve_triangular", "svd", "svdvals", "vecdot", "vector_norm"]
