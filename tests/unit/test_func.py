"""torch.func: the transforms nest, obey grad modes, keep trees; vmap; modules as functions."""
import pytest

import tinytorch as torch
from tinytorch.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
)

X = torch.tensor([1.0, 2.0])


def cube(x):
    return (x ** 3).sum()


# ------------------------------------------------------------------ derivatives
def test_gradients_nest():
    f = lambda x: x ** 4
    for derivative in (96.0 / 3, 48.0, 48.0, 24.0, 0.0):
        f = grad(f)
        assert f(torch.tensor(2.0)).item() == derivative


def test_all_orders_of_modes_agree():
    x = torch.tensor([0.3, -0.4])
    f = lambda x: x.sin().outer(x.exp())
    results = [outer(inner(f))(x) for outer in (jacrev, jacfwd) for inner in (jacrev, jacfwd)]
    assert all(torch.allclose(r, results[0]) for r in results) and results[0].shape == (2, 2, 2, 2)


def test_perturbations_are_not_confused():
    d = lambda f, x: jvp(f, (x,), (torch.ones(()),))[1]
    one = torch.tensor(1.0)
    assert d(lambda x: x * d(lambda y: x + y, one), one).item() == 1.0
    assert grad(lambda x: x * grad(lambda y: x * y)(one))(one).item() == 2.0


def test_trees_of_arguments_and_outputs():
    tree = {"a": X, "b": [X + 1, (X * 2,)]}
    g = grad(lambda t: (t["a"] * t["b"][0]).sum() + t["b"][1][0].sum())(tree)
    assert g["a"].equal(X + 1) and g["b"][0].equal(X) and g["b"][1][0].tolist() == [1.0, 1.0]
    out, back = vjp(lambda x: {"s": x.sum(), "p": [x * x]}, X)
    assert back({"s": torch.ones(()), "p": [X]})[0].tolist() == [3.0, 9.0]


def test_results_have_no_history_of_their_own():
    for result in (grad(cube)(X), jacrev(torch.sin)(X), jacfwd(torch.sin)(X), hessian(cube)(X), *jvp(cube, (X,), (X,)),
                   vjp(torch.sin, X)[0], *vjp(torch.sin, X)[1](X), linearize(torch.sin, X)[1](X)):
        assert not result.requires_grad


def test_results_have_the_history_of_tensors_outside():
    x, w = X.clone().requires_grad_(), torch.ones(2, requires_grad=True)
    y = grad(lambda x: (x ** 2 * w).sum())(x)
    assert [g.tolist() for g in torch.autograd.grad(y.sum(), (x, w))] == [[2.0, 2.0], [2.0, 4.0]]
    assert grad(lambda y: (y * y).sum())(X).requires_grad is False
    assert jvp(lambda y: y * w, (X,), (X,))[1].requires_grad
    assert x.grad is None and w.grad is None


def test_grad_modes():
    with torch.no_grad():
        assert grad(cube)(X).tolist() == [3.0, 12.0]
        assert not grad(cube)(X.clone().requires_grad_()).requires_grad
        assert not torch.is_grad_enabled()

    def half(x):
        with torch.no_grad():
            c = x * 2
        return (x * c).sum()
    assert grad(half)(X).tolist() == [2.0, 4.0]


def test_an_error_inside_leaves_everything_as_it_was():
    with torch.no_grad(), pytest.raises(ZeroDivisionError):
        grad(lambda x: 1 / 0)(X)
    assert torch.is_grad_enabled() and X.clone().requires_grad_().requires_grad


def test_aux_and_value():
    assert grad_and_value(cube)(X)[1].item() == 9.0
    g, (value, aux) = grad_and_value(lambda x: (cube(x), {"x": x * 2}), has_aux=True)(X)
    assert value.item() == 9.0 and aux["x"].tolist() == [2.0, 4.0] and not aux["x"].requires_grad
    with pytest.raises(RuntimeError, match="Expected tensors, got unsupported type <class 'str'>"):
        grad(lambda x: (cube(x), "text"), has_aux=True)(X)


