"""Derivatives of the determinant, where the matrix is singular too: it is a polynomial."""
import pytest

import tinytorch as torch

MATRICES = {"regular": [[1., 3.], [2., 4.]], "of rank 1": [[1., 2.], [2., 4.]], "of zeros": [[0., 0.], [0., 0.]],
            "of rank 2": [[1., 2., 3.], [2., 4., 6.], [1., 0., 1.]], "of three, of zeros": [[0.] * 3] * 3}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_first_and_second(name, dtype):
    matrix = torch.tensor(MATRICES[name], dtype=dtype)
    if dtype.is_complex:
        matrix = matrix * (1 + 0.5j)
    batch = torch.stack([matrix, torch.eye(len(matrix), dtype=dtype)]).requires_grad_()
    assert torch.autograd.gradcheck(torch.linalg.det, (batch,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(torch.linalg.det, (batch,), check_fwd_over_rev=True)


@pytest.mark.parametrize("name", MATRICES)
def test_every_way_to_the_second(name):
    f, matrix = torch.linalg.det, torch.tensor(MATRICES[name], dtype=torch.float64)
    expected = torch.autograd.functional.hessian(f, matrix)
    for outer in (torch.func.jacfwd, torch.func.jacrev):
        for inner in (torch.func.jacfwd, torch.func.jacrev):
            torch.testing.assert_close(outer(inner(f))(matrix), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_near_singular_beside_regular(dtype):
    """Which way a matrix takes is told by itself, and both ways lead to the same derivative."""
    torch.manual_seed(0)
    regular = torch.randn(4, 4, dtype=dtype) + 4 * torch.eye(4, dtype=dtype)
    near = regular.clone()
    near[3] = near[2] + 1e-5 * near[0]
    batch = torch.stack([near, regular, near, torch.zeros(4, 4, dtype=dtype)])

    def slope(x):
        return torch.func.grad(lambda x: torch.det(x).sum())(x)
    slopes = slope(batch)
    for i, matrix in enumerate(batch):
        assert torch.equal(slopes[i], slope(matrix))
        expected = torch.stack([torch.stack([(-1) ** (j + k) * torch.det(torch.cat([
            torch.cat([m[:j, :k], m[:j, k + 1:]], 1), torch.cat([m[j + 1:, :k], m[j + 1:, k + 1:]], 1)]))
            for k in range(4)]) for m in [matrix.double()] for j in range(4)])
        torch.testing.assert_close(slopes[i].double(), expected, rtol=0,
                                   atol=float(expected.abs().max()) * (1e-6 if dtype == torch.float32 else 1e-14))
