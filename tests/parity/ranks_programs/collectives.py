"""Every collective, by dtype, operation and layout, and the errors that one rank can tell by itself."""
from tests.parity.ranks import outcome

DTYPES = ("bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 uint16 uint32 "
          "uint64 float8_e4m3fn complex32").split()
OPS = "SUM PRODUCT MIN MAX BAND BOR BXOR AVG".split()
LONG = 100000                                  # elements of the longest tensor


def data(torch, dtype, n, rank):
    """Numbers that differ by rank and whose sums and products are exact in every dtype."""
    x = torch.arange(n) * (rank + 2) % 5
    dtype = getattr(torch, dtype)
    if dtype.is_complex:
        return torch.complex(x.double(), (x + rank).double()).to(dtype)
    return x.to(torch.float32).to(dtype) if dtype.is_floating_point else x.to(dtype)


def rough(torch, dtype, n, rank):
    """Numbers whose sums are rounded."""
    generator = torch.Generator().manual_seed(rank)
    return torch.randn(n, generator=generator).to(getattr(torch, dtype))


def layouts(torch, x):
    """Views of 24 numbers, and a copy of one of them."""
    every_other = x.reshape(12, 2)[:, 0]
    return {"transposed": x.reshape(4, 6).t(), "strided": every_other, "copied": every_other.clone(), "offset": x[5:17],
            "last": x.reshape(1, 2, 3, 4).contiguous(memory_format=torch.channels_last), "scalar": x[3], "empty": x[:0]}


