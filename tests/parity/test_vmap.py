"""vmap beside torch's: programs of several operations, transforms in each other, in-place writes, random numbers."""
import itertools
import warnings

import pytest

from .adapter import same_outcome


def M(t, *shape, **options):
    shape = shape or (2, 3)
    n = 1
    for size in shape:
        n *= size
    return (t.arange(float(n), **options) * 0.37 - 1).sin().reshape(shape)


def written(t, write, *more):
    """What a write into its argument leaves of it, and gives."""
    x = M(t, 4, 3)
    return t.vmap(write)(x, *more), x


def view_of_new(t):
    def f(x):
        y = x.clone()
        y[1:].mul_(2)
        y.view(-1)[0] = 7.0
        return y
    return t.vmap(f)(M(t))


def gradient_of_writes(t):
    def f(x):
        y = x * 1
        y[0] = y[1] * x[2]
        y[1:].add_(x[0])
        return (y * y).sum()
    return t.vmap(t.func.grad(f))(M(t))


def captured(t, f, **options):
    """The gradient, outside, of a tensor that the function captures."""
    w = M(t, 3).requires_grad_()
    y = t.vmap(lambda x: f(x, w), **options)(M(t, 4, 3))
    found, = t.autograd.grad((y * y).sum(), w, create_graph=True)
    return y, found, t.autograd.grad(found.sum(), w)


def both_ways(t):
    """An argument that is mapped over and one that is captured, both with a history."""
    x, w = M(t, 4, 3).requires_grad_(), M(t, 3).requires_grad_()
    a, b = x * 2, w.exp()
    y, z = t.vmap(lambda u: ((u * b).tanh().sum(), u @ w), out_dims=0)(a)
    return t.autograd.grad((y * z).sum(), (x, w, a, b))


def layers(t):
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Conv2d(2, 3, 3, padding=1), t.nn.GELU(), t.nn.MaxPool2d(2), t.nn.Flatten(),
                           t.nn.Linear(12, 6), t.nn.LayerNorm(6), t.nn.Tanh(), t.nn.Linear(6, 4))


def per_sample(t, batch=3):
    model = layers(t)
    parameters = {k: v.detach() for k, v in model.named_parameters()}

    def loss(p, x, y):
        return t.nn.functional.cross_entropy(t.func.functional_call(model, p, (x[None],)), y[None])
    return t.vmap(t.func.grad_and_value(loss), (None, 0, 0))(parameters, M(t, batch, 2, 4, 4), t.arange(batch))


def ensemble(t):
    t.manual_seed(1)
    models = [t.nn.Sequential(t.nn.Conv1d(2, 4, 3, groups=2), t.nn.ReLU(), t.nn.ConvTranspose1d(4, 2, 2, stride=2))
              for _ in range(3)]
    p, b = t.func.stack_module_state(models)
    y = t.vmap(lambda p, b, x: t.func.functional_call(models[0], (p, b), (x,)), (0, 0, None))(p, b, M(t, 2, 2, 7))
    return y, t.autograd.grad((y * y).sum(), list(p.values()))


def attended(t):
    q = M(t, 3, 2, 4, 5)
    return t.vmap(t.nn.functional.scaled_dot_product_attention, (0, 0, None))(q, q.cos(), q[0])


def recurrent(t, kind):
    t.manual_seed(2)
    cell = getattr(t.nn, kind)(3, 2)
    y = t.vmap(lambda x: cell(x)[0])(M(t, 2, 4, 1, 3))
    return y, t.autograd.grad((y * y).sum(), list(cell.parameters()))


def bag_of(t):
    weight = M(t, 5, 2)
    return (t.vmap(lambda i: t.nn.functional.embedding(i, weight))(t.tensor([[0, 4], [2, 2]])),
            t.vmap(lambda w, i: w[i].sum(0), (0, 0))(M(t, 2, 5, 2), t.tensor([[0, 4], [2, 2]])),
            t.vmap(t.func.grad(lambda w, i: (t.nn.functional.embedding(i, w) ** 2).sum()), (None, 0))(
                weight, t.tensor([[0, 4], [2, 2]])))


