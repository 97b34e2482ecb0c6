"""The names of torch's attention with a score function. It is not supported: each call raises NotImplementedError."""

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
    """NotImplementedError: a part of `flex_attention`, which is not supported."""

    __init__ = _missing("AuxRequest")


class BlockMask:
    """NotImplementedError: a part of `flex_attention`, which is not supported."""

    __init__ = _missing("BlockMask")
