"""Pooling: values by hand, ties and NaN, gradients, errors, layers."""
import numpy as np
import pytest

import tinytorch as torch
import tinytorch.nn.functional as F
from tinytorch import nn


def test_max_pool_ties_go_to_the_first():
    x = torch.zeros(1, 1, 4, 4, requires_grad=True)
    F.max_pool2d(x, 2).sum().backward()
    assert x.grad[0, 0].tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]


def test_max_pool_nan_wins_and_takes_the_gradient():
    x = torch.tensor([[1., float("nan"), 3., 4.]], requires_grad=True)
    y, places = F.max_pool1d(x, 2, return_indices=True)
    assert np.isnan(y[0, 0].item()) and places.tolist() == [[1, 3]]
    torch.max_pool1d(x, 2).sum().backward()
    assert x.grad.tolist() == [[0, 1, 0, 1]]


def test_an_infinite_gradient_stays_where_it_belongs():
    x = torch.tensor([[1., 2., 3., 4.]], requires_grad=True)
    F.max_pool1d(x, 2).backward(torch.tensor([[float("inf"), 1.]]))
    assert x.grad.tolist() == [[0, float("inf"), 0, 1]]


def test_overlapping_windows_add_up():
    x = torch.tensor([[1., 5., 2.]], requires_grad=True)
    F.max_pool1d(x, 2, 1).sum().backward()
    assert x.grad.tolist() == [[0, 2, 0]]


def test_dilated_windows_that_miss_elements():
    x = torch.arange(4.).view(1, 4).requires_grad_()
    y = F.max_pool1d(x, 2, 2, dilation=2, ceil_mode=True)
    assert y.tolist() == [[2, 2]]
    y.sum().backward()
    assert x.grad.tolist() == [[0, 0, 2, 0]]


@pytest.mark.parametrize("height, width", [(33, 35), (34, 33), (33, 34)])
def test_windows_of_large_images_that_reach_beyond_them(height, width):
    x = torch.arange(4. * height * width).view(2, 2, height, width).requires_grad_()
    y = F.max_pool2d(x, 2, ceil_mode=True)
    rows, columns = (np.minimum(np.arange(1, n + 1, 2), n - 1) for n in (height, width))
    expected = np.zeros(x.shape, np.float32)
    expected[:, :, rows[:, None], columns] = 1
    np.testing.assert_array_equal(y.detach().numpy(), x.detach().numpy()[:, :, rows[:, None], columns])
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_padding_never_wins_and_indices_are_of_the_input():
    y, places = F.max_pool2d(-torch.arange(1., 10.).view(1, 3, 3), 3, 2, 1, return_indices=True)
    assert y.tolist() == [[[-1, -2], [-4, -5]]] and places.tolist() == [[[0, 1], [3, 4]]]


def test_ceil_mode_and_what_counts():
    x = torch.ones(1, 5)
    assert F.avg_pool1d(x, 2, ceil_mode=True).tolist() == [[1, 1, 1]]
    assert F.avg_pool1d(x, 3, 2, 1).tolist()[0][0] == pytest.approx(2 / 3)
    assert F.avg_pool1d(x, 3, 2, 1, count_include_pad=False).tolist() == [[1, 1, 1]]
    assert F.avg_pool2d(torch.ones(1, 2, 2), 2, divisor_override=2).item() == 2
    assert F.max_pool1d(x, 2, ceil_mode=True).shape == (1, 3)


def test_adaptive_windows_of_uneven_length():
    x = torch.arange(5.).view(1, 5)
    assert F.adaptive_avg_pool1d(x, 2).tolist() == [[1, 3]]
    y, places = torch.adaptive_max_pool1d(x, 3)
    assert y.tolist() == [[1, 3, 4]] and places.tolist() == [[1, 3, 4]]
    assert F.adaptive_avg_pool2d(torch.ones(2, 4, 6), (None, 3)).shape == (2, 4, 3)


def test_large_inputs_are_done_in_parts():
    x = np.random.default_rng(0).normal(size=(64, 8, 32, 32)).astype("f")
    t = torch.tensor(x, requires_grad=True)
    y = F.max_pool2d(t, 2)
    np.testing.assert_array_equal(y.detach().numpy(), x.reshape(64, 8, 16, 2, 16, 2).max((3, 5)))
    y.sum().backward()
    assert t.grad.sum().item() == y.numel() and set(np.unique(t.grad.numpy())) == {0, 1}


@pytest.mark.parametrize("error,text,call", [
    (RuntimeError, r"Given input size: \(3x5x5\). Calculated output size: \(3x0x0\). Output size is too small",
     lambda: F.max_pool2d(torch.ones(1, 3, 5, 5), 7)),
    (RuntimeError, "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and dilation=1",
     lambda: F.max_pool2d(torch.ones(1, 3, 5, 5), 2, padding=2)),
    (RuntimeError, "stride should not be zero", lambda: F.avg_pool2d(torch.ones(1, 3, 5, 5), 2, stride=0)),
    (RuntimeError, r"max_pool1d\(\) Invalid computed output size: 0", lambda: F.max_pool1d(torch.ones(3, 5), 7)),
    (RuntimeError, "divisor must be not zero", lambda: F.avg_pool2d(torch.ones(1, 3, 5, 5), 2, divisor_override=0)),
    (RuntimeError, "max_pool2d: kernel_size must either be a single int, or a tuple of two ints",
     lambda: F.max_pool2d(torch.ones(1, 3, 5, 5), (2, 2, 2))),
    (NotImplementedError, "\"max_pool2d\" not implemented for 'Bool'",
     lambda: F.max_pool2d(torch.ones(1, 5, 5) > 0, 2)),
    (RuntimeError, "Expected 2 to 3 dimensions, but got 1-dimensional",
     lambda: F.adaptive_avg_pool1d(torch.ones(5), 2)),
    (RuntimeError, "Found an invalid max index: 50",
     lambda: F.max_unpool2d(torch.ones(1, 2, 2), torch.full((1, 2, 2), 50), 2)),
])
def test_errors(error, text, call):
    with pytest.raises(error, match=text):
        call()


def test_layers():
    assert repr(nn.MaxPool2d((2, 3), 2)) == \
        "MaxPool2d(kernel_size=(2, 3), stride=2, padding=0, dilation=1, ceil_mode=False)"
    assert repr(nn.AvgPool1d(2)) == "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))"
    x = torch.arange(16.).view(1, 1, 4, 4)
    y, places = nn.MaxPool2d(2, return_indices=True)(x)
    assert nn.MaxUnpool2d(2)(y, places).sum().item() == y.sum().item()
    assert nn.LPPool2d(2, 2)(torch.ones(1, 2, 2)).item() == 2
    assert nn.AdaptiveMaxPool2d(1)(x).item() == 15


@pytest.mark.parametrize("width", [2, 4, 14, 16, 26, 34, 66, 130])
@pytest.mark.parametrize("height", [2, 3, 4, 26, 90])
def test_maxima_of_two_by_two(height, width):
    """Images whose windows fill the width are pooled in bands of rows: at every place, with and without NaN."""
    x = np.random.RandomState(height * width).randn(3, height, width).astype(np.float32)
    spoilt = x.copy()
    spoilt[[0, 2, 2], [0, height - 2, 1], [1, width - 1, 0]] = np.nan
    for images in (x, spoilt):
        windows = images[:, :height // 2 * 2].reshape(3, height // 2, 2, width // 2, 2)
        found = F.max_pool2d(torch.tensor(images[None]), 2)[0].numpy()
        assert np.array_equal(found, windows.max((2, 4)), equal_nan=True)
