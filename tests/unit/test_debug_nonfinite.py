"""tinytorch.debug.nonfinite: which operation made the first NaN or Inf."""
import gc
import pickle
import threading
import warnings

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.autograd.grad_mode import all_threads, mode
from tinytorch.debug import NonFiniteError, nonfinite
from tinytorch.nn import functional as F
from tinytorch.seam import seam


@pytest.fixture(autouse=True)
def nothing_is_left():
    see, reasons, hooks = seam.see, set(seam._reasons), optimizer_hooks()
    yield
    gc.collect()
    assert set(seam._reasons) <= reasons and seam.see is see
    assert not mode.steppers and not mode.watchers and not all_threads.in_special_mode and not all_threads.noting_writes
    assert optimizer_hooks() <= hooks


def optimizer_hooks():
    optimizer = torch.optim.optimizer
    return {*optimizer._global_optimizer_pre_hooks.values(), *optimizer._global_optimizer_post_hooks.values()}


def error_of(function, **options):
    with pytest.raises(NonFiniteError) as raised, nonfinite(**options):
        function()
    return raised.value


class Logs(nn.Module):
    def forward(self, x):
        return torch.log(x)  # here


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Identity(), Logs()) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


# ------------------------------------------------------------------ forward
def test_the_message_names_operation_inputs_module_and_line():
    error = error_of(lambda: Net()(torch.tensor([[1., 2.], [3., 4.]])))
    lines = str(error).splitlines()
    assert lines[0] == "torch.log made 1 Inf of 4 elements, the first at [0, 0]."
    assert lines[1] == "  input: torch.float32 [2, 2], finite values from 0 to 1.38629"
    assert lines[2] == "It was called in module 'layers.1.1' (Logs), here:"
    assert lines[3].startswith(f'  File "{__file__}", line ') and lines[3].endswith(", in forward")
    assert lines[4] == "    return torch.log(x)  # here"
    assert error.operation == "log" and error.module == "module 'layers.1.1' (Logs)"
    assert error.place.file == __file__ and error.place.function == "forward"
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.operation == "log"


def test_functions_are_named_as_programs_name_them():
    assert str(error_of(lambda: torch.linalg.cond(torch.zeros(2, 2)))).startswith("torch.linalg.cond made")
    inf = torch.full((1, 1), 1e30)
    assert str(error_of(lambda: F.linear(inf, inf))).startswith("torch.nn.functional.linear made")
    assert str(error_of(lambda: torch.special.exp2(torch.full((1,), 200.)))).startswith("torch.special.exp2 made")


def test_finite_programs_run_as_they_do_without():
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.LayerNorm(4), nn.Linear(4, 2)), torch.randn(5, 3)
    y = torch.tensor([0, 1, 1, 0, 1])

    def run():
        model.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return [loss.item(), *[p.grad.tolist() for p in model.parameters()]]
    plain = run()
    with nonfinite():
        assert run() == plain


@pytest.mark.parametrize("compute, operation, kind", [
    (lambda: torch.ones(2) / 0, "__truediv__", "Inf"),
    (lambda: torch.ones(2) / torch.tensor([1., 0.]), "__truediv__", "Inf"),
    (lambda: torch.zeros(2).div_(torch.zeros(2)), "div_", "NaN"),
    (lambda: torch.zeros(2).log_(), "log_", "Inf"),
    (lambda: torch.log(torch.zeros(2), out=torch.empty(2)), "log", "Inf"),
    (lambda: torch.log(x := torch.zeros(2), out=x), "log", "Inf"),
    (lambda: torch.tensor([1, 2]) / torch.tensor([0, 1]), "__truediv__", "Inf"),
    (lambda: torch.empty(0).mean(), "mean", "NaN"),
    (lambda: torch.ones(1).std(), "std", "NaN"),
    (lambda: torch.full((2,), 1e30).square(), "square", "Inf"),
    (lambda: torch.full((2,), 1e6).half(), "half", "Inf"),
    (lambda: torch.full((2,), 300., dtype=torch.float16) * 300, "__mul__", "Inf"),
    (lambda: torch.full((2,), 3e38).to(torch.bfloat16) * 4, "__mul__", "Inf"),
    (lambda: torch.log(torch.zeros(2, dtype=torch.complex64)), "log", "Inf"),
    (lambda: torch.complex(torch.ones(1), torch.ones(1)) / 0, "__truediv__", "Inf"),
    (lambda: torch.logsumexp(torch.empty(2, 0), 1), "logsumexp", "Inf"),
    (lambda: F.normalize(torch.zeros(2, 2), eps=0), "normalize", "NaN"),
    (lambda: torch.linalg.cond(torch.zeros(2, 2)), "cond", "NaN"),
    (lambda: torch.stack([torch.ones(2), torch.zeros(2)]).log(), "log", "Inf"),
    (lambda: torch._foreach_log([torch.ones(2), torch.zeros(2)]), "log", "Inf"),
    (lambda: torch.zeros(2, dtype=torch.float16).__setitem__(0, torch.tensor(1e6)), "__setitem__", "Inf"),
    (lambda: torch.tensor([0., 3e38]).to_sparse() * 4, "__mul__", "Inf"),
])
def test_what_is_made(compute, operation, kind):
    error = error_of(compute)
    assert error.operation == operation and " made " in str(error) and f" {kind} of " in str(error)


