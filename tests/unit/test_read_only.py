"""Memory that may not be written to (torch writes to it, whatever comes of that): one error for every way to write, and
nothing half written."""
import numpy as np
import pytest

import tinytorch as torch

pytestmark = pytest.mark.filterwarnings("ignore:The given .* is not writable", "ignore:Use of .* on expanded tensors")
SAID = "the written-to tensor lies in read-only memory. Please clone"


def closed(*shape, dtype=np.float32):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    x.flags.writeable = False
    return torch.from_numpy(x)


WRITES = {
    "number": lambda x: x.__setitem__(0, 5.), "all": lambda x: x.__setitem__(slice(None), 5),
    "tensor": lambda x: x.__setitem__(slice(None), torch.ones(4)), "list": lambda x: x.__setitem__([0, 1], 5.),
    "places": lambda x: x.__setitem__(torch.tensor([0]), 5.), "mask": lambda x: x.__setitem__(x > 1, 5.),
    "nothing": lambda x: x.__setitem__(Ellipsis, torch.tensor(5.)), "view": lambda x: x.view(2, 2)[0].add_(1),
    "detached": lambda x: x.detach().mul_(2), "data": lambda x: x.data.sub_(1), "operator": lambda x: x.__iadd__(1),
    "index_put_": lambda x: x.index_put_((torch.tensor([0]),), torch.ones(1)),
    "index_put_ to add": lambda x: x.index_put_((torch.tensor([0]),), torch.ones(1), True),
    "copy_": lambda x: x.copy_(torch.ones(4)), "fill_": lambda x: x.fill_(1), "zero_": torch.zero_,
    "put_ to add": lambda x: x.put_(torch.tensor([0]), torch.ones(1), accumulate=True),
    "expanded": lambda x: x.as_strided((4, 2), (1, 0)).index_put_((torch.tensor([0]),), torch.ones(2), True),
    "scatter_add_": lambda x: x.scatter_add_(0, torch.tensor([0]), torch.ones(1)),
    **{name: lambda x, name=name: getattr(x, name)() for name in
       ("normal_", "uniform_", "random_", "bernoulli_", "exponential_", "cauchy_", "log_normal_", "sigmoid_", "relu_")},
    "geometric_": lambda x: x.geometric_(0.5),
    "init": lambda x: torch.nn.init.trunc_normal_(x), "storage": lambda x: x.untyped_storage().fill_(0),
    "byte": lambda x: x.untyped_storage().__setitem__(0, 1),
    "numbers": lambda x: torch.TypedStorage(wrap_storage=x.untyped_storage(), dtype=x.dtype).fill_(2),
    "foreach": lambda x: torch._foreach_add_([x], 1), "as another dtype": lambda x: x.view(torch.int32).zero_(),
    "dropout": lambda x: torch.nn.functional.dropout(x, inplace=True), "rand": lambda x: torch.rand(4, out=x),
    "randn": lambda x: torch.randn(4, out=x), "normal": lambda x: torch.normal(torch.zeros(4), 1., out=x),
    "arange": lambda x: torch.arange(4, out=x), "sort": lambda x: torch.sort(torch.ones(4), out=(x, torch.arange(4))),
    "linspace": lambda x: torch.linspace(0, 1, 4, out=x), "eye": lambda x: torch.eye(2, out=x.view(2, 2)),
    "bernoulli": lambda x: torch.bernoulli(torch.ones(4), out=x), "add": lambda x: torch.add(1, torch.ones(4), out=x),
    "mean": lambda x: torch.nn.functional.batch_norm(torch.rand(3, 4), x, torch.ones(4), training=True),
    "variance": lambda x: torch.nn.functional.batch_norm(torch.rand(3, 4), torch.ones(4), x, training=True),
    "of an instance": lambda x: torch.nn.functional.instance_norm(torch.rand(3, 4, 9), x, torch.ones(4)),
    "embedding": lambda x: torch.nn.functional.embedding(torch.tensor([1]), x[:, None], max_norm=0.1),
}


@pytest.mark.parametrize("write", WRITES)
def test_writes(write):
    x = closed(4)
    with pytest.raises(RuntimeError, match=SAID):
        WRITES[write](x)
    assert x.tolist() == [0, 1, 2, 3] and x._version == 0


