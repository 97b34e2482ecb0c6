"""What errors of backward say of the places in the program that they come from."""
import linecache
import re
import warnings

import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.viz.recorder import Recorder


def lines_told(error):
    """The source lines that a message names, by the words before them."""
    found = re.findall(r"\n(It was [^\n]*) here:\n  File \"(.*)\", line (\d+), in \w+\n    (.*)", str(error))
    assert all(linecache.getline(file, int(line)).strip() == text for _, file, line, text in found)
    return {words: text for words, _, _, text in found}


def no_grad_write(x, w):
    with torch.no_grad():
        w.add_(1)  # written


def multiplied(x, w):
    with torch.no_grad():
        w *= 2  # written


def assigned(x, w):
    with torch.no_grad():
        w[0] = 2.  # written


def put(x, w):
    with torch.no_grad():
        w.index_put_((torch.tensor([1]),), torch.tensor(2.))  # written


def filled(x, w):
    with torch.no_grad():
        w.uniform_()  # written


def copied(x, w):
    with torch.no_grad():
        w.copy_(torch.zeros(3))  # written


def out(x, w):
    with torch.no_grad():
        torch.exp(torch.zeros(3), out=w)  # written


def optimised(x, w):
    w.grad = torch.ones(3)
    torch.optim.SGD([w], lr=.1).step()  # written


def recorded(x, w):
    x.mul_(2)  # written


def spoilt(write):
    """The error of a backward whose saved arrays `write` has written to."""
    w = torch.ones(3, requires_grad=True)
    x = torch.ones(3, requires_grad=True) * 2
    y = x * w  # saved
    write(x, w)
    with warnings.catch_warnings(), pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
        warnings.simplefilter("ignore", UserWarning)           # of anomaly mode, about the forward
        y.sum().backward()
    return raised.value


def turned(x, w):
    with torch.no_grad():
        w.unsqueeze_(0)  # written


def drawn(x, w):
    with torch.no_grad():
        torch.rand(3, out=w)  # written


def dirtied(x, w):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return 2 * g
    Twice.apply(x)  # written


def clipped(x, w):
    w.grad, before = x.detach(), w.grad
    nn.utils.clip_grad_value_(w, .5)  # written
    w.grad = before


@pytest.mark.parametrize("write", [no_grad_write, multiplied, assigned, put, filled, copied, out, optimised, recorded,
                                   turned, drawn, dirtied, clipped])
@pytest.mark.parametrize("noting", [lambda: torch.autograd.set_detect_anomaly(True), Recorder, torch.debug.inplace])
def test_a_write_that_spoils_what_was_saved(write, noting):
    with noting():
        told = lines_told(spoilt(write))
    assert list(told) == ["It was saved for backward", "It was last changed"]
    assert told["It was saved for backward"] == "y = x * w  # saved"
    assert told["It was last changed"].endswith("# written")
    assert lines_told(spoilt(write)) == {}                     # nobody notes


def test_a_later_write_is_not_taken_for_an_earlier_one():
    w = torch.ones(3, requires_grad=True)
    with Recorder():
        y = w * w
        with torch.no_grad():
            w.add_(1)
    with torch.no_grad():
        w.mul_(2)
    with Recorder(), pytest.raises(RuntimeError) as raised:
        y.sum().backward()
    assert lines_told(raised.value) == {}


class Scale(nn.Module):
    def forward(self, x):
        return (x * 0) / x  # divided


def test_nan_names_module_operation_and_shapes():
    model = nn.Sequential(nn.Identity(), nn.Sequential(nn.Identity(), Scale()))
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError) as raised:
        warnings.simplefilter("ignore")
        model(torch.zeros(2, 3, requires_grad=True)).sum().backward()
    text = str(raised.value)
    assert text.startswith("Function 'DivBackward0' returned nan values in its 1th output.\n"
                           "It is the backward of div, of shapes [2, 3] and [2, 3] to [2, 3], in module '1.1' (Scale), "
                           f'called here:\n  File "{__file__}", line ')
    text, _, numbers = text.partition("return (x * 0) / x  # divided\n")
    assert numbers.splitlines()[:4] == [
        "  its gradient: torch.float32 [2, 3], finite values from 1 to 1",
        "  saved self: torch.float32 [2, 3], finite values from 0 to 0",
        "  saved other: torch.float32 [2, 3], finite values from 0 to 0",
        "The gradient came this way, from the loss down:"]
    assert [line.split()[0] for line in numbers.splitlines()[4:]] == ["SumBackward0", "DivBackward0"]
    with warnings.catch_warnings(), pytest.raises(RuntimeError) as raised:         # a forward outside anomaly mode
        warnings.simplefilter("ignore")
        loss = model(torch.zeros(2, 3, requires_grad=True)).sum()
        with torch.autograd.set_detect_anomaly(True):
            loss.backward()
    assert str(raised.value).splitlines()[:2] == [
        "Function 'DivBackward0' returned nan values in its 1th output.",
        "  its gradient: torch.float32 [2, 3], finite values from 1 to 1"]
