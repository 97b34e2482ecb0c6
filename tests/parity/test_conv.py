"""Convolutions beside torch: values and first and second gradients, start values of layers, errors."""
import numpy as np
import pytest
import torch

import tinytorch

BOTH = (torch, tinytorch)


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape) for shape in shapes]


def derivatives(m, f, inputs):
    """Output, first and second gradients of f(functional, *inputs) in module `m`, as arrays."""
    ts = [m.tensor(a, requires_grad=True) for a in inputs]
    y = f(m.nn.functional, *ts)
    first = m.autograd.grad((y * y * y).sum(), ts, create_graph=True)
    second = m.autograd.grad(sum((g * g).sum() for g in first), ts)
    return [t.detach().numpy() for t in (y, *first, *second)]


CASES = [
    (lambda F, x, w, b: F.conv1d(x, w, b, 2, 1, 2, 2), (2, 4, 9), (6, 2, 3), (6,)),
    (lambda F, x, w, b: F.conv1d(x, w, b, padding="same", dilation=3), (4, 9), (6, 4, 3), (6,)),
    (lambda F, x, w, b: F.conv2d(x, w, b, (2, 1), (1, 0), 1, 2), (2, 4, 7, 6), (6, 2, 3, 2), (6,)),
    (lambda F, x, w: F.conv2d(x, w), (2, 6, 7, 6), (2, 6, 3, 2)),
    (lambda F, x, w, b: F.conv2d(x, w, b, padding=2, groups=4), (2, 4, 5, 5), (4, 1, 3, 3), (4,)),
    (lambda F, x, w, b: F.conv2d(x, w, b), (2, 4, 5, 5), (3, 4, 1, 1), (3,)),
    (lambda F, x, w, b: F.conv3d(x, w, b, 2, 1), (1, 2, 5, 4, 6), (3, 2, 2, 3, 2), (3,)),
    (lambda F, x, w, b: F.conv_transpose1d(x, w, b, 3, 1, 2, 2), (2, 4, 4), (4, 2, 3), (4,)),
    (lambda F, x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1), (2, 4, 3, 4), (4, 3, 3, 3), (3,)),
    (lambda F, x, w, b: F.conv_transpose2d(x, w, b, 1, 1, 1, 1, 2), (4, 3, 4), (4, 3, 3, 3), (3,)),
    (lambda F, x, w, b: F.conv_transpose3d(x, w, b, 2), (1, 2, 2, 3, 2), (2, 2, 2, 2, 2), (2,)),
    (lambda F, x: F.unfold(x, (3, 2), (1, 2), 1, 2), (2, 3, 6, 7)),
    (lambda F, x: F.fold(x, (5, 6), 2, padding=1, stride=2), (2, 12, 12)),
]


@pytest.mark.parametrize("f,shapes", [(c[0], c[1:]) for c in CASES], ids=range(len(CASES)))
def test_values_and_gradients(f, shapes):
    inputs = arrays(*shapes)
    for ours, theirs in zip(derivatives(tinytorch, f, inputs), derivatives(torch, f, inputs), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


LAST = [
    (lambda F, x, w, b: F.conv1d(x, w, b), (2, 9, 8), (3, 8, 3), (3,)),
    (lambda F, x, w: F.conv1d(x, w, None, 1, 2, 2), (2, 9, 8), (3, 8, 3)),
    (lambda F, x, w, b: F.conv1d(x, w, b, padding=4, dilation=3), (2, 3, 6), (1, 6, 4), (1,)),
    (lambda F, x, w, b: F.conv1d(x, w, b, 2), (2, 9, 8), (3, 8, 3), (3,)),
    (lambda F, x, w, b: F.conv1d(x, w, b), (2, 9, 4), (6, 4, 3), (6,)),
    (lambda F, x, w, b: F.conv2d(x, w, b), (2, 5, 6, 4), (2, 4, 3, 2), (2,)),
    (lambda F, x, w, b: F.conv2d(x, w, b, 1, (2, 1), (2, 1)), (2, 5, 6, 4), (1, 4, 3, 2), (1,)),
    (lambda F, x, w: F.conv3d(x, w, padding=1), (1, 3, 4, 3, 4), (2, 4, 2, 3, 1)),
]


@pytest.mark.parametrize("f,shapes", [(c[0], c[1:]) for c in LAST], ids=range(len(LAST)))
def test_values_and_gradients_with_channels_last_in_memory(f, shapes):
    inputs = arrays(*shapes)
    found = [derivatives(m, lambda F, x, *rest, m=m: f(F, m.movedim(x, -1, 1), *rest), inputs)
             for m in (tinytorch, torch)]
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("make,shape", [
    (lambda nn: nn.Conv1d(4, 6, 3, 2, 1, 1, 2), (2, 4, 9)),
    (lambda nn: nn.Conv2d(3, 6, (3, 5), padding="same", padding_mode="reflect"), (2, 3, 8, 8)),
    (lambda nn: nn.Conv2d(3, 6, 3, padding=(1, 2), padding_mode="circular", bias=False), (3, 8, 8)),
    (lambda nn: nn.Conv3d(2, 3, 2), (1, 2, 4, 4, 4)),
    (lambda nn: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, 2), (2, 4, 5, 5)),
    (lambda nn: nn.LazyConv2d(4, 3), (2, 3, 8, 8)),
    (lambda nn: nn.LazyConvTranspose1d(4, 3), (2, 3, 8)),
], ids=range(7))
def test_layers_start_and_run_alike(make, shape):
    x = np.random.default_rng(0).normal(size=shape).astype("f")
    results = []
    for m in BOTH:
        m.manual_seed(3)
        layer = make(m.nn)
        y = layer(m.tensor(x))
        results.append((y.detach().numpy(), repr(layer), {k: v.numpy() for k, v in layer.state_dict().items()}))
    (theirs, text, state), (ours, our_text, our_state) = results
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    assert text == our_text and list(state) == list(our_state)
    for name in state:
        np.testing.assert_array_equal(our_state[name], state[name])


