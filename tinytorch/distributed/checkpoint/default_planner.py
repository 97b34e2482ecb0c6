"""torch.distributed.checkpoint.default_planner: names that libraries import."""
from ..._refused import refused_names

globals().update(refused_names(
    __name__, "there is one file for each torch.save", "",
    "DefaultLoadPlanner DefaultSavePlanner"))
