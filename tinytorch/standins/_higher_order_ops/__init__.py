"""torch._higher_order_ops: control flow as functions, which run eagerly. Recordings have only the operations inside."""
from .._refused import refused as _refused, refused_class as _refused_class
from ..missing import namespace as _namespace
from .associative_scan import associative_scan
from .cond import cond
from .map import map
from .out_dtype import out_dtype
from .scan import scan
from .while_loop import while_loop

#: Functions for graphs that a compiler recorded.
_OF_GRAPHS = """aoti_call_delegate auto_functionalized auto_functionalized_v2 call_torchbind dynamo_bypassing_wrapper
    executorch_call_delegate flat_apply flex_attention flex_attention_backward foreach_map _foreach_map hints_wrapper
    inductor_compiled_code inline_asm_elementwise invoke_leaf_function invoke_quant invoke_quant_packed invoke_subgraph
    local_map_hop print run_const_graph strict_mode tag_activation_checkpoint while_loop_stack_output
    with_effects wrap_activation_checkpoint wrap_with_autocast wrap_with_set_grad_enabled""".split()
_REASON = "it is for graphs that a compiler records, and there is no compiler"
globals().update({_name: _refused(__name__, _name, _REASON) for _name in _OF_GRAPHS})
BaseHOP, InvokeQuant = [_refused_class(__name__, _name, _REASON) for _name in ("BaseHOP", "InvokeQuant")]

__all__ = ["BaseHOP", "InvokeQuant", "associative_scan", "cond", "map", "out_dtype", "scan", "while_loop", *_OF_GRAPHS]

__getattr__ = _namespace(__name__)