BAD = [
    lambda m, F: F.conv2d(m.ones(1, 4, 5, 5), m.ones(2, 3, 3, 3)),
    lambda m, F: F.conv2d(m.ones(1, 3, 5, 5), m.ones(2, 3, 7, 3)),
    lambda m, F: F.conv1d(m.ones(1, 3, 5, 5), m.ones(2, 3, 3)),
    lambda m, F: F.conv2d(m.ones(1, 3, 5, 5), m.ones(2, 3, 3)),
    lambda m, F: F.conv2d(m.ones(1, 3, 5, 5), m.ones(2, 3, 3, 3), m.ones(3)),
    lambda m, F: F.conv2d(m.ones(1, 3, 5, 5), m.ones(2, 3, 3, 3), padding=-1),
    lambda m, F: F.conv2d(m.ones(1, 3, 5, 5), m.ones(2, 3, 3, 3), dilation=0),
    lambda m, F: F.conv2d(m.ones(1, 3, 5, 5), m.ones(2, 3, 3, 3), stride=(1, 1, 1)),
    lambda m, F: F.conv2d(m.ones(1, 4, 5, 5), m.ones(3, 2, 3, 3), groups=2),
    lambda m, F: F.conv2d(m.ones(1, 3, 5, 5), m.ones(2, 3, 3, 3).double()),
    lambda m, F: F.conv2d(m.ones(1, 3, 5, 5), m.ones(2, 3, 3, 3), m.ones(2).double()),
    lambda m, F: F.conv_transpose2d(m.ones(1, 4, 5, 5), m.ones(3, 2, 3, 3)),
    lambda m, F: F.conv_transpose2d(m.ones(1, 4, 5, 5), m.ones(4, 2, 3, 3), m.ones(3), groups=2),
    lambda m, F: F.conv_transpose2d(m.ones(1, 3, 5, 5), m.ones(3, 2, 3, 3), padding=5),
    lambda m, F: F.conv_transpose2d(m.ones(1, 3, 5, 5), m.ones(3, 2, 3, 3), stride=2, output_padding=2),
    lambda m, F: F.unfold(m.ones(1, 3, 5, 5), 7),
    lambda m, F: F.unfold(m.ones(1, 3, 5, 5), 2, stride=0),
    lambda m, F: F.fold(m.ones(1, 13, 16), (5, 5), 2),
    lambda m, F: m.nn.Conv2d(4, 3, 3, groups=2),
    lambda m, F: m.nn.Conv2d(4, 3, 3, padding="foo"),
    lambda m, F: m.nn.ConvTranspose2d(4, 3, 3, padding_mode="reflect"),
]


@pytest.mark.parametrize("call", BAD, ids=range(len(BAD)))
def test_errors_in_the_same_words(call):
    caught = []
    for m in BOTH:
        with pytest.raises(Exception) as info:
            call(m, m.nn.functional)
        caught.append((info.type, str(info.value).replace("{'valid', 'same'}", "{'same', 'valid'}")))
    assert caught[0] == caught[1]


@pytest.mark.parametrize("kernel", [1, 3])
def test_gradients_when_the_input_is_written_to_meanwhile(kernel):
    found = []
    for m in BOTH:
        w = m.arange(4. * kernel).reshape(4, 1, kernel).requires_grad_()
        x = m.arange(10.).reshape(1, 1, 10)
        with m.autograd.graph.allow_mutation_on_saved_tensors():
            y = m.nn.functional.conv1d(x, w)
            x.mul_(2)
            y.sum().backward()
        found.append(w.grad.numpy())
    np.testing.assert_allclose(*found)


@pytest.mark.parametrize("padding,dilation", [(5, 5), (9, 9), ((6, 1), (6, 1))])
def test_places_of_the_kernel_that_only_see_padding(padding, dilation):
    shape, weight = ((2, 4, 3, 3), (2, 4, 3, 3)) if isinstance(padding, tuple) else ((2, 4, 4), (2, 4, 3))
    f = (lambda F, x, w: F.conv2d(x, w, None, 1, padding, dilation)) if isinstance(padding, tuple) else (
        lambda F, x, w: F.conv1d(x, w, None, 1, padding, dilation))
    inputs = arrays(shape, weight)
    for ours, theirs in zip(derivatives(tinytorch, f, inputs), derivatives(torch, f, inputs), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
