"""The reductions of losses by torch's numbers, and by the flags that preceded their names."""
import warnings

from ..errors import warn
from ..ops.nn.cross_entropy import reduction_of

__all__ = []


def get_enum(reduction):
    """0 for "none", 1 for "mean", 2 for "sum". ValueError for any other text."""
    return ("none", "mean", "sum").index(reduction_of(reduction))


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The name of the reduction that the deprecated flags mean. None counts as True."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        name = reduction_of("mean", size_average is None or size_average, reduce)
    if emit_warning:
        warn("size_average and reduce args will be deprecated, please use "
             f"reduction='{name}' instead.")
    return name


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number (see `get_enum`) of the reduction that the deprecated flags mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
