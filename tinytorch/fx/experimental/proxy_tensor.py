"""torch.fx.experimental.proxy_tensor: `make_fx`, the graph of a call in ATen's operators."""
import functools

from ...missing import namespace as _namespace
from ...tensor import Tensor
from ...utils import _pytree as pytree
from ..code import _PyTreeCodeGen, _PyTreeInfo

__all__ = ["get_proxy_mode", "make_fx", "maybe_disable_fake_tensor_mode"]

_OUT_OF_SIGHT = (
    "It appears that you're trying to get value out of a tracing tensor with aten._local_scalar_dense.default - "
    "erroring out! It's likely that this is caused by data-dependent control flow or similar.  It may be possible to "
    "trace this with dynamic shapes; try setting tracing_mode='symbolic' in your make_fx call.")


def make_fx(f, decomposition_table=None, tracing_mode="real", _allow_non_fake_inputs=False, *, pre_dispatch=False,
            record_module_stack=False, _allow_fake_constant=False, _error_on_data_dependent_ops=True,
            record_stack_traces=False, proxy_module_inputs=False, _disable_torch_fn_metadata_mode=False):
    """A function that calls f, records the call and returns a GraphModule of it in ATen's operators.

    Its inputs are the tensors among the arguments, also those in tuples, lists and dicts; shapes are numbers. Operators
    that torch takes apart stay whole (linear, batch_norm). RuntimeError where a tensor becomes a Python value,
    NotImplementedError for a tracing mode other than "real" and for computations that no recording sees.

    >>> import tinytorch as torch
    >>> from tinytorch.fx.experimental.proxy_tensor import make_fx
    >>> g = make_fx(lambda x: torch.sin(x)[0])(torch.zeros(2))
    >>> print(g.code.strip())
    def forward(self, x_1):
        sin = torch.ops.aten.sin.default(x_1);  x_1 = None
        select = torch.ops.aten.select.int(sin, 0, 0);  sin = None
        return select
    """
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"tracing_mode must be one of 'real', 'fake', or 'symbolic', got {tracing_mode}")
    if tracing_mode != "real":
        raise NotImplementedError(f"make_fx: tracing_mode={tracing_mode!r} is not supported: shapes are numbers here")
    if decomposition_table:
        raise NotImplementedError("make_fx: decomposition_table is not supported: operators stay whole here")

    @functools.wraps(f)
    def wrapped(*args):
        from ...capture.twice import record
        from ...nn import Module
        from ..graph_module import GraphModule

        def refuse(kind):
            if kind not in ("len", "iter") and not kind.startswith("constant"):
                raise RuntimeError(_OUT_OF_SIGHT)
        found = record(f, args, reads=refuse, suffix="_1")
        _enter_numbers(found, args)
        given = pytree.tree_structure(tuple(args))
        if not all([child.is_leaf() for child in given.children()]):
            output = found.graph.output_node()
            leaves, spec = pytree.tree_flatten(output.args[0])
            output.args = (leaves,)
            found.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(found.parameters, given, spec)))
        root = Module()
        for name, tensor in found.constants.items():
            if tensor.requires_grad or not name.startswith("_tensor"):
                setattr(root, name, tensor)
            else:
                root.register_buffer(name, tensor)
        return GraphModule(root, found.graph, "f" if isinstance(f, Module) else getattr(f, "__name__", "f"))
    return wrapped


def _enter_numbers(found, args):
    """Adds placeholders for the arguments that are not tensors. The graph holds their values as constants."""
    tensors = iter(found.graph.find_nodes(op="placeholder"))
    last = None
    for name, x in zip(found.parameters, args):
        leaves = pytree.tree_leaves(x)
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, Tensor):
                last = next(tensors)
                if leaf is not x:
                    last.target = f"{name}_{i + 1}"
                    last._rename(last.target)
                continue
            context = found.graph.inserting_before() if last is None else found.graph.inserting_after(last)
            with context:
                last = found.graph.placeholder(f"{name}_1" if leaf is x else f"{name}_{i + 1}")


def get_proxy_mode():
    """The recorder that is active in this thread, or None."""
    from ...autograd.torch_function import modes
    return next((mode for mode in reversed(modes()) if type(mode).__name__ == "Recorder"), None)


class maybe_disable_fake_tensor_mode:
    """A context that changes nothing."""

    def __enter__(self):
        """Nothing."""

    def __exit__(self, *error):
        """Nothing."""


__getattr__ = _namespace(__name__)
