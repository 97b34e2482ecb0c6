"""tinytorch.debug.leaks: what tensors live on, by line, and who holds them."""
import gc
import threading

import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.autograd.grad_mode import all_threads, mode
from tinytorch.debug import leaks
from tinytorch.seam import seam

HELD: list = []


class Box:
    shared = None

    def __init__(self, x=None):
        self.x = x


@pytest.fixture(autouse=True)
def nothing_is_left():
    see, reasons = seam.see, set(seam._reasons)
    yield
    HELD.clear()
    Box.shared = None
    gc.collect()
    assert set(seam._reasons) <= reasons and seam.see is see and not mode.watchers and not all_threads.in_special_mode


def only(function):
    with leaks() as found:
        function()
    assert len(found) == 1, str(found)
    return found[0]


def make():
    return torch.ones(100) * 2  # made here


def test_a_line_tells_what_made_it_how_much_and_who_holds_it():
    line = only(lambda: HELD.append(make()))
    assert line.place.text.endswith("# made here") and line.place.function == "make" and line.place.file == __file__
    assert (line.operation, line.count, line.nbytes, line.shapes) == ("torch.Tensor.__mul__", 1, 400, [(100,)])
    assert line.holder == f"the variable HELD of module {__name__}: [0]"
    text = str(line).splitlines()
    assert text[0] == f"{__file__}:{line.place.line}  {line.place.text}"
    assert text[1] == "  1 of 400 bytes, [100], by torch.Tensor.__mul__" and text[2] == f"  held by {line.holder}"


def test_nothing_lives_on():
    with leaks() as found:
        make().sum().item()
    assert not found and len(found) == 0 and str(found) == "No tensor lives on." and found.nbytes == 0


def closing_over(x):
    return lambda: x


def generating(x):
    yield x
    yield


def started(x):
    found = generating(x)
    next(found)
    return found


@pytest.mark.parametrize("hold, told", [
    (lambda x: Box(x), "[0].x"),
    (lambda x: {"a": [0, (x,)]}, "[0]['a'][1][0]"),
    (lambda x: closing_over(x), "[0], in whose closure x"),
    (lambda x: started(x), "[0], the variable x of generating, which is not finished"),
    (lambda x: x[3:], "[0]"),                  # the memory of a view
    (lambda x: x.numpy()[1:], "[0]"),
    (lambda x: x.to_sparse(), "[0]"),
    (lambda x: Box(x).__init__, "[0].__self__.x"),
    (lambda x: nn.ParameterList([nn.Parameter(x)]), "[0].0"),
    (lambda x: nn.Sequential(nn.Identity(), Box_of_modules(x)), "[0].1.table"),
])
def test_holders(hold, told):
    with leaks() as found:
        HELD.append(hold(make()))
    holders = [line.holder for line in found]
    start = f"the variable HELD of module {__name__}"
    assert any(holder.removeprefix(start).removeprefix(": ").startswith(told) for holder in holders), holders


class Box_of_modules(nn.Module):
    def __init__(self, x):
        super().__init__()
        self.register_buffer("table", x)


def test_classes_and_running_functions():
    def share():
        Box.shared = make()
    assert only(share).holder == f"the variable Box of module {__name__}: .shared"
    with leaks() as found:
        x = make()
    assert found[0].holder == "the variable x of test_classes_and_running_functions, which runs" and x is not None


def test_the_graph():
    def step():
        w = torch.ones(100, requires_grad=True)
        h = w.exp()  # kept for backward
        HELD.append((h * h).sum())
    with leaks() as found:
        step()
    lines = {line.place.text: line for line in found}
    kept = lines["h = w.exp()  # kept for backward"]
    assert kept.holder == (f"the variable HELD of module {__name__}: [0].grad_fn, 1 node down MulBackward0, "
                           "which has saved self")
    leaf = lines["w = torch.ones(100, requires_grad=True)"]
    assert leaf.holder.endswith("[0].grad_fn, 2 nodes down ExpBackward0, which leads to a leaf"), leaf.holder


def test_steps():
    def step():
        HELD.append(torch.zeros(10).exp())
    with leaks() as found:
        step()
        found.next_step()
        step()
        found.next_step()
        step()
    assert found[0].count == 2 and found[0].steps == [0, 1] and "of steps 0, 1" in str(found)
    with leaks() as found:                     # one that the next replaces is none
        HELD[:] = [torch.zeros(3)]
        found.next_step()
        HELD[:] = [torch.zeros(3)]
    assert not len(found)


def test_gradients_are_new_in_the_first_step():
    p = nn.Parameter(torch.ones(5))

    def step():
        p.grad = None
        (p * p).sum().backward()
    with leaks() as found:
        step()
    assert [line.holder for line in found] == [
        "the variable p of test_gradients_are_new_in_the_first_step, which runs: .grad"]
    assert found[0].place is None and "no line was noted" in str(found)
    with leaks() as found:
        step()
        found.next_step()
        step()
    assert not len(found), str(found)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad])
def test_a_training_step_leaks_nothing(optimizer):
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(.1), nn.Linear(8, 2))
    optimizer = optimizer(model.parameters(), lr=.1)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(torch.randn(6, 4)), torch.tensor([0, 1, 0, 1, 1, 0]))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.)
        optimizer.step()
    step()
    step()
    with leaks() as found:
        step()
        found.next_step()
        step()
    assert not len(found), str(found)


def test_cycles():
    def step():
        box = Box(make())
        box.box = box
    gc.disable()
    try:
        with leaks() as found:
            step()
    finally:
        gc.enable()
    assert not len(found) and found.cycles == 400 and "400 bytes were in cycles" in str(found)


def test_threads_and_errors():
    with pytest.raises(ZeroDivisionError), leaks() as found:
        HELD.append(make())
        1 / 0
    assert not len(found)
    with leaks() as found:
        thread = threading.Thread(target=lambda: HELD.append(make()))
        thread.start()
        thread.join()
    assert len(found) == 1 and found[0].place is None and found[0].holder.endswith(f"HELD of module {__name__}: [1]")
    block = leaks()
    with block:
        with pytest.raises(RuntimeError, match="open already"):
            block.__enter__()
        with leaks() as inner:                 # each notes for itself
            HELD.append(make())
    assert len(block) == len(inner) == 1 and block[0].place == inner[0].place


def test_what_is_found_holds_nothing():
    import weakref
    with leaks() as found:
        HELD.append(make())
    gone = weakref.ref(HELD[0]._array)
    HELD.clear()
    assert gone() is None and len(found) == 1


def test_with_the_other_blocks():
    with torch.debug.nonfinite(), torch.debug.inplace(), torch.precise_tails(), leaks() as found, torch.autocast("cpu"):
        x = torch.ones(2, 2, requires_grad=True)
        HELD.append(torch.mm(x, x).sigmoid())
        with pytest.raises(torch.debug.NonFiniteError):
            torch.zeros(1).log()
    assert any(line.operation.endswith("sigmoid") for line in found)
