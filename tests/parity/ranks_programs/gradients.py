"""Collectives with gradients: each as it is, and its gradient."""
import importlib
import warnings

from tests.parity.ranks import outcome


def main(torch, rank, size):
    F = importlib.import_module(f"{torch.__name__}.distributed.nn.functional")
    results = {}

    def case(name, function, *shapes):
        def call():
            generator = torch.Generator().manual_seed(10 * rank + len(name))
            xs = [torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                out = function(*xs)
                outs = out if isinstance(out, tuple) else (out,)
                loss = sum(((i + 1 + rank) * y * y).sum() for i, y in enumerate(outs))
                grads = torch.autograd.grad(loss, xs, create_graph=True)
                second = torch.autograd.grad(sum((g * g).sum() for g in grads), xs)
            return outs, grads, second
        results[name] = outcome(torch, call)
    empty = lambda *shape: torch.zeros(*shape, dtype=torch.float64)
    case("all_reduce", F.all_reduce, (2, 3))
    case("all_gather", F.all_gather, (2, 3))
    for root in range(size):
        case(f"broadcast {root}", lambda x: F.broadcast(x, root), (2, 3))
        case(f"gather {root}", lambda x: F.gather(x, root), (2, 3))
        case(f"scatter {root}", lambda *xs: F.scatter(xs, root), *[(2,)] * size)

        def reduce(x):
            out = F.reduce(x, root)
            return out if rank == root else out * 0            # the others hold parts of the way
        case(f"reduce {root}", reduce, (2, 3))
    case("reduce_scatter", lambda *xs: F.reduce_scatter(empty(2), list(xs)), *[(2,)] * size)
    case("all_to_all", lambda *xs: F.all_to_all([empty(2) for _ in xs], list(xs)), *[(2,)] * size)
    case("all_to_all_single", lambda x: F.all_to_all_single(empty(2 * size, 2), x), (2 * size, 2))

    def uneven(x):
        sent = [1 + (rank + j) % 2 for j in range(size)]
        got = [1 + (j + rank) % 2 for j in range(size)]
        return F.all_to_all_single(empty(sum(got)), x[:sum(sent)], got, sent)
    case("all_to_all_single uneven", uneven, (2 * size,))
    return results