def gathered(t):
    x, i = M(t, 2, 3, 4), t.tensor([[[0, 2], [1, 1], [3, 0]], [[3, 3], [0, 1], [2, 2]]])
    return (t.vmap(lambda a, j: a.gather(1, j))(x, i), t.vmap(lambda a, j: a.gather(1, j), (None, 0))(x[0], i),
            t.vmap(lambda a, j: t.zeros(3, 4).scatter_add(1, j, a[:, :2]))(x, i),
            t.vmap(lambda a, j: a[:, j[0]])(x, i), t.vmap(lambda a, j: a[j[:, 0] % 3, 1:, None], (None, 0))(x[0], i))


def many_levels(t):
    x, y, z = M(t, 2), M(t, 3), M(t, 4)
    f = t.vmap(t.vmap(t.vmap(lambda a, b, c: (a * b).sin() + c, (None, None, 0)), (None, 0, None)), (0, None, None))
    return f(x, y, z), t.func.jacrev(lambda x: f(x, y, z).sum((1, 2)))(x)


def rows_of_a_graph(t, is_batched):
    x = M(t, 3).requires_grad_()
    y = t.stack([x.sum(), (x * x).sum(), x.prod()])
    if is_batched:
        return t.autograd.grad(y, x, t.eye(3), is_grads_batched=True)
    return t.vmap(lambda v: t.autograd.grad(y, x, v, retain_graph=True)[0])(t.eye(3))


def drawn(t, f, randomness, *shape):
    t.manual_seed(3)
    return t.vmap(f, randomness=randomness)(M(t, *shape)), t.rand(2)


def in_chunks(t, randomness="error", f=lambda x: (x * 2, x.sum()), **options):
    t.manual_seed(4)
    return t.vmap(f, chunk_size=2, randomness=randomness, **options)(M(t, 5, 3))


def shown(t):
    found = []
    t.vmap(lambda x: (found.append((x.shape, x.dim(), x.numel(), x.dtype, x.requires_grad, len(x), x.size(-1))), x)[1])(
        M(t, 4, 3, 2))
    return found


def texts(t):
    found = []
    t.vmap(lambda x: (found.extend([repr(x), str(x.sum()), repr(x > 0)]), x)[1])(M(t, 4, 3, 2))
    return found


