"""torch.linalg: linear algebra. The functions are in ops/linalg."""
import sys as _sys

from .autograd.overridable import complete as _complete
from .missing import namespace as _namespace
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
from .ops.linalg.householder import householder_product
from .ops.linalg.ldl import ldl_factor, ldl_factor_ex, ldl_solve
from .ops.linalg.lu import linalg_lu as lu, linalg_lu_solve as lu_solve, lu_factor, lu_factor_ex
from .ops.linalg.norms import matrix_norm, vector_norm
from .ops.linalg.products import matmul
from .ops.linalg.spectra import eig, eigh, eigvals, eigvalsh, linalg_svd as svd, svdvals
from .ops.linalg.tensors import tensorinv, tensorsolve, vander
from .ops.linalg.triangular import solve_triangular
from .ops.linalg.unchecked import cholesky_ex, inv_ex, solve_ex

__all__ = ["LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
           "eigvalsh", "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve",
           "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm",
           "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex",
           "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot",
           "vector_norm"]

__getattr__ = _namespace(__name__)


_complete("linalg", _sys.modules[__name__])
