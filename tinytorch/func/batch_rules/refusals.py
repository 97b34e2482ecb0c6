"""PyTorch's refusals under vmap, and its warnings for operations that it computes sample by sample."""
from ...autograd.grad_mode import mode
from ...ops.layout import strided
from ...tensor import Tensor
from ..batched import NotBatchable, Refusal, Unreadable, level_of
from ..dispatch import INSTEAD, forward_rule

_NO_FALLBACK = "Batching rule not implemented for aten::{}. We could not generate a fallback."
_DYNAMIC = ("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
            "aten::{}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.")


def is_batch(x):
    """Whether a tensor differs from sample to sample, in any vmap."""
    return isinstance(x, Tensor) and level_of(x._array) > 0


def before(name):
    """Decorator of a check that runs before the public function of this name, which is the one in torch's messages."""
    def decorate(check):
        def compute(function, *args, **kwargs):
            check(*args, **kwargs)
            return function(*args, **kwargs)
        INSTEAD[name] = compute
        return check
    return decorate


def _whole():
    """Whether no transform has begun within the innermost vmap: there torch takes apart what consists of other
    operations."""
    return mode.vmap_levels[-1].grad_levels == mode.grad_levels


def _refuse(name, text):
    @before(name)
    def check(*args, **kwargs):
        if name != "column_stack" or _whole():
            raise RuntimeError(text)


for _name in ("equal", "column_stack", "histogramdd"):
    _refuse(_name, _NO_FALLBACK.format(_name))
_refuse("allclose", "vmap over torch.allclose isn't supported yet. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues if you need this feature.")


@before("nonzero")
def _nonzero(input, *, out=None, as_tuple=False):
    raise RuntimeError(_NO_FALLBACK.format("nonzero_numpy") if as_tuple else _DYNAMIC.format("nonzero"))


@before("masked_select")
def _masked_select(input, mask, **options):
    if is_batch(mask):
        raise RuntimeError("vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support "
                           "this because for each batch this would return a differently shaped Tensor. Please file an "
                           "issue at https://github.com/pytorch/pytorch/issues if you need this feature.")


@before("narrow")
def _narrow(input, dim, start, length):
    if isinstance(start, Tensor):
        raise RuntimeError("Batching rule not implemented for aten::narrow.Tensor; the fallback path doesn't work on "
                           "out= or view ops.")


@before("tensor_split")
def _tensor_split(input, indices_or_sections=None, dim=0, **options):
    if isinstance(indices_or_sections, Tensor):
        raise RuntimeError(_NO_FALLBACK.format("tensor_split.tensor_indices_or_sections"))


@before("cov")
def _cov(input, *, correction=1, fweights=None, aweights=None):
    for weights in (fweights, aweights):
        if is_batch(weights):                  # whether they are negative
            try:
                weights._array.item()
            except Unreadable as error:
                raise RuntimeError(str(error)) from None


@before("one_hot")
def _one_hot(input, num_classes=-1):
    if num_classes == -1:
        raise RuntimeError("When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes "
                           "argument.")


_MASK = ("vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing "
         "with a boolean mask.")


@before("index_put")
def _index_put(input, indices, values, accumulate=False):
    if any([is_batch(index) and index._array.dtype == bool for index in indices]):
        raise RuntimeError(_MASK)


@forward_rule(strided._as_strided_scatter)
def _as_strided_scatter(level, *args):
    raise Refusal("Error: aten::as_strided_scatter requires special handling, and does not yet have a batching rule. "
                  "Feel free to file a github issue!")


def check_layer(name):
    """Raises torch's error for recurrent layers. torch decomposes them only if a transform is inside of the vmap."""
    if _whole():
        raise Refusal(_NO_FALLBACK.format(name + ".input"))


# ------------------------------------------------------------------ warnings
def _sample_by_sample(function, *args, **kwargs):
    raise NotBatchable("of any number of places")


INSTEAD["argwhere"] = INSTEAD["nonzero_static"] = _sample_by_sample
