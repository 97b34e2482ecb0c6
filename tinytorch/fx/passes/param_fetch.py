"""torch.fx.passes.param_fetch: names to import."""
from ..._refused import refused_names

globals().update(refused_names(__name__, "it tells accelerators what layers hold, and there are none here; nodes have "
                               "`target`, and modules named_parameters()",
                               "default_matching extract_attrs_for_lowering lift_lowering_attrs_to_nodes"))