@pytest.mark.parametrize("compute", [
    lambda: torch.tensor([float("nan"), float("inf")]) * 2,
    lambda: torch.full((2,), float("nan")).exp(),
    lambda: torch.zeros(2).fill_(float("-inf")),
    lambda: torch.zeros(2).masked_fill(torch.tensor([True, False]), -torch.inf).softmax(0),
    lambda: torch.zeros(2).masked_fill_(torch.tensor([True, False]), -torch.inf),
    lambda: torch.zeros(3).new_full((2,), float("inf")),
    lambda: F.pad(torch.zeros(2), (1, 1), value=float("nan")),
    lambda: torch.where(torch.tensor([True, False]), torch.zeros(2), -torch.inf),
    lambda: torch.from_numpy(np.array([np.nan])).clone(),
    lambda: torch.as_tensor([float("nan")]),
    lambda: torch.zeros(2).new_tensor([float("nan")]),
    lambda: torch.empty_like(torch.ones(3)).resize_(2000),
    lambda: torch.nan_to_num(torch.tensor([float("nan")])).log1p(),
    lambda: torch.isnan(torch.zeros(2)),
    lambda: torch.empty(0).sum() + torch.tensor([1, 2]).sum() // 1,
    lambda: torch.empty(3, device="meta") / 0,
    lambda: repr(torch.zeros(3)) + str(torch.tensor([1e-30, 1e30])),
    lambda: torch.zeros(3).__setitem__(slice(0, 1), float("nan")),
    lambda: F.scaled_dot_product_attention(*[torch.ones(1, 3, 4)] * 3, is_causal=True),
    lambda: F.multi_head_attention_forward(
        torch.ones(2, 1, 4), torch.ones(2, 1, 4), torch.ones(2, 1, 4), 4, 2, torch.ones(12, 4), torch.zeros(12), None,
        None, False, 0., torch.ones(4, 4), torch.zeros(4), attn_mask=torch.tensor([[0., -torch.inf], [0., 0.]])),
    lambda: torch.sparse_coo_tensor([[0]], [1.], (3,)).coalesce() * 2,
])
def test_what_is_no_operations_fault(compute):
    with nonfinite():
        compute()


def test_infinities_may_be_allowed_and_what_is_made_of_them_is_not():
    with nonfinite(inf=False):
        y = torch.log(torch.zeros(2))
    assert y.tolist() == [-torch.inf] * 2
    error = error_of(lambda: torch.log(torch.zeros(2)).softmax(0), inf=False)
    assert error.operation == "softmax" and "none finite, 2 Inf" in str(error)
    with nonfinite(nan=False):
        torch.zeros(2) / 0


def test_nan_that_is_given_is_told_on_request():
    def passes():
        return torch.full((2,), float("nan")) + 1
    with nonfinite():
        passes()
    error = error_of(passes, given=True)
    assert str(error).startswith("torch.Tensor.__add__ passed on 2 NaN of 2 elements, the first at [0]. No operation")


def test_the_innermost_counts():
    with nonfinite():
        with nonfinite(nan=False, inf=False):
            torch.log(torch.zeros(2))
        with pytest.raises(NonFiniteError):
            torch.log(torch.zeros(2))
        with nonfinite(inf=False):
            torch.log(torch.zeros(2))


