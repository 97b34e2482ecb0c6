"""Ranks that do not call the same: what MPI shows of it, and under TORCH_DISTRIBUTED_DEBUG=DETAIL all of it.

The cases are listed by what rank 0 calls and what the others call. Each has a group of its own, as MPI promises nothing
of a communicator after an error."""
import os

from tests.parity.ranks import outcome


def messages(torch, rank, group):
    """From rank 0 to rank 1, one that is other than what is received. Others do nothing."""
    dist = torch.distributed
    send = lambda x, **how: lambda: dist.send(x, 1, group, **how)

    def received(x):
        """What recv raises; in any case the tensor must be as it was."""
        def call():
            try:
                return dist.recv(x, 0, group)
            finally:
                assert not x.any(), "half-written"
        return call
    zeros = torch.zeros
    return {
        "recv short": (send(torch.ones(10)), received(zeros(15))),
        "recv long": (send(torch.ones(15)), received(zeros(10))),
        "recv much too long": (send(torch.ones(200000)), received(zeros(10))),
        "recv much too short": (send(torch.ones(10)), received(zeros(200000))),
        "recv dtype": (send(torch.ones(10)), received(zeros(10, dtype=torch.float64))),
        "recv half": (send(torch.ones(11, dtype=torch.bfloat16)), received(zeros(10, dtype=torch.int16))),
        "irecv short": (send(torch.ones(10)), lambda: dist.irecv(zeros(15), 0, group).wait()),
        "irecv long": (send(torch.ones(15)), lambda: dist.irecv(zeros(10), 0, group).wait()),
        "irecv any": (send(torch.ones(15)), lambda: dist.irecv(zeros(16), group=group).wait()),
        "recv_object_list short": (lambda: dist.send_object_list([1, 2], 1, group),
                                   lambda: dist.recv_object_list([None] * 3, 0, group)),
    }


def collectives(torch, rank, size, group):
    """(of rank 0, of the others)."""
    dist = torch.distributed
    ones, op = torch.ones, dist.ReduceOp
    lists = lambda *shape: [torch.zeros(*shape) for _ in range(size)]

    def waited(work):
        return work.wait()

    def gather(n, root=0, dtype=torch.float32):
        outs = [torch.zeros(n, dtype=dtype) for _ in range(size)] if rank == root else None
        dist.gather(ones(n, dtype=dtype), outs, root, group)

    def scatter(n, root=0):
        dist.scatter(torch.zeros(n), lists(n) if rank == root else None, root, group)

    def exchange(n):
        """Each sends n rows to rank 0, and one to each other."""
        sent, got = [n, *[1] * (size - 1)], [n if rank == 0 else 1] * size
        dist.all_to_all_single(torch.zeros(sum(got)), ones(sum(sent)), got, sent, group)

    def exchange_lists(n):
        shapes = [n if rank == 0 else 1] * size
        dist.all_to_all([torch.zeros(k) for k in shapes], [ones(n if i == 0 else 1) for i in range(size)], group)
    objects = {
        "all_gather_object": lambda: dist.all_gather_object([None] * size, rank, group),
        "gather_object": lambda: dist.gather_object(rank, [None] * size if rank == 0 else None, 0, group),
        "broadcast_object_list": lambda: dist.broadcast_object_list([1, 2], 0, group),
        "scatter_object_list": lambda: dist.scatter_object_list([None], [1] * size if rank == 0 else None, 0, group)}
    cases = {
        "all_reduce shape": (lambda: dist.all_reduce(ones(3), group=group),
                             lambda: dist.all_reduce(ones(4), group=group)),
        "all_reduce same length": (lambda: dist.all_reduce(ones(6), group=group),
                                   lambda: dist.all_reduce(ones(2, 3), group=group)),
        "all_reduce dtype": (lambda: dist.all_reduce(ones(4), group=group),
                             lambda: dist.all_reduce(ones(4, dtype=torch.int32), group=group)),
        "all_reduce op": (lambda: dist.all_reduce(ones(4), op.SUM, group),
                          lambda: dist.all_reduce(ones(4), op.MAX, group)),
        "all_reduce async": (lambda: waited(dist.all_reduce(ones(4), group=group, async_op=True)),
                             lambda: waited(dist.all_reduce(ones(5), group=group, async_op=True))),
        "all_reduce_coalesced": (lambda: dist.all_reduce_coalesced([ones(4), ones(5)], group=group),
                                 lambda: dist.all_reduce_coalesced([ones(5), ones(4)], group=group)),
        "reduce root": (lambda: dist.reduce(ones(4), 0, group=group), lambda: dist.reduce(ones(4), 1, group=group)),
        "reduce op": (lambda: dist.reduce(ones(4), 0, op.SUM, group), lambda: dist.reduce(ones(4), 0, op.MIN, group)),
        "reduce_scatter op": (lambda: dist.reduce_scatter(torch.zeros(2), lists(2), op.SUM, group),
                              lambda: dist.reduce_scatter(torch.zeros(2), lists(2), op.PRODUCT, group)),
        "reduce_scatter shape": (lambda: dist.reduce_scatter(torch.zeros(2), lists(2), group=group),
                                 lambda: dist.reduce_scatter(torch.zeros(3), lists(3), group=group)),
        "reduce_scatter_single dtype": (
            lambda: dist.reduce_scatter_single(torch.zeros(2), ones(2 * size), group=group),
            lambda: dist.reduce_scatter_single(torch.zeros(2).int(), ones(2 * size).int(), group=group)),
        "broadcast root": (lambda: dist.broadcast(ones(4), 0, group), lambda: dist.broadcast(ones(4), 1, group)),
        "broadcast shape": (lambda: dist.broadcast(ones(5), 0, group), lambda: dist.broadcast(ones(4), 0, group)),
        "broadcast dtype": (lambda: dist.broadcast(ones(5), 0, group),
                            lambda: dist.broadcast(ones(5).double(), 0, group)),
        "gather shape": (lambda: gather(4), lambda: gather(5)),
        "gather dtype": (lambda: gather(4), lambda: gather(4, dtype=torch.int64)),
        "scatter shape": (lambda: scatter(4), lambda: scatter(5)),
        "all_gather shape": (lambda: dist.all_gather(lists(4), ones(4), group),
                             lambda: dist.all_gather(lists(5), ones(5), group)),
        "all_gather_single dtype": (
            lambda: dist.all_gather_single(torch.zeros(4 * size), ones(4), group),
            lambda: dist.all_gather_single(torch.zeros(4 * size).double(), ones(4).double(), group)),
        "all_to_all_single splits": (lambda: exchange(2), lambda: exchange(3)),
        "all_to_all lists": (lambda: exchange_lists(2), lambda: exchange_lists(3)),
        "all_to_all dtype": (
            lambda: dist.all_to_all_single(torch.zeros(size), ones(size), group=group),
            lambda: dist.all_to_all_single(torch.zeros(size).int(), ones(size).int(), group=group)),
        "broadcast_object_list length": (lambda: dist.broadcast_object_list([1, 2], 0, group),
                                         lambda: dist.broadcast_object_list([1, 2, 3], 0, group)),
        "broadcast_object_list root": (lambda: dist.broadcast_object_list([1, 2], 0, group),
                                       lambda: dist.broadcast_object_list([1, 2], 1, group)),
        "barrier and all_reduce": (lambda: dist.barrier(group), lambda: dist.all_reduce(ones(4), group=group)),
        "async_op": (lambda: dist.barrier(group, async_op=True), lambda: dist.barrier(group)),
        "single and list": (lambda: dist.all_gather(lists(4), ones(4), group),
                            lambda: dist.all_gather_single(torch.zeros(4 * size), ones(4), group)),
    }
    names = list(objects)
    for name, other in zip(names, [*names[1:], names[0]]):
        cases[f"{name} and {other}"] = objects[name], objects[other]
        cases[f"{name} and all_reduce"] = objects[name], lambda: dist.all_reduce(ones(4), group=group)
    return cases