CASES = {
    "write to the argument": lambda t: written(t, lambda x: x.mul_(2).add_(1)),
    "write into a part": lambda t: written(t, lambda x: x.__setitem__(slice(1, None), 5.0) or x),
    "write at an index": lambda t: written(t, lambda x, i: x.__setitem__(i, 0.5) or x, t.tensor([0, 2, 1, 1])),
    "write through a view": view_of_new,
    "copy_ a single one": lambda t: written(t, lambda x: x.copy_(M(t, 3)) + 0),
    "copy_ into a single one": lambda t: t.vmap(lambda x: t.zeros(3).copy_(x))(M(t)),
    "set in a single one": lambda t: t.vmap(lambda x: t.zeros(3).__setitem__(0, x[0]))(M(t)),
    "new tensors": lambda t: t.vmap(lambda x: (x.new_zeros(3).add_(x), x.new_ones(2) * 2, x.new_full((2,), 3.0),
                                               t.zeros_like(x).copy_(x)))(M(t)),
    "gradient of writes": gradient_of_writes,
    "captured": lambda t: captured(t, lambda x, w: (x * w).sum()),
    "captured product": lambda t: captured(t, lambda x, w: x @ w.exp()),
    "captured and chosen": lambda t: captured(t, lambda x, w: t.where(x > 0, x * w, w)),
    "captured, samples last": lambda t: captured(t, lambda x, w: (x[:3] * w).cumsum(0), in_dims=0, out_dims=-1),
    "captured and mapped": both_ways,
    "per sample": per_sample,
    "per sample, one": lambda t: per_sample(t, 1),
    "ensemble": ensemble,
    "attention": attended,
    **{kind: lambda t, kind=kind: recurrent(t, kind) for kind in ("RNN", "LSTM", "GRU")},
    "embedding": bag_of,
    "gather": gathered,
    "levels": many_levels,
    "hessian over samples": lambda t: t.vmap(t.func.hessian(lambda x: (x.sin() * x.prod()).sum()))(M(t)),
    "jacfwd of jacrev over samples": lambda t: t.vmap(t.func.jacfwd(t.func.jacrev(lambda x: x.tanh().cumsum(0))))(M(t)),
    "jvp over samples": lambda t: t.vmap(lambda x, v: t.func.jvp(lambda y: y.exp() * y[0], (x,), (v,)))(M(t), M(t) + 1),
    "jvp of a largest size over samples": lambda t: t.vmap(lambda x, v: t.func.jvp(
        lambda y: t.linalg.vector_norm(y, float("inf")), (x,), (v,)))(M(t), M(t) + 1),
    "vmap within grad": lambda t: t.func.grad(lambda x: t.vmap(lambda r: r.softmax(0)[0] * r.sum())(x).sum())(M(t)),
    "vmap within jacfwd": lambda t: t.func.jacfwd(t.vmap(lambda r: (r * r).sum()))(M(t)),
    "vmap within hessian": lambda t: t.func.hessian(lambda x: t.vmap(lambda r: (r ** 3).sum())(x).prod())(M(t)),
    "grad within vmap within grad": lambda t: t.func.grad(
        lambda w: t.vmap(t.func.grad(lambda x: (x * w).sin().sum()))(M(t)).sum())(M(t, 3)),
    "rows of a graph": lambda t: rows_of_a_graph(t, False),
    "is_grads_batched": lambda t: rows_of_a_graph(t, True),
    "jacobian at once": lambda t: t.autograd.functional.jacobian(
        lambda x, y: (x * y.sum(), y.exp()), (M(t, 2), M(t, 3)), vectorize=True),
    "jacobian forward": lambda t: t.autograd.functional.jacobian(
        lambda x, y: (x * y.sum(), y.exp()), (M(t, 2), M(t, 3)), vectorize=True, strategy="forward-mode"),
    "hessian at once": lambda t: t.autograd.functional.hessian(
        lambda x: (x ** 3).sum(), M(t, 3), vectorize=True, outer_jacobian_strategy="forward-mode").detach(),
    "chunks": in_chunks,
    "chunks of equal draws": lambda t: in_chunks(t, "same", lambda x: x + t.rand(3)),
    "chunks of draws": lambda t: in_chunks(t, "different", lambda x: x + t.rand(3)),
    "chunks, out_dims": lambda t: in_chunks(t, out_dims=(1, 0)),
    "what is shown": shown,
    "text": lambda t: texts(t),
    "item": lambda t: t.vmap(lambda x: x.sum().item())(M(t)),
    "branch": lambda t: t.vmap(lambda x: x if x.sum() > 0 else -x)(M(t)),
    "float": lambda t: t.vmap(lambda x: float(x[0]))(M(t)),
    "tolist": lambda t: t.vmap(lambda x: x.tolist())(M(t)),
    "numpy": lambda t: t.vmap(lambda x: x.numpy())(M(t)),
    "mask": lambda t: t.vmap(lambda x: x[x > 0])(M(t)),
    "where alone": lambda t: t.vmap(lambda x: t.nonzero(x))(M(t)),
    "unique": lambda t: t.vmap(lambda x: x.unique())(M(t)),
    "as_strided": lambda t: t.vmap(lambda x: x.as_strided((2, 2), (1, 1)))(M(t)),
    "as_strided outside": lambda t: t.vmap(lambda x: x.as_strided((2, 2), (1, 2)))(M(t)),
    "batch_norm": lambda t: t.vmap(lambda x: t.nn.functional.batch_norm(x, t.zeros(2), t.ones(2), training=True))(
        M(t, 2, 3, 2)),
    "batch_norm without statistics": lambda t: t.vmap(
        lambda x: t.nn.functional.batch_norm(x, None, None, training=True))(M(t, 2, 3, 2)),
    "complex": lambda t: t.vmap(lambda x: (t.complex(x, x.cos()).conj() * 1j).abs())(M(t)),
    "half": lambda t: t.vmap(lambda x: (x.half() @ x.half(), x.bfloat16() * 3))(M(t)),
    "bfloat16 gradients": lambda t: t.vmap(t.func.grad(lambda x: (x.sin() * x).sum()))(M(t).bfloat16()),
    "no samples": lambda t: t.vmap(lambda x: (x.sort()[0], x @ x, x.softmax(0)))(t.ones(0, 3)),
    "list of results": lambda t: t.vmap(lambda x: list(x.unbind()))(M(t)),
    "split and cat": lambda t: t.vmap(lambda x, y: t.cat([*x.split(2), y, x * y.sum()]), (0, None))(M(t), M(t, 2)),
}
for _randomness in ("same", "different", "error"):
    CASES |= {f"{name}, {_randomness}": lambda t, f=f, r=_randomness: drawn(t, f(t), r, 2, 16) for name, f in {
        "rand": lambda t: lambda x: t.rand(3),
        "randn": lambda t: lambda x: x + t.randn(16),
        "rand_like": lambda t: lambda x: t.rand_like(x),
        "randint": lambda t: lambda x: t.randint(10, (3,)),
        "randperm": lambda t: lambda x: t.randperm(5),
        "bernoulli": lambda t: lambda x: t.bernoulli(x * 0 + 0.5),
        "bernoulli_": lambda t: lambda x: x.clone().bernoulli_(0.5),
        "normal": lambda t: lambda x: t.normal(x, 2.0),
        "normal_ of a single one": lambda t: lambda x: t.zeros(3).normal_(),
        "multinomial": lambda t: lambda x: t.multinomial(x.abs(), 2),
        "poisson": lambda t: lambda x: t.poisson(x.abs()),
        "dropout": lambda t: lambda x: t.nn.functional.dropout(x),
        "dropout of a single one": lambda t: lambda x: t.nn.functional.dropout(t.ones(4)),
        "alpha_dropout": lambda t: lambda x: t.nn.functional.alpha_dropout(x, 0.5, True),
        "rrelu": lambda t: lambda x: t.nn.functional.rrelu(x, training=True),
        "standard gamma": lambda t: lambda x: t._standard_gamma(x.abs() + 1),
        "normal of deviations": lambda t: lambda x: t.normal(0., x.abs()),
        "binomial": lambda t: lambda x: t.binomial(x.abs().round(), t.full((16,), .5)),
        "a distribution": lambda t: lambda x: t.distributions.Normal(x, 1.).sample(),
        "a distribution of categories": lambda t: lambda x: t.distributions.Categorical(x.abs() + 1).sample(),
        "randn out": lambda t: lambda x: t.randn(16, out=x),
        "randn out of a single one": lambda t: lambda x: t.rand(3, out=t.zeros(3)) + x.sum(),
        "randint out": lambda t: lambda x: t.randint(9, (16,), out=x.long()),
        "randperm out": lambda t: lambda x: t.randperm(16, out=x.long()),
        "normal out": lambda t: lambda x: t.normal(0., 1., (16,), out=x),
        "bernoulli out": lambda t: lambda x: t.bernoulli(x.sigmoid(), out=x),
        "multinomial out": lambda t: lambda x: t.multinomial(x.abs(), 2, out=t.zeros(2, dtype=t.long)),
    }.items()}


