"""What libraries ask of torch's less known modules, against torch."""
import warnings

import pytest
import torch

import tinytorch

from .adapter import same_outcome
from .test_names_of_libraries import part, told

BOTH = [torch, tinytorch]


def block(t):
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Sequential(t.nn.Linear(4, 4), t.nn.Linear(4, 2)))


def checkpointed(t, how):
    room = part(t, "distributed.algorithms._checkpoint.checkpoint_wrapper")
    net = block(t)
    if how == "apply":
        room.apply_activation_checkpointing(net, check_fn=lambda m: isinstance(m, t.nn.Linear))
    elif how == "offload":
        net = room.offload_wrapper(net)
    else:
        net = room.checkpoint_wrapper(net, room.CheckpointImpl[how])
    plain = block(t)
    plain.load_state_dict(net.state_dict())
    net.load_state_dict(plain.state_dict())
    x = t.arange(6.0).view(2, 3).requires_grad_()
    net(x).sum().backward()
    return ([name for name, _ in net.named_parameters()], list(net.state_dict()),
            [type(m).__name__ for m in net.modules()], x.grad, [p.grad for p in net.parameters()],
            type(net[0]).__name__)


@pytest.mark.parametrize("how", ["NO_REENTRANT", "REENTRANT", "apply", "offload"])
def test_modules_that_checkpoint(how):
    same_outcome(lambda t: checkpointed(t, how))


def noted(t):
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = t.nn.Conv2d(1, 2, 3)

        def forward(self, x):
            y = self.conv(x).relu()
            return y.to(memory_format=t.channels_last), t.split(y, 1, 1), y.mean()
    traced = t.fx.symbolic_trace(Net())
    part(t, "fx.passes.shape_prop").ShapeProp(traced).propagate(t.ones(2, 1, 5, 5))
    for node in traced.graph.nodes:
        yield node.name, str(node.meta.get("tensor_meta")).replace("tinytorch", "torch"), node.meta["type"].__name__


def test_shapes_noted_in_graphs():
    ours, theirs = list(noted(tinytorch)), list(noted(torch))
    assert len(theirs) > 4 and ours == theirs


def test_shapes_of_a_node_that_fails(capsys):
    for t in BOTH:
        traced = t.fx.symbolic_trace(lambda x: x @ x)
        with pytest.raises(RuntimeError, match="ShapeProp error for: node=%matmul"):
            part(t, "fx.passes.shape_prop").ShapeProp(traced).propagate(t.ones(2, 3))


SMALL = {
    "promoted": lambda t: part(t, "_higher_order_ops.out_dtype").out_dtype(
        t.ops.aten.mm.default, t.int32, t.full((2, 3), 100, dtype=t.int8), t.full((3, 2), 100, dtype=t.int8)),
    "divided": lambda t: part(t, "_higher_order_ops.out_dtype").out_dtype(
        t.ops.aten.div.Tensor, t.float64, t.ones(2), t.tensor([3.0, 7.0], dtype=t.float64)),
    "no operator": lambda t: part(t, "_higher_order_ops.out_dtype").out_dtype(t.mm, t.int32, t.ones(2, 2), 1),
    "strides": lambda t: [part(t, "_prims_common").make_contiguous_strides_for(shape, rows)
                          for shape in ((), (3,), (2, 3, 4), (2, 0, 4)) for rows in (True, False)],
    "formats": lambda t: [str(part(t, "_prims_common").suggest_memory_format(x)) for x in (
        t.ones(2, 3, 4, 5), t.ones(2, 3, 4, 5).to(memory_format=t.channels_last), t.ones(2, 3).T,
        t.ones(2, 3, 4, 5, 6).to(memory_format=t.channels_last_3d))],
    "no triton": lambda t: [getattr(part(t, "utils._triton"), f"has_triton{end}")()
                            for end in ("", "_package", "_tma")],
    "no modes": lambda t: [part(t, "utils._python_dispatch")._get_current_dispatch_mode(),
                           part(t, "utils._python_dispatch").is_traceable_wrapper_subclass(t.ones(1)),
                           part(t, "utils._python_dispatch").is_in_torch_dispatch_mode()],
    "modules of devices": lambda t: part(t, "_utils")._get_device_module("cpu").__name__.rpartition(".")[2],
    "no device": lambda t: part(t, "_utils")._get_device_module("abacus"),
    "activation": lambda t: part(t, "nn.modules.transformer")._get_activation_fn("gelu")(t.ones(2)),
    "no activation": lambda t: part(t, "nn.modules.transformer")._get_activation_fn("swish"),
    "copies": lambda t: [t._has_compatible_shallow_copy_type(t.ones(1), other) for other in (
        t.ones(2, dtype=t.int8), t.ones(2, device="meta"), t.ones(2).to_sparse())],
    "rows": lambda t: part(t, "ao.quantization.fx._decomposed")._per_token_quant_qparam_dim_check(
        t.ones(4, 3), t.ones(3, 1), t.ones(4, 1)),
    "late": lambda t: t.cuda._lazy_call(lambda: 1 / 0),
    "schema": lambda t: part(t, "_library.infer_schema").infer_schema(increased, mutates_args=()) if t is torch else (
        part(t, "_library.infer_schema").infer_schema(increased_here, mutates_args=())),
    "no backward": lambda t: t.autograd.Variable._execution_engine.queue_callback(print),
}


