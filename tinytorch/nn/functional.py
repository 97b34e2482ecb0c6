"""torch.nn.functional: the layers as functions. The work is done in ops/; only torch's names are gathered here."""
import warnings

from ..ops.nn import softmax as _softmax
from ..ops.nn.activation import (hardshrink, hardsigmoid, hardswish, hardtanh, hardtanh_, leaky_relu, leaky_relu_,
                                 prelu, relu as _relu, relu6, relu_, rrelu, rrelu_, softshrink, threshold, threshold_)
from ..ops.nn.adaptive_pool import (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d,
                                    adaptive_max_pool1d_with_indices, adaptive_max_pool2d,
                                    adaptive_max_pool2d_with_indices, adaptive_max_pool3d,
                                    adaptive_max_pool3d_with_indices, lp_pool1d, lp_pool2d, lp_pool3d, max_unpool1d,
                                    max_unpool2d, max_unpool3d)
from ..ops.nn.bilinear import bilinear
from ..ops.nn.conv import conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, fold, unfold
from ..ops.nn.cross_entropy import cross_entropy, nll_loss
from ..ops.nn.ctc import ctc_loss
from ..ops.nn.dropout import (alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout,
                              gumbel_softmax)
from ..ops.nn.embedding import embedding, embedding_bag, one_hot
from ..ops.linalg.products import linear
from ..ops.nn.loss import (binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss,
                           gaussian_nll_loss, hinge_embedding_loss, huber_loss, kl_div, l1_loss, margin_ranking_loss,
                           mse_loss, multi_margin_loss, multilabel_margin_loss, multilabel_soft_margin_loss,
                           poisson_nll_loss, smooth_l1_loss, soft_margin_loss, triplet_margin_loss,
                           triplet_margin_with_distance_loss)
from ..ops.elementwise.math import tanh
from ..ops.nn.norm import batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, rms_norm
from ..ops.nn.pad import pad
from ..ops.nn.pool import (avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool1d_with_indices, max_pool2d,
                           max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices)
from ..ops.nn.similarity import cosine_similarity, normalize, pairwise_distance, pdist
from ..ops.nn.smooth_activation import (celu, celu_, elu, elu_, gelu, glu, logsigmoid, mish, selu, selu_, silu,
                                        softplus, softsign, tanhshrink)
from ..ops.elementwise.special import sigmoid


def relu(input, inplace=False):
    """max(input, 0); its derivative at 0 is 0. With `inplace` the input itself is overwritten. RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.nn.functional.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return relu_(input) if inplace else _relu(input)


def _implicit(name, dim, input, stacklevel):
    """The dimension that torch's old default takes."""
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                  "argument.", stacklevel=stacklevel)
    return 0 if input.ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """torch.softmax; without `dim`, which is deprecated, along dimension 1 (0 for 0, 1 and 3 dimensions).

    >>> import tinytorch as torch
    >>> torch.nn.functional.softmax(torch.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return _softmax.softmax(input, _implicit("softmax", dim, input, _stacklevel), dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-input).

    >>> import tinytorch as torch
    >>> torch.nn.functional.softmin(torch.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return _softmax.softmax(-input, _implicit("softmin", dim, input, _stacklevel), dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """torch.log_softmax; without `dim` as in `softmax`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.log_softmax(torch.tensor([0., 0.]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    return _softmax.log_softmax(input, _implicit("log_softmax", dim, input, _stacklevel), dtype)
