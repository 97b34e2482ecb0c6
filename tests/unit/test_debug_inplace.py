"""tinytorch.debug.inplace: the lines that saved a tensor and wrote to it (see test_places.py for kinds of writes)."""
import threading

import pytest

import tinytorch as torch
from tinytorch.autograd.grad_mode import all_threads, mode
from tinytorch.debug import inplace

from .test_places import lines_told

SAVED, CHANGED = "It was saved for backward", "It was last changed"


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert not mode.steppers and not mode.watchers and not mode.places and mode.current_node is None
    assert not all_threads.in_special_mode and not all_threads.noting_writes


def spoilt(square):
    y = torch.ones(3, requires_grad=True) * 2
    z = square(y)
    with torch.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
        z.sum().backward()
    return lines_told(raised.value)


def test_functions_of_the_program_and_packed_tensors():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return 2 * x * g
    with inplace():
        assert set(spoilt(Square.apply)) == {SAVED, CHANGED}

        def hooked(y):
            z = y * y
            z.grad_fn._raw_saved_self.register_hooks(lambda t: t.numpy(force=True).copy(), torch.from_numpy)
            return z
        assert set(spoilt(hooked)) == {SAVED, CHANGED}
    assert spoilt(Square.apply) == {}


def test_blocks_within_blocks_and_decorators():
    with inplace():
        with inplace():
            pass
        assert set(spoilt(torch.square)) == {SAVED, CHANGED}
    assert set(inplace()(spoilt)(torch.square)) == {SAVED, CHANGED}

    @inplace()
    def generate():
        yield spoilt(torch.square)
        yield spoilt(torch.square)
    found = generate()
    assert next(found) and not spoilt(torch.square) and next(found)
    found.close()
    with pytest.raises(ZeroDivisionError), inplace():
        1 / 0


def test_a_write_before_the_block_has_no_line():
    y = torch.ones(3, requires_grad=True) * 2
    with inplace():
        z = y.square()
    with torch.no_grad():
        y.mul_(2)
    with inplace(), pytest.raises(RuntimeError) as raised:
        z.sum().backward()
    assert list(lines_told(raised.value)) == [SAVED]


def test_it_is_for_its_own_thread():
    found = []
    with inplace():
        thread = threading.Thread(target=lambda: found.append(spoilt(torch.square)))
        thread.start()
        thread.join()
        assert set(spoilt(torch.square)) == {SAVED, CHANGED}
    assert found == [{}]


def test_with_the_other_modes():
    with torch.autograd.set_detect_anomaly(True), inplace(), torch.debug.nonfinite():
        y = torch.ones(3, requires_grad=True) * 2
        z = y.square()
        with torch.no_grad():
            y.mul_(2)
        with pytest.warns(UserWarning, match="Error detected in"), pytest.raises(RuntimeError) as raised:
            z.sum().backward()
    assert set(lines_told(raised.value)) == {SAVED, CHANGED}
    with inplace():
        with torch.autograd.set_detect_anomaly(True):
            pass
        assert set(spoilt(torch.square)) == {SAVED, CHANGED}       # the end of another mode does not end this one
