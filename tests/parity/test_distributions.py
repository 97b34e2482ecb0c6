"""tinytorch.distributions beside torch's: every class with several parameters and batch shapes, every divergence, every
transform and constraint; the same samples for one seed."""
import inspect
import pickle
import warnings

import numpy as np
import pytest
import torch
import torch.distributions

import tinytorch
import tinytorch.distributions


@pytest.fixture(autouse=True)
def _arguments_are_checked():
    """torch.compile, which other tests call, has torch's distributions check their arguments no more."""
    torch.distributions.Distribution.set_default_validate_args(True)


#: Distributions as expressions: T the module, D its distributions, p(...) a parameter that requires grad.
DISTRIBUTIONS = [
    "D.Normal(p([0., 1.]), p([1., 3.]))", "D.Normal(0., 2)", "D.Normal(p([[0.], [2.]]), p([.5, 1.], T.float64))",
    "D.Normal(p(0.), p(2.))", "D.Uniform(p([0., -1.]), p([1., 3.]))", "D.Uniform(0., 2.)",
    "D.Bernoulli(p([.2, .5, 1.]))", "D.Bernoulli(logits=p([[-1., 0.], [2., 5.]]))", "D.Bernoulli(.3)",
    "D.Categorical(p([1., 2., 0., 1.]))", "D.Categorical(logits=p([[0., 1.], [2., -3.]]))",
    "D.Categorical(p([[[.2, .8]], [[.6, .4]]], T.float64))", "D.Beta(p([.5, 2.]), p([1., 7.]))", "D.Beta(2., 3.)",
    "D.Binomial(4, p([.2, .9]))", "D.Binomial(T.tensor([3., 3.]), logits=p([0., 2.]))", "D.Binomial(10, .5)",
    "D.Cauchy(p([0., 1.]), p([1., 2.]))", "D.Chi2(p([1., 4.]))", "D.Chi2(p(3.))",
    "D.ContinuousBernoulli(p([.1, .5, .5005, .9]))", "D.ContinuousBernoulli(logits=p([-2., 0., 1.]))",
    "D.Dirichlet(p([.5, 2., 4.]))", "D.Dirichlet(p([[.5, .2], [3., 40.]]))", "D.Exponential(p([.5, 2.]))",
    "D.Exponential(2.)", "D.FisherSnedecor(p([1., 3.]), p([2., 9.]))", "D.Gamma(p([.5, 2.]), p([1., 3.]))",
    "D.Gamma(p([[9.], [.1]]), 2.)", "D.GeneralizedPareto(p([0., 1., 2.]), p([1., 2., 1.]), p([.2, 0., -.5]))",
    "D.Geometric(p([.2, 1.]))", "D.Geometric(logits=p([0., 3.]))", "D.Gumbel(p([0., 1.]), p([1., 2.]))",
    "D.Gumbel(0., 1.)", "D.HalfCauchy(p([1., 2.]))", "D.HalfNormal(p([1., 2.]))", "D.HalfNormal(3.)",
    "D.Independent(D.Normal(p([[0., 1.]]), p([[1., 2.]])), 1)", "D.Independent(D.Bernoulli(p([.5, .2])), 0)",
    "D.InverseGamma(p([.5, 3.]), p([1., 2.]))", "D.Kumaraswamy(p([.5, 2.]), p([1., 3.]))",
    "D.LKJCholesky(3, p(1.5))", "D.LKJCholesky(2, p([.5, 4.]))", "D.Laplace(p([0., 1.]), p([1., 2.]))",
    "D.LogNormal(p([0., 1.]), p([1., .5]))", "D.LogisticNormal(p([0., 1.]), p([1., .5]))",
    "D.LowRankMultivariateNormal(p([0., 1., 2.]), p([[1.], [.5], [0.]]), p([1., 2., 3.]))",
    "D.LowRankMultivariateNormal(p([[0., 1.], [1., 1.]]), p([[1., 0.], [.5, 2.]]), p([1., 2.]))",
    "D.MixtureSameFamily(D.Categorical(p([1., 2.])), D.Normal(p([0., 3.]), p([1., 2.])))",
    "D.MixtureSameFamily(D.Categorical(p([[1., 2.], [2., 2.]])),"
    " D.Independent(D.Normal(p([[[0.], [3.]], [[1.], [1.]]]), 1.), 1))",
    "D.Multinomial(5, p([1., 2., 3.]))", "D.Multinomial(4, logits=p([[0., 1.], [1., 1.]]))",
    "D.MultivariateNormal(p([0., 1.]), p([[2., .5], [.5, 1.]]))",
    "D.MultivariateNormal(p([[0., 1.], [2., 2.]]), precision_matrix=p([[2., .5], [.5, 1.]]))",
    "D.MultivariateNormal(p([0., 1.]), scale_tril=p([[[2., 0.], [.5, 1.]], [[1., 0.], [3., 1.]]]))",
    "D.NegativeBinomial(3, p([.2, .6]))", "D.NegativeBinomial(p([2., 5.]), logits=p([0., 1.]))",
    "D.OneHotCategorical(p([1., 2., 3.]))", "D.OneHotCategorical(logits=p([[0., 1.], [1., 1.]]))",
    "D.OneHotCategoricalStraightThrough(p([1., 2., 3.]))", "D.Pareto(p([1., 2.]), p([.5, 3.]))",
    "D.Poisson(p([.5, 20.]))", "D.Poisson(3.)", "D.RelaxedBernoulli(p(.7), p([.2, .6]))",
    "D.RelaxedBernoulli(p([.7]), logits=p([[0.], [1.]]))", "D.RelaxedOneHotCategorical(p(.7), p([.2, .6, .2]))",
    "D.RelaxedOneHotCategorical(p([.7]), logits=p([[0., 1.], [1., 1.]]))", "D.StudentT(p([.5, 1.5, 4.]))",
    "D.StudentT(p([3., 30.]), p([0., 1.]), 2.)",
    "D.TransformedDistribution(D.Normal(p([0., 1.]), p([1., 2.])), [D.ExpTransform(), D.AffineTransform(1., 2.)])",
    "D.TransformedDistribution(D.Uniform(p(0.), p(1.)),"
    " [D.SigmoidTransform().inv, D.AffineTransform(p([1., 2.]), 3.)])",
    "D.TransformedDistribution(D.Normal(T.zeros(3, 2), 1.), D.StickBreakingTransform())",
    "D.VonMises(p([0., 1.]), p([.5, 6.]))", "D.Weibull(p([1., 2.]), p([.5, 3.]))",
    "D.Wishart(p([4., 5.]), p([[2., .5], [.5, 1.]]))", "D.Wishart(p(4.), scale_tril=p([[2., 0.], [.5, 1.]]))",
]
CLASSES = sorted(name for name, value in vars(torch.distributions).items() if inspect.isclass(value)
                 and issubclass(value, torch.distributions.Distribution)
                 and name not in ("Distribution", "ExponentialFamily"))

