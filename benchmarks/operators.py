"""Times single operators of tinytorch beside torch's, in one process: best of many calls, worst ratio first.

    python benchmarks/operators.py [--threads 1] [--only REGEX] [--sizes sml] [--seconds 0.1] [--json FILE]
                                   [--least RATIO]
    python benchmarks/operators.py --page docs/benchmarks.md ONE_THREAD.json MORE_THREADS.json

A ratio below one means that tinytorch is faster. Sizes: s 4x8, m 128x256, l 2048x2048 elements or about as many.
Rows marked b are forward and backward. `--least` prints only rows with at least this ratio. `--page` writes the figures
of two files that `--json` has made to the end of a page.
"""
import argparse
import gc
import json
import math
import re
import statistics
import time

import machine
import numpy as np

SHAPES = {"s": (4, 8), "m": (128, 256), "l": (2048, 2048)}

#: Rows with backward. x is a tensor of normal numbers, y is like x, p positive, u in (-1, 1), w a row, v a column.
_SMOOTH = """
torch.exp(x) torch.exp2(x) torch.expm1(x) torch.log(p) torch.log2(p) torch.log10(p) torch.log1p(p) torch.sqrt(p)
torch.rsqrt(p) torch.reciprocal(p) torch.sin(x) torch.cos(x) torch.tan(x) torch.asin(u) torch.acos(u) torch.atan(x)
torch.sinh(x) torch.cosh(x) torch.tanh(x) torch.asinh(x) torch.atanh(u) torch.acosh(p+1) torch.sigmoid(x)
torch.erf(x) torch.erfc(x) torch.erfinv(u) torch.lgamma(p) torch.digamma(p) torch.abs(x) torch.square(x)
torch.logit(p/(p+1)) torch.sinc(x) torch.neg(x) torch.pow(p,2.5) torch.pow(x,3) torch.pow(p,y) torch.clamp(x,-1,1)
torch.nan_to_num(x) torch.softmax(x,-1) torch.log_softmax(x,-1) torch.logsumexp(x,-1) torch.cumsum(x,-1)
torch.cumprod(u,-1) torch.add(x,y) torch.sub(x,y) torch.mul(x,y) torch.div(x,p) torch.add(x,2.0) torch.mul(x,2.0)
torch.div(x,2.0) torch.sub(1.0,x) torch.add(x,w) torch.mul(x,w) torch.mul(x,v) torch.div(x,v) torch.maximum(x,y)
torch.minimum(x,y) torch.atan2(x,y) torch.hypot(x,y) torch.lerp(x,y,0.3) torch.lerp(x,y,p) torch.addcmul(x,y,p)
torch.addcdiv(x,y,p) torch.where(m,x,y) torch.fmod(x,p) torch.remainder(x,p) torch.logaddexp(x,y) torch.xlogy(x,p)
torch.masked_fill(x,m,0.0) torch.sum(x) torch.sum(x,0) torch.sum(x,1) torch.mean(x) torch.mean(x,0) torch.mean(x,1)
torch.prod(u) torch.prod(u,1) torch.amax(x,0) torch.amax(x,1) torch.amin(x,1) torch.norm(x) torch.norm(x,dim=1)
torch.std(x) torch.std(x,1) torch.var(x) torch.var(x,0) torch.linalg.vector_norm(x,3) torch.cat([x,y])
torch.cat([x,y],1) torch.stack([x,y]) torch.stack([x,y],-1) torch.flip(x,[0]) torch.flip(x,[1]) torch.roll(x,1,0)
torch.tril(x) torch.triu(x) x.t().contiguous() x.repeat(2,1) torch.repeat_interleave(x,2,0) F.pad(x,(1,1)) x[1:,1:]
x[i] x[i,j] torch.index_select(x,0,i) torch.gather(x,1,k) torch.take_along_dim(x,k,1) x.scatter_add(1,k,y)
x.scatter(1,k,y) x.index_add(0,i,y) x.clone() x.expand(2,-1,-1).contiguous() torch.cummax(x,1)[0] torch.sort(x,1)[0]
torch.topk(x,4,1)[0] torch.kthvalue(x,2,1)[0] torch.median(x,1)[0] torch.max(x,1)[0] torch.outer(x[0],y[0])
torch.diff(x) torch.trapezoid(x) torch.quantile(x,0.3,1) torch.diagonal(x).clone() torch.fft.fft(x) torch.fft.rfft(x)
F.relu(x) F.relu6(x) F.leaky_relu(x) F.elu(x) F.selu(x) F.celu(x) F.gelu(x) F.gelu(x,approximate='tanh') F.silu(x)
F.mish(x) F.hardtanh(x) F.hardswish(x) F.hardsigmoid(x) F.softplus(x) F.logsigmoid(x) F.softsign(x) F.tanhshrink(x)
F.hardshrink(x) F.softshrink(x) F.threshold(x,0.1,0.0) F.glu(x) F.prelu(x,c) F.mse_loss(x,y) F.l1_loss(x,y)
F.smooth_l1_loss(x,y) F.huber_loss(x,y) F.binary_cross_entropy(s,q) F.binary_cross_entropy_with_logits(x,q)
F.kl_div(x,q) F.cross_entropy(x,r) F.nll_loss(x,r) F.cosine_similarity(x,y) F.normalize(x) F.layer_norm(x,x.shape[1:])
F.rms_norm(x,x.shape[1:]) F.pairwise_distance(x,y) F.poisson_nll_loss(x,p) F.gaussian_nll_loss(x,y,p)
F.soft_margin_loss(x,z) F.cosine_embedding_loss(x,y,z[:,0]) F.triplet_margin_loss(x,y,p) F.hinge_embedding_loss(x,z)
F.embedding(r,x) F.linear(x,a) torch.mm(x,x.t())
torch.bmm(b,b) torch.matmul(b,b) torch.det(g) torch.linalg.inv(g) torch.linalg.solve(g,g) torch.linalg.cholesky(h)
torch.linalg.qr(g)[0] torch.linalg.svd(g)[1] torch.linalg.eigh(h)[0] torch.matrix_exp(g/9) torch.linalg.slogdet(g)[1]
F.conv2d(im,k3,padding=1) F.conv2d(im,k1) F.conv2d(im,kd,padding=1,groups=im.shape[1]) F.conv_transpose2d(im,k3)
F.conv2d(im7,k7,padding=1) F.max_pool2d(im,2) F.avg_pool2d(im,2) F.adaptive_avg_pool2d(im,1)
F.adaptive_avg_pool2d(im,2) F.adaptive_max_pool2d(im,1) F.interpolate(im,scale_factor=2)
F.interpolate(im,scale_factor=2,mode='bilinear') F.grid_sample(im,grid,align_corners=False) F.batch_norm(im,rm,rv)
F.batch_norm(im,None,None,training=True) F.group_norm(im,2) F.instance_norm(im) F.pixel_shuffle(im4,2) F.unfold(im,3)
F.scaled_dot_product_attention(b4,b4,b4) F.ctc_loss(lp,labels,lengths,counts)
"""
#: Rows without backward.
_FLAT = """
torch.sign(x) torch.floor(x) torch.round(x) torch.trunc(x) torch.isnan(x) torch.isfinite(x) torch.eq(x,y) torch.lt(x,y)
torch.gt(x,0.5) torch.logical_and(m,n) torch.logical_not(m) torch.bitwise_and(e,f) torch.add(e,f) torch.mul(e,f)
torch.floor_divide(e,f) torch.argmax(x) torch.argmax(x,1) torch.argsort(x,1) torch.bincount(t) torch.histc(x)
torch.searchsorted(o,x) torch.unique(t) torch.nonzero(m) torch.masked_select(x,m) x[m] torch.any(m) torch.all(m,1)
torch.sum(e) torch.sum(m) torch.max(e) torch.allclose(x,x) torch.equal(x,x) torch.bucketize(x,o) F.one_hot(t,16)
torch.arange(x.numel()) torch.arange(0.0,x.numel()) torch.linspace(0,1,x.numel()) torch.zeros(x.shape)
torch.ones(x.shape) torch.full(x.shape,2.0) torch.eye(x.shape[0]) torch.zeros_like(x) torch.ones_like(x)
torch.empty(x.shape) torch.randn(x.shape) torch.rand(x.shape) torch.randperm(x.numel()) torch.randint(0,9,x.shape)
torch.bernoulli(p/(p+1)) torch.multinomial(p,4) F.dropout(x) x.double() x.to(torch.bfloat16) x.half() h2.float()
bf.float() e.float() x.long() x.bool() torch.add(bf,bf) torch.mul(bf,bf) torch.tanh(bf) torch.add(h2,h2) torch.exp(h2)
torch.sum(bf) torch.softmax(bf,-1) F.gelu(bf) F.relu(bf) torch.mm(bf,bf.t()) x.add_(0.0) x.mul_(1.0) x.clamp_(-9,9)
x.fill_(1.5) x.zero_() x.copy_(y) x.sigmoid_() x.relu_() torch.complex(x,y) torch.abs(cx) torch.mul(cx,cx)
cx.real.clone() torch.meshgrid(w,w,indexing='ij')[0].clone() torch.cdist(x,y) torch.kron(w[:4],v[:4])
torch.tensordot(x,y,2) torch.einsum('ij,kj->ik',x,y) torch.cov(x) torch.corrcoef(x) torch.aminmax(x)
torch.count_nonzero(m) torch.isclose(x,y)
torch.clamp(x,0) torch.full_like(x,3.0) x.view(-1) x.t() x[0] x.unsqueeze(0) x.chunk(2)
x.narrow(0,0,2) x.detach() torch.diag(w) torch.diag_embed(w) torch.rot90(x) torch.logical_or(m,n)
"""


