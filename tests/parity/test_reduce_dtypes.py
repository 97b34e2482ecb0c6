"""Reductions, statistics, norms and distances where dtypes, special values, empty tensors or history matter: each
program runs under both modules, which give the same tensors and names of nodes, or raise the same error."""
import pytest

from .adapter import same_outcome

INF, NAN = float("inf"), float("nan")


def each(*programs):
    return pytest.mark.parametrize("program", programs)


def with_strides(*results):
    return results, [x.stride() for x in results]


def half(t, *values):
    return t.tensor(values, dtype=t.float16)


def short(t, *values):
    return t.tensor(values, dtype=t.bfloat16)


# ------------------------------------------------------------------ numbers
@each(lambda t: t.std(t.tensor([1e30, 1.])), lambda t: t.std(t.tensor([1e-30, 3e-30])),
      lambda t: t.var_mean(t.tensor([1., INF, 2.])), lambda t: t.var_mean(t.tensor([[1., -INF], [2., 3.]]), 0),
      lambda t: t.std_mean(t.tensor([1., INF])), lambda t: t.var_mean(t.ones(3, 0, 5), 1),
      lambda t: t.mode(t.tensor([NAN, NAN, 1.])), lambda t: t.mode(t.tensor([NAN, 2., NAN, 1., NAN])),
      lambda t: t.mode(t.tensor([NAN, NAN, 1., 1., NAN])), lambda t: t.mode(t.tensor([NAN, 1., NAN, 1., NAN])),
      *[lambda t, how=how, x=x: t.quantile(t.tensor(x), .5, interpolation=how)
        for how in ("linear", "midpoint") for x in ([-INF, 1.], [INF, 1.], [-INF, 1., 2., -INF])],
      lambda t: t.logcumsumexp(t.tensor([-INF - 3j, 1 - 3.1j, 5 - 9j, 2 + 20j]), 0),
      lambda t: t.logcumsumexp(t.tensor([complex(1, NAN), 1 - 3.1j]), 0),
      lambda t: t.logcumsumexp(t.tensor([NAN - 3j, 1 - 3.1j]), 0),
      *[lambda t, x=x: t.cumprod(t.tensor(x), 0, dtype=t.complex64) for x in ([NAN, 2.], [INF, 2.], [1., INF, 2.])],
      *[lambda t, p=p, x=x: t.cdist(t.tensor([x]), t.tensor([[INF, INF]]), p)
        for p in (0., 1., 2., INF) for x in ([1., INF], [1., NAN], [NAN, 1.])],
      lambda t: t.topk(t.tensor([1., 2.]), 0), lambda t: t.topk(t.tensor([[1., 2.]]), 0, 0),
      lambda t: t.topk(t.tensor(1.), 0), lambda t: t.diff(t.tensor([1., 2.]), n=0, dim=9),
      lambda t: t.cummax(t.ones(0, 2), 3), lambda t: t.bincount(t.ones(0, dtype=t.long), t.ones(0), 2),
      lambda t: t.bincount(t.tensor([1, 2]), short(t, 1, 2)),
      lambda t: t.histc(t.tensor([.1, .7, .3]), 10, 0, 1), lambda t: t.histc(t.ones(300, dtype=t.bfloat16), 2, 0, 3),
      lambda t: t.histc(t.ones(3000, dtype=t.float16), 2, 0, 3))
def test_values(program):
    same_outcome(program)


@each(lambda t: half(t, *[60000] * 3).mean(), lambda t: t.full((70000,), 1., dtype=t.float16).mean(0),
      lambda t: half(t, 60000, 50000, 1).std(0), lambda t: t.var_mean(half(t, 60000, 50000, 1)),
      lambda t: half(t, 600, 500, .001).prod(), lambda t: short(t, 600, 500, .001).prod(0, True),
      lambda t: half(t, 600, 500, .001).cumprod(0), lambda t: half(t, 2048, 1, 1, 1).cumsum(0),
      lambda t: half(t, 10.3, 1, 1.2).softmax(0), lambda t: half(t, 10.3, 1, 1.2).log_softmax(0),
      lambda t: short(t, 10.3, 1, 1.2).log_softmax(0), lambda t: short(t, 10.3, 1, 1.2).reshape(3, 1).log_softmax(0),
      lambda t: short(t, 10.3, 1, 1.2).logsumexp(0), lambda t: t.renorm(half(t, 1, 4).reshape(1, 2), 2, 0, 1.),
      lambda t: t.renorm(short(t, 1, 4).reshape(1, 2), 2, 0, 1.), lambda t: t.cummax(short(t, 1, 3, 2), 0),
      lambda t: t.nanmean(short(t, 1, NAN, 4)), lambda t: t.aminmax(short(t, 1, 2), dim=0),
      lambda t: t.median(short(t, 1, 2, NAN)), lambda t: t.nanmedian(short(t, 1, 2, NAN), 0),
      lambda t: t.cdist(t.ones(30, 2, dtype=t.bfloat16), t.ones(2, 2, dtype=t.bfloat16)))