def test_functions_and_generators_are_decorated():
    @nonfinite()
    def compute():
        return torch.log(torch.zeros(1))

    @nonfinite(inf=False)
    def generate():
        yield torch.log(torch.zeros(1))
        yield torch.zeros(1) / 0
    with pytest.raises(NonFiniteError):
        compute()
    found = generate()
    assert next(found).item() == -torch.inf
    torch.zeros(1) / 0                         # between its yields nothing is watched
    with pytest.raises(NonFiniteError):
        next(found)
    abandoned = generate()
    next(abandoned)
    abandoned.close()


def test_a_generator_that_holds_a_block_open_lets_go_of_it():
    def holding():
        with nonfinite():
            yield
            yield
    first, second = holding(), holding()
    next(first)
    next(second)
    first.close()                              # not the innermost
    with pytest.raises(NonFiniteError):
        torch.log(torch.zeros(1))
    second.close()
    torch.log(torch.zeros(1))


def test_threads_watch_for_themselves():
    found = []

    def other():
        found.append(torch.log(torch.zeros(1)).item())
        block = nonfinite()
        block.__enter__()                      # and the thread ends in it
        block._step.remove()
    with nonfinite():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert found == [-torch.inf]


# ------------------------------------------------------------------ backward
def test_backward_names_node_module_line_and_way():
    class Distance(nn.Module):
        def forward(self, x):
            return x.norm(dim=1)  # the root of zero

    def run():
        model, x = nn.Sequential(nn.Linear(2, 2, bias=False), Distance()), torch.zeros(3, 2)
        loss = model(x).square().sqrt().sum()
        loss.backward()
    error = error_of(run)
    lines = str(error).splitlines()
    assert lines[0] == "SqrtBackward0 made 3 Inf of 3 elements of the gradient of its input 0." or \
        lines[0] == "SqrtBackward0 made 3 NaN of 3 elements of the gradient of its input 0."
    assert any(["its gradient: torch.float32 [3], finite values from 1 to 1" in line for line in lines])
    start = lines.index("The gradient came this way, from the loss down:")
    assert [line.split()[0] for line in lines[start + 1:]] == ["SumBackward0", "SqrtBackward0"]
    assert lines[-1].endswith("loss = model(x).square().sqrt().sum()")


def test_backward_in_a_module():
    class Root(nn.Module):
        def forward(self, x):
            return torch.sqrt(x)  # of zero
    model = nn.Sequential(nn.Identity(), nn.Sequential(Root()))
    error = error_of(lambda: (model(torch.zeros(2, requires_grad=True)) * 2).sum().backward())
    assert error.operation == "SqrtBackward0" and error.module == "module '1.0' (Root)"
    assert "in module '1.0' (Root), called here:" in str(error) and error.place.text.endswith("# of zero")


def test_a_masked_derivative_is_found_where_the_mask_does_not_help():
    x = torch.tensor([0., 1.], requires_grad=True)
    error = error_of(lambda: torch.where(x > 0, torch.sqrt(x), 0.).sum().backward())
    assert error.operation == "SqrtBackward0" and "made 1 NaN" in str(error)


def test_a_gradient_that_is_not_finite_when_it_comes_in_is_nobodys_fault():
    x = torch.ones(2, requires_grad=True)
    with nonfinite():
        (x * 2).backward(torch.tensor([float("nan"), float("inf")]))


def test_long_ways_are_shortened():
    def run():
        y = x = torch.zeros(1, requires_grad=True)
        y = torch.sqrt(x)
        for _ in range(100):
            y = y + 1
        y.sum().backward()
    lines = str(error_of(run)).splitlines()
    assert "  ... 78 more ..." in lines and len(lines) < 40


@pytest.mark.parametrize("create_graph", [False, True])
def test_functions_of_the_program(create_graph):
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.from_numpy(np.log(x.numpy(force=True)))

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g / x

    def run(number):
        x = torch.tensor([number], requires_grad=True)
        torch.autograd.grad(Bad.apply(x).sum(), x, create_graph=create_graph)
    with np.errstate(all="ignore"):
        error = error_of(lambda: run(0.))
    assert error.operation == "Bad" and "argument 0: torch.float32 [1], finite values from 0 to 0" in str(error)
    with nonfinite():
        run(1.)
    error = error_of(lambda: torch.autograd.grad(Half.apply(x := torch.zeros(1, requires_grad=True)).sum(), x))
    assert error.operation == "__truediv__" and error.place.text == "return g / 0 * x"


