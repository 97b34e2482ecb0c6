"""torch.utils.model_zoo: the former name of torch.hub's functions."""
from ..hub import load_state_dict_from_url as load_url, tqdm

__all__ = ["load_url", "tqdm"]
