"""Module: registration, calls, hooks, state, copies; Parameter; containers; the runtime's answers."""
import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import nn


class Scale(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(1., n + 1))
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x):
        self.calls += 1
        return self.weight * x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Scale(), Scale()

    def forward(self, x):
        return self.second(self.first(x))


# ------------------------------------------------------------------ Parameter
def test_parameter_shares_memory_and_is_a_leaf():
    x = torch.tensor([1., 2.])
    p = nn.Parameter(x)
    with torch.no_grad():
        p += 1
    assert x.tolist() == [2., 3.] and p.is_leaf and p.requires_grad
    assert type(p * 2) is torch.Tensor and type(p) is nn.Parameter


def test_parameter_needs_a_floating_dtype():
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        nn.Parameter(torch.tensor([1]))
    assert nn.Parameter(torch.tensor([1]), requires_grad=False).dtype is torch.int64


def test_parameter_of_a_tensor_subclass_keeps_its_class():
    class Mine(torch.Tensor):
        pass
    p = nn.Parameter(Mine([1., 2.]))
    assert type(p) is Mine and isinstance(p, nn.Parameter) and not isinstance(Mine([1.]), nn.Parameter)
    m = nn.Module()
    m.p = p
    assert [name for name, _ in m.named_parameters()] == ["p"]


def test_parameter_pickles_with_attributes_but_without_gradient():
    p = nn.Parameter(torch.ones(2))
    p.tag, p.grad = "x", torch.ones(2)
    q = pickle.loads(pickle.dumps(p))
    assert type(q) is nn.Parameter and q.requires_grad and q.tag == "x" and q.grad is None


def test_uninitialized_parameter_refuses_use():
    p = nn.UninitializedParameter(dtype=torch.float64)
    assert repr(p) == "<UninitializedParameter>" and p.dtype is torch.float64 and isinstance(p, nn.Parameter)
    with pytest.raises(ValueError, match="uninitialized parameter"):
        p * 2
    with pytest.raises(RuntimeError, match="Can't access the shape"):
        p.shape
    p.materialize((2, 3))
    assert type(p) is nn.Parameter and p.shape == (2, 3) and p.dtype is torch.float64 and p.requires_grad


# ------------------------------------------------------------------ registration and calls
def test_registered_members_move_between_registries():
    m = nn.Module()
    m.x = 3
    m.x = nn.Parameter(torch.ones(1))
    assert "x" not in m.__dict__ and list(m._parameters) == ["x"]
    del m.x
    m.register_buffer("x", torch.ones(1), persistent=False)
    m.x = nn.Identity()
    assert not m._buffers and not m._non_persistent_buffers_set and list(m._modules) == ["x"]
    m.x = None
    assert m.x is None and list(m._modules) == ["x"]


def test_assignment_before_init():
    class Early(nn.Module):
        def __init__(self):
            self.p = nn.Parameter(torch.ones(1))
    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__\(\) call"):
        Early()


def test_missing_forward():
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'):
        nn.Module()(1)


def test_forward_assigned_to_an_instance_is_called():
    m = Net()
    m.forward = lambda x: "mine"
    assert m(1) == "mine"


def test_call_without_hooks_is_one_check(monkeypatch):
    monkeypatch.setattr(nn.Module, "_hooked", False)       # other tests may have had hooks for all modules
    m = nn.Identity()
    assert not m._hooked
    handle = m.register_forward_hook(lambda *args: 3)
    assert m(1) == 3
    handle.remove()
    assert m(1) == 1


def test_dropped_module_is_freed_at_once():
    gc.disable()
    try:
        m = Net()
        m.first.register_full_backward_hook(lambda *args: None)
        x = torch.ones(2, requires_grad=True)
        m(x).sum().backward()
        ref = weakref.ref(m)
        del m
        assert ref() is None
    finally:
        gc.enable()


def test_to_keeps_the_identity_of_parameters_and_their_gradients():
    m = Scale()
    p = m.weight
    m(torch.ones(2)).sum().backward()
    assert m.double() is m
    assert m.weight is p and p.dtype is torch.float64 and p.grad.dtype is torch.float64 and m.calls.dtype is torch.int64


def test_to_refuses_what_is_not_there():
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        Net().to("cuda")
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        Net().to(torch.int32)


def test_backward_hook_of_old():
    m = nn.Identity()
    m.register_backward_hook(print)
    with pytest.raises(RuntimeError, match="regular backward hooks and full backward hooks"):
        m.register_full_backward_hook(print)


# ------------------------------------------------------------------ hooks
def test_full_backward_hooks_see_and_replace_gradients():
    m, seen = Net(), []
    m.first.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 10,))
    m.first.register_full_backward_hook(lambda module, inputs, outputs: seen.append((inputs, outputs)))
    m.second.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] + 1,))
    x = torch.ones(2, requires_grad=True)
    m(x).sum().backward()
    (inputs,), (outputs,) = seen[0]
    assert outputs.tolist() == [20., 30.] and inputs.tolist() == [20., 60.] and x.grad.tolist() == [20., 60.]


