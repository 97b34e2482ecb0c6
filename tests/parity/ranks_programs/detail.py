"""Collectives that do not fit together, under TORCH_DISTRIBUTED_DEBUG=DETAIL."""
from tests.parity.ranks import outcome


def main(torch, rank, size):
    dist, results = torch.distributed, {}

    def case(name, function):
        results[name] = outcome(torch, function)

    def all_reduce(*shape, dtype=torch.float32, op=dist.ReduceOp.SUM):
        x = torch.ones(shape, dtype=dtype)
        dist.all_reduce(x, op)
        return x
    case("fit", lambda: all_reduce(3))
    case("shapes", lambda: all_reduce(4 + rank))
    case("two dimensions", lambda: all_reduce(2 + rank, 3))
    case("dimensions", lambda: all_reduce(*[6] if rank % 2 else [2, 3]))
    case("dtypes", lambda: all_reduce(4, dtype=torch.float32 if rank else torch.float64))
    case("integers", lambda: all_reduce(4, dtype=torch.bfloat16 if rank else torch.int64))
    case("order", lambda: all_reduce(4) if rank else dist.broadcast(torch.zeros(4), 0))
    case("order of shapes", lambda: all_reduce(4) if rank else dist.all_gather([torch.zeros(5)] * size, torch.zeros(5)))
    case("barrier", lambda: all_reduce(4) if rank else dist.barrier())
    case("gathered", lambda: dist.all_gather([torch.zeros(3 + rank) for _ in range(size)], torch.zeros(3 + rank)))
    case("scattered", lambda: dist.reduce_scatter_single(torch.zeros(2 + rank), torch.zeros((2 + rank) * size)))
    case("fit again", lambda: all_reduce(3))
    if "tinytorch" in torch.__name__:          # which gloo's wrapper does not look at: there the ranks hang or go on
        case("operations", lambda: all_reduce(4, op=dist.ReduceOp.MAX if rank else dist.ReduceOp.SUM))
        case("roots", lambda: dist.broadcast(torch.zeros(4), rank))
        case("async_op", lambda: dist.all_reduce(torch.zeros(4), async_op=rank == 0))
    return results