def test_half_precision_is_rounded_as_torch_rounds(program):
    same_outcome(program, tolerance=0)


# ------------------------------------------------------------------ gradients
def derivatives(t, function, values, dtype="float32"):
    x = t.tensor(values, dtype=getattr(t, dtype), requires_grad=True)
    y = function(x)
    y = y if isinstance(y, t.Tensor) else y[0]
    plain, = t.autograd.grad(y.sum(), x, retain_graph=True)
    g, = t.autograd.grad(y.sum(), x, create_graph=True)
    found = [y, plain, g]
    if g.requires_grad and g.grad_fn is not None:
        found += t.autograd.grad((g * g.detach()).sum(), x)
    return y.grad_fn.name(), found


NO_ZEROS = [.5, 3., 1.5, 2.5]


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
@each(*[lambda t, x, p=p: t.linalg.vector_norm(x, p) for p in (1.5, 2, 3, .5, -1)], lambda t, x: t.std(x),
      lambda t, x: t.var_mean(x), lambda t, x: t.std_mean(x), lambda t, x: t.dist(x, x.detach() * 2),
      lambda t, x: t.prod(x), lambda t, x: t.prod(x, 0), lambda t, x: t.cumprod(x, 0),
      lambda t, x: t.logcumsumexp(x, 0), lambda t, x: t.logsumexp(x, 0), lambda t, x: t.softmax(x, 0) ** 2,
      lambda t, x: t.log_softmax(x, 0) ** 2, lambda t, x: t.nanmean(x), lambda t, x: t.median(x),
      lambda t, x: t.amax(x), lambda t, x: t.aminmax(x), lambda t, x: t.max(x))
def test_derivatives(program, dtype):
    same_outcome(lambda t: derivatives(t, lambda x: program(t, x), NO_ZEROS, dtype))


@each(lambda t: derivatives(t, lambda x: x.cumprod(0), [1., 0., 2., 0., 3.]),
      lambda t: derivatives(t, lambda x: x.cumprod(0)[-1:], [1., 0., 2., 3.]),
      lambda t: derivatives(t, lambda x: x.prod(0), [1., 0., 2., 3.]),
      lambda t: derivatives(t, lambda x: x.prod(), [[1., 0.], [2., 3.]]),
      lambda t: derivatives(t, lambda x: x.prod(0), [1., INF, 2.]),
      lambda t: derivatives(t, lambda x: x.logsumexp(0), [-INF, -INF]),
      lambda t: derivatives(t, lambda x: x.logcumsumexp(0), [1., INF, 2.]),
      lambda t: derivatives(t, lambda x: x.amax(0), [1., NAN]), lambda t: derivatives(t, lambda x: x.max(), [1., NAN]),
      lambda t: derivatives(t, lambda x: t.var(x, correction=3), [1., 2.]),
      lambda t: derivatives(t, lambda x: t.var(x, 0, correction=3), [1., 2.]),
      lambda t: derivatives(t, lambda x: t.renorm(x, 2, 0, .1), [[1., 2., 3.], [0., 0., .01]])[1],
      lambda t: derivatives(t, lambda x: t.cosine_similarity(x, t.tensor([1., 2., .3]), 0, eps=.5), [.1, .2, .3]),
      lambda t: derivatives(t, lambda x: t.cdist(x, x.detach() + 1, 2., "use_mm_for_euclid_dist"),
                            [[1., 2.], [3., 4.]]))
def test_derivatives_at_special_places(program):
    same_outcome(program)


@each(lambda t, x: t.linalg.vector_norm(x, 0), lambda t, x: t.dist(x, t.zeros(3), 0),
      lambda t, x: t.pairwise_distance(x, t.zeros(3), p=0))
def test_a_count_has_no_gradient(program):
    def run(t):
        x = t.ones(3, requires_grad=True)
        y = program(t, x)
        y.sum().backward()
        return y, x.grad
    same_outcome(run)


@each(*[lambda t, p=p: (t.cdist, p) for p in (0., .5, 1., 1.5, 2., 3., INF)],
      *[lambda t, p=p: (lambda x, _, p: t.pdist(x, p), p) for p in (0., 1., 2., 3., INF)])