def increased(x: torch.Tensor, by: float = 1.0) -> torch.Tensor:
    return x + by


def increased_here(x: tinytorch.Tensor, by: float = 1.0) -> tinytorch.Tensor:
    return x + by


@pytest.mark.parametrize("name", SMALL)
def test_small_things(name):
    ours, theirs = [told(SMALL[name], t) for t in (tinytorch, torch)]
    assert ours == theirs


def test_warnings_given_once():
    for t in BOTH:
        warn_once = part(t, "_dynamo.utils").warn_once
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            for _ in range(2):
                warn_once(f"something {t.__name__}")
        assert [str(warning.message) for warning in given] == [f"something {t.__name__}"]
        assert given[0].filename == __file__


def registered(t):
    hooks = part(t, "nn.modules.module")
    handle = hooks.register_module_parameter_registration_hook(lambda module, name, parameter: None)
    try:
        yield len(hooks._global_parameter_registration_hooks), len(hooks._global_buffer_registration_hooks)
    finally:
        handle.remove()
    handle = hooks.register_module_forward_hook(lambda *args: None, always_call=True)
    yield [handle.id in kept for kept in (hooks._global_forward_hooks, hooks._global_forward_hooks_always_called,
                                          hooks._global_forward_hooks_with_kwargs, hooks._global_forward_pre_hooks)]
    handle.remove()
    yield len(hooks._global_forward_hooks), len(hooks._global_parameter_registration_hooks)


def test_hooks_of_all_modules_by_name():
    assert list(registered(tinytorch)) == list(registered(torch))


def called_at_the_end(t):
    queue, found = t.autograd.Variable._execution_engine.queue_callback, []
    x = t.ones(2, requires_grad=True)

    def hook(g):
        queue(lambda: (found.append(("first", x.grad.tolist())), queue(lambda: found.append("second"))))
    x.register_hook(hook)
    (x * 2).sum().backward()
    found.append("after")
    (x * 3).sum().backward()
    return found


def test_callbacks_at_the_end_of_backward():
    ours, theirs = called_at_the_end(tinytorch), called_at_the_end(torch)
    assert ours == theirs and len(theirs) == 5


def operators(t):
    """An operator with a function of its own for autograd, which calls the operator below."""
    space = f"{t.__name__}_rare"
    library = t.library.Library(space, "FRAGMENT")
    library.define("cubed(Tensor x) -> Tensor")
    library.impl("cubed", lambda x: x * x * x, "CPU")
    op = getattr(t.ops, space).cubed

    class Cubed(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            with t._C._AutoDispatchBelowAutograd():
                return op(x)

        @staticmethod
        def backward(ctx, g):
            return g * 30 * ctx.saved_tensors[0] ** 2
    library.impl("cubed", Cubed.apply, "AutogradCPU")
    x = t.tensor([2.0], requires_grad=True)
    op(x).sum().backward()
    yield op(x).tolist(), x.grad.tolist(), op(t.tensor([3.0])).tolist(), op(x).requires_grad
    yield operator_of_triton(t, space)(t.tensor([4.0])).tolist()
    library._destroy()


def operator_of_triton(t, space):
    def halved(x):
        return x / 2
    halved.__annotations__ = {"x": t.Tensor, "return": t.Tensor}
    return t.library.triton_op(f"{space}::halved", halved, mutates_args=())


def test_operators_that_see_to_gradients_themselves_and_those_for_triton():
    assert list(operators(tinytorch)) == list(operators(torch))


@pytest.mark.parametrize("use", [
    lambda t: t.sparse.to_sparse_semi_structured(t.ones(4, 4)), lambda t: t.sparse.SparseSemiStructuredTensor(),
    lambda t: part(t, "sparse._triton_ops_meta").get_meta("bsr", (1,)), lambda t: part(t, "_inductor").compile(None),
    lambda t: part(t, "utils._python_dispatch").return_and_correct_aliasing(None, (), {}, None),
    lambda t: part(t, "distributed.tensor.experimental").local_map(len),
    lambda t: part(t, "distributed.nn").RemoteModule(), lambda t: part(t, "distributed.fsdp").ShardingStrategy()])
def test_what_cannot_be_done_says_so_when_it_is_used(use):
    with pytest.raises(NotImplementedError, match="is not supported"):
        use(tinytorch)


def test_settings_of_a_compiler_change_nothing():
    config = part(tinytorch, "_inductor.config")
    config.force_fuse_int_mm_with_mul = config.triton.anything = True
    assert part(tinytorch, "_inductor.decomposition").register_decomposition([len])(abs) is abs