@pytest.mark.parametrize("name", CASES)
def test_same_as_torch(name):
    same_outcome(CASES[name])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("sizes", [(0,), (1, 0), (0, 2), (2, 0)])
@pytest.mark.parametrize("norm", ["t.nn.functional.layer_norm(x, x.shape[-1:], w[:, 0], w[:, 0])",
                                  "t.nn.functional.rms_norm(x, x.shape[-1:])",
                                  "t.nn.functional.group_norm(x.expand(1, 2, *x.shape), 2)"])
def test_norms_of_samples_without_elements(norm, sizes, dtype):
    def program(t):
        def f(x, w):
            return eval(norm, {"t": t, "x": x, "w": w})
        x, w = t.zeros(3, *sizes, dtype=getattr(t, dtype)), t.ones(sizes[-1], 1, dtype=getattr(t, dtype))
        return (t.vmap(t.func.grad(lambda x: f(x, w).sum()))(x), t.vmap(lambda x: t.func.jvp(f, (x, w), (x, w)))(x),
                t.vmap(t.func.grad(lambda w: f(x, w).sum()))(w[None]))
    same_outcome(program)


#: Of v, a view of the sample x with a dimension more, of a number y and the index i of one slice.
NO_DIMENSIONS_FOR_ONE = ["v.copy_(x)", "v.add_(x)", "v.mul_(x)", "v.addcmul_(x, x)", "v.lerp_(x, .5)",
                         "t.index_add(x[0], 0, i, x[1:2])", "t.index_add(x, 0, i, x[1])", "t.index_add(y, 0, i, x[:1])",
                         "(x[0] * 1).index_add_(0, i, y[None])", "t.index_add(x[:1], 0, i, y)",
                         "t.index_add(y, 0, i, y[None])"]
