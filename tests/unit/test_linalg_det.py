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
