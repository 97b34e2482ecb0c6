"""Covariances, finite differences, histograms and places, beside torch's: arguments that the tables do not hold."""
import warnings

import pytest
import torch

import tinytorch

from .adapter import same_outcome

PROGRAMS = [
    "T.cov(x)", "T.cov(x, correction=0)", "T.cov(x, fweights=T.tensor([1, 2, 0, 3]))",
    "T.cov(x, aweights=T.tensor([.5, 1., 0., 2.]), fweights=T.tensor([1, 1, 2, 1]))", "T.cov(x[0])", "T.cov(x[:, :1])",
    "T.cov(x, aweights=-T.ones(4))", "T.cov(x, aweights=T.zeros(4))", "T.cov(x, fweights=T.ones(4))",
    "T.cov(x, fweights=T.ones(2, 2, dtype=T.int64))", "T.cov(x, fweights=T.tensor([1, 2]))", "T.cov(T.ones(2, 2, 2))",
    "T.cov(x > 0)", "T.corrcoef(x)", "T.corrcoef(x[0])", "T.corrcoef(T.ones(2, 2, 2))", "T.corrcoef(T.complex(x, -x))",
    "T.gradient(x)", "T.gradient(x, spacing=2.)", "T.gradient(x, dim=0)", "T.gradient(x, spacing=[1., 2.])",
    "T.gradient(x, spacing=(T.tensor([0., 1., 4.]), T.tensor([0., .5, 1., 4.])))", "T.gradient(x, edge_order=2)",
    "T.gradient(x, spacing=(T.tensor([0., 1., 4.]),), dim=0, edge_order=2)", "T.gradient(x, edge_order=3)",
    "T.gradient(x, dim=(0, 0))", "T.gradient(x, spacing=[1., 2., 3.])", "T.gradient(x[:, :1])", "T.gradient(x.byte())",
    "T.gradient(x, spacing=(T.ones(2, 2), T.ones(4)))", "T.gradient(x, spacing=2, dim=[1, 0])",
    "T.histogram(x, 3)", "T.histogram(x, 3, range=(0., 2.))", "T.histogram(x, 3, weight=x.abs(), density=True)",
    "T.histogram(x, T.tensor([-1., 0., .5, 4.]))", "T.histogram(x, T.tensor([-1., 0., .5, 4.]), range=(0., 1.))",
    "T.histogram(x, 0)", "T.histogram(x, T.ones(2, 2))", "T.histogram(x, T.ones(0))", "T.histogram(x, T.ones(1))",
    "T.histogram(x, T.ones(2).double())", "T.histogram(x, 2, range=(1., 0.))", "T.histogram(x, 2, range=(1.,))",
    "T.histogram(x, 2, weight=x.double())", "T.histogram(x, 2, weight=x[0])", "T.histogram(x.long(), 2)",
    "T.histogram(x.half(), 2)", "T.histogram(x * float('nan'), 2)", "T.histogram(T.empty(0), 2)",
    "T.histogram(T.ones(3), 2)", "T.histogram(x.clone().requires_grad_(), 2)[0].sum().backward()",
    "T.histogram(x, 3, out=(T.empty(0), T.empty(0)))[0]", "T.histogram(x.double(), 3, out=(T.empty(3), T.empty(4)))",
    "T.histogramdd(x.t().reshape(-1, 2), 2)", "T.histogramdd(x.reshape(-1, 2), [2, 3], range=[0., 1., -1., 1.])",
    "T.histogramdd(x.reshape(-1, 2), [T.tensor([-2., 0., 2.]), T.tensor([-1., 3.])], density=True)",
    "T.histogramdd(x[0], 2)", "T.histogramdd(x, [2])", "T.histogramdd(x.reshape(-1, 2), [T.ones(2)])",
    "T.histogramdd(x.clone().requires_grad_(), 2)[0].sum().backward()", "T.unravel_index(T.tensor([4, 1]), (3, 2))",
    "T.unravel_index(T.tensor(4), 6)", "T.unravel_index(T.tensor([4.]), 6)", "T.unravel_index(T.tensor([4]), (2, -1))",
    "T.unravel_index(T.tensor([4]), 'ab')", "T.unravel_index(T.tensor([[4], [2]]), (2, 3))",
    "T.nonzero_static(x, size=3)", "T.nonzero_static(x, size=50, fill_value=7)", "T.nonzero_static(x, size=-1)",
    "x.nonzero_static(size=2)", "x.cov()", "x.corrcoef()", "x.histogram(2)",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_programs(text):
    def program(T):
        x = T.tensor([[.5, -1., 2., .25], [0., 3., -.5, 1.], [1., 1., .75, -2.]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(text, {"T": T, "x": x})
    same_outcome(program, cut=lambda words: words.partition(" - got")[0])


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_too_few_observations_warn():
    for T in torch, tinytorch:                 # and NumPy of the division by zero
        with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
            T.cov(T.ones(2, 1))
