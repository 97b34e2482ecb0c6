"""Ready-made parametrizations: weight_norm, spectral_norm, orthogonal."""
import numpy as np

from ...autograd.grad_mode import no_grad
from ...dtypes import finfo
from ...ops.creation.factories import zeros_like
from ...ops.creation.ranges import eye
from ...ops.elementwise.compare import allclose
from ...ops.layout.join import cat
from ...ops.linalg.decompositions import linalg_qr, solve
from ...ops.linalg.functions import matrix_exp
from ...ops.linalg.products import mv, vdot
from ...ops.nn.similarity import normalize
from ...ops.random.factories import randn
from ...tensor import Tensor, wrap
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from .parametrize import register_parametrization
from .weight_norm import _weight_norm, norm_except_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _tensor_named(module, name):
    tensor = getattr(module, name, None)
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return tensor


# ------------------------------------------------------------------ weight norm
class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return _weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Parametrize a tensor as magnitude times direction, g * v / |v|, with one magnitude for each index of `dim`, or
    one for all with None.

    g and v are `module.parametrizations.<name>.original0` and `original1`. State dicts of the older
    torch.nn.utils.weight_norm can be loaded. Salimans and Kingma, https://arxiv.org/abs/1602.07868. Returns the module.

    >>> import tinytorch as torch
    >>> m = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2))
    >>> m.parametrizations.weight.original0.shape, m.parametrizations.weight.original1.shape
    (torch.Size([2, 1]), torch.Size([2, 3]))
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict, prefix, *_):
        old = [f"{prefix}{name}_{letter}" for letter in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)
    module._register_load_state_dict_pre_hook(rename)
    return module


# ------------------------------------------------------------------ spectral norm
class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim % ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            rows, columns = matrix.shape
            # Both are drawn before either is normalised, in the order of torch's random numbers.
            u, v = [matrix.new_empty(n).normal_(0, 1) for n in (rows, columns)]
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _matrix(self, weight):
        if self.dim:
            weight = weight.permute(self.dim, *[d for d in range(weight.ndim) if d != self.dim])
        return weight.flatten(1)

    @no_grad()
    def _power_method(self, matrix, steps):
        for _ in range(steps):
            normalize(mv(matrix, self._v), dim=0, eps=self.eps, out=self._u)
            normalize(mv(matrix.H, self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight):
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Clones, since a later power iteration must not change what the backward of this call needs.
        return weight / vdot(self._u.clone(), mv(matrix, self._v.clone()))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Parametrize a tensor as the tensor divided by its largest singular value, estimated by power iteration.

    n_power_iterations    steps at every reading in training mode
    dim                   which dimension makes the rows of the matrix (default 0, and 1 for ConvTranspose)

    A tensor of one dimension is divided by its norm. Miyato et al., https://arxiv.org/abs/1802.05957. ValueError if
    there is no such tensor. Returns the module.

    >>> import tinytorch as torch
    >>> m = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 2))
    >>> bool((torch.linalg.matrix_norm(m.weight, 2) - 1).abs() < 1e-3)
    True
    """
    weight = _tensor_named(module, name)
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


# ------------------------------------------------------------------ orthogonal
_MAPS = ("matrix_exp", "cayley", "householder")


def _is_orthogonal(Q):
    n, k = Q.shape[-2:]
    return allclose(Q.mH @ Q, eye(k, dtype=Q.dtype), atol=10 * n * finfo(Q.dtype).eps)


def _made_orthogonal(A):
    """The Q of A = QR in which the diagonal of R is real and not negative."""
    Q, R = linalg_qr(A)
    return Q * R.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _reflections(A, tau):
    """The first columns of the product of the reflections 1 - tau_i v_i v_i^T, where v_i is column i of A under a 1.

    The product is computed at once: it is 1 - V T V^T with a triangular T, the inverse of
    diag(1 / tau) + triu(V^T V, 1).
    """
    n, k = A.shape[-2:]
    V = A.tril(-1) + eye(n, k, dtype=A.dtype)
    T = (V.mT @ V).triu(1) + (1 / tau).diag_embed()
    return eye(n, k, dtype=A.dtype) - V @ solve(T, V[..., :k, :].mT)


class _Orthogonal(Module):
    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        wide = X.shape[-2] < X.shape[-1]
        X = X.mT if wide else X
        n, k = X.shape[-2:]
        if self.orthogonal_map == "householder":
            A = X.tril(-1)
            Q = _reflections(A, 2 / (1 + (A * A).sum(-2)))
            Q = Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            Q = self._from_skew(X.tril(), n, k)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _from_skew(self, X, n, k):
        if n != k:
            X = cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], -1)
        A = X - X.mH
        if self.orthogonal_map == "matrix_exp":
            Q = matrix_exp(A)
        else:
            one = eye(n, dtype=A.dtype)
            Q = solve(one.add(A, alpha=-0.5), one.add(A, alpha=0.5))
        return Q[..., :k] if n != k else Q

    @no_grad()
    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                             f"{Q.shape}.")
        given = Q
        wide = Q.shape[-2] < Q.shape[-1]
        Q = Q.mT if wide else Q
        n, k = Q.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley "
                                          "parametrizations when use_trivialization=False.")
            A = _reflectors(Q)
            return A.mT if wide else A
        if n != k:
            Q = _made_orthogonal(cat([Q, randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype)], -1))
        else:
            Q = Q.clone() if _is_orthogonal(Q) else _made_orthogonal(Q)
        self.base = Q
        start = zeros_like(given)              # each of the maps returns `base` for it
        start.diagonal(dim1=-2, dim2=-1).fill_(-1)
        return start


def _reflectors(Q):
    """The reflections of Q's QR decomposition, below a diagonal of signs: the input of `_Orthogonal.forward`."""
    raw, tau = np.linalg.qr(Q._array, mode="raw")
    A = wrap(np.ascontiguousarray(raw.swapaxes(-1, -2)))
    signs = A.diagonal(dim1=-2, dim2=-1)
    signs.copy_(signs.sign())
    signs[wrap(tau) == 0] *= -1
    return A


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Parametrize a matrix (or batch of them) so that it stays orthogonal, or unitary if complex.

    orthogonal_map        "matrix_exp" or "cayley" (of a skew-symmetric matrix), or "householder" (a product of
                          reflections); default: "matrix_exp" for square and complex matrices, else "householder"
    use_trivialization    whether the present value is kept as a base from which training starts (Lezcano-Casado,
                          https://arxiv.org/abs/1909.09501)

    The rows are orthonormal if there are fewer rows than columns, else the columns are. ValueError for a tensor of less
    than 2 dimensions or an unknown map. Returns the module.

    >>> import tinytorch as torch
    >>> Q = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(2, 4)).weight
    >>> torch.allclose(Q.T @ Q, torch.eye(2), atol=1e-6)
    True
    """
    weight = _tensor_named(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
                         f"Got: {orthogonal_map}")
    orth = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, orth, unsafe=True)
