"""Losses: their values by hand, one node for cross entropy, what they refuse."""
import itertools
import math

import numpy as np
import pytest

import tinytorch as torch
import tinytorch.nn.functional as F


def test_cross_entropy_by_hand():
    x = torch.tensor([[1.0, 2.0, 0.5], [0.1, -1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    target = torch.tensor([1, 0])
    loss = F.cross_entropy(x, target)
    p = np.exp(x.detach().numpy())
    p /= p.sum(1, keepdims=True)
    assert loss.item() == pytest.approx(-np.log(p[[0, 1], [1, 0]]).mean())
    loss.backward()
    p[[0, 1], [1, 0]] -= 1
    np.testing.assert_allclose(x.grad.numpy(), p / 2, 1e-12)


def test_cross_entropy_is_one_node():
    x = torch.zeros(2, 3, requires_grad=True)
    node = F.cross_entropy(x, torch.tensor([0, 1])).grad_fn
    assert node.edges[0] is x and not any(node.edges[1:])
    (step, _), = node.next_functions           # torch has two nodes, and so it is shown
    assert step.name() == "LogSoftmaxBackward0" and step.next_functions[0][0].variable is x


def test_cross_entropy_twin_gives_the_same_gradient():
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    for options in ({}, {"weight": torch.rand(3).double()}, {"ignore_index": 1}, {"reduction": "sum"}):
        target = torch.tensor([0, 1, 2, 1])
        plain, = torch.autograd.grad(F.cross_entropy(x, target, **options), x)
        twin, = torch.autograd.grad(F.cross_entropy(x, target, **options), x, create_graph=True)
        np.testing.assert_allclose(plain.numpy(), twin.detach().numpy(), 1e-12, 1e-14)


def test_cross_entropy_survives_large_scores_and_a_second_backward():
    x = torch.tensor([[1e4, -1e4]], requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([1]))
    assert loss.item() == 2e4
    loss.backward(retain_graph=True)
    loss.backward()
    assert x.grad.tolist() == [[2.0, -2.0]]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


def test_everything_ignored_is_nan_in_the_mean_and_zero_in_the_sum():
    x, target = torch.zeros(2, 3), torch.tensor([-100, -100])
    assert math.isnan(F.cross_entropy(x, target).item())
    assert F.cross_entropy(x, target, reduction="sum").item() == 0
    assert F.cross_entropy(x, target, reduction="none").tolist() == [0, 0]


def test_class_out_of_range():
    with pytest.raises(IndexError, match="Target 10 is out of bounds."):
        F.cross_entropy(torch.zeros(1, 10), torch.tensor([10]))
    with pytest.raises(IndexError, match="Target -1 is out of bounds."):
        F.nll_loss(torch.zeros(1, 10), torch.tensor([-1]))


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"Expected input batch_size \(3\) to match target batch_size \(2\)."):
        F.cross_entropy(torch.zeros(3, 4), torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="Target size .* must be the same as input size"):
        F.binary_cross_entropy_with_logits(torch.zeros(3), torch.zeros(2))
    with pytest.warns(UserWarning, match="Using a target size"):
        F.mse_loss(torch.zeros(3, 1), torch.zeros(3))


def test_binary_cross_entropy_clamps_its_logarithms():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    loss = F.binary_cross_entropy(x, torch.tensor([1.0, 0.0]), reduction="none")
    assert loss.tolist() == [100, 100]
    loss.sum().backward()
    assert x.grad.isfinite().all()


def test_logits_do_not_overflow():
    x = torch.tensor([1000.0, -1000.0], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, torch.tensor([0.0, 1.0]), reduction="sum")
    loss.backward()
    assert loss.item() == 2000 and x.grad.tolist() == [1, -1]


def test_mse_gradients_of_both_sides():
    a, b = torch.ones(2, 2, requires_grad=True), torch.zeros(2, 2, requires_grad=True)
    F.mse_loss(a, b).backward()
    assert a.grad.tolist() == [[0.5, 0.5]] * 2 and b.grad.tolist() == [[-0.5, -0.5]] * 2
    assert F.mse_loss(torch.ones(3), torch.zeros(3), reduction="none").shape == (3,)


def test_deprecated_words():
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        assert F.mse_loss(torch.ones(3), torch.zeros(3), size_average=False).item() == 3
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert torch.nn.MSELoss(reduce=False).reduction == "none"


def test_modules_keep_weights_as_buffers():
    loss = torch.nn.CrossEntropyLoss(weight=torch.ones(2), label_smoothing=0.1)
    assert list(loss.state_dict()) == ["weight"] and not list(loss.parameters())
    assert list(torch.nn.BCEWithLogitsLoss(pos_weight=torch.ones(2)).state_dict()) == ["pos_weight"]
    assert repr(loss) == "CrossEntropyLoss()"


def test_ctc_is_the_sum_over_alignments():
    """Of examples of several lengths, one that cannot be aligned; the gradient is that of log_softmax's output."""
    torch.manual_seed(0)
    steps, classes = 4, 3
    log_p = torch.randn(steps, 4, classes, dtype=torch.float64).log_softmax(2).requires_grad_()
    labels = torch.tensor([[1, 2], [1, 1], [2, 0], [1, 1]])
    frames, lengths = torch.tensor([4, 4, 3, 2]), torch.tensor([2, 2, 1, 2])
    found = torch.nn.functional.ctc_loss(log_p, labels, frames, lengths, reduction="none", zero_infinity=False)
    values, weights = log_p.detach(), torch.tensor([1.0, 2.0, 3.0, 0.0], dtype=torch.float64)
    for i in range(4):
        total, shares = 0.0, torch.zeros(steps, classes, dtype=torch.float64)
        for path in itertools.product(range(classes), repeat=int(frames[i])):
            merged = [c for c, before in zip(path, (0, *path)) if c and c != before]
            if merged == labels[i, :int(lengths[i])].tolist():
                p = math.exp(sum([float(values[t, i, c]) for t, c in enumerate(path)]))
                total += p
                for t, c in enumerate(path):
                    shares[t, c] += p
        if not total:
            assert found[i] == math.inf
            continue
        assert abs(float(found[i].detach()) + math.log(total)) < 1e-12
        slope, = torch.autograd.grad(found[i], log_p, weights[i], retain_graph=True)
        expected = weights[i] * (values[:, i].exp() - shares / total)
        expected[int(frames[i]):] = 0
        torch.testing.assert_close(slope[:, i], expected, rtol=0, atol=1e-12)


def test_ctc_of_impossible_and_missing_scores():
    """In float32 as in float64: scores of -inf, which every path or some paths need, and NaN."""
    torch.manual_seed(0)
    whole = torch.randn(12, 5, 4).log_softmax(2)
    whole[3, 1, 0], whole[:, 2, 2], whole[5, 3], whole[4, 4, 1] = -math.inf, -math.inf, -math.inf, math.nan
    labels, frames, lengths = torch.tensor([[1, 2, 3]] * 5), torch.full((5,), 12), torch.full((5,), 3)
    found = [torch.nn.functional.ctc_loss(x, labels, frames, lengths, reduction="none")
             for x in (whole, whole.double())]
    assert found[0].isfinite().tolist() == [True, True, False, False, False] and found[0][4].isnan()
    torch.testing.assert_close(found[0].double(), found[1], rtol=1e-6, atol=1e-6, equal_nan=True)