#: torch's gradient of this one adds up over the samples (the right one is in tests/unit/test_vmap.py).
ADDED_UP = ("t.index_add(x, 0, i, x[1])", True)


@pytest.mark.parametrize("line, differentiated", [
    pair for pair in itertools.product(NO_DIMENSIONS_FOR_ONE, [False, True]) if pair != ADDED_UP])
def test_dimensions_that_torch_gives_samples(line, differentiated):
    def program(t):
        def f(x, y):
            return eval(line, {"t": t, "x": x, "v": x.unsqueeze(0), "y": y, "i": t.tensor([0])})
        g = t.func.grad(lambda x, y: f(x * 1, y).sum()) if differentiated else f
        return t.vmap(g, (0, None))(M(t), t.tensor(2.))
    same_outcome(program)


#: Operations that compute bfloat16 in steps of their own, and of dtypes that they convert.
STEPPING = ["t.nextafter(a, b)", "t.ldexp(a, b)", "t.ldexp(a.long(), b.long())", "t.linalg.cross(a, b)",
            "t.topk(a.long(), 2)", "t.nn.functional.cross_entropy(a, t.tensor(1))"]


@pytest.mark.parametrize("line", STEPPING)
def test_no_loop_where_torch_has_none(line):
    """In bfloat16 as in single precision: neither library warns, and both have the same numbers."""
    def program(t):
        t.manual_seed(0)
        a, b = t.randn(4, 3).bfloat16(), t.randn(4, 3).bfloat16()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return t.vmap(lambda a, b: eval(line, {"t": t, "a": a, "b": b}))(a, b)
    same_outcome(program)


@pytest.mark.parametrize("how", ["vmap of jacrev", "vmap of jacfwd", "jacrev of vmap", "vmap of hessian"])
@pytest.mark.parametrize("function", [
    lambda x: x * 2, lambda x: x.sin(), lambda x: x + 1, lambda x: -x, lambda x: x.view(1, 2), lambda x: x[0],
    lambda x: x / 2, lambda x: x.cumsum(0), lambda x: x.flip(0).clone()])
def test_jacobians_may_be_written_to(function, how):
    """Each sample has its own, also where it is the same for all."""
    def program(t):
        f = t.func
        both = {"vmap of jacrev": lambda: t.vmap(f.jacrev(function)),
                "vmap of jacfwd": lambda: t.vmap(f.jacfwd(function)),
                "jacrev of vmap": lambda: f.jacrev(t.vmap(function)),
                "vmap of hessian": lambda: t.vmap(f.hessian(lambda x: function(x).sum()))}[how]()
        return both(t.arange(6.).reshape(3, 2)).add_(1)
    same_outcome(program)