#: Of the collectives, those that MPI shows to somebody: the root of them sends more than the others receive, in a
#: message that is short enough for Open MPI.
SHOWN = "broadcast shape", "broadcast_object_list length"


def main(torch, rank, size):
    dist, results = torch.distributed, {}
    detail = os.environ.get("TORCH_DISTRIBUTED_DEBUG") == "DETAIL"
    for name in messages(torch, rank, None):
        group = dist.new_group(list(range(size)))
        pair = messages(torch, rank, group)[name]
        if rank < 2:
            results[name] = outcome(torch, pair[rank])
        dist.barrier()
    for name in collectives(torch, rank, size, None):
        if detail or size == 2 and name in SHOWN:      # of three, one may wait for another that has failed
            group = dist.new_group(list(range(size)))
            results[name] = outcome(torch, collectives(torch, rank, size, group)[name][min(rank, 1)])
            if detail:
                x = torch.ones(2)
                dist.all_reduce(x, group=group)        # the group is as it was
                assert x.tolist() == [size, size]
            dist.barrier()
    fit = torch.arange(3) + rank
    if rank < 2:
        results["fit"] = outcome(torch, lambda: (dist.send(fit, 1), fit) if rank == 0 else (dist.recv(fit), fit))
        works = [dist.isend(fit, 1 - rank, tag=t) for t in (1, 2)]
        got = [torch.zeros_like(fit) for _ in works]
        waiting = [dist.irecv(x, 1 - rank, tag=t) for x, t in zip(got, (2, 1))]
        results["fit async"] = outcome(torch, lambda: ([work.wait() for work in reversed(waiting + works)], got))
        objects = [1, "two"] if rank == 0 else [None, None]
        results["fit objects"] = outcome(torch, lambda: (
            dist.send_object_list(objects, 1) if rank == 0 else dist.recv_object_list(objects), objects))
    return results