def test_distances_of_rows_have_one_derivative(program):
    def run(t, twice):
        function, p = program(t)
        x = t.tensor([[1., 2., 2.], [0., 0., 0.]], requires_grad=True)
        y = function(x, t.zeros(2, 3), p)
        g, = t.autograd.grad(y.sum(), x, create_graph=twice)
        return y, g, t.autograd.grad(g.sum(), x) if twice else y.grad_fn.name()
    same_outcome(lambda t: run(t, False))
    same_outcome(lambda t: run(t, True))


@each(lambda t, y: t.cumprod(y, 0), lambda t, y: t.cummax(y, 0)[0], lambda t, y: t.std(y), lambda t, y: t.var(y),
      lambda t, y: t.prod(y), lambda t, y: t.amax(y), lambda t, y: t.nansum(y), lambda t, y: t.logcumsumexp(y, 0),
      lambda t, y: t.linalg.vector_norm(y, 3), lambda t, y: t.dist(y, t.zeros(3)), lambda t, y: t.sort(y)[0],
      lambda t, y: t.softmax(y, 0) * t.tensor([1., 2., 3.]), lambda t, y: t.var_mean(y)[0],
      lambda t, y: t.aminmax(y)[1])
@pytest.mark.parametrize("which", ["input", "output"])
def test_what_is_saved(program, which):
    def run(t):
        x = t.tensor([1., 3., 2.], requires_grad=True)
        y = x * 1
        z = program(t, y)
        with t.no_grad():
            (y if which == "input" else z).add_(1)
        try:
            return t.autograd.grad(z.sum(), x)
        except RuntimeError as error:
            return "modified by an inplace operation" in str(error)
    same_outcome(run)


# ------------------------------------------------------------------ dtypes and errors
def wants_gradient(t):
    return t.ones(3, requires_grad=True)


@each(*[lambda t, name=name, args=args, dtype=dtype: getattr(wants_gradient(t), name)(*args, dtype=getattr(t, dtype))
        for name, args in (("sum", ()), ("prod", ()), ("prod", (0,)), ("cumsum", (0,)), ("cumprod", (0,)),
                           ("nansum", ()), ("mean", ()), ("nanmean", ()))
        for dtype in ("int64", "bool", "float64")],
      *[lambda t, of=of, to=to: t.linalg.vector_norm(t.ones(2, dtype=getattr(t, of)), dtype=getattr(t, to))
        for of, to in (("float32", "complex64"), ("float32", "int64"), ("int64", "float32"), ("complex64", "float32"),
                       ("float64", "float32"), ("float32", "float16"), ("bfloat16", "float16"),
                       ("bfloat16", "float32"))],
      lambda t: t.linalg.matrix_norm(t.ones(1, 2), 1, dtype=t.complex64),
      lambda t: t.linalg.matrix_norm(t.ones(1, 2), 1, dtype=t.float16),
      lambda t: t.logsumexp(t.ones(1, 2), ()), lambda t: t.logsumexp(t.ones(1, 2), (), True),
      lambda t: t.linalg.norm(t.ones(1, 2), dim=()), lambda t: t.linalg.norm(t.ones(1, 2, 1), dim=(0, 1, 2)),
      *[lambda t, one=one, two=two, n=n: t.cdist(t.ones(n, 2, dtype=getattr(t, one)),
                                                 t.ones(2, 2, dtype=getattr(t, two)))
        for n in (2, 30) for one, two in (("float16", "float16"), ("bfloat16", "float16"), ("float32", "float64"))],
      lambda t: t.cdist(t.ones(0, 2, dtype=t.bfloat16), t.ones(2, 2, dtype=t.bfloat16)),
      lambda t: t.dist(t.tensor([1]), t.tensor([2])), lambda t: t.dist(t.ones(0), t.ones(0), INF),
      lambda t: t.searchsorted(t.ones(1), 1j), lambda t: t.histc(t.ones(2), 0), lambda t: t.histc(t.ones(2), 2, 3, 1),
      lambda t: t.histc(t.ones(2) * 1j), lambda t: t.histc(t.ones(2, dtype=t.bool), 2),
      lambda t: t.histc(t.ones(2), 2, 0, INF),
      lambda t: t.cumsum(t.tensor([1, 2]), 0, dtype=t.bool), lambda t: t.cummax(t.tensor(1.), 2),
      lambda t: t.cummax(t.tensor([1j]), 4), lambda t: t.unique(t.tensor(1.), dim=0),
      lambda t: t.softmax(t.ones(0, 2, dtype=t.long), 0),
      lambda t: t.pairwise_distance(t.ones(2, 0), t.ones(2, 0), INF),
      lambda t: t.nansum(t.ones(2), dtype=t.uint8), lambda t: t.median(t.tensor([1j]), 4),
      lambda t: t.mode(t.tensor([1j]), 4), lambda t: t.cosine_similarity(half(t, 1.3, 2), t.tensor([1., 2.]), 0),
      lambda t: t.nansum(t.ones(2), dtype=t.complex64), lambda t: t.cosine_similarity(t.tensor([1]), t.tensor([1]), 0))
