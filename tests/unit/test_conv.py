"""Convolutions, unfold and fold: values by hand, shapes, gradients, errors, layers."""
import numpy as np
import pytest

import tinytorch as torch
import tinytorch.nn.functional as F
from tinytorch import nn


def naive_conv2d(x, w, stride, padding, dilation, groups):
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    n, _, height, width = x.shape
    outputs, channels, kh, kw = w.shape
    oh = (height - dilation * (kh - 1) - 1) // stride + 1
    ow = (width - dilation * (kw - 1) - 1) // stride + 1
    result = np.zeros((n, outputs, oh, ow))
    for o in range(outputs):
        first = o // (outputs // groups) * channels
        for i in range(oh):
            for j in range(ow):
                patch = x[:, first:first + channels, i * stride:i * stride + dilation * (kh - 1) + 1:dilation,
                          j * stride:j * stride + dilation * (kw - 1) + 1:dilation]
                result[:, o, i, j] = (patch * w[o]).sum((1, 2, 3))
    return result


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("stride,padding,dilation,groups", [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 4), (3, 0, 2, 1)])
def test_conv2d_is_the_sum_over_windows(stride, padding, dilation, groups):
    x, w = numbers(2, 4, 9, 8), numbers(8, 4 // groups, 3, 2)
    y = torch.conv2d(torch.tensor(x), torch.tensor(w), None, stride, padding, dilation, groups)
    np.testing.assert_allclose(y.numpy(), naive_conv2d(x, w, stride, padding, dilation, groups), atol=1e-12)


def test_large_images_are_done_in_parts():
    x, w = numbers(40, 8, 40, 40), numbers(4, 8, 3, 3)
    y = torch.conv2d(torch.tensor(x), torch.tensor(w))
    np.testing.assert_allclose(y[37:38].numpy(), naive_conv2d(x[37:38], w, 1, 0, 1, 1), atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("few_outputs", [False, True])
def test_transposed_convolution_is_the_adjoint(n, few_outputs):
    shape = (8, 2) if few_outputs else (2, 6)
    conv, transpose = getattr(F, f"conv{n}d"), getattr(F, f"conv_transpose{n}d")
    x, w = torch.tensor(numbers(2, shape[0], *(5,) * n)), torch.tensor(numbers(shape[1], shape[0], *(2,) * n))
    for settings in ((1, 0), (2, 1)):
        y = conv(x, w, None, *settings)
        g = torch.tensor(numbers(*y.shape, seed=1))
        back = transpose(g, w, None, *settings, output_padding=1 if settings[0] == 2 else 0)
        assert back.shape == x.shape
        np.testing.assert_allclose((y * g).sum().item(), (x * back).sum().item(), rtol=1e-10)


def test_gradients_by_finite_differences():
    arrays, step = [numbers(1, 2, 4, 4), numbers(2, 1, 3, 2), numbers(2)], 1e-6

    def loss(*values):
        y = torch.conv2d(*values, stride=2, padding=1, groups=2)
        return (y * y).sum()

    inputs = [torch.tensor(a, requires_grad=True) for a in arrays]
    loss(*inputs).backward()
    for i, a in enumerate(arrays):
        direction = numbers(*a.shape, seed=i + 5)
        ahead, back = ([torch.tensor(b + sign * step * direction if j == i else b) for j, b in enumerate(arrays)]
                       for sign in (1, -1))
        slope = (loss(*ahead).item() - loss(*back).item()) / (2 * step)
        assert (inputs[i].grad.numpy() * direction).sum() == pytest.approx(slope, rel=1e-6)


def test_output_is_contiguous_and_an_input_that_wants_no_gradient_gets_none():
    x, w = torch.ones(2, 3, 5, 5), torch.ones(4, 3, 3, 3, requires_grad=True)
    y = torch.conv2d(x.transpose(2, 3), w)
    assert y.is_contiguous()
    y.sum().backward()
    assert x.grad is None and w.grad.shape == w.shape


def test_same_padding_and_unbatched_input():
    x, w = torch.tensor(numbers(3, 7)), torch.tensor(numbers(2, 3, 4))
    y = F.conv1d(x, w, padding="same")
    assert y.shape == (2, 7)
    np.testing.assert_allclose(y.numpy(), F.conv1d(F.pad(x, (1, 2)), w, padding="valid").numpy())


def test_empty_batch():
    w = torch.ones(4, 3, 3, 3, requires_grad=True)
    torch.conv2d(torch.zeros(0, 3, 5, 5), w).sum().backward()
    assert (w.grad == 0).all()


ones = torch.ones


@pytest.mark.parametrize("error,text,call", [
    (RuntimeError, r"Given groups=1, weight of size \[2, 3, 3, 3\], expected input\[1, 4, 5, 5\] to have 3 channels, "
     "but got 4 channels instead", lambda: F.conv2d(ones(1, 4, 5, 5), ones(2, 3, 3, 3))),
    (RuntimeError, r"Calculated padded input size per channel: \(5 x 5\). Kernel size: \(13 x 5\)",
     lambda: F.conv2d(ones(1, 3, 5, 5), ones(2, 3, 7, 3), dilation=2)),
    (RuntimeError, r"Expected 3D \(unbatched\) or 4D \(batched\) input to conv2d, but got input of size: \[5, 5\]",
     lambda: F.conv2d(ones(5, 5), ones(2, 3, 3, 3))),
    (RuntimeError, "expected bias to be 1-dimensional with 2 elements",
     lambda: F.conv1d(ones(1, 3, 5), ones(2, 3, 3), ones(3))),
    (RuntimeError, "non-positive stride", lambda: F.conv1d(ones(1, 3, 5), ones(2, 3, 3), stride=0)),
    (RuntimeError, "expected scalar type Float but found Double",
     lambda: F.conv1d(ones(1, 3, 5), ones(2, 3, 3).double())),
    (RuntimeError, "Invalid padding string: 'foo'", lambda: F.conv1d(ones(1, 3, 5), ones(2, 3, 3), padding="foo")),
    (RuntimeError, "output padding must be smaller than either stride or dilation",
     lambda: F.conv_transpose2d(ones(1, 3, 5, 5), ones(3, 2, 3, 3), output_padding=1)),
    (TypeError, "must be Tensor, not int", lambda: F.conv2d(3, ones(2, 3, 3, 3))),
    (RuntimeError, "calculated shape of the array of sliding blocks", lambda: F.unfold(ones(1, 3, 5, 5), 7)),
    (RuntimeError, r"4 \* 4 = 16, but got input.size\(2\)=15", lambda: F.fold(ones(1, 12, 15), (5, 5), 2)),
    (ValueError, "in_channels must be divisible by groups", lambda: nn.Conv2d(3, 4, 3, groups=2)),
    (ValueError, "padding_mode must be one of", lambda: nn.Conv2d(3, 4, 3, padding_mode="foo")),
    (ValueError, "valid sizes range from",
     lambda: nn.ConvTranspose2d(4, 3, 3, 2)(ones(1, 4, 5, 5), output_size=(20, 20))),
])
def test_errors(error, text, call):
    with pytest.raises(error, match=text):
        call()


def test_fold_undoes_unfold_up_to_the_overlap():
    x = torch.tensor(numbers(2, 3, 6, 5))
    columns = F.unfold(x, (3, 2), padding=1, stride=2)
    overlap = F.fold(F.unfold(torch.ones_like(x), (3, 2), padding=1, stride=2), (6, 5), (3, 2), padding=1, stride=2)
    np.testing.assert_allclose(F.fold(columns, (6, 5), (3, 2), padding=1, stride=2).numpy(), (x * overlap).numpy())


def test_layers():
    assert repr(nn.Conv2d(3, 4, 3, 2, 1, bias=False, padding_mode="reflect")) == \
        "Conv2d(3, 4, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), bias=False, padding_mode=reflect)"
    assert nn.Conv2d(3, 4, 3, padding="same", padding_mode="circular")(torch.ones(1, 3, 5, 5)).shape == (1, 4, 5, 5)
    assert nn.ConvTranspose2d(4, 3, 3, 2)(torch.ones(1, 4, 5, 5), output_size=(12, 12)).shape == (1, 3, 12, 12)
    lazy = nn.LazyConv1d(4, 3)
    assert lazy(torch.ones(2, 5, 9)).shape == (2, 4, 7) and type(lazy) is nn.Conv1d
