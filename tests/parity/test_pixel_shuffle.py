"""PixelShuffle and PixelUnshuffle beside torch, which has them in no table of modules."""
import pytest

from .adapter import same_outcome


@pytest.mark.parametrize("name, shape", [
    ("PixelShuffle", (2, 8, 3, 5)), ("PixelShuffle", (4, 2, 2)),
    ("PixelShuffle", (3, 1, 12, 2, 3)), ("PixelUnshuffle", (2, 3, 4, 6)), ("PixelUnshuffle", (2, 2, 2)),
    ("PixelUnshuffle", (2, 3, 2, 4, 2))])
def test_values_gradients_and_text(name, shape):
    def program(t):
        layer = getattr(t.nn, name)(2)
        x = (t.arange(float(t.Size(shape).numel())).reshape(shape) / 7).requires_grad_()
        y = layer(x)
        dx, = t.autograd.grad((y * y * y).sum(), x, create_graph=True)
        second, = t.autograd.grad(dx.sum(), x)
        return y, dx, second, repr(layer), list(layer.state_dict()), y.grad_fn.name()
    same_outcome(program)


@pytest.mark.parametrize("name", ["PixelShuffle", "PixelUnshuffle"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "bfloat16", "float16", "complex64"])
def test_dtypes(name, dtype):
    same_outcome(lambda t: getattr(t.nn, name)(2)(t.arange(16).reshape(4, 2, 2).to(getattr(t, dtype))))


def test_empty_batch():
    """The value of PixelShuffle alone: its gradient is refused by torch's own engine, for another shape, and torch's
    PixelUnshuffle leaves an empty tensor in the shape that it has."""
    same_outcome(lambda t: t.nn.PixelShuffle(2)(t.ones(0, 4, 2, 2)))


@pytest.mark.parametrize("name", ["pixel_shuffle", "pixel_unshuffle"])
@pytest.mark.parametrize("shape, factor", [
    ((2, 2), 2), ((5, 2, 2), 2), ((4, 3, 2), 2), ((4, 2, 3), 2), ((4, 2, 2), 0), ((4, 2, 2), -1), ((4, 2, 2), 1.5)])
def test_errors(name, shape, factor):
    same_outcome(lambda t: getattr(t, name)(t.ones(shape), factor))