def test_backward_hooks_under_create_graph():
    m = Scale()
    m.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 2,))
    x = torch.tensor([3., 4.], requires_grad=True)
    y = m(x)
    g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    assert g.tolist() == [12., 64.]            # 2 * d(w x)^2/dx = 4 w^2 x
    g.sum().backward()
    assert x.grad.tolist() == [8., 32.]        # the graph of g has the hook in it twice, yet doubles g once


def test_in_place_write_to_a_hooked_output_is_noticed():
    class Exp(nn.Module):
        def forward(self, x):
            return x.exp()
    m = Exp()
    m.register_full_backward_hook(lambda *args: None)
    y = m(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="Output 0 of BackwardHookFunction is a view and is being modified inplace"):
        y.mul_(2)


def test_always_called_hook_runs_when_forward_raises():
    class Broken(nn.Module):
        def forward(self, x):
            raise ValueError("broken")
    m, seen = Broken(), []
    m.register_forward_hook(lambda module, args, out: seen.append(out), always_call=True)
    with pytest.raises(ValueError, match="broken"):
        m(1)
    assert seen == [None]


def test_global_hooks():
    seen = []
    with nn.modules.module.register_module_forward_hook(lambda module, args, out: seen.append(type(module).__name__)):
        Net()(torch.ones(2))
    Net()(torch.ones(2))
    assert seen == ["Scale", "Scale", "Net"]


# ------------------------------------------------------------------ state
def test_state_dict_round_trip_copies():
    a, b = Net(), Net()
    with torch.no_grad():
        a.first.weight.mul_(5)
    assert repr(b.load_state_dict(a.state_dict())) == "<All keys matched successfully>"
    assert b.first.weight.tolist() == [5., 10.]
    assert b.first.weight.data_ptr() != a.first.weight.data_ptr()


def test_load_state_dict_reports_everything_at_once():
    with pytest.raises(RuntimeError) as error:
        Net().load_state_dict({"first.weight": torch.ones(3), "odd": 1, "first.calls": 3})
    assert str(error.value).split("\n\t") == [
        "Error(s) in loading state_dict for Net:",
        'Missing key(s) in state_dict: "second.weight", "second.calls". ',
        'Unexpected key(s) in state_dict: "odd". ',
        "size mismatch for first.weight: copying a param with shape torch.Size([3]) from checkpoint, "
        "the shape in current model is torch.Size([2]).",
        'While copying the parameter named "first.calls", expected torch.Tensor or Tensor-like object from checkpoint '
        "but received <class 'int'>"]


def test_load_state_dict_assign_takes_the_tensors():
    m, values = Scale(), {"weight": torch.zeros(2), "calls": torch.tensor(7)}
    m.load_state_dict(values, assign=True)
    assert m.weight.data_ptr() == values["weight"].data_ptr() and isinstance(m.weight, nn.Parameter)
    assert m.calls is values["calls"]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_independent(duplicate):
    m = Net()
    m.second = m.first
    twin = duplicate(m)
    assert twin.second is twin.first
    with torch.no_grad():
        twin.first.weight.zero_()
    assert m.first.weight.tolist() == [1., 2.]
    assert twin(torch.ones(2)).tolist() == [0., 0.]


# ------------------------------------------------------------------ containers
def test_module_list_of_equal_layers_is_shown_once():
    layers = nn.ModuleList([nn.Identity(), nn.Identity(), nn.Flatten()])
    assert repr(layers) == "ModuleList(\n  (0-1): 2 x Identity()\n  (2): Flatten(start_dim=1, end_dim=-1)\n)"


def test_sequential_renumbers_after_deletion():
    s = nn.Sequential(*[nn.Flatten(i) for i in range(4)])
    del s[1:3]
    assert list(s._modules) == ["0", "1"] and s[1].start_dim == 3
    with pytest.raises(IndexError, match="index 2 is out of range"):
        s[2]


def test_doubling_a_list_in_place_ends():
    layers = nn.ModuleList([nn.Identity()])
    layers += layers
    assert len(layers) == 2


def test_linear_starts_within_its_bound():
    layer = nn.Linear(16, 8, dtype=torch.float64)
    for p in layer.parameters():
        assert p.dtype is torch.float64 and np.abs(p.detach().numpy()).max() <= 0.25


def test_lazy_linear_becomes_linear():
    layer = nn.LazyLinear(3)
    assert layer(torch.ones(2, 4)).shape == (2, 3)
    assert type(layer) is nn.Linear and layer.in_features == 4 and not layer._forward_pre_hooks


# ------------------------------------------------------------------ the runtime
def test_no_accelerator():
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0 and torch.cuda.manual_seed_all(1) is None
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.cuda.synchronize()
    assert not torch.backends.mps.is_available() and torch.accelerator.current_accelerator() is None


def test_settings_are_remembered():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    assert torch.get_num_threads() == 3
    torch.set_num_threads(before)
    torch.backends.cudnn.benchmark = True
    assert torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = False
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        torch.set_num_threads(0)
