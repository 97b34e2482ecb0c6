"""Workloads of torch.func and gradcheck, written once for both libraries. workloads.py lists them with the others."""
import numpy as np


def _parameters(module):
    return {name: p.detach() for name, p in module.named_parameters()}


def jacobian(torch):
    """jacrev of an MLP 64-128-32 at one point."""
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 32))
    parameters, x = _parameters(model), torch.from_numpy(np.random.RandomState(0).randn(64).astype(np.float32))
    of = torch.func.jacrev(lambda x: torch.func.functional_call(model, parameters, (x,)))
    return lambda: of(x)


def per_sample_gradients(torch, batch=64):
    """The gradients of a CNN's parameters for each of 64 images of 28x28."""
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(16 * 7 * 7, 10))
    random = np.random.RandomState(0)
    x = torch.from_numpy(random.rand(batch, 1, 28, 28).astype(np.float32))
    y, parameters = torch.from_numpy(random.randint(0, 10, batch, np.int64)), _parameters(model)

    def loss(parameters, x, y):
        return torch.nn.functional.cross_entropy(torch.func.functional_call(model, parameters, (x[None],)), y[None])
    gradients = torch.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: gradients(parameters, x, y)


def hessian(torch):
    """The Hessian of an MLP 16-32-1."""
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    parameters, x = _parameters(model), torch.from_numpy(np.random.RandomState(0).randn(16).astype(np.float32))
    of = torch.func.hessian(lambda x: torch.func.functional_call(model, parameters, (x,)).sum())
    return lambda: of(x)


def gradcheck(torch):
    """gradcheck of a convolution by its input, weight and bias."""
    random = np.random.RandomState(0)
    given = [torch.from_numpy(random.randn(*shape)).requires_grad_() for shape in ((2, 2, 5, 5), (3, 2, 3, 3), (3,))]
    return lambda: torch.autograd.gradcheck(lambda *x: torch.nn.functional.conv2d(*x, padding=1), given)


TRANSFORMS = {"jacrev, MLP 64-128-32": jacobian, "per-sample gradients, CNN": per_sample_gradients,
              "hessian, MLP 16-32-1": hessian, "gradcheck, conv2d": gradcheck}