def _given(size):
    """The arrays by their names in the tables."""
    rows, columns = SHAPES[size]
    random = np.random.RandomState(0)
    single = np.float32

    def normal(*shape):
        return random.randn(*shape).astype(single)
    found = {"x": normal(rows, columns), "y": normal(rows, columns), "w": normal(columns), "v": normal(rows, 1) + 3,
             "p": random.rand(rows, columns).astype(single) * 3 + 0.1,
             "u": random.rand(rows, columns).astype(single) * 1.98 - 0.99, "c": np.array([0.25], single)}
    found["q"] = random.rand(rows, columns).astype(single)
    found["s"] = random.rand(rows, columns).astype(single) * 0.98 + 0.01
    found["z"] = np.sign(normal(rows, columns))
    found["m"], found["n"] = found["x"] > 0, found["y"] > 0
    found["i"], found["j"] = random.randint(0, rows, rows), random.randint(0, columns, rows)
    found["k"], found["r"] = random.randint(0, columns, (rows, columns)), random.randint(0, min(rows, columns), rows)
    found["e"], found["f"] = random.randint(1, 99, (rows, columns)), random.randint(1, 99, (rows, columns))
    found["t"], found["o"] = random.randint(0, 16, rows * columns), np.sort(normal(columns))
    found["a"] = normal(min(columns, 512), columns)
    n = {"s": 4, "m": 32, "l": 128}[size]
    found["b"], found["g"] = normal(n, n, n), normal(n, n) + n * np.eye(n, dtype=single)
    found["h"] = (found["g"] @ found["g"].T).astype(single)
    images, channels, side = {"s": (1, 2, 4), "m": (2, 8, 32), "l": (8, 32, 64)}[size]
    found["im"], found["im4"] = normal(images, channels, side, side), normal(images, 4 * channels, side, side)
    found["k3"], found["k1"] = normal(channels, channels, 3, 3), normal(channels, channels, 1, 1)
    found["kd"], found["rm"] = normal(channels, 1, 3, 3), normal(channels)
    found["rv"] = np.abs(normal(channels)) + 1
    wide = {"s": 4, "m": 64, "l": 256}[size]
    found["im7"], found["k7"] = normal(1, wide, 7, 7), normal(wide, wide, 3, 3)
    found["grid"] = random.rand(images, side, side, 2).astype(single) * 2 - 1
    length, heads, head = {"s": (4, 2, 4), "m": (32, 4, 16), "l": (256, 8, 64)}[size]
    found["b4"] = normal(2, heads, length, head)
    steps, batch, classes, label = {"s": (6, 2, 5, 2), "m": (50, 8, 20, 10), "l": (200, 16, 50, 30)}[size]
    raw = normal(steps, batch, classes)
    found["lp"] = raw - np.log(np.exp(raw).sum(-1, keepdims=True))
    found["labels"] = random.randint(1, classes, (batch, label))
    found["lengths"], found["counts"] = np.full(batch, steps), np.full(batch, label)
    return found


