"""Tensors and objects of more than 2**31 bytes between two ranks."""
from tests.parity.ranks import outcome

N = 2 ** 31 + 10
PLACES = 0, 2 ** 30 - 1, 2 ** 30, 2 ** 31 - 1, 2 ** 31, N - 1


def filled(torch, rank, n=N):
    """Bytes of which those at PLACES tell the rank and the place."""
    x = torch.full((n,), 50 + rank, dtype=torch.uint8)
    for i, place in enumerate(PLACES):
        if place < n:
            x[place] = 10 * i + rank
    return x


def is_of(torch, x, rank):
    """Whether it is `filled` by that rank, as far as PLACES, their neighbours and a sample show."""
    places = [place for place in PLACES if place < len(x)]
    near = {near for place in places for near in (place - 1, place + 1)} - {-1, len(x), *PLACES}
    return ([x[place].item() for place in places] == [10 * i + rank for i in range(len(places))]
            and all(x[i].item() == 50 + rank for i in near) and bool((x[5::9973] == 50 + rank).all()))


def main(torch, rank, size):
    dist, results = torch.distributed, {}

    def case(name, function):
        results[name] = outcome(torch, function)

    def broadcast(async_op):
        x = filled(torch, rank)
        work = dist.broadcast(x, 1, async_op=async_op)
        return (work is None or work.wait()) and is_of(torch, x, 1)
    case("broadcast", lambda: broadcast(False))
    case("broadcast async", lambda: broadcast(True))

    def all_reduce(async_op):
        x = filled(torch, rank)
        work = dist.all_reduce(x, dist.ReduceOp.MAX, async_op=async_op)
        return (work is None or work.wait()) and is_of(torch, x, 1)
    case("all_reduce", lambda: all_reduce(False))
    case("all_reduce async", lambda: all_reduce(True))

    def send():
        x = filled(torch, rank)
        if rank == 0:
            dist.send(x, 1)
            dist.isend(x, 1).wait()
            return True
        dist.recv(x)
        right = is_of(torch, x, 0)
        x.zero_()
        dist.irecv(x).wait()
        return right and is_of(torch, x, 0)
    case("send", send)

    def all_gather():
        out = torch.zeros(size * N, dtype=torch.uint8)
        dist.all_gather_single(out, filled(torch, rank))
        return all(is_of(torch, part, i) for i, part in enumerate(out.chunk(size)))
    case("all_gather_single", all_gather)

    def gather():
        outs = [torch.zeros(N, dtype=torch.uint8) for _ in range(size)] if rank == 0 else None
        dist.gather(filled(torch, rank), outs, 0)
        return outs is None or all(is_of(torch, part, i) for i, part in enumerate(outs))
    case("gather", gather)

    def scatter():
        out = torch.zeros(N, dtype=torch.uint8)
        dist.scatter(out, [filled(torch, i) for i in range(size)] if rank == 0 else None, 0)
        return is_of(torch, out, rank)
    case("scatter", scatter)

    def reduce_scatter():
        out = torch.zeros(N // 2, dtype=torch.uint8)
        dist.reduce_scatter_single(out, torch.cat([filled(torch, i, N // 2) for i in range(size)]), dist.ReduceOp.MAX)
        return is_of(torch, out, rank)
    case("reduce_scatter_single", reduce_scatter)

    def all_to_all():
        out = torch.zeros(N + 3 if rank else 5 + 2, dtype=torch.uint8)
        sent, got = [[5, N], [2, 3]][rank], [[5, 2], [N, 3]][rank]
        x = torch.cat([filled(torch, rank, n) for n in sent])
        dist.all_to_all_single(out, x, got, sent)
        return all(is_of(torch, part, i) for i, part in enumerate(out.split(got)))
    case("all_to_all_single", all_to_all)

    def objects():
        objects = [b"a" * (2 ** 31 - 5) + b"z" * 9, 3] if rank == 0 else [None, None]
        dist.broadcast_object_list(objects, 0)
        text, number = objects
        return len(text) == 2 ** 31 + 4 and text[-10:] == b"a" + b"z" * 9 and text[:1] == b"a" and number == 3
    case("broadcast_object_list", objects)
    return results
