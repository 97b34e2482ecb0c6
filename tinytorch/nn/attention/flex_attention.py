"""Names of torch's attention with scores by a function, which needs a compiler: each says that it is not there."""

__all__ = ["BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks"]


def _missing(name):
    def function(*args, **kwargs):
        raise NotImplementedError(f"torch.nn.attention.flex_attention.{name} is not supported, since it needs a "
                                  "compiler: use torch.nn.functional.scaled_dot_product_attention with a mask")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "NotImplementedError: it needs a compiler. See torch.nn.functional.scaled_dot_product_attention."
    return function


and_masks, create_block_mask, create_mask, flex_attention, noop_mask, or_masks = map(_missing, __all__[1:])
#: The side of the blocks of a BlockMask.
_DEFAULT_SPARSE_BLOCK_SIZE = 128


class AuxRequest:
    """NotImplementedError: it is for `flex_attention`."""

    __init__ = _missing("AuxRequest")


class BlockMask:
    """NotImplementedError: it is for `flex_attention`."""

    __init__ = _missing("BlockMask")
