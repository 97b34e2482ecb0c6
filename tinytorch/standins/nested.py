"""torch.nested: names to import. There are no tensors whose rows have different lengths."""
from ._refused import refused_names
from .missing import namespace as _namespace

_REASON = "there are no nested tensors; pad them (torch.nn.utils.rnn.pad_sequence) or pack them"
_REFUSED = refused_names(__name__, _REASON, """as_nested_tensor masked_select narrow nested_tensor
    nested_tensor_from_jagged to_padded_tensor""")
globals().update(_REFUSED)
__all__ = [*_REFUSED]

__path__: list[str] = []                      # torch has a package of this name: refused.txt
__getattr__ = _namespace(__name__)
