"""DistributedDataParallel with each of its options, on the same data under both libraries."""
import copy
import importlib
import pickle
import warnings

from tests.parity.ranks import outcome


def data(torch, rank, step, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(100 * step + rank), dtype=torch.float64)


def main(torch, rank, size):
    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)
    dist, nn = torch.distributed, torch.nn
    module = lambda name: importlib.import_module(f"{torch.__name__}.{name}")
    hooks = module("distributed.algorithms.ddp_comm_hooks.default_hooks")
    noop_hook = module("distributed.algorithms.ddp_comm_hooks.debugging_hooks").noop_hook
    DDP = nn.parallel.DistributedDataParallel
    results = {}

    def case(name, function):
        torch.manual_seed(rank)                # the ranks start apart: rank 0 is to decide
        results[name] = outcome(torch, function)

    class Branches(nn.Module):
        """Three layers, of which a call uses some."""

        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2)

        def forward(self, x, b=True, twice=False):
            x = self.a(x).tanh()
            for _ in range(b + twice):
                x = self.b(x).tanh()
            return self.c(x)

    class Outputs(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, x):
            return {"a": self.a(x), "b": [self.b(x)]}

    def convolutions():
        return nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(),
                             nn.Linear(64, 5), nn.ReLU(), nn.Linear(5, 3))

    def grads(model):
        return [p.grad for p in model.parameters()]

    def train(model, call=None, shape=(5, 3), steps=4, to_none=True, ddp=None, **optim):
        """Losses, gradients of the last step, and what the model has then."""
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, **optim)
        losses = []
        for step in range(steps):
            optimizer.zero_grad(to_none)
            x = data(torch, rank, step, *shape)
            loss = (model(x) if call is None else call(model, x, step)).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return losses, grads(model), list(model.state_dict().values())

    images = {"shape": (4, 2, 4, 4)}
    for name, options in {
            "plain": {}, "views": {"gradient_as_bucket_view": True}, "no init": {"init_sync": False},
            "static": {"static_graph": True}, "unused": {"find_unused_parameters": True},
            "small buckets": {"bucket_cap_mb": 0.0002}, "bucket list": {"bucket_cap_mb_list": [0.0001, 0.0005]},
            "views of small buckets": {"bucket_cap_mb": 0.0002, "gradient_as_bucket_view": True},
            "rank buffers": {"forward_sync_buffers": False}, "no buffers": {"broadcast_buffers": False}}.items():
        case(name, lambda: train(DDP(convolutions(), **options), **images))
        case(f"{name} zeroed", lambda: train(DDP(convolutions(), **options), to_none=False, **images))
    case("channels last", lambda: train(DDP(convolutions().to(memory_format=torch.channels_last)), **images))

    def of_all():
        """The difference from one process that has all samples."""
        model = convolutions()[3:]
        ddp = DDP(copy.deepcopy(model))
        model.load_state_dict(ddp.module.state_dict())
        both = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (ddp, model)]
        for step in range(5):
            xs = [data(torch, r, step, 4, 4, 4, 4) for r in range(size)]
            for optimizer, m, x in zip(both, (ddp, model), (xs[rank], torch.cat(xs))):
                optimizer.zero_grad()
                m(x).square().mean().backward()
                optimizer.step()
        return max((p - q).abs().max().item() for p, q in zip(ddp.parameters(), model.parameters())) < 1e-12
    case("of all", of_all)

    # ---------------------------------------------------------------- no_sync, other calls of backward
    def accumulated(**options):
        model = DDP(Branches(), **options)
        optimizer, seen = torch.optim.Adam(model.parameters(), lr=0.01), []
        for step in range(6):
            x = data(torch, rank, step, 5, 3)
            if step % 3 < 2:
                with model.no_sync():
                    model(x).square().mean().backward()
                seen.append([g.clone() for g in grads(model)])
            else:
                model(x).square().mean().backward()
                seen.append([g.clone() for g in grads(model)])
                optimizer.step()
                optimizer.zero_grad()
        return seen, list(model.parameters())
    for options in ({}, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True}, {"static_graph": True}):
        if "static_graph" not in options:      # torch wants the first iteration of that to be averaged
            case(f"no_sync {options}", lambda: accumulated(**options))

    def again():
        model = DDP(Branches())
        out = model(data(torch, rank, 0, 5, 3))
        out.sum().backward(retain_graph=True)
        first = [g.clone() for g in grads(model)]
        out.sum().backward()
        return first, grads(model)
    case("again", again)

    def without_grad():
        model = DDP(convolutions())
        with torch.no_grad():
            out = model(data(torch, rank, 0, 4, 2, 4, 4))
        return out, train(model, **images), model.eval()(data(torch, rank, 0, 4, 2, 4, 4))
    case("without grad", without_grad)

    def two_forwards():
        model = DDP(Branches())
        out = []
        for step in range(3):
            model.zero_grad()
            a, b = model(data(torch, rank, step, 5, 3)), model(data(torch, rank, step + 9, 2, 3))
            (a.sum() + b.sum()).backward()
            out.append([g.clone() for g in grads(model)])
        return out
    case("two forwards", two_forwards)

    def penalty():
        model = DDP(Branches())
        out = model(data(torch, rank, 0, 5, 3)).square().sum()
        torch.autograd.grad(out, list(model.parameters()), create_graph=True)       # which is not averaged
        out.backward()
        return grads(model)
    case("autograd.grad", penalty)

    # ---------------------------------------------------------------- parameters without gradients
    skip = lambda model, x, step: model(x, step % 2 == 0)
    by_rank = lambda model, x, step: model(x, rank == step % size)
    for view in (False, True):
        options = {"find_unused_parameters": True, "gradient_as_bucket_view": view}
        case(f"all skip {view}", lambda: train(DDP(Branches(), **options), skip))
        case(f"some skip {view}", lambda: train(DDP(Branches(), **options), by_rank))
        case(f"some skip zeroed {view}", lambda: train(DDP(Branches(), **options), by_rank, to_none=False))
        case(f"some skip small {view}", lambda: train(DDP(Branches(), bucket_cap_mb=0.0001, **options), by_rank))
        case(f"outputs {view}", lambda: train(DDP(Outputs(), **options), lambda model, x, step: model(x)["a"]))
        case(f"never {view}", lambda: train(DDP(Branches(), **options), lambda m, x, step: m(x, False)))
    case("static never", lambda: train(DDP(Branches(), static_graph=True), lambda m, x, step: m(x, False)))
    case("static twice", lambda: train(DDP(Branches(), static_graph=True), lambda m, x, step: m(x, True, True)))
    case("error unused", lambda: train(DDP(Branches()), lambda m, x, step: m(x, False)))
    case("error outputs", lambda: train(DDP(Outputs()), lambda model, x, step: model(x)["a"]))
    case("error static fewer", lambda: train(DDP(Branches(), static_graph=True), skip))
    case("error static more", lambda: train(DDP(Branches(), static_graph=True),
                                            lambda m, x, step: m(x, step > 0)))

    def twice():
        model = DDP(Branches(), find_unused_parameters=True)
        a, b = model(data(torch, rank, 0, 5, 3)), model(data(torch, rank, 1, 5, 3), False)
        (a.sum() + b.sum()).backward()
    case("error twice", twice)

    # ---------------------------------------------------------------- hooks
    def hooked(hook, state=None, steps=4, **options):
        model = DDP(Branches(), bucket_cap_mb=0.0001, **options)
        model.register_comm_hook(state, hook)
        return train(model, steps=steps)

    def buckets(**options):
        """What the buckets are, in the order in which they are sent."""
        seen = []

        def hook(state, bucket):
            state.append((bucket.index(), bucket.is_last(), bucket.buffer().numel(),
                          [list(p.shape) for p in bucket.parameters()], [list(g.shape) for g in bucket.gradients()]))
            return hooks.allreduce_hook(None, bucket)
        model = DDP(Branches(), **options)
        model.register_comm_hook(seen, hook)
        return seen, train(model, steps=3), seen
    case("hook allreduce", lambda: hooked(hooks.allreduce_hook))
    case("hook allreduce views", lambda: hooked(hooks.allreduce_hook, gradient_as_bucket_view=True))
    case("hook noop", lambda: hooked(noop_hook))
    case("half hook fp16", lambda: hooked(hooks.fp16_compress_hook))
    case("half hook fp16 wrapper", lambda: hooked(hooks.fp16_compress_wrapper(hooks.allreduce_hook)))
    case("hook own", lambda: hooked(lambda state, bucket: dist.all_reduce(bucket.buffer(), async_op=True).get_future()
                                    .then(lambda future: future.value()[0] / state), 7.))
    if torch.__name__ == "tinytorch":          # torch refuses it on the CPU
        case("ours bf16", lambda: hooked(hooks.bf16_compress_hook))
    for options in ({}, {"bucket_cap_mb": 0.0001}, {"bucket_cap_mb": 0.0001, "find_unused_parameters": True},
                    {"bucket_cap_mb_list": [0.00005, 0.0002]}, {"bucket_cap_mb": 0.0002, "static_graph": True}):
        case(f"buckets {options}", lambda: buckets(**options))

    def futureless(state, bucket):
        return bucket.buffer()

    def annotated(state, bucket: int):
        raise AssertionError

    def returning(state, bucket) -> int:
        raise AssertionError

    def registered_twice():
        model = DDP(Branches())
        for _ in range(2):
            model.register_comm_hook(None, noop_hook)
    case("error hook twice", registered_twice)
    case("error hook uncallable", lambda: hooked(3))
    case("error hook bucket", lambda: hooked(annotated))
    case("error hook returns", lambda: hooked(returning))
    case("error hook future", lambda: hooked(futureless))

    # ---------------------------------------------------------------- other parameters
    def sparse():
        model = DDP(nn.Sequential(nn.Embedding(6, 3, sparse=True), nn.Linear(3, 1)))
        optimizer, seen = torch.optim.SGD(model.parameters(), lr=0.1), []
        for step in range(3):
            optimizer.zero_grad()
            loss = model(torch.tensor([rank, step, step])).sum()
            loss.backward()
            optimizer.step()
            seen.append(model.module[0].weight.grad.to_dense())
        return seen, list(model.parameters())
    case("sparse", sparse)

    def two_dtypes():
        model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 2).float(), "c": nn.Linear(2, 2)})
        model.forward = lambda x: model["c"](model["b"](model["a"](x).float()).double())
        return train(DDP(model))
    case("two dtypes", two_dtypes)

    def ignored():
        model = Branches()
        DDP._set_params_and_buffers_to_ignore_for_model(model, ["b.weight"])
        return train(DDP(model))
    case("ignored", ignored)

    def frozen():
        model = Branches()
        model.b.requires_grad_(False)
        return train(DDP(model))
    case("frozen", frozen)

    def shared():
        model = Branches()
        model.d = model.b
        return train(DDP(model), lambda m, x, step: m(x) + m.module.c(m.module.d(m.module.a(x))) * 0)
    case("shared", shared)

    def pickled():
        model = DDP(Branches())
        loaded = pickle.loads(pickle.dumps(model.module.state_dict()))
        copied = copy.deepcopy(model)
        return list(model.state_dict()), loaded, train(copied), train(model)
    case("copied", pickled)

    def of_a_group():
        groups = [dist.new_group([0, 1]), dist.new_group([size - 1])]
        model = DDP(Branches(), process_group=groups[rank == size - 1 and size > 2])
        return train(model)
    case("group", of_a_group)

    # ---------------------------------------------------------------- errors of the constructor
    case("error no parameters", lambda: DDP(nn.ReLU()))
    case("error device_ids", lambda: DDP(nn.Linear(1, 1), device_ids=[0]))
    case("error output_device", lambda: DDP(nn.Linear(1, 1), output_device=1))
    case("error two devices", lambda: DDP(nn.Linear(1, 1), device_ids=[0, 1]))
    case("error lazy", lambda: DDP(nn.LazyLinear(1)))
    case("error delayed", lambda: DDP(nn.Linear(1, 1), delay_all_reduce_named_params=[]))
    case("error counts", lambda: DDP(nn.Linear(3, 2, bias=rank == 0)))
    if torch.__name__ == "torch":
        verify = module("distributed.utils")._verify_param_shape_across_processes
    else:
        verify = module("distributed.agreement").verify_shapes
    case("error shapes", lambda: verify(dist.group.WORLD, [torch.ones(2), torch.ones(2, 3 + rank)]))
    case("error strides", lambda: verify(dist.group.WORLD, [torch.ones(3, 3) if rank == 0 else torch.ones(3, 3).t()]))

    # ---------------------------------------------------------------- uneven inputs
    def uneven(divide, **options):
        model = DDP(convolutions(), **options)
        optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.1), []
        with model.join(divide_by_initial_world_size=divide):
            for step in range(3 + 2 * rank):
                optimizer.zero_grad()
                loss = model(data(torch, rank, step, 4, 2, 4, 4)).square().mean()
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())
        return losses, list(model.state_dict().values())
    for divide in (True, False):
        case(f"join {divide}", lambda: uneven(divide))
        case(f"join small {divide}", lambda: uneven(divide, bucket_cap_mb=0.0002))
        case(f"join unused {divide}", lambda: uneven(divide, find_unused_parameters=True))

    def thrown():
        model = DDP(Branches())
        with model.join(throw_on_early_termination=True):
            for step in range(2 + rank):
                model(data(torch, rank, step, 4, 3)).sum().backward()
    case("error join", thrown)
    return results
