"""torch.fx.experimental.graph_gradual_typechecker: names to import."""
from ..._refused import refused_names

_REASON = "types of graphs are not inferred here; fx.passes.shape_prop finds shapes"
globals().update(refused_names(
    __name__, _REASON, "broadcast_types expand_to_tensor_dim register_inference_rule register_refinement_rule",
    "GraphTypeChecker Refine"))