def test_dtypes_and_errors(program):
    same_outcome(program)


@each(lambda t, x: t.unique(x), lambda t, x: t.unique(x, dim=0), lambda t, x: t.unique_consecutive(x),
      lambda t, x: t.unique_consecutive(x, dim=0))
def test_distinct_elements_have_no_derivative(program):
    def run(t, backward):
        y = program(t, t.tensor([1., 1., 2.], requires_grad=True))
        return y.sum().backward() if backward else (y, y.grad_fn.name())
    same_outcome(lambda t: run(t, False))
    same_outcome(lambda t: run(t, True))


@each(*[lambda t, q=q, args=args: t.quantile(t.arange(24.).reshape(2, 3, 4), t.tensor(q), *args)
        for q in (.3, [.3, .9]) for args in ((), (1,), (2, True), (None, True))])
def test_quantiles_are_no_views(program):
    same_outcome(lambda t: [program(t), program(t)._is_view()])


@each(*[lambda t, name=name, x=x, out=out: getattr(t, name)(t.ones(2, dtype=getattr(t, x)), out=t.empty(
    0, dtype=getattr(t, out))) for name in ("all", "any")
    for x in ("uint8", "float32") for out in ("bool", "uint8", "int32")])
def test_out_of_all_and_any(program):
    same_outcome(program)


# ------------------------------------------------------------------ strides
@each(lambda t: t.sort(t.arange(6.).reshape(3, 2).t())[:], lambda t: [t.msort(t.arange(6.).reshape(3, 2).t())],
      lambda t: t.sort(t.ones(2, 3, 4)[:, :, ::2].permute(2, 0, 1), 0)[:],
      lambda t: t.sort(t.ones(1, 3).expand(2, 3), 0)[:],
      lambda t: t.sort(t.ones(2, 3, 1).expand(2, 3, 4).permute(2, 1, 0), 0)[:],
      lambda t: t.cummax(t.arange(6.).reshape(3, 2).t(), 0)[:],
      lambda t: [t.logcumsumexp(t.arange(6.).reshape(3, 2).t(), 1)],
      lambda t: t.median(t.ones(2, 3, 4).permute(2, 0, 1), 1)[:],
      lambda t: [t.all(t.ones(2, 3, 4).permute(2, 0, 1), 1)],
      lambda t: [t.count_nonzero(t.ones(2, 3, 4).permute(2, 0, 1), 1)],
      lambda t: [t.linalg.vector_norm(t.ones(2, 3, 4).permute(2, 0, 1), INF, 1)],
      lambda t: [t.renorm(t.ones(2, 3, 4).permute(2, 0, 1), 2, 1, .5)])
def test_strides(program):
    same_outcome(lambda t: with_strides(*program(t)))


# ------------------------------------------------------------------ results of a dtype that was asked for
@pytest.mark.parametrize("dtype", [None, "float32", "float64", "int64"])
@pytest.mark.parametrize("out", ["float32", "float64", "int64", "float16"])
@pytest.mark.parametrize("kind", ["float32", "int64", "bool"])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "nansum", "nanmean", "cumsum", "cumprod"])
def test_out_of_another_dtype(name, kind, out, dtype):
    def program(t):
        result = t.zeros((3,) if name.startswith("cum") else (), dtype=getattr(t, out))
        return getattr(t, name)(t.tensor([1., 2., 3.]).to(getattr(t, kind)), 0, out=result,
                                dtype=dtype and getattr(t, dtype))
    same_outcome(program)


@pytest.mark.parametrize("out", ["float32", "float64", "int64", "float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64"])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "nansum", "cumsum", "cumprod"])
def test_computed_in_the_dtype_of_out(name, dtype, out):
    """The numbers are ones whose sums and products are others in each of the dtypes."""
    def program(t):
        x = t.tensor([1234.56, 1.1, .7, -1e-3]).to(getattr(t, dtype))
        return getattr(t, name)(x, 0, out=t.zeros(x.shape if name.startswith("cum") else (), dtype=getattr(t, out)))
    same_outcome(program)
