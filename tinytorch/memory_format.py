"""torch.memory_format: the order of dimensions in memory. torch.layout: strided, and the layouts of sparse tensors."""


class memory_format:
    """One of torch's memory formats (`torch.channels_last`, ...).

    >>> import tinytorch as torch
    >>> torch.channels_last
    torch.channels_last
    """

    __slots__ = ("name", "order")

    def __init__(self, name, order=None):
        self.name, self.order = name, order    # order: the dimensions from the slowest to the fastest

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name


class layout:
    """How a tensor's elements are stored: `torch.strided`, `torch.sparse_coo` ..."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last", (0, 2, 3, 1))
channels_last_3d = memory_format("channels_last_3d", (0, 2, 3, 4, 1))
strided = layout("strided")
sparse_coo, sparse_csr, sparse_csc = layout("sparse_coo"), layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc = layout("sparse_bsr"), layout("sparse_bsc")

#: The name of a layout, and of its backend, in torch's messages.
LAYOUT_NAMES = {strided: "Strided", sparse_coo: "Sparse", sparse_csr: "SparseCsr", sparse_csc: "SparseCsc",
                sparse_bsr: "SparseBsr", sparse_bsc: "SparseBsc"}


def memory_order(format, ndim):
    """The memory order of a tensor of `ndim` dimensions: "K" (as its source), "C", or the order of its dimensions."""
    if format is None or format is preserve_format:
        return "K"
    if format is contiguous_format:
        return "C"
    if not isinstance(format, memory_format):
        raise TypeError(f"argument 'memory_format' must be torch.memory_format, not {type(format).__name__}")
    if ndim != len(format.order):
        raise RuntimeError(f"required rank {len(format.order)} tensor to use {format.name} format")
    return format.order


def check_layout(given):
    """True; NotImplementedError for a layout other than strided."""
    if given is not None and given is not strided:
        raise NotImplementedError(f"this function makes strided tensors only, not tensors of layout {given}")
    return True


def dense_steps(shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """The number of elements between neighbours along each dimension, in C order, where torch counts sizes of 0 as 1;
    or with the dimensions in another order, where it does not."""
    steps, step = [1] * len(shape), 1
    for d in reversed(range(len(shape)) if order is None else order):
        steps[d] = step
        step *= shape[d] if order else max(shape[d], 1)
    return tuple(steps)
