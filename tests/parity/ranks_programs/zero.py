"""ZeroRedundancyOptimizer under both libraries, and SyncBatchNorm, which torch has on accelerators alone."""
import copy
import importlib
import warnings

from tests.parity.ranks import outcome


def main(torch, rank, size):
    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)
    dist, nn, optim = torch.distributed, torch.nn, torch.optim
    Zero = importlib.import_module(f"{torch.__name__}.distributed.optim").ZeroRedundancyOptimizer
    Join = importlib.import_module(f"{torch.__name__}.distributed.algorithms.join").Join
    DDP = nn.parallel.DistributedDataParallel
    results = {}

    def case(name, function):
        torch.manual_seed(rank)
        results[name] = outcome(torch, function)

    def data(step, *shape, of=rank):
        return torch.randn(*shape, generator=torch.Generator().manual_seed(100 * step + of))

    def network():
        return nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2))

    # ---------------------------------------------------------------- ZeroRedundancyOptimizer
    def train(optimizer_class, steps=4, groups=False, view=False, schedule=False, **defaults):
        model = DDP(network())
        given = model.parameters()
        if groups:
            given = [{"params": model.module[0].parameters(), "lr": 0.05}, {"params": model.module[2:].parameters()}]
        zero = Zero(given, optimizer_class, parameters_as_bucket_view=view, **defaults)
        scheduler = optim.lr_scheduler.StepLR(zero, 2, 0.5) if schedule else None
        losses = []
        for step in range(steps):
            zero.zero_grad()
            loss = model(data(step, 5, 3)).square().mean()
            loss.backward()
            zero.step()
            if scheduler is not None:
                scheduler.step()
            losses.append(loss.detach())
        return model, zero, losses

    def states(*args, **kwargs):
        """What there is at the end: parameters, this rank's share, and the whole state on rank 1."""
        model, zero, losses = train(*args, **kwargs)
        mine = [[list(p.shape) for p in group["params"]] for group in zero.optim.param_groups]
        zero.consolidate_state_dict(1)
        state = zero.state_dict() if rank == 1 else {}
        for group in state.get("param_groups", ()):            # settings of how torch computes
            for name in ("foreach", "fused", "capturable", "differentiable", "maximize", "decoupled_weight_decay"):
                group.pop(name, None)
        return losses, list(model.parameters()), mine, state
    for view in (False, True):
        case(f"adam {view}", lambda: states(optim.Adam, view=view, lr=0.01))
        case(f"sgd {view}", lambda: states(optim.SGD, view=view, lr=0.1, momentum=0.9))
        case(f"groups {view}", lambda: states(optim.AdamW, view=view, groups=True, lr=0.01, weight_decay=0.1))
        case(f"schedule {view}", lambda: states(optim.SGD, view=view, schedule=True, lr=0.1))

    def of_one():
        """The difference from an optimiser that is not shared out."""
        model, zero, _ = train(optim.Adam, lr=0.01)
        torch.manual_seed(rank)
        other = DDP(network())
        optimizer = optim.Adam(other.parameters(), lr=0.01)
        for step in range(4):
            optimizer.zero_grad()
            other(data(step, 5, 3)).square().mean().backward()
            optimizer.step()
        return max((p - q).abs().max().item() for p, q in zip(model.parameters(), other.parameters())) < 1e-12
    case("of one", of_one)

    def resumed():
        model, zero, _ = train(optim.Adam, lr=0.01)
        zero.consolidate_state_dict()
        sent = [zero.state_dict() if rank == 0 else None]
        dist.broadcast_object_list(sent)
        state = sent[0]
        other = Zero(model.parameters(), optim.Adam, lr=0.5)
        other.load_state_dict(state)
        for step in range(4, 7):
            other.zero_grad()
            model(data(step, 5, 3)).square().mean().backward()
            other.step()
        return list(model.parameters()), other.param_groups[0]["lr"]
    case("resumed", resumed)

    def added():
        model, last = network(), nn.Linear(2, 2)
        for p in [*model.parameters(), *last.parameters()]:
            dist.broadcast(p.data, 0)
        zero = Zero(model.parameters(), optim.SGD, lr=0.1, momentum=0.5)
        for step in range(4):
            if step == 2:
                zero.add_param_group({"params": last.parameters(), "lr": 0.2})
            zero.zero_grad()
            last(model(data(step, 5, 3, of=0))).square().mean().backward()
            zero.step()
        return [*model.parameters(), *last.parameters()]
    case("added", added)

    def closure():
        model, zero, _ = train(optim.SGD, lr=0.1)
        return zero.step(lambda: model(data(9, 5, 3)).square().mean()), list(model.parameters())
    case("closure", closure)

    def uneven():
        model = DDP(network())
        zero, losses = Zero(model.parameters(), optim.Adam, lr=0.01), []
        with Join([model, zero]):
            for step in range(2 + rank):
                zero.zero_grad()
                loss = model(data(step, 5, 3)).square().mean()
                loss.backward()
                zero.step()
                losses.append(loss.detach())
        return losses, list(model.parameters())
    case("join", uneven)
    case("error state", lambda: train(optim.Adam, lr=0.01)[1].state_dict())
    case("error empty", lambda: Zero([], optim.SGD, lr=0.1))
    case("error tensor", lambda: Zero(torch.ones(2), optim.SGD, lr=0.1))
    case("error number", lambda: Zero(3, optim.SGD, lr=0.1))
    case("error items", lambda: Zero([torch.ones(2), {}], optim.SGD, lr=0.1))
    case("error group", lambda: Zero([{"lr": 1}], optim.SGD, lr=0.1))
    case("error dtypes", lambda: Zero([torch.ones(2), torch.ones(2).float()], optim.SGD, lr=0.1))
    case("error join", lambda: Join([]))
    if torch.__name__ == "torch":
        return results

    # ---------------------------------------------------------------- SyncBatchNorm beside one process that has all
    def batch_norm(counts, shape=(3, 4, 5), kind=nn.BatchNorm2d, in_dtype=torch.float64, steps=3, **options):
        """The largest difference from BatchNorm of all samples: outputs, gradients of input and parameters, buffers."""
        torch.manual_seed(0)
        alone = kind(shape[0], **options).to(in_dtype)
        for p in alone.parameters():
            nn.init.normal_(p)
        together = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(alone))
        worst, start = 0, sum(counts[:rank])
        mine = slice(start, start + counts[rank])
        for step in range(steps):
            x, g = [data(step + k, sum(counts), *shape, of=0).to(in_dtype) for k in (0, 50)]
            whole, part = x.clone().requires_grad_(), x[mine].clone().requires_grad_()
            a, b = alone(whole), together(part)
            a.backward(g)
            b.backward(g[mine])
            worst = max([worst] + [(p - q).abs().max().item() for p, q in ((a[mine], b), (whole.grad[mine], part.grad))
                                   if q.numel()])
        for p, q in zip(alone.parameters(), together.parameters()):
            dist.all_reduce(q.grad)
            worst = max(worst, (p.grad - q.grad).abs().max().item())
        for p, q in zip(alone.buffers(), together.buffers()):
            worst = max(worst, (p - q).abs().max().item())
        return worst, (alone.eval()(x) - together.eval()(x)).abs().max().item()
    case("ours norm", lambda: batch_norm([4] * size))
    case("ours norm uneven", lambda: batch_norm([2 * r + 1 for r in range(size)]))
    case("ours norm empty", lambda: batch_norm([4] * (size - 1) + [0]))
    case("ours norm one each", lambda: batch_norm([1] * size, (3,), nn.BatchNorm1d))
    case("ours norm 1d", lambda: batch_norm([3] * size, (3, 4), nn.BatchNorm1d, momentum=None))
    case("ours norm 3d", lambda: batch_norm([2] * size, (3, 2, 2, 2), nn.BatchNorm3d, track_running_stats=False))
    case("ours norm plain", lambda: batch_norm([4] * size, affine=False))
    case("ours single norm", lambda: batch_norm([4] * size, in_dtype=torch.float32))

    def of_all():
        """A network with batch norm in DDP beside one process that has all samples."""
        torch.manual_seed(0)
        model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(27, 2))
        ddp = DDP(nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(model)))
        for optimizer, m, own in [(optim.SGD(m.parameters(), lr=0.1), m, m is ddp) for m in (ddp, model)]:
            for step in range(4):
                xs = [data(step, 4, 2, 5, 5, of=r) for r in range(size)]
                optimizer.zero_grad()
                m(xs[rank] if own else torch.cat(xs)).square().mean().backward()
                optimizer.step()
        both = zip(model.state_dict().values(), ddp.module.state_dict().values())
        return max((a - b).abs().max().item() for a, b in both), 0.
    case("ours norm network", of_all)

    def of_a_group():
        groups = [dist.new_group([r]) for r in range(size)]
        norm, alone = nn.SyncBatchNorm(3, process_group=groups[rank]), nn.BatchNorm1d(3)
        x = data(0, 4, 3)
        return (norm(x) - alone(x)).abs().max().item(), 0.
    case("ours norm group", of_a_group)
    return results