_DIFFERENTIABLE = "x y p u w v c s b g h im im4 im7 k3 k1 kd k7 b4 a lp".split()


def _names(torch, arrays, text, backward):
    """The namespace in which the text of a row is evaluated."""
    used = {name for name in arrays if re.search(rf"\b{name}\b", text)}
    names = {"torch": torch, "F": torch.nn.functional}
    for name in used:
        names[name] = torch.tensor(arrays[name])
        if backward and name in _DIFFERENTIABLE:
            names[name].requires_grad_()
    for name, make in (("bf", lambda x: x.to(torch.bfloat16)), ("h2", lambda x: x.half()),
                       ("cx", lambda x: torch.complex(x, x))):
        if re.search(rf"\b{name}\b", text):
            names[name] = make(torch.tensor(arrays["x"]))
    return names


def _step(torch, arrays, text, backward):
    names = _names(torch, arrays, text, backward)
    run = eval("lambda: " + text, names)
    if not backward:
        return run
    leaves = [x for x in names.values() if isinstance(x, torch.Tensor) and x.requires_grad]
    g = torch.ones_like(run().detach())

    def step():
        for x in leaves:
            x.grad = None
        run().backward(g)
    return step


def _wake(step):
    """Waits until the other library's threads, which spin for some milliseconds after its calls, sleep, and then calls
    `step` until its own threads and the core are awake, which also takes some milliseconds."""
    time.sleep(0.01)
    end = time.perf_counter() + 0.004
    while time.perf_counter() < end:
        step()


