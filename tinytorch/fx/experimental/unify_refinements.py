"""torch.fx.experimental.unify_refinements: names to import."""
from ..._refused import refused_names
from .graph_gradual_typechecker import _REASON

globals().update(refused_names(__name__, _REASON, "infer_symbolic_types infer_symbolic_types_single_pass"))
