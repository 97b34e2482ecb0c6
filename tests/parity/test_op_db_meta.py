"""torch's op_db on tensors of the device `meta`: what is computed there has torch's dtypes, shapes and strides, and no
number comes out. What is refused is refused as such."""
import warnings

import pytest
import torch
from torch.utils._pytree import tree_map

import tinytorch

from .adapter import OPS, Comparisons, Untranslatable, convert, error_of, namesake, samples, tensors
from .test_op_db import HERE

#: (A view that is moved leaves behind the memory around it: no sample of partial views.)
NAMES = [name for name in HERE if OPS[name].supports_dtype(torch.float32, "cpu") and name != "as_strided.partial_views"]
#: An index into a tensor of one element is a number on the CPU; and a result without elements is there.
ON_CPU = {"argmax", "argmin", "argsort", "bernoulli", "cdist", "cummax", "cummin", "gather", "kthvalue",
          "linalg.householder_product", "linalg.ldl_factor", "linalg.ldl_factor_ex", "max.reduction_with_dim", "median",
          "min.reduction_with_dim", "mode", "nanmedian", "nn.functional.adaptive_max_pool2d",
          "nn.functional.adaptive_max_pool3d", "sort", "topk"}
#: Other shapes: statistics that were not asked for; strides of what has no elements.
OTHER = {"_native_batch_norm_legit", "native_batch_norm", "empty_permuted"}
#: Both need numbers, in other places.
LENIENT = {"combinations", "corrcoef", "cov", "equal"}


def on_meta(tree, library):
    return tree_map(lambda x: x.detach().to("meta") if isinstance(x, library.Tensor) else x, tree)


def described(tree):
    return [(str(x.dtype).split(".")[1], tuple(x.shape), x.stride(), x.is_meta) for x in tensors(tree)]


def compare(name, count):
    op = OPS[name]
    function = namesake(op.op, op.name)
    for x, args, kwargs, _ in samples(op, torch.float32, count):
        try:
            ours = on_meta(convert((x, args, kwargs)), tinytorch)
            theirs = on_meta((x, args, kwargs), torch)
        except (NotImplementedError, Untranslatable):          # of a sparse tensor
            continue
        error, expected = error_of(lambda: op.op(theirs[0], *theirs[1], **theirs[2]))
        our_error, found = error_of(lambda: function(ours[0], *ours[1], **ours[2]))
        if our_error is not None:
            assert isinstance(our_error, NotImplementedError) or "meta" in str(our_error) or error is not None
        elif error is not None:
            assert name in LENIENT
        elif name not in OTHER:
            told = 3 if name in ON_CPU else 4
            assert [t[:told] for t in described(found)] == [t[:told] for t in described(expected)]
            Comparisons.values += 1


@pytest.mark.parametrize("name", NAMES)
def test_meta(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(name, 2)


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_meta_of_every_sample(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(name, 8)
