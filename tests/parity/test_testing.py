"""torch.testing: what assert_close finds and says, and the numbers of make_tensor."""
import itertools
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import Different, same, same_outcome

NAN, INF = float("nan"), float("inf")


def _tensors(torch):
    """Operands, many of which are close, of the same kind, or of none."""
    t = torch.tensor
    return [t([1., 2., 3.]), t([1., 4., 5.]), t([1., 2., 3.0000001]), t([[1., 2., 3.]]), t([1, 2, 3]),
            t([1, 2, 9], dtype=torch.uint8), t([NAN, INF, 0.]), t([NAN, -INF, 0.]), t(1.), t(2.), t(1), t(True),
            t([True, False, True]), t([1., 2., 3.], dtype=torch.float64), t([1., 2., 3.5], dtype=torch.bfloat16),
            t([1 + 2j, 2., 3.]), t([1 + 2j, 2., 3.5]), torch.zeros(0), torch.zeros(0, 3),
            t([[1., 2.], [3., 4.]]).t(), t([[1., 3.], [2., 4.]]), t([[1., 3.], [2., 5.]]),
            torch.nn.Parameter(t([1., 2., 3.5])), t([1, 5, 9], dtype=torch.uint32),
            t([1., 2., 3.]).to(torch.float8_e5m2), t([1., 2.5, 3.]).to(torch.float8_e5m2)]


def _sparse(torch):
    """Tensors of several sparse layouts, some of them close."""
    t = torch.tensor
    coo = [torch.sparse_coo_tensor(t(i), t(v), (2, 3), check_invariants=False).coalesce()
           for i, v in (([[0, 1], [1, 0]], [1., 2.]), ([[0, 1], [1, 0]], [1., 2.0000001]), ([[0, 1], [1, 0]], [1., 3.]),
                        ([[0, 1], [2, 0]], [1., 2.]), ([[0], [1]], [1.]))]
    return [*coo, *[x.to_sparse_csr() for x in coo[1:4]], *[x.to_sparse_csc() for x in coo[1:3]], coo[0].to_dense(),
            coo[0].to(torch.float64)]


def _trees(torch):
    t = torch.tensor
    return [1, 2, 1., 1.5, 2j, NAN, INF, True, False, None, "a", np.float32(1), np.int64(2), np.bool_(True),
            np.array([1., 2.]), np.array([1., 2.5]), [1, 2], (1, 2), [1, 2, 3], [1, [2, 3.]], [1, [2, 4.]],
            {"a": 1, "b": 2}, {"a": 1, "c": 2}, {"b": 2, "a": 3}, {1: 2, "a": 3}, {1: 2, "a": 4}, [],
            [t([1.]), None, True], [t([2.]), None, False], {"x": [t([1.]), None, False]}, {"x": [t([1.]), 2, False]}]


def _said(module, call):
    """The error's type and words, torch's names in place of ours; the type alone where torch foresaw nothing."""
    try:
        return call(module.testing)
    except Exception as error:
        if "unexpected exception above" in str(error) or " is a bool" in str(error):     # torch asks to file an issue
            return type(error), ""
        text = str(error).replace("tinytorch.tensor", "torch").replace("tinytorch", "torch")
        return type(error), text


KEYWORDS = [{}, dict(rtol=0, atol=0), dict(rtol=.5, atol=.1), dict(check_dtype=False), dict(equal_nan=True),
            dict(check_layout=False), dict(check_stride=True), dict(allow_subclasses=False), dict(rtol=1e-3),
            dict(msg="no"), dict(msg=lambda text: f"[{text}]")]


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("operands", [_tensors, _trees, _sparse])
def test_assert_close(operands):
    """Each pair of operands, with one set of keywords after the other: nothing, or the same error."""
    theirs, ours = operands(torch), operands(tinytorch)
    failed = 0
    for n, (i, j) in enumerate(itertools.product(range(len(theirs)), repeat=2)):
        for keywords in ({}, KEYWORDS[n % len(KEYWORDS)]):
            expected = _said(torch, lambda testing: testing.assert_close(theirs[i], theirs[j], **keywords))
            found = _said(tinytorch, lambda testing: testing.assert_close(ours[i], ours[j], **keywords))
            if found != expected and not (expected and found and expected[1] == "" and found[0] is expected[0]):
                raise Different(f"{theirs[i]!r}, {theirs[j]!r}, {keywords}: {found} for {expected}")
            failed += found is not None
    assert len(theirs) < failed < n * 2


def test_assert_allclose():
    def program(torch):
        values = _tensors(torch)[:15]
        answers = []
        for a, b in itertools.product([*values, [1., 2., 3.], 1], values):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                answers.append(str(_said(torch, lambda testing: testing.assert_allclose(a, b))))
            answers.append([str(w.message) for w in caught if w.category is FutureWarning])
        return answers
    same_outcome(program)


DTYPES = ["bool", "uint8", "int16", "int64", "uint64", "float16", "bfloat16", "float32", "float64", "complex32",
          "complex64", "float8_e4m3fn", "float8_e8m0fnu"]
RANGES = [{}, dict(low=0), dict(high=5), dict(low=-1, high=1), dict(low=1, high=1), dict(low=2, high=1),
          dict(low=NAN), dict(low=300, high=400), dict(low=-1e300, high=1e300), dict(low=.5, high=1.5),
          dict(low=-INF, high=INF), dict(requires_grad=True), dict(noncontiguous=True),
          dict(noncontiguous=True, memory_format="channels_last"), dict(memory_format="channels_last"),
          dict(exclude_zero=True, low=0, high=2)]


@pytest.mark.parametrize("name", DTYPES)
def test_make_tensor(name):
    """Every set of keywords in one of several shapes, with the warnings."""
    shapes = [(), (3,), (2, 3), ((2, 3),), ([4],), (0,), (2, 3, 4, 5)]
    compared = 0
    for i, keywords in enumerate(RANGES):
        if "exclude_zero" in keywords and name in ("uint64", "float8_e4m3fn"):
            continue                           # torch does not write to them by a mask
        for shape in (shapes[i % len(shapes)], shapes[-1]):
            answers = []
            for module in (tinytorch, torch):
                given = {k: getattr(module, v) if k == "memory_format" else v for k, v in keywords.items()}
                module.manual_seed(5)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    answers.append(_said(module, lambda testing: testing.make_tensor(
                        *shape, dtype=getattr(module, name), device="cpu", **given)))
                answers.append([(str(w.message), w.category) for w in caught if "Complex" not in str(w.message)])
            mine, my_warnings, theirs, their_warnings = answers
            assert my_warnings == their_warnings
            if isinstance(theirs, tuple):
                assert mine == theirs
            else:
                same(mine, theirs, f"{name} {shape} {keywords}", tolerance=0)
            compared += 1
    assert compared > 20
