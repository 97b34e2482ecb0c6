"""Backward inside of backward, deeper than Python's calls may go in one thread."""
import sys
import threading

import numpy as np
import pytest

import tinytorch as torch


class Deep(torch.autograd.Function):
    """x, with a backward that runs `depth` others, each inside of the one before."""

    @staticmethod
    def forward(ctx, x, depth, seen):
        ctx.depth, ctx.seen = depth, seen
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        if not ctx.depth:
            ctx.seen()
        else:
            with torch.enable_grad():
                x = torch.ones(1, requires_grad=True)
                Deep.apply(x, ctx.depth - 1, ctx.seen).sum().backward()
            g = g + x.grad
        return g, None, None


def run(depth, seen=lambda: None):
    x = torch.ones(1, requires_grad=True)
    Deep.apply(x, depth, seen).sum().backward()
    return x.grad.item()


def test_eight_hundred_levels():
    before, threads = sys.getrecursionlimit(), threading.active_count()
    assert run(800) == 801.0 and sys.getrecursionlimit() == before and threading.active_count() == threads


@pytest.mark.parametrize("depth", [3, 40])
def test_an_error_comes_through(depth):
    def refuse():
        raise ValueError("at the bottom")
    with pytest.raises(ValueError, match="at the bottom"):
        run(depth, refuse)
    assert torch.is_grad_enabled() and (torch.ones(1, requires_grad=True) * 2).requires_grad


def test_modes_are_those_of_the_caller():
    """Autocast, the device, NumPy's error state and grad mode are the same at each depth."""
    seen = []

    def look():
        x = torch.ones(2, 2)
        seen.append((torch.is_grad_enabled(), (x @ x).dtype, torch.empty(1).device, np.geterr()["over"]))
    for depth in 0, 3, 40:
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.device("cpu"), np.errstate(over="raise"):
            run(depth, look)
    assert seen[0] == seen[1] == seen[2] and seen[0][1:] == (torch.bfloat16, torch.device("cpu"), "raise")


def test_random_numbers_are_of_the_same_stream():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    found = []
    run(40, lambda: found.append(torch.rand(2)))
    assert torch.equal(found[0], expected)
