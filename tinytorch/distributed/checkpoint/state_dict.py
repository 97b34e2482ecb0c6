"""torch.distributed.checkpoint.state_dict: names that libraries import."""
from ..._refused import refused_names

globals().update(refused_names(
    __name__, "there is one file for each torch.save",
    "get_model_state_dict get_optimizer_state_dict get_state_dict set_model_state_dict set_optimizer_state_dict "
    "set_state_dict", "StateDictOptions"))