def _best(steps, seconds, clock):
    """The best time of a call of each step, in seconds. The steps take turns."""
    counts = []
    for step in steps:
        took = []
        for _ in range(5):                     # the first calls are slower than others
            start = clock()
            step()
            took.append(clock() - start)
        counts.append(max(1, min(5000, int(seconds / 8 / (min(took) + 1e-9)))))
    best, spent, rounds = [math.inf] * len(steps), 0.0, 0
    while spent < seconds * len(steps) or rounds < 3:
        rounds += 1
        for i, (step, count) in enumerate(zip(steps, counts)):
            if clock is time.perf_counter:
                _wake(step)
            start = clock()
            for _ in range(count):
                step()
            took = clock() - start
            spent, best[i] = spent + took, min(best[i], took / count)
    return best


def rows():
    """(text, whether with backward) for every row."""
    for text in _SMOOTH.split():
        yield from ((text, False), (text, True))
    for text in _FLAT.split():
        yield text, False


def measured(ours, theirs, sizes, only, seconds, clock):
    """(name, best time of tinytorch, best time of torch) for every row of these sizes whose name matches `only`."""
    for size in sizes:
        arrays = _given(size)
        for text, backward in rows():
            name = f"{size} {text}{' b' * backward}"
            if not re.search(only, name):
                continue
            try:
                steps = [_step(library, arrays, text, backward) for library in (ours, theirs)]
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {error}", flush=True)
                continue
            gc.disable()
            best = _best(steps, seconds, clock)
            gc.enable()
            yield name, *best


def report(found, least=0.0):
    """Prints the rows, worst first, and for each size the geometric mean and the numbers of rows above 2 and 1.2."""
    for name, a, b in sorted(found, key=lambda row: -row[1] / row[2]):
        if a / b >= least:
            print(f"{a / b:8.2f}  {a * 1e6:11.1f} us  {b * 1e6:11.1f} us  {name}")
    for size in SHAPES:
        ratios = [a / b for name, a, b in found if name[0] == size]
        if ratios:
            print(f"{size}: {len(ratios)} rows, geometric mean {_mean(ratios):.2f}, above 2: "
                  f"{sum(r > 2 for r in ratios)}, above 1.2: {sum(r > 1.2 for r in ratios)}")


def _mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


HEADING = "## Single operators"


def page(files):
    """The section of the page: what the ratios come to, and all of them, worst first."""
    columns = [(size, file) for file in files for size in SHAPES]
    found = {}
    for at, (size, file) in enumerate(columns):
        with open(file) as opened:
            for name, ours, theirs in json.load(opened):
                if name[0] == size:
                    found.setdefault(name[2:], [None] * len(columns))[at] = ours / theirs
    titles = [f"{size}, {threads}" for threads in ("1 thread", "2 threads") for size in SHAPES]
    yield (f"{HEADING}\n\nBy `benchmarks/operators.py`: ratios to the time of torch in the same process, best of many. "
           "Sizes: s 4x8, m 128x256, l 2048x2048 elements or about as many. Rows marked b are forward and backward. "
           f"{machine.sentence(machine.facts('torch'))}.\n")
    yield f"| | {' | '.join(titles)} |\n|---|{'---|' * len(columns)}"
    ratios = [[row[at] for row in found.values() if row[at] is not None] for at in range(len(columns))]
    for title, figure in (("geometric mean", lambda r: f"{_mean(r):.2f}"), ("rows", len),
                          ("rows above 2", lambda r: sum(x > 2 for x in r)),
                          ("rows above 1.2", lambda r: sum(x > 1.2 for x in r))):
        yield f"| {title} | {' | '.join(str(figure(r)) for r in ratios)} |"
    yield f"\n| operator | {' | '.join(titles)} |\n|---|{'---|' * len(columns)}"
    for name, row in sorted(found.items(), key=lambda item: -max(filter(None, item[1]))):
        cells = ["" if x is None else f"{x:.2f}" for x in row]
        yield f"| `{name}` | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--sizes", default="sml")
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--least", type=float, default=0.0)
    parser.add_argument("--json")
    parser.add_argument("--page", nargs=3)
    options = parser.parse_args()
    if options.page:
        place, *files = options.page
        with open(place) as file:
            before = file.read().partition(HEADING)[0].rstrip()
        with open(place, "w") as file:
            print(before, "", *page(files), sep="\n", file=file)
        return
    import torch as theirs

    import tinytorch as ours
    for library in (ours, theirs):
        library.set_num_threads(options.threads)
    clock = time.process_time if options.threads == 1 else time.perf_counter   # other programs may use the processor
    found = list(measured(ours, theirs, options.sizes, options.only, options.seconds, clock))
    report(found, options.least)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file)


if __name__ == "__main__":
    main()
