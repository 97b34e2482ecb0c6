"""torch.utils.checkpoint."""
import gc
import weakref

import pytest

import tinytorch as torch
from tinytorch.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential


@pytest.fixture
def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))


@pytest.mark.parametrize("reentrant", [False, True])
def test_same_gradients_as_without(model, reentrant):
    x = torch.rand(5, 4, requires_grad=True)
    grads = []
    for run in (model, lambda t: checkpoint(model, t, use_reentrant=reentrant),
                lambda t: checkpoint_sequential(model, 2, t, use_reentrant=reentrant)):
        torch.manual_seed(1)
        model.zero_grad()
        x.grad = None
        run(x).square().sum().backward()
        grads.append([x.grad.tolist(), [p.grad.tolist() for p in model.parameters()], torch.rand(1).item()])
    assert grads[0] == grads[1] == grads[2]


def test_activations_are_not_kept():
    kept = []

    def piece(t):
        y = t.exp()
        kept.append(weakref.ref(y._array))
        return y.tanh().sum()
    gc.disable()
    try:
        x = torch.ones(3, requires_grad=True)
        y = checkpoint(piece, x, use_reentrant=False)
        assert kept[0]() is None
        y.backward()
        del y
        assert kept[1]() is None
    finally:
        gc.enable()


def test_a_function_that_changes_its_mind():
    calls = []

    def piece(t):
        calls.append(1)
        return t.exp() if len(calls) == 1 else t[:1].exp()
    with pytest.raises(CheckpointError, match="different metadata"):
        checkpoint(piece, torch.ones(2, requires_grad=True), use_reentrant=False).sum().backward()
    calls.clear()
    x = torch.ones(2, requires_grad=True)
    y = checkpoint(lambda t: t * 2 if calls else (t * t).exp(), x, use_reentrant=False)
    calls.append(1)
    with pytest.raises(CheckpointError, match="different number of tensors"):
        y.sum().backward()


def test_contexts_and_nesting():
    log = []

    class Note:
        def __init__(self, word):
            self.word = word

        def __enter__(self):
            log.append(self.word)

        def __exit__(self, *exc_info):
            pass
    x = torch.ones(2, requires_grad=True)
    y = checkpoint(lambda t: checkpoint(torch.exp, t.sin(), use_reentrant=False), x, use_reentrant=False,
                   context_fn=lambda: (Note("first"), Note("second")))
    y.sum().backward()
    assert log == ["first", "second"]
    want = torch.ones(2, requires_grad=True)
    want.sin().exp().sum().backward()
    assert torch.equal(x.grad, want.grad)