def main(torch, rank, size):
    dist, results = torch.distributed, {}

    def case(name, function):
        results[name] = outcome(torch, function)

    def changed(collective, x, *args, **kwargs):
        def call():
            collective(x, *args, **kwargs)
            return x
        return call

    # ---------------------------------------------------------------- dtypes and operations
    for dtype in DTYPES:
        x = lambda n=6: data(torch, dtype, n, rank)
        empty = lambda n=6: torch.zeros(n, dtype=torch.float32).to(getattr(torch, dtype))
        for name in OPS:
            op = getattr(dist.ReduceOp, name)
            case(f"all_reduce {name} {dtype}", changed(dist.all_reduce, x(), op))

            def reduce():
                y = x()
                dist.reduce(y, size - 1, op)
                return y if rank == size - 1 else None         # the others hold parts of the way
            case(f"reduce {name} {dtype}", reduce)

            def reduce_scatter():
                out = empty(2)
                dist.reduce_scatter(out, list(x(2 * size).chunk(size)), op)
                return out
            case(f"reduce_scatter {name} {dtype}", reduce_scatter)

            def reduce_scatter_tensor():
                out = empty(2)
                dist.reduce_scatter_single(out, x(2 * size), op)
                return out
            case(f"reduce_scatter_single {name} {dtype}", reduce_scatter_tensor)
        for src in range(size):
            case(f"broadcast {src} {dtype}", changed(dist.broadcast, x(), src))

        def all_gather():
            outs = [empty() for _ in range(size)]
            dist.all_gather(outs, x())
            return outs
        case(f"all_gather {dtype}", all_gather)

        def all_gather_tensor(shape):
            def call():
                out = empty(6 * size).reshape(shape)
                dist.all_gather_single(out, x())
                return out
            return call
        case(f"all_gather_single {dtype}", all_gather_tensor((-1,)))
        case(f"all_gather_single stacked {dtype}", all_gather_tensor((size, 6)))

        def gather():
            outs = [empty() for _ in range(size)] if rank == 1 else None
            dist.gather(x(), outs, 1)
            return outs
        case(f"gather {dtype}", gather)

        def scatter():
            out = empty(2)
            dist.scatter(out, list(x(2 * size).chunk(size)) if rank == 1 else None, 1)
            return out
        case(f"scatter {dtype}", scatter)

        def all_to_all_single():
            out = empty(2 * size)
            dist.all_to_all_single(out, x(2 * size))
            return out
        case(f"all_to_all_single {dtype}", all_to_all_single)

        def all_to_all():
            outs = [empty(2) for _ in range(size)]
            dist.all_to_all(outs, list(x(2 * size).chunk(size)))
            return outs
        case(f"all_to_all {dtype}", all_to_all)

        def send():
            y = x()
            if rank == 0:
                dist.send(y, 1)
            elif rank == 1:
                return y, dist.recv(y, 0)
            return y
        case(f"send {dtype}", send)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        for name in ("SUM", "AVG", "PRODUCT", "MAX"):
            case(f"rough {name} {dtype}", changed(dist.all_reduce, rough(torch, dtype, 50, rank),
                                                  getattr(dist.ReduceOp, name)))
    case("premul", changed(dist.all_reduce, data(torch, "float32", 4, rank), dist._make_nccl_premul_sum(2.)))

    # ---------------------------------------------------------------- layouts
    for name in layouts(torch, torch.arange(24)):
        x = lambda dtype="float32": layouts(torch, data(torch, dtype, 24, rank))[name]
        case(f"all_reduce {name}", changed(dist.all_reduce, x()))
        case(f"all_reduce half {name}", changed(dist.all_reduce, x("float16")))
        case(f"broadcast {name}", changed(dist.broadcast, x(), 1))
        case(f"reduce {name}", lambda: (y := x(), dist.reduce(y, 0), y)[2] if rank == 0 else dist.reduce(x(), 0))

        def all_gather():
            outs = [torch.zeros_like(x()) for _ in range(size)]
            dist.all_gather(outs, x())
            return outs
        case(f"all_gather {name}", all_gather)

        def all_gather_plain():
            outs = [torch.zeros(x().shape) for _ in range(size)]
            dist.all_gather(outs, x())
            return outs
        case(f"all_gather {name} into contiguous", all_gather_plain)

        def gather():
            outs = [torch.zeros_like(x()) for _ in range(size)] if rank == 0 else None
            dist.gather(x(), outs, 0)
            return outs
        case(f"gather {name}", gather)

        def scatter():
            out = torch.zeros_like(x())
            dist.scatter(out, [x() + i for i in range(size)] if rank == 0 else None, 0)
            return out
        case(f"scatter {name}", scatter)

        def reduce_scatter():
            out = torch.zeros_like(x())
            dist.reduce_scatter(out, [x() + i for i in range(size)])
            return out
        case(f"reduce_scatter {name}", reduce_scatter)

        def send():
            y = x()
            if rank == 0:
                dist.send(y, 1)
            elif rank == 1:
                dist.recv(y, 0)
            return y
        case(f"send {name}", send)

    # ---------------------------------------------------------------- uneven splits
    def uneven():
        counts = [[(i + j) % 3 for j in range(size)] for i in range(size)]         # from i to j
        sent, got = counts[rank], [counts[i][rank] for i in range(size)]
        out = torch.zeros(sum(got), 3)
        dist.all_to_all_single(out, torch.arange(3. * sum(sent)).reshape(-1, 3) + 100 * rank, got, sent)
        return out
    case("all_to_all_single uneven", uneven)

    def uneven_lists():
        outs = [torch.zeros(i + 1) for i in range(size)]
        dist.all_to_all(outs, [torch.full((rank + 1,), 10. * rank + j) for j in range(size)])
        return outs
    case("all_to_all uneven", uneven_lists)

    # ---------------------------------------------------------------- async
    def waited(collective, x, *args, **kwargs):
        def call():
            work = collective(x, *args, async_op=True, **kwargs)
            given = work.wait()
            return x, given, work.is_completed(), work.is_success()
        return call
    for dtype in ("float32", "float16", "int64", "complex64"):
        case(f"async all_reduce {dtype}", waited(dist.all_reduce, data(torch, dtype, 6, rank)))
    case("async all_reduce transposed", waited(dist.all_reduce, data(torch, "float32", 6, rank).reshape(2, 3).t()))
    case("async all_reduce avg", waited(dist.all_reduce, data(torch, "float32", 6, rank), dist.ReduceOp.AVG))
    case("async broadcast", waited(dist.broadcast, data(torch, "float32", 6, rank), 0))
    case("async barrier", lambda: dist.barrier(async_op=True).wait())

    def several():
        xs = [data(torch, "float32", n, rank) for n in (1, 1000, LONG)]
        works = [dist.all_reduce(x, async_op=True) for x in xs]
        for work in reversed(works):
            work.wait()
        return xs
    case("async several", several)

    def future():
        x = data(torch, "float32", 4, rank)
        f = dist.all_reduce(x, async_op=True).get_future().then(lambda f: f.value()[0] / size)
        return f.wait(), x
    case("async future", future)

    def async_lists():
        outs = [torch.zeros(4) for _ in range(size)]
        work = dist.all_gather(outs, data(torch, "float32", 4, rank), async_op=True)
        work.wait()
        one = torch.zeros(2)
        dist.reduce_scatter(one, [data(torch, "float32", 2, rank + i) for i in range(size)], async_op=True).wait()
        whole = torch.zeros(4 * size)
        dist.all_gather_single(whole, data(torch, "float32", 4, rank), async_op=True).wait()
        return outs, one, whole
    case("async lists", async_lists)

    # ---------------------------------------------------------------- point to point
    def ring():
        x, y = torch.full((3,), float(rank)), torch.zeros(3)
        works = [dist.isend(x, (rank + 1) % size), dist.irecv(y, (rank - 1) % size)]
        for work in works:
            work.wait()
        return y
    case("isend irecv", ring)

    def batch():
        x, y = torch.full((3,), float(rank)), torch.zeros(3)
        ops = [dist.P2POp(dist.isend, x, (rank + 1) % size), dist.P2POp(dist.irecv, y, (rank - 1) % size)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        return y, repr(ops[0]), repr(ops[1])
    case("batch_isend_irecv", batch)

    def any_source():
        got = []
        if rank == 0:
            for _ in range(size - 1):
                x = torch.zeros(2)
                source = dist.recv(x)
                got.append((source, x.tolist()))
        else:
            dist.send(torch.full((2,), float(rank)), 0)
        return sorted(got)
    case("recv any source", any_source)

    def tags():
        x = torch.zeros(2, 2)
        if rank == 0:
            works = [dist.isend(torch.full((2,), float(tag)), 1, tag=tag) for tag in (7, 8)]
            [work.wait() for work in works]
        elif rank == 1:
            dist.recv(x[0], 0, tag=8)
            dist.recv(x[1], 0, tag=7)
        return x
    case("tags", tags)

    # ---------------------------------------------------------------- objects
    def objects():
        gathered, out, lists = [None] * size, [None], [rank, "a" * rank, {"x": rank}]
        dist.all_gather_object(gathered, {"rank": rank, "text": "x" * 100 * rank})
        dist.broadcast_object_list(lists, 1)
        dist.scatter_object_list(out, [("to", i, "y" * i) for i in range(size)] if rank == 0 else None, 0)
        at_last = [None] * size if rank == size - 1 else None
        dist.gather_object([rank], at_last, size - 1)
        sent = [None, None]
        if rank == 0:
            dist.send_object_list([1, "two"], 1)
        elif rank == 1:
            dist.recv_object_list(sent, 0)
        return gathered, lists, out, at_last, sent
    case("objects", objects)

    # ---------------------------------------------------------------- groups
    first, last = dist.new_group([0, 1]), dist.new_group([size - 1, 0])

    def groups():
        said = []
        for group in (first, last):
            if group is not dist.GroupMember.NON_GROUP_MEMBER:
                x = torch.full((2,), 1. + rank)
                dist.all_reduce(x, group=group)
                said += [x, dist.get_rank(group), dist.get_world_size(group), dist.get_process_group_ranks(group),
                         [dist.get_global_rank(group, i) for i in range(2)], dist.get_group_rank(group, 0),
                         group.rank(), group.size()]
                y = torch.full((2,), 1. + rank)
                dist.broadcast(y, 0, group)
                dist.barrier(group)
                said.append(y)
            else:
                said += [dist.get_rank(group), dist.get_world_size(group)]
        return said
    case("groups", groups)
    if first is not dist.GroupMember.NON_GROUP_MEMBER:
        case("group_src", changed(dist.broadcast, torch.full((1,), float(rank)), group=first, group_src=1))
        case("not in group rank", lambda: dist.get_group_rank(first, 5))
    case("no group src and dst", lambda: dist.broadcast(torch.zeros(1)))
    case("two src", lambda: dist.broadcast(torch.zeros(1), 0, group_src=0))

    # ---------------------------------------------------------------- errors
    x, half = torch.zeros(4), torch.zeros(4, dtype=torch.float16)
    ints = torch.zeros(4, dtype=torch.int64)
    errors = {
        "all_reduce list": lambda: dist.all_reduce([x]),
        "all_reduce number": lambda: dist.all_reduce(3),
        "all_reduce op": lambda: dist.all_reduce(x, "sum"),
        "broadcast rank": lambda: dist.broadcast(x, size),
        "broadcast rank negative": lambda: dist.broadcast(x, -1),
        "reduce rank": lambda: dist.reduce(x, size + 1),
        "all_gather tuple": lambda: dist.all_gather(tuple([x] * size), x),
        "all_gather no list": lambda: dist.all_gather(x, x),
        "all_gather few": lambda: dist.all_gather([x.clone()], x),
        "all_gather shapes": lambda: dist.all_gather([torch.zeros(3) for _ in range(size)], x),
        "all_gather dtypes": lambda: dist.all_gather([torch.zeros(4) for _ in range(size)], half),
        "all_gather list of numbers": lambda: dist.all_gather([1] * size, x),
        "all_gather_single size": lambda: dist.all_gather_single(torch.zeros(3), x),
        "all_gather_single dtype": lambda: dist.all_gather_single(torch.zeros(4 * size), half),
        "gather no list": lambda: dist.gather(x, None, rank),
        "gather list": lambda: dist.gather(x, [x.clone()] * size, (rank + 1) % size),
        "gather few": lambda: dist.gather(x, [x.clone()], rank),
        "gather shapes": lambda: dist.gather(x, [torch.zeros(3)] * size, rank),
        "gather dtypes": lambda: dist.gather(x, [ints] * size, rank),
        "scatter no list": lambda: dist.scatter(x, None, rank),
        "scatter list": lambda: dist.scatter(x, [x] * size, (rank + 1) % size),
        "scatter few": lambda: dist.scatter(x, [x] * (size + 1), rank),
        "scatter shapes": lambda: dist.scatter(x, [torch.zeros(3)] * size, rank),
        "reduce_scatter few": lambda: dist.reduce_scatter(x, [x] * (size + 1)),
        "reduce_scatter shapes": lambda: dist.reduce_scatter(x, [torch.zeros(3)] * size),
        "reduce_scatter dtypes": lambda: dist.reduce_scatter(x, [half] * size),
        "reduce_scatter_single size": lambda: dist.reduce_scatter_single(x, torch.zeros(3)),
        "reduce_scatter_single dtype": lambda: dist.reduce_scatter_single(x, torch.zeros(4 * size, dtype=torch.int64)),
        "all_to_all_single sizes": lambda: dist.all_to_all_single(torch.zeros(2 * size), torch.zeros(4 * size)),
        "all_to_all_single splits": lambda: dist.all_to_all_single(x, x.clone(), [1] * (size + 1), [1] * size),
        "all_to_all_single sums": lambda: dist.all_to_all_single(x, x.clone(), [1] * size, [3] * size),
        "all_to_all_single dtype": lambda: dist.all_to_all_single(x, half),
        "all_to_all few": lambda: dist.all_to_all([x.clone()] * (size + 1), [x] * (size + 1)),
        "all_to_all dtypes": lambda: dist.all_to_all([x.clone()] * size, [half] * size),
        "send self": lambda: dist.send(x, rank),
        "send no rank": lambda: dist.send(x),
        "send list": lambda: dist.send([x], 0),
        "recv no tensor": lambda: dist.recv(1, 0),
        "p2pop": lambda: dist.P2POp(dist.all_reduce, x, 0),
        "p2pop tensor": lambda: dist.P2POp(dist.isend, 1, 0),
        "batch no list": lambda: dist.batch_isend_irecv(1),
        "batch numbers": lambda: dist.batch_isend_irecv([1]),
        "new_group twice": lambda: dist.new_group([0, 0]),
        "new_group range": lambda: dist.new_group([0, size]),
        "new_group large": lambda: dist.new_group(list(range(size + 1))),
        "new_group timeout": lambda: dist.new_group([0], timeout=3),
        "init twice": lambda: dist.init_process_group("gloo"),
        "destroy": lambda: dist.destroy_process_group(3),
        "backend": lambda: str(dist.Backend("MPI")),
        "backend number": lambda: dist.Backend(3),
        "scatter_object_list": lambda: dist.scatter_object_list(None, [1]),
        "broadcast leaf": lambda: dist.broadcast(torch.ones(2, requires_grad=True), 0),
        "all_reduce leaf": lambda: dist.all_reduce(torch.ones(2, requires_grad=True)),
        "all_reduce expanded": lambda: dist.all_reduce(torch.ones(1).expand(4)),
        "all_reduce sparse": lambda: dist.all_reduce(torch.eye(2).to_sparse()),
    }
    for name, function in errors.items():
        case(f"error {name}", function)

    # ---------------------------------------------------------------- questions
    case("questions", lambda: (
        dist.is_initialized(), dist.is_available(), dist.get_world_size(), dist.get_rank(),
        dist.get_rank(dist.group.WORLD), dist.group.WORLD is dist.GroupMember.WORLD, dist.GroupMember.NON_GROUP_MEMBER,
        [str(getattr(dist.ReduceOp, name)) for name in [*OPS, "PREMUL_SUM"]],
        [repr(getattr(dist.ReduceOp, name)) for name in [*OPS, "PREMUL_SUM"]],
        dist.ReduceOp.SUM == dist.ReduceOp.SUM, dist.ReduceOp.SUM == dist.ReduceOp.MAX,
        dist.get_process_group_ranks(None), dist.is_torchelastic_launched(),
        dist.supports_complex(dist.ReduceOp.SUM), dist.supports_complex(dist.ReduceOp.MAX)))
    x = torch.zeros(3)
    before = x._version
    dist.all_reduce(x)
    results["version"] = x._version - before
    return results
