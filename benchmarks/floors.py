"""The least that a step needs, and where the rest of its time goes: its matrix products alone, timed in NumPy, the
bytes of all results, and the heaviest operations.

    python benchmarks/floors.py [--threads 1] [--json FILE] [--only REGEX] [--rounds 3] [--seconds 0.5]

Times of steps are measured as in compare.py. The products alone are a lower bound for any program that leaves
them to NumPy: where they take most of a step, only a faster BLAS makes it faster. `python benchmarks/report.py --floors
FILE` puts the figures that --json writes into the docs.
"""
import json
import math
import re
import statistics

import machine
import numpy as np
from compare import LIBRARIES, alternate, child, finish, parser_of, times_of, worker
from workloads import MODELS, TRAINING, WORKLOADS


def _steps(*gates):
    """(forward, backward) products of a recurrent layer and a classifier: 28 steps, batch 100, 128 units, rows
    [x | 1 | h] of 28 + 1 + 128. `gates`: (columns of the rows, outputs)."""
    recurrent = sum(outputs for columns, outputs in gates if columns > 128)
    return ([(28, 100, columns, outputs) for columns, outputs in gates] + [(1, 100, 128, 10)],
            [(27, 100, recurrent, 128)] + [(1, columns, 2800, outputs) for columns, outputs in gates]
            + [(1, 10, 100, 128), (1, 100, 10, 128)])


def _linear(rows, *sizes):
    """(forward, backward) products of successive linear layers. The first one needs no gradient of its input."""
    layers = list(zip(sizes, sizes[1:]))
    return ([(1, rows, n, m) for n, m in layers],
            [(1, m, rows, n) for n, m in layers] + [(1, rows, m, n) for n, m in layers[1:]])


def _all(*parts):
    """The (forward, backward) products of all parts."""
    return [p for forward, _ in parts for p in forward], [p for _, backward in parts for p in backward]


def _cnn(batch):
    return _all(([(batch, 6, 9, 676)], [(batch, 6, 676, 9)]), _linear(batch, 1014, 84, 10),
                ([], [(1, batch, 84, 1014)]))


def _both(products):
    """The products that compute the gradients of both operands."""
    return [p for t, n, k, m in products for p in ((t, n, m, k), (t, k, n, m))]


def _attention(width, memory=False):
    """(forward, backward) products of attention of 4 heads over 16 sequences of 32: to the inputs, which need no
    gradient, or to a `memory`."""
    size = width // 4
    projections = [(1, 512, width, width), (1, 512, width, 2 * width)] if memory else [(1, 512, width, 3 * width)]
    rest = [(64, 32, size, 32), (64, 32, 32, size), (1, 512, width, width)]
    return projections + rest, _both(rest) + (_both(projections) if memory else [
        (t, k, n, m) for t, n, k, m in projections])


def _network(width):
    layers = [(1, 512, width, 4 * width), (1, 512, 4 * width, width)]
    return layers, _both(layers)


def _encoder(width):
    return _all(_attention(width), _network(width))


def _transformer(width):
    return _all(_encoder(width), _encoder(width), _attention(width, memory=True))


def _gpt():
    block = [(1, 1024, 64, 192), (1, 1024, 64, 64), (1, 1024, 64, 256), (1, 1024, 256, 64)]
    heads = [(64, 64, 16, 64), (64, 64, 64, 16)]
    forward = 2 * block + 2 * heads + [(1, 1024, 64, 65)]
    return forward, _both(forward)


