"""torch.fx.passes: passes that analyse or change a graph."""
from ...missing import namespace as _namespace

__getattr__ = _namespace(__name__, (
    "dialect", "fake_tensor_prop", "graph_drawer", "graph_manipulation", "infra", "net_min_base", "operator_support",
    "param_fetch", "reinplace", "shape_prop", "split_module", "split_utils", "splitter_base", "tools_common", "utils"))
