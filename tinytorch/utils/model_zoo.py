"""torch.utils.model_zoo: torch.hub's, as it was called before."""
from ..hub import load_state_dict_from_url as load_url, tqdm

__all__ = ["load_url", "tqdm"]