class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / 2

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g / 0 * x


def test_second_derivatives_and_hooks():
    def second():
        x = torch.zeros(1, requires_grad=True)
        g, = torch.autograd.grad((x.abs() ** 1.5).sum(), x, create_graph=True)
        g.sum().backward()
    assert "made 1" in str(error_of(second))
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g / 0)
    assert error_of(lambda: y.sum().backward()).operation == "__truediv__"


def test_checkpoints():
    from tinytorch.utils.checkpoint import checkpoint

    def compute(x):
        return torch.sqrt(x)
    for reentrant in (False, True):
        x = torch.zeros(2, requires_grad=True)
        error = error_of(lambda: checkpoint(compute, x, use_reentrant=reentrant).sum().backward())
        assert error.operation == "SqrtBackward0" and error.place.text == "return torch.sqrt(x)"


def test_transforms():
    x = torch.tensor([[1.], [0.]])
    assert error_of(lambda: torch.vmap(lambda row: row.log())(x)).operation == "log"
    assert error_of(lambda: torch.func.grad(lambda v: v.sqrt().sum())(x)).operation == "SqrtBackward0"
    assert error_of(lambda: torch.func.vmap(torch.func.grad(lambda v: v.sqrt().sum()))(x)).operation == "SqrtBackward0"
    assert "Sqrt" in error_of(lambda: torch.func.jvp(torch.sqrt, (x,), (torch.ones_like(x),))).operation
    with nonfinite():
        torch.func.jacrev(torch.exp)(torch.ones(2))
        torch.func.hessian(lambda v: v.exp().sum())(torch.ones(2))


def test_autocast_is_named():
    def run():
        with torch.autocast("cpu", dtype=torch.float16):
            F.linear(torch.full((1, 2), 3e4), torch.full((1, 2), 3e4))
    error = error_of(run)
    assert error.operation == "linear" and "Autocast casts to torch.float16" in str(error)


def test_modes_and_classes_are_asked_as_ever():
    class Counting(torch.overrides.TorchFunctionMode):
        calls = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            Counting.calls += 1
            return func(*args, **(kwargs or {}))
    with nonfinite(), Counting():
        torch.ones(2).exp()
        with pytest.raises(NonFiniteError):
            torch.zeros(2).log()
        with torch.device("cpu"):
            torch.ones(2).exp()
    assert Counting.calls >= 3


def test_errors_of_operations_stay():
    with nonfinite():
        with pytest.raises(RuntimeError, match="must match the size"):
            torch.ones(2) + torch.ones(3)
        with pytest.raises(TypeError):
            torch.ones(2) + object()
        assert (torch.ones(2) == object()) is False
        with pytest.raises(NonFiniteError):
            torch.log(torch.zeros(1))          # still at work


# ------------------------------------------------------------------ optimisers
def test_an_optimiser_that_makes_parameters_infinite():
    p = nn.Parameter(torch.tensor([1e38]))
    p.grad = torch.tensor([-10.])
    optimizer = torch.optim.SGD([("weight", p)], lr=1e38)
    error = error_of(optimizer.step)
    lines = str(error).splitlines()
    assert lines[0] == "SGD.step made parameter 0 (weight) of group 0 not finite."
    assert "  its gradient: torch.float32 [1], finite values from -10 to -10" in lines and "  lr: 1e+38" in lines
    p = nn.Parameter(torch.ones(1))
    p.grad = torch.tensor([float("nan")])
    with nonfinite():
        torch.optim.SGD([p], lr=.1).step()     # whose gradient was not finite before


def test_the_same_block_twice_and_under_anomaly_mode():
    block = nonfinite()
    for _ in range(2):
        with pytest.raises(NonFiniteError), block:
            torch.log(torch.zeros(1))
    x = torch.zeros(1, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.set_detect_anomaly(True), pytest.raises(NonFiniteError), nonfinite():
            torch.sqrt(x).sum().backward()
