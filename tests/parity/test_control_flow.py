"""Control flow as functions (torch._higher_order_ops): results, gradients and refusals, as in torch."""
import importlib
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch

import tinytorch


@pytest.fixture(scope="module")
def theirs():
    """What torch says, in a process of its own: its compiler, which `cond` loads, changes how Python runs functions,
    and switches the checks of distributions off."""
    program = ("import pickle, sys, torch, warnings; warnings.simplefilter('ignore')\n"
               "from tests.parity.test_control_flow import CALLS, told\n"
               "pickle.dump({name: told(torch, CALLS[name]) for name in CALLS}, sys.stdout.buffer)")
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(root)})
    return pickle.loads(done.stdout)


def ops(t):
    return importlib.import_module(f"{t.__name__}._higher_order_ops")


def grad(t, f, *shape):
    x = (t.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape) / 4).requires_grad_()
    result = f(x)
    leaves = [y for y in leaves_of(result) if y.dtype.is_floating_point]
    sum([(y * y).sum() for y in leaves]).backward()
    return result, x.grad


def leaves_of(x):
    if isinstance(x, dict):
        x = list(x.values())
    return [leaf for item in x for leaf in leaves_of(item)] if isinstance(x, (list, tuple)) else [x]


CALLS = {
    "cond of a number": lambda t: t.cond(3, t.neg, t.abs, (t.arange(3.0),)),
    "cond of a tensor": lambda t: t.cond(t.tensor(False), lambda x, y: x + y, lambda x, y: x - y,
                                         [t.arange(3.0), t.ones(3)]),
    "cond of nothing": lambda t: t.cond(t.tensor(True), lambda: t.ones(2) + 1, lambda: t.ones(2) - 1),
    "cond of an int": lambda t: t.cond(t.tensor(1), lambda x: x.sin(), lambda x: x.cos(), (t.arange(3.0),)),
    "cond of many": lambda t: t.cond(t.ones(2) > 0, t.neg, t.abs, (t.arange(3.0),)),
    "cond of a word": lambda t: t.cond("a", t.neg, t.abs, (t.arange(3.0),)),
    "cond of no function": lambda t: t.cond(t.tensor(True), 3, t.abs, (t.arange(3.0),)),
    "cond of a float": lambda t: t.cond(t.tensor(True), t.neg, t.abs, (2.0,)),
    "gradient of cond": lambda t: grad(t, lambda x: t.cond(x.sum() > 0, lambda x: x * 3, lambda x: x * x, (x,)), 3),
    "while_loop": lambda t: t.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (t.tensor(0), t.ones(2))),
    "while_loop with ints": lambda t: t.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + i), (0, t.ones(2))),
    "while_loop of none": lambda t: t.while_loop(lambda i: False, lambda i: (i + 1,), (t.tensor(0),)),
    "while_loop of trees": lambda t: t.while_loop(lambda d: d["i"] < 3, lambda d: ({"i": d["i"] + 1},),
                                                  ({"i": t.tensor(0)},)),
    "while_loop of a list": lambda t: t.while_loop(lambda i: i < 3, lambda i: [i + 1], [t.tensor(0)]),
    "while_loop of a float": lambda t: t.while_loop(lambda i: i < 3, lambda i: (i + 1,), (1.0,)),
    "while_loop of no function": lambda t: t.while_loop(3, lambda i: (i + 1,), (t.tensor(0),)),
    "while_loop of more": lambda t: t.while_loop(lambda i: i < 3, lambda i: (i + 1, i + 2), (t.tensor(0),)),
    "while_loop of others": lambda t: t.while_loop(lambda i: i < 3, lambda i: (i + 1.0,), (t.tensor(0),)),
    "while_loop of floats": lambda t: t.while_loop(lambda i: 3.0 - i, lambda i: (i + 1,), (t.tensor(0.0),)),
    "gradient of while_loop": lambda t: grad(t, lambda x: t.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, x * x), (t.tensor(0), x)), 2),
    "scan": lambda t: ops(t).scan(lambda c, x: (c + x, c * x), t.tensor(0.0), t.arange(4.0)),
    "scan along a dimension": lambda t: ops(t).scan(lambda c, x: (c + x, c * x), t.zeros(2),
                                                    t.arange(6.0).reshape(2, 3), dim=-1, reverse=True),
    "scan of trees": lambda t: ops(t).scan(lambda c, x: ({"s": c["s"] + x[0]}, [x[0] * x[1], c["s"] + 1]),
                                           {"s": t.tensor(0.0)}, (t.arange(4.0), t.arange(4.0) + 1)),
    "scan of nothing": lambda t: ops(t).scan(lambda c, x: (c + x, c * x), t.tensor(0.0), []),
    "scan from nothing": lambda t: ops(t).scan(lambda c, x: (c, x + 1), (), t.arange(4.0)),
    "scan of no elements": lambda t: ops(t).scan(lambda c, x: (c + x, c * x), t.tensor(0.0), t.ones(0)),
    "scan along none": lambda t: ops(t).scan(lambda c, x: (c + x, c * x), t.tensor(0.0), t.ones(2), dim=3),
    "scan of another carry": lambda t: ops(t).scan(lambda c, x: (c + 1.0, x + 1), t.tensor(0), t.arange(4.0)),
    "scan of numbers": lambda t: ops(t).scan(lambda c, x: (c + 1, x + 1), t.tensor(0), [t.ones(2), 3]),
    "scan by no bool": lambda t: ops(t).scan(lambda c, x: (c + x, x + 1), t.tensor(0.0), t.ones(2), reverse=1),
    "gradient of scan": lambda t: grad(t, lambda x: ops(t).scan(lambda c, x: (c + x, x * c), t.tensor(0.0), x), 4),
    **{f"associative_scan of {n}": lambda t, n=n: ops(t).associative_scan(
        lambda a, b: a @ b, t.arange(4.0 * n).reshape(n, 2, 2) / n, 0, combine_mode="generic") for n in range(1, 8)},
    "associative_scan of trees": lambda t: ops(t).associative_scan(
        lambda a, b: (a[0] + b[0], a[1] * b[1]), (t.arange(4.0), t.arange(4.0) + 1), 0, combine_mode="generic"),
    "associative_scan from the end": lambda t: ops(t).associative_scan(
        lambda a, b: a + b, t.arange(6.0).reshape(2, 3), 1, True, combine_mode="generic"),
    "associative_scan by points": lambda t: ops(t).associative_scan(lambda a, b: a + b, t.arange(6.0), 0),
    "associative_scan by none": lambda t: ops(t).associative_scan(lambda a, b: a + b, t.ones(2), 0, combine_mode="x"),
    "associative_scan of no elements": lambda t: ops(t).associative_scan(lambda a, b: a + b, t.ones(0), 0,
                                                                         combine_mode="generic"),
    "gradient of associative_scan": lambda t: grad(t, lambda x: ops(t).associative_scan(
        lambda a, b: a * b, x, 0, combine_mode="generic"), 5),
    "map": lambda t: ops(t).map(lambda x, y: x * y.sum(), t.arange(4.0).reshape(2, 2), t.arange(2.0) + 1),
    "map to trees": lambda t: ops(t).map(lambda a: {"a": a * 2, "b": a + 1}, t.arange(8.0).reshape(2, 4)),
    "map of no rows": lambda t: ops(t).map(lambda a: a * 2, t.ones(0, 4)),
    "map of different rows": lambda t: ops(t).map(lambda a: a[0] * 2, [t.ones(2), t.ones(3)]),
    "map of numbers": lambda t: ops(t).map(lambda a: a[0] * 2, [2]),
    "gradient of map": lambda t: grad(t, lambda x: ops(t).map(lambda row: (row * row).sum(), x), 2, 3),
}


def plain(x):
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)([plain(item) for item in x])
    return (str(x.dtype).rpartition(".")[2], tuple(x.shape), x.tolist()) if hasattr(x, "tolist") else x


def told(t, call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(call(t))
        except Exception as error:
            known = (IndexError, ValueError, AssertionError, RuntimeError)
            return next((kind.__name__ for kind in known if isinstance(error, kind)), error)


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-6)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all([same(a[key], b[key]) for key in a])
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return a == b


@pytest.mark.parametrize("name", CALLS)
def test_as_torch(name, theirs):
    ours = told(tinytorch, CALLS[name])
    assert same(theirs[name], ours), (theirs[name], ours)


def test_what_is_of_graphs_refuses_when_it_is_called():
    assert set(ops(torch).__all__) - {"register_hook"} <= set(ops(tinytorch).__all__)
    with pytest.raises(NotImplementedError, match="there is no compiler"):
        ops(tinytorch).invoke_subgraph()
    assert tinytorch.ops.higher_order.cond(tinytorch.tensor(True), tinytorch.neg, tinytorch.abs,
                                           (tinytorch.ones(1),)).item() == -1