def test_where_it_comes_from():
    for x in (torch.frombuffer(bytes(16), dtype=torch.float32), torch.from_dlpack(closed(4).numpy()),
              torch.as_tensor(closed(4).numpy()), torch.asarray(closed(4).numpy()), torch.empty(0).set_(closed(4))):
        with pytest.raises(RuntimeError, match=SAID):
            x.add_(1)
    assert torch.tensor(closed(2).numpy()).add_(1).tolist() == [1, 2]
    assert closed(2).clone().add_(1).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="more than one element"):
        torch.from_numpy(np.broadcast_to(np.float32(3), (2, 2))).add_(1)


def test_the_other_running_statistic_is_as_it_was():
    mean, variance = torch.ones(4), closed(4)
    with pytest.raises(RuntimeError, match=SAID):
        torch.nn.functional.batch_norm(torch.rand(3, 4), mean, variance, training=True)
    assert mean.tolist() == [1] * 4 and mean._version == 0


@pytest.mark.parametrize("n", [5, 20_000, 300_000])
@pytest.mark.parametrize("name, options", [
    ("SGD", {}), ("SGD", {"momentum": 0.9, "nesterov": True}), ("Adam", {}), ("AdamW", {"amsgrad": True}),
    ("Adamax", {}), ("RMSprop", {"momentum": 0.9}), ("Adagrad", {}), ("Adadelta", {}), ("NAdam", {}), ("RAdam", {}),
    ("ASGD", {}), ("Rprop", {})])
def test_optimisers(name, options, n):
    """Neither the parameter nor its state moves: at the first step and when it has been exchanged since."""
    p, other = torch.nn.Parameter(torch.ones(n)), torch.nn.Parameter(torch.ones(3))
    p.grad, other.grad = torch.ones(n), torch.ones(3)
    optimiser = getattr(torch.optim, name)([p, other], **options)
    optimiser.step()
    p.data = closed(n)
    before = {key: value.clone() for key, value in optimiser.state[p].items() if isinstance(value, torch.Tensor)}
    with pytest.raises(RuntimeError, match=SAID):
        optimiser.step()
    assert torch.equal(p.detach(), closed(n))
    assert all(torch.equal(value, optimiser.state[p][key]) for key, value in before.items())
    p = torch.nn.Parameter(closed(n))
    p.grad = torch.ones(n)
    with pytest.raises(RuntimeError, match=SAID):
        getattr(torch.optim, name)([p], **options).step()


@pytest.mark.parametrize("name", ["SGD", "Adagrad", "SparseAdam"])
def test_sparse_gradients(name):
    p = torch.nn.Parameter(closed(4, 2))
    torch.nn.functional.embedding(torch.tensor([1, 1]), p, sparse=True).sum().backward()
    with pytest.raises(RuntimeError, match=SAID):
        getattr(torch.optim, name)([p]).step()
    assert torch.equal(p.detach(), closed(4, 2))
    p = torch.nn.Parameter(torch.ones(4, 2))
    p.grad = closed(4, 2)
    with pytest.raises(RuntimeError, match=SAID):
        torch.nn.functional.embedding(torch.tensor([1, 1]), p, sparse=True).sum().backward()
    assert torch.equal(p.grad, closed(4, 2))


@pytest.mark.parametrize("n", [5, 20_000])
def test_gradients(n):
    """A gradient to be added to, clipped or set to zero."""
    p = torch.ones(n, requires_grad=True)
    p.grad = closed(n)
    for write in (lambda: (p * 2).sum().backward(), lambda: torch.nn.utils.clip_grad_norm_([p], 0.1),
                  lambda: torch.nn.utils.clip_grad_value_([p], 0.1),
                  lambda: torch.optim.SGD([p]).zero_grad(set_to_none=False)):
        with pytest.raises(RuntimeError, match=SAID):
            write()
        assert torch.equal(p.grad, closed(n))


def test_parameters_of_a_module():
    layer = torch.nn.Linear(2, 2)
    layer.weight.data = closed(2, 2)
    with pytest.raises(RuntimeError, match=SAID):
        layer.load_state_dict({"weight": torch.ones(2, 2), "bias": torch.ones(2)})
    assert layer.weight.tolist() == [[0, 1], [2, 3]]
