"""The names of grad_fn over torch's op_db, and how many inputs it has: what differs is listed with the reason."""
import pytest
import torch

from .adapter import OPS, Comparisons, Untranslatable, convert, error_of, namesake, refused, samples, tensors
from .test_op_db import HERE

#: Operations whose node has another name here, by the reason.
OTHERWISE_MADE = {
    "made of other operations here, one node in torch": """
        diagonal_scatter nn.functional.pad.circular select_scatter slice_scatter""",
    "one node here, made of other operations in torch": """
__rmatmul__ diff linalg.matrix_power matmul nn.functional.batch_norm nn.functional.cross_entropy
nn.functional.rms_norm
""",
    "one operation for a number and a tensor, which torch counts as two": """
__rmod__ __rpow__ __rsub__ copysign float_power fmod normal normal.number_mean pow remainder round.decimals_0
sort cumulative_trapezoid trapezoid trapz
""",
    "a 0-dim tensor goes through a vector, or a matrix is made of it, on another way": """
atleast_2d atleast_3d
""",
    "an operator registered from Python in torch, which makes up its node's name": """
nn.functional.linear_cross_entropy.chunked nn.functional.linear_cross_entropy.chunked_none
""",
}
LISTED = {name for names in OTHERWISE_MADE.values() for name in names.split()}
COMPARED = [name for name in HERE if OPS[name].supports_autograd and OPS[name].supports_dtype(torch.float64, "cpu")]


#: Operations whose node has another number of inputs: one with a place for a number that torch gives a node of its own
#: (or the reverse: dropout), `cat`, where torch leaves out empty tensors, `lu_solve`, whose integer pivots count too,
#: and products of batches, which torch ends with a view.
OTHER_COUNT = {"clamp_max", "clamp_min", "fill", "index_fill", "lerp", "linalg.lu_solve", "lu_solve",
               "masked_fill", "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
               "nn.functional.feature_alpha_dropout.with_train",
               "nn.functional.scaled_dot_product_attention", "pca_lowrank", "scatter",
               "special.ndtr", "svd_lowrank", "zero_"}


def differences(name):
    """Whether any sample's nodes have other names, and whether any has another number of inputs."""
    op = OPS[name]
    function = namesake(op.op, op.name)
    names = counts = False
    for x, args, kwargs, _ in samples(op, torch.float64, 4, requires_grad=True):
        try:
            ours = convert((x, args, kwargs))
        except Untranslatable:
            continue
        error, theirs = error_of(lambda: op.op(x, *args, **kwargs))
        our_error, mine = error_of(lambda: function(ours[0], *ours[1], **ours[2]))
        if refused(our_error, error, name):
            continue
        for a, b in zip(tensors(mine), tensors(theirs), strict=True):
            a, b = a.grad_fn, b.grad_fn
            Comparisons.values += 1
            names |= (a and a.name()) != (b and b.name())
            counts |= bool(a and b) and len(a.next_functions) != len(b.next_functions)
    return names, counts


@pytest.mark.counted
@pytest.mark.parametrize("name", COMPARED)
def test_names(name):
    """Those of the lists differ, and no others."""
    names, counts = differences(name)
    assert names == (name in LISTED)
    assert name in LISTED or counts == (name in OTHER_COUNT)


def test_the_list_is_of_what_exists():
    assert LISTED | OTHER_COUNT <= set(COMPARED) and not LISTED & OTHER_COUNT