MODULES = torch, tinytorch


class Made:
    """A distribution made by an expression under one of the modules, with its parameters."""

    def __init__(self, lib, text):
        self.lib, self.parameters = lib, []
        self.it = eval(text, {"T": lib, "D": lib.distributions, "p": self.parameter, "nan": float("nan")})

    def parameter(self, value, dtype=None):
        parameter = self.lib.tensor(value, dtype=dtype, requires_grad=True)
        self.parameters.append(parameter)
        return parameter


def numbers(value):
    """A result as NumPy arrays and plain objects."""
    if isinstance(value, (torch.Tensor, tinytorch.Tensor)):
        return "tensor", tuple(value.shape), str(value.dtype).replace("tinytorch", "torch"), value.detach().numpy()
    if isinstance(value, (tuple, list)):
        return tuple(numbers(v) for v in value)
    return value if isinstance(value, (int, float, bool, type(None))) else str(value).replace("tinytorch", "torch")


def outcome(function, *args):
    """("ok", result) or ("error", type, message)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "ok", numbers(function(*args))
    except Exception as error:
        return "error", type(error).__name__, " ".join(str(error).replace("tinytorch", "torch").split())


def same(one, two, where, tolerance=2e-5):
    if isinstance(one, np.ndarray):
        np.testing.assert_allclose(two, one, rtol=tolerance, atol=tolerance, err_msg=str(where))
    elif isinstance(one, tuple):
        assert isinstance(two, tuple) and len(one) == len(two), (where, one, two)
        for a, b in zip(one, two):
            same(a, b, where, tolerance)
    elif isinstance(one, float):
        assert one == pytest.approx(two, rel=tolerance, nan_ok=True), where
    else:
        assert one == two, (where, one, two)


def under_both(text, function, tolerance=2e-5):
    """function(Made) under both modules, after one seed, compared."""
    found = []
    for lib in MODULES:
        lib.manual_seed(3)
        made = Made(lib, text)
        lib.manual_seed(7)
        found.append(outcome(function, made))
    same(*found, text, tolerance)
    return found[0][0] == "ok"


def with_gradients(made, result):
    """A result and the gradients of its sum by the parameters."""
    if not result.requires_grad:
        return result, None
    weights = made.lib.arange(1., result.numel() + 1, dtype=result.dtype).reshape(result.shape)
    finite = made.lib.where(made.lib.isfinite(result.detach()), weights, made.lib.zeros_like(weights))
    grads = made.lib.autograd.grad((result * finite).sum(), made.parameters, allow_unused=True)
    return result, grads


def value_of(made, shape=()):
    return made.it.sample(shape)


def test_every_class_is_here():
    assert not [name for name in torch.distributions.__all__ if not hasattr(tinytorch.distributions, name)]
    assert not [name for name in torch.distributions.constraints.__all__
                if not hasattr(tinytorch.distributions.constraints, name)]
    used = {text[2:text.index("(")] for text in DISTRIBUTIONS}
    assert set(CLASSES) == used


@pytest.mark.parametrize("text", DISTRIBUTIONS)
def test_what_it_says(text):
    for name in ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support"):
        assert under_both(text, lambda made, name=name: getattr(made.it, name))
    assert under_both(text, lambda made: repr(made.it))
    for name in ("mean", "mode", "variance", "stddev"):
        under_both(text, lambda made, name=name: with_gradients(made, getattr(made.it, name)))
    under_both(text, lambda made: with_gradients(made, made.it.entropy()))
    under_both(text, lambda made: made.it.perplexity())
    under_both(text, lambda made: [made.it.enumerate_support(), made.it.enumerate_support(expand=False)])
    under_both(text, lambda made: repr(made.it.support))
    under_both(text, lambda made: [repr(c) for c in made.it.arg_constraints.values()])


@pytest.mark.parametrize("text", DISTRIBUTIONS)
def test_samples(text):
    for shape in (), (3,), (2, 1):
        assert under_both(text, lambda made, shape=shape: made.it.sample(shape))
        under_both(text, lambda made, shape=shape: with_gradients(made, made.it.rsample(shape)), 1e-3)
    assert under_both(text, lambda made: made.it.support.check(made.it.sample((3,))))


@pytest.mark.parametrize("text", DISTRIBUTIONS)
def test_densities(text):
    for shape in (), (3,):
        assert under_both(text, lambda made, shape=shape: with_gradients(made, made.it.log_prob(value_of(made, shape))))
    under_both(text, lambda made: with_gradients(made, made.it.cdf(value_of(made, (3,)))))
    under_both(text, lambda made: with_gradients(made, made.it.icdf(made.lib.full((3, 1), .3))))
    for bad in ("T.tensor(float('nan'))", "T.tensor([[-3.5, 7.5]])", "T.ones(5, 4, 3)", "3."):
        under_both(text, lambda made, bad=bad: made.it.log_prob(eval(bad, {"T": made.lib})))


@pytest.mark.parametrize("text", DISTRIBUTIONS)
def test_expand(text):
    def expanded(made):
        return made.it.expand((4,) + tuple(made.it.batch_shape))

    assert under_both(text, lambda made: [repr(expanded(made)), expanded(made).sample((2,))])
    under_both(text, lambda made: expanded(made).log_prob(value_of(made)))
    under_both(text, lambda made: expanded(made).mean)
    under_both(text, lambda made: expanded(made).entropy())


@pytest.mark.parametrize("text", DISTRIBUTIONS)
def test_pickled(text):
    def again(made):
        return pickle.loads(pickle.dumps(made.it)).log_prob(value_of(made))
    if "Transform" not in text and "Gumbel" not in text:
        under_both(text, again)


@pytest.mark.parametrize("bad", [
    "D.Normal(T.tensor([0., 1.]), T.tensor([1., -1.]))", "D.Normal(float('nan'), 1.)", "D.Normal('a', 1.)",
    "D.Normal(T.zeros(2), T.ones(3))", "D.Uniform(2., 1.)", "D.Bernoulli()", "D.Bernoulli(.5, .5)", "D.Bernoulli(2.)",
    "D.Categorical(T.tensor(1.))", "D.Categorical(T.tensor([-1., 2.]))",
    "D.Categorical(logits=T.tensor([float('nan')]))",
    "D.Beta(-1., 2.)", "D.Binomial(-1, .5)", "D.Binomial(2.5, T.tensor([.5]))", "D.Dirichlet(T.tensor(1.))",
    "D.Dirichlet(T.tensor([0., 1.]))", "D.Exponential(0.)", "D.Gamma(1., T.tensor([0.]))", "D.Geometric(0.)",
    "D.Independent(D.Normal(0., 1.), 1)", "D.LKJCholesky(1)", "D.Multinomial(T.tensor(3), T.ones(2))",
    "D.MultivariateNormal(T.tensor(0.), T.eye(2))", "D.MultivariateNormal(T.zeros(2))",
    "D.MultivariateNormal(T.zeros(2), T.eye(2), T.eye(2))", "D.MultivariateNormal(T.zeros(2), -T.eye(2))",
    "D.MultivariateNormal(T.zeros(2), scale_tril=T.ones(2))", "D.MultivariateNormal(T.zeros(2), T.ones(2))",
    "D.MultivariateNormal(T.zeros(2), scale_tril=T.ones(2, 2))",
    "D.LowRankMultivariateNormal(T.zeros(2), T.ones(3, 1), T.ones(2))",
    "D.LowRankMultivariateNormal(T.zeros(2), T.ones(2, 1), T.ones(3))",
    "D.LowRankMultivariateNormal(T.zeros(3, 2), T.ones(4, 2, 1), T.ones(2))",
    "D.MixtureSameFamily(D.Normal(0., 1.), D.Normal(0., 1.))", "D.MixtureSameFamily(D.Categorical(T.ones(2)), 3)",
    "D.MixtureSameFamily(D.Categorical(T.ones(2)), D.Normal(T.zeros(3), 1.))",
    "D.MixtureSameFamily(D.Categorical(T.ones(3, 2)), D.Normal(T.zeros(4, 2), 1.))",
    "D.TransformedDistribution(D.Normal(0., 1.), 3)", "D.TransformedDistribution(D.Normal(0., 1.), [3])",
    "D.TransformedDistribution(D.Normal(0., 1.), D.StickBreakingTransform())", "D.Wishart(1., T.eye(2))",
    "D.Wishart(3., T.ones(2))", "D.StudentT(0.)", "D.Poisson(-1.)", "D.VonMises(0., 0.)",
    "D.Distribution()", "D.Distribution().sample()", "D.Distribution(validate_args=False).expand((2,))",
    "D.Distribution.set_default_validate_args(3)", "D.Normal(0., 1., validate_args=False).log_prob(T.ones(3)).shape",
    "D.transform_to(3)", "D.transform_to.register(3, 4)", "D.kl_divergence(D.Normal(0., 1.), D.Poisson(1.))",
    "D.constraints.dependent.check(T.ones(2))", "D.constraints.dependent.is_discrete",
    "D.constraints.dependent.event_dim",
    "D.constraints.independent(D.constraints.real, 2).check(T.ones(2))", "D.constraints.independent(3, 2)",
    "D.constraints.cat([3])", "D.constraints.cat([D.constraints.real], lengths=[1, 2])", "D.Transform(cache_size=2)",
])
def test_errors(bad):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(*[outcome(lambda lib=lib: eval(bad, {"T": lib, "D": lib.distributions})) for lib in MODULES], bad)


def test_warnings():
    for lib in MODULES:
        with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
            class Own(lib.distributions.Distribution):
                pass
            Own()
        with pytest.warns(FutureWarning, match="sample_n"):
            lib.distributions.Normal(0., 1.).sample_n(2)

        class Derived(lib.distributions.Normal):
            def __init__(self):
                super().__init__(0., 1.)
        with pytest.raises(NotImplementedError, match="Subclass Derived of Normal that defines a custom __init__"):
            Derived().expand((2,))


# ------------------------------------------------------------------ divergences
SIMPLE = [text for text in DISTRIBUTIONS if not text.startswith(("D.Independent", "D.Transformed"))]
FIRST = {text[2:text.index("(")]: text for text in reversed(SIMPLE)}


@pytest.mark.parametrize("p", FIRST)
def test_divergences(p):
    compared = 0
    for q in FIRST:
        made_of = f"({FIRST[p]}, {FIRST[q]})"
        compared += under_both(made_of, lambda made: with_gradients(
            made, made.lib.distributions.kl_divergence(*made.it)), 1e-4)
    assert compared or p in ("FisherSnedecor", "GeneralizedPareto", "HalfCauchy", "InverseGamma", "Kumaraswamy",
                             "LKJCholesky", "MixtureSameFamily", "Multinomial", "NegativeBinomial", "RelaxedBernoulli",
                             "RelaxedOneHotCategorical", "StudentT", "VonMises", "Weibull")


def test_divergences_of_every_pair_that_torch_has():
    pairs = {(p.__name__, q.__name__) for p, q in torch.distributions.kl._KL_REGISTRY}
    ours = {(p.__name__, q.__name__) for (p, q), f in tinytorch.distributions.kl._KL_REGISTRY.items()
            if "<doctest" not in f.__code__.co_filename}       # examples of docstrings add some
    assert pairs == ours


@pytest.mark.parametrize("text", [
    "(D.Independent(D.Normal(p([0., 1.]), 1.), 1), D.Independent(D.Normal(p([2., 1.]), 2.), 1))",
    "(D.Independent(D.Normal(p([0., 1.]), 1.), 1), D.Independent(D.Normal(p([2., 1.]), 2.), 0))",
    "(D.LogNormal(p([0., 1.]), 1.), D.LogNormal(p([2., 1.]), 2.))",
    "(D.LogNormal(p([0., 1.]), 1.), D.LogisticNormal(p([2., 1.]), 2.))",
    "(D.Bernoulli(p([0., 1., .5])), D.Bernoulli(p([1., 0., .5])))", "(D.Binomial(3, p([.5])), D.Binomial(2, p([.5])))",
    "(D.Binomial(2, p([.5])), D.Binomial(3, p([.5])))", "(D.Uniform(0., p([1.])), D.Uniform(0., p([.5])))",
    "(D.Uniform(-1., p([1.])), D.Beta(p([1.]), 2.))", "(D.Pareto(p([1.]), 1.), D.Normal(p([0.]), 1.))",
    "(D.Chi2(p([3.])), D.Gamma(p([1.]), 2.))", "(D.Gamma(p([1.]), 2.), D.Chi2(p([3.])))",
    "(D.MultivariateNormal(p([0., 1.]), T.eye(2)), D.MultivariateNormal(p([[0., 1.], [2., 2.]]), 2 * T.eye(2)))",
    "(D.MultivariateNormal(T.zeros(2), T.eye(2)), D.MultivariateNormal(T.zeros(3), T.eye(3)))",
    "(D.MultivariateNormal(T.zeros(2), T.eye(2)), D.LowRankMultivariateNormal(p([0., 1.]), T.ones(2, 1), T.ones(2)))",
    "(D.LowRankMultivariateNormal(p([0., 1.]), T.ones(2, 1), T.ones(2)), D.MultivariateNormal(T.zeros(2), T.eye(2)))",
])
def test_more_divergences(text):
    under_both(text, lambda made: with_gradients(made, made.lib.distributions.kl_divergence(*made.it)), 1e-4)


# ------------------------------------------------------------------ transforms and constraints
TRANSFORMS = [
    ("D.ExpTransform()", (3,)), ("D.ExpTransform().inv", "pos"), ("D.AbsTransform()", (3,)),
    ("D.PowerTransform(T.tensor([2., .5, -1.]))", "pos"), ("D.SigmoidTransform()", (3,)),
    ("D.SoftplusTransform()", (3,)), ("D.TanhTransform()", (3,)), ("D.AffineTransform(1., -2.)", (3,)),
    ("D.AffineTransform(T.ones(3), T.tensor([1., 2., -3.]), event_dim=1)", (2, 3)), ("D.SoftmaxTransform()", (2, 3)),
    ("D.StickBreakingTransform()", (2, 3)), ("D.CorrCholeskyTransform()", (2, 3)),
    ("D.LowerCholeskyTransform()", (2, 3, 3)), ("D.PositiveDefiniteTransform()", (3, 3)),
    ("D.ReshapeTransform((6,), (2, 3))", (4, 6)), ("D.ComposeTransform([])", (3,)),
    ("D.ComposeTransform([D.AffineTransform(1., 2.), D.ExpTransform(), D.StickBreakingTransform()])", (2, 3)),
    ("D.IndependentTransform(D.ExpTransform(), 1)", (2, 3)),
    ("D.CumulativeDistributionTransform(D.Normal(0., 1.))", (3,)),
    ("D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=-1, lengths=[1, 2])", (2, 3)),
    ("D.StackTransform([D.ExpTransform(), D.TanhTransform()], dim=0)", (2, 3)),
    ("D.ExpTransform(cache_size=1)", (3,)), ("D.TanhTransform().with_cache()", (3,)),
    ("D.biject_to(D.constraints.simplex)", (2, 3)), ("D.transform_to(D.constraints.interval(-1., 3.))", (3,)),
    ("D.transform_to(D.constraints.less_than(2.))", (3,)), ("D.biject_to(D.constraints.real_vector)", (3,)),
]


@pytest.mark.parametrize("text, shape", TRANSFORMS)
def test_transforms(text, shape):
    random = np.random.RandomState(0)
    x = np.abs(random.randn(3)) + .1 if shape == "pos" else random.randn(*shape)
    with_input = f"({text}, p({x.tolist()}))"

    def run(made):
        transform, x = made.it
        y = transform(x)
        found = [y, transform.inv(y), repr(transform), repr(transform.inv), transform.bijective,
                 repr(transform.domain), repr(transform.codomain), tuple(transform.forward_shape(x.shape)),
                 tuple(transform.inverse_shape(y.shape)), transform == transform, transform.inv.inv == transform]
        return [*found, transform.codomain.check(y), transform.domain.check(x)]

    def volume(made):
        transform, x = made.it
        return with_gradients(made, transform.log_abs_det_jacobian(x, transform(x)))

    assert under_both(with_input, run)
    under_both(with_input, volume)
    under_both(with_input, lambda made: made.it[0].sign)
    under_both(with_input, lambda made: made.it[0].event_dim)


CONSTRAINTS = ["real", "boolean", "positive", "nonnegative", "unit_interval", "nonnegative_integer", "positive_integer",
               "interval(-1., 2.)", "half_open_interval(0., 1.)", "integer_interval(0, 2)", "greater_than(1.)",
               "greater_than_eq(1.)", "less_than(1.)", "real_vector", "simplex", "one_hot", "multinomial(3)",
               "lower_triangular", "lower_cholesky", "corr_cholesky", "square", "symmetric", "positive_semidefinite",
               "positive_definite", "independent(D.constraints.positive, 2)", "cat([D.constraints.real] * 2, -1)",
               "stack([D.constraints.positive] * 2, 0)", "MixtureSameFamilyConstraint(D.constraints.positive)"]
VALUES = [[[1., 0.], [0., 1.]], [[2., 0.], [1., 1.]], [[1., .5], [.5, 2.]], [[-1., .5], [float("nan"), 2.]],
          [[.25, .75], [1., 0.]], [[1., 0.], [.6, .8]], [[1., 2.], [2., 1.]]]


@pytest.mark.parametrize("text", CONSTRAINTS)
def test_constraints(text):
    for value in VALUES:
        assert under_both(f"(D.constraints.{text}, p({value}))", lambda made: [
            made.it[0].check(made.it[1].detach()), repr(made.it[0]), made.it[0].event_dim, made.it[0].is_discrete])


def test_utilities():
    for lib in MODULES:
        utils = lib.distributions.utils
        m = lib.arange(9.).view(3, 3)
        assert utils.tril_matrix_to_vec(m).tolist() == [0., 3., 4., 6., 7., 8.]
        assert utils.vec_to_tril_matrix(lib.arange(1., 4.), -1).tolist() == [[0, 0, 0], [1, 0, 0], [2, 3, 0]]
        for function, args in (utils.tril_matrix_to_vec, (m, 3)), (utils.vec_to_tril_matrix, (lib.ones(5),)), (
                utils.broadcast_all, ("a",)):
            with pytest.raises(ValueError):
                function(*args)


def test_gradients_of_gamma_and_dirichlet_numbers():
    random = np.random.RandomState(0)
    for dtype, tolerance in ("float64", 1e-10), ("float32", 2e-2):
        alpha = torch.tensor(np.exp(2 * random.randn(4000, 2)), dtype=getattr(torch, dtype))
        gamma, parts, total = torch._standard_gamma(alpha), torch._sample_dirichlet(alpha), alpha.sum(-1, True)
        of_gamma = tinytorch._standard_gamma_grad(*[tinytorch.tensor(t.numpy()) for t in (alpha, gamma)])
        np.testing.assert_allclose(of_gamma.numpy(), torch._standard_gamma_grad(alpha, gamma).numpy(), rtol=tolerance)
        total = total.expand_as(alpha)
        of_parts = tinytorch._dirichlet_grad(*[tinytorch.tensor(t.numpy()) for t in (parts, alpha, total)])
        np.testing.assert_allclose(of_parts.numpy(), torch._dirichlet_grad(parts, alpha, total).numpy(), rtol=tolerance)