def test_linearize_runs_the_function_once():
    calls = []

    def f(x):
        calls.append(1)
        return x ** 2
    y, push = linearize(f, X)
    assert push(torch.ones(2)).tolist() == [2.0, 4.0] and push(X).tolist() == [2.0, 8.0] and len(calls) == 1
    jacfwd(f)(X)
    assert len(calls) == 2


def test_vjp_function_can_be_called_again():
    _, back = vjp(lambda x: x ** 3, X)
    assert back(X)[0].equal(back(X)[0])


def test_the_input_is_left_alone():
    x = X.clone()
    grad(lambda x: (x * 1).mul_(x).sum())(x)
    assert not x.requires_grad and x.is_leaf and x._version == 0


@pytest.mark.parametrize("call, error, text", [
    (lambda: grad(torch.sin)(X), RuntimeError, "to return a scalar Tensor, got tensor with 1 dims"),
    (lambda: grad(lambda x: 3)(X), RuntimeError, "to return a Tensor, got <class 'int'>"),
    (lambda: grad(cube)(3.0), ValueError, "Thing passed to transform API must be Tensor"),
    (lambda: grad(cube, argnums=1)(X), RuntimeError, "Got argnum=1, but only 1 positional inputs"),
    (lambda: grad(lambda x: cube(x).backward())(X), RuntimeError, r"backward\(\) called inside a functorch transform"),
    (lambda: grad(lambda x: x.clone().requires_grad_())(X), RuntimeError, "attempting to call Tensor.requires_grad_"),
    (lambda: jacrev(torch.sin)(X + 0j), RuntimeError, "jacrev: Expected all inputs to be real"),
    (lambda: jvp(torch.sin, [X], [X]), RuntimeError, "Expected primals to be a tuple"),
    (lambda: vjp(torch.sin, X)[1]((X, X)), RuntimeError, "Expected pytree structure of cotangents"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


# ------------------------------------------------------------------ vmap
def test_vmap_maps_over_any_dimension():
    m = torch.arange(6.0).reshape(2, 3)
    assert torch.vmap(torch.sum, 1)(m).tolist() == [3.0, 5.0, 7.0]
    assert torch.vmap(torch.sin, out_dims=-1)(m).shape == (3, 2)
    assert torch.vmap(torch.dot, (0, None))(m, m[0]).tolist() == [5.0, 14.0]
    pairs = torch.vmap(torch.vmap(lambda a, b: a * b, (None, 0)), (0, None))(X, X)
    assert pairs.tolist() == [[1.0, 2.0], [2.0, 4.0]]


def test_vmap_runs_the_function_once():
    calls = []
    torch.vmap(lambda x: calls.append(x.shape) or x * 2)(torch.ones(5, 3))
    assert calls == [(3,)]


def test_per_sample_gradients():
    model = torch.nn.Linear(3, 1)
    params = {k: v.detach() for k, v in model.named_parameters()}
    loss = lambda p, x: functional_call(model, p, (x,)).square().sum()
    x = torch.rand(5, 3)
    samples = torch.vmap(grad(loss), (None, 0))(params, x)
    assert samples["weight"].shape == (5, 1, 3)
    assert torch.allclose(samples["weight"].sum(0), grad(loss)(params, x)["weight"])


def test_vmap_randomness():
    m = torch.zeros(4, 3)
    noisy = lambda x: x + torch.rand(3)
    torch.manual_seed(0)
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        torch.vmap(noisy)(m)
    torch.manual_seed(0)
    first = torch.rand(3)
    torch.manual_seed(0)
    same = torch.vmap(noisy, randomness="same")(m)
    assert all(row.equal(first) for row in same) and not torch.rand(3).equal(first)
    different = torch.vmap(noisy, randomness="different")(m)
    assert not different[0].equal(different[1])
    assert torch.rand(3).shape == (3,)         # drawing is allowed again


def test_vmap_of_an_empty_batch():
    assert torch.vmap(lambda x: (x * 2, x.sum()), out_dims=(1, 0))(torch.ones(0, 3))[0].shape == (3, 0)


# ------------------------------------------------------------------ modules
def test_functional_call_restores_the_module_after_an_error():
    model = torch.nn.Linear(3, 1)
    weight = model.weight
    with pytest.raises(RuntimeError):
        functional_call(model, {"weight": torch.ones(1, 3)}, torch.ones(2, 4))
    assert model.weight is weight and isinstance(model.weight, torch.nn.Parameter)


def test_functional_call_uses_new_buffers():
    norm = torch.nn.BatchNorm1d(2)
    buffers = {k: v.clone() for k, v in norm.named_buffers()}
    functional_call(norm, buffers, torch.rand(4, 2))
    assert buffers["num_batches_tracked"].item() == 1 and norm.num_batches_tracked.item() == 0


def test_deprecated_functional_call():
    with pytest.warns(FutureWarning, match="is deprecated"):
        call = torch.nn.utils.stateless.functional_call
        y = call(torch.nn.Linear(2, 1), {"weight": torch.zeros(1, 2)}, torch.ones(1, 2))
    assert y.shape == (1, 1)


def test_an_ensemble():
    models = [torch.nn.Linear(3, 2) for _ in range(4)]
    params, buffers = stack_module_state(models)
    x = torch.rand(5, 3)
    y = torch.vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(params, buffers)
    assert torch.allclose(y, torch.stack([m(x) for m in models])) and params["weight"].is_leaf


# ------------------------------------------------------------------ writes
def test_leaf_stays_one_within_transforms():
    """What a transform is given is a leaf within it, and stays one within those inside, and so do its views."""
    func = torch.func
    x = torch.ones(2)
    inside = {"grad": lambda f: func.grad(f)(x), "hessian": lambda f: func.hessian(f)(x),
              "vmap": lambda f: func.grad(lambda x: func.vmap(f)(x).sum())(x),
              "jvp": lambda f: func.grad(lambda x: func.jvp(f, (x,), (x * 1,))[0].sum())(x)}
    for transformed in inside.values():
        with pytest.raises(RuntimeError, match="a(?: view of a)? leaf Variable that requires grad is being used"):
            transformed(lambda x: x.add_(1).sum())
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used"):
            transformed(lambda x: (x[...].mul_(2), x.sum())[1])
        transformed(lambda x: x.clone().add_(1).sum())
    assert x.tolist() == [1, 1]
    y, t = func.jvp(lambda x: x.mul_(2), (torch.ones(2),), (torch.ones(2),))      # of no leaf: nothing refuses it
    assert y.tolist() == t.tolist() == [2, 2]


# ------------------------------------------------------------------ gradients in batches
def test_gradients_in_batches_of_what_is_the_same_for_all():
    """jacrev computes with a batch of gradients, of an input that is none."""
    x = torch.tensor([0.5, -1.0])
    for approximate in ("none", "tanh"):
        f = lambda x, approximate=approximate: torch.nn.functional.gelu(x, approximate=approximate)
        assert torch.allclose(torch.func.jacrev(f)(x), torch.func.jacfwd(f)(x))


def test_hessian_of_an_operation_of_many_outputs():
    """A rule that has saved outputs of such an operation is differentiated within a vmap by each of them."""
    f = lambda x: sum(torch.std_mean(x))
    x = torch.tensor([1., 2., 4.])
    found = [way(f)(x) for way in (torch.func.hessian, lambda f: torch.func.jacrev(torch.func.jacrev(f)))]
    deviations, std = x - x.mean(), x.std()
    exact = (torch.eye(3) - 1 / 3) / (2 * std) - torch.outer(deviations, deviations) / (4 * std ** 3)
    assert all([torch.allclose(h, exact, atol=1e-6) for h in found])


@pytest.mark.parametrize("options", [{"padding_idx": 1}, {"scale_grad_by_freq": True}, {"sparse": True}])
def test_tangents_of_an_embedding_are_rows_of_that_of_the_table(options):
    f = lambda weight: torch.nn.functional.embedding(torch.tensor([1, 2, 1]), weight, **options)
    tangent = torch.arange(8.).reshape(4, 2)
    assert torch.func.jvp(f, (torch.ones(4, 2),), (tangent,))[1].tolist() == tangent[[1, 2, 1]].tolist()


def test_transforms_of_nothing():
    assert torch.vmap(torch.argmax)(torch.zeros(0, 1)).shape == (0,)
    with pytest.raises(RuntimeError, match="non-empty output"):
        torch.func.jacrev(torch.unbind)(torch.zeros(0, 0))