#: Model -> (forward, backward) products of a step, each (count, rows, inner size, columns).
PRODUCTS = {
    "RNN 4x196-64": _all(([(1, 400, 196, 64), (3, 100, 64, 64)],
                          [(1, 64, 400, 196), (3, 100, 64, 64), (1, 64, 300, 64)]),
                         _linear(100, 64, 10), ([], [(1, 100, 10, 64)])),
    "CNN 1-6": _cnn(100), "CNN 1-6, batch 1": _cnn(1),
    "text CNN": _all(([(1, 24, 50, 8320)], [(1, 24, 8320, 50), (1, 8320, 24, 50)]), _linear(64, 128, 1),
                     ([], [(1, 64, 1, 128)])),
    "GRU 28x28-128": _steps((157, 256), (29, 128), (129, 128)),
    "RNN 28x28-128": _steps((157, 128)), "LSTM 28x28-128": _steps((157, 512)),
    "MLP 784-256-128": _linear(64, 784, 256, 128, 10), "MLP 4-16-16-1": _linear(8, 4, 16, 16, 1),
    "CNN LeNet-size": _all(([(64, 32, 9, 676), (64, 64, 288, 576)],
                            [(64, 9, 676, 32), (64, 288, 576, 64), (64, 96, 192, 624)]),
                           _linear(64, 9216, 128, 10), ([], [(1, 64, 128, 9216)])),
    "GPT 2 blocks": _gpt(), "MultiheadAttention 64": _attention(64),
    "TransformerEncoderLayer 64": _encoder(64), "TransformerEncoderLayer 128": _encoder(128),
    "Transformer 64": _transformer(64), "Transformer 128": _transformer(128)}


def products_alone(products, seconds):
    """The median time of all products, one after the other, in ms, on operands of their own."""
    random = np.random.RandomState(0)
    pairs = [tuple(random.rand(*shape).astype(np.float32) for shape in ((n, k), (k, m)))
             for times, n, k, m in products for _ in range(times)]
    results = [np.empty((len(a), b.shape[1]), np.float32) for a, b in pairs]

    def run():
        for (a, b), result in zip(pairs, results):
            np.dot(a, b, out=result)
    return 1000 * statistics.median(times_of(run, seconds))


def examine(name, seconds):
    """Prints for one workload's step the ms and the number of its products, the MB of all results, and the four
    heaviest operations as (name, calls, share of the time inside operations)."""
    import tinytorch as torch
    forward, backward = PRODUCTS[name.removesuffix(", inference")]
    products = forward if name not in TRAINING else forward + backward
    step, steps = WORKLOADS[name](torch), 20
    for _ in range(steps):
        step()
    with torch.profiler.profile(profile_memory=True) as profile:
        for _ in range(steps):
            step()
    rows = profile.key_averages()
    heaviest = sorted(rows, key=lambda row: -row.self_cpu_time_total)[:4]
    print(json.dumps([products_alone(products, seconds), sum(p[0] for p in products),
                      sum(row.cpu_memory_usage for row in rows) / steps / 2 ** 20,
                      [(row.key.removeprefix("aten::"), math.ceil(row.count / steps),
                        row.self_cpu_time_total / rows.self_cpu_time_total) for row in heaviest]]))


def main():
    parser = parser_of(__doc__, LIBRARIES, threads=1, seconds=0.5)
    args, examined = parser.parse_known_args()
    if args.worker:
        return worker(args.worker, WORKLOADS, args.only, args.seconds, args.threads)
    if examined[:1] == ["--examine"]:
        return examine(examined[1], args.seconds)
    on, rows = machine.facts("torch"), []
    names = [name for name in WORKLOADS if name.removesuffix(", inference") in MODELS and re.search(args.only, name)]
    args.only = "^(" + "|".join(map(re.escape, names)) + ")$"
    print(f"{machine.sentence(on)}\nthreads: {args.threads or 'default'}\n", flush=True)
    for name, found in alternate(__file__, LIBRARIES, args).items():
        floor, count, megabytes, heaviest = child(["--examine", name, "--seconds", str(args.seconds)], args.threads,
                                                  __file__)[0]
        rows.append((name, found["tinytorch"], found["torch"], floor, count, megabytes, heaviest))
        print(f"{name:28} {found['tinytorch']:8.3f} ms, torch {found['torch']:8.3f}; {count} products {floor:.3f} ms; "
              f"{megabytes:.2f} MB of results; " + ", ".join(f"{key} {share:.0%}" for key, _, share in heaviest),
              flush=True)
    finish(args, on, rows=rows)


if __name__ == "__main__":
    main()
