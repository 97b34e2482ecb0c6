"""Recurrent layers and cells, packed sequences: behaviour, errors, the fused kernels against their twins."""
import copy
import pickle

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.nn.utils.rnn import (
    PackedSequence,
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)
from tinytorch.ops.nn import rnn as ops

KINDS = ("RNN", "LSTM", "GRU")


def states(hx):
    return hx if isinstance(hx, tuple) else (hx,)


def wanted(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("features", (3, 8))        # narrower and wider than the hidden state
@pytest.mark.parametrize("reverse", (False, True))
@pytest.mark.parametrize("sizes", (None, (4, 3, 3, 1)))
def test_fused_layer_agrees_with_its_decomposition(kind, features, reverse, sizes):
    torch.manual_seed(0)
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
    x = wanted(11, features) if sizes else wanted(3, 4, features)
    h, c = wanted(1, 4, 5), wanted(1, 4, 5)
    weights = [wanted(gates * 5, features), wanted(gates * 5, 5), wanted(gates * 5), wanted(gates * 5)]
    if kind == "LSTM":
        function, tensors = ops._lstm, [x, h, c, *weights, None]
        first = (sizes, False, reverse)
    elif kind == "GRU":
        function, tensors, first = ops._gru, [x, h, *weights], (sizes, False, reverse)
    else:
        function, tensors, first = ops._rnn, [x, h, *weights], ("tanh", sizes, False, reverse)
    leaves = [t for t in tensors if t is not None]
    fused, twin = function(*first, *tensors), function.op.decomposition(*first, *tensors)
    grads = [torch.randn_like(t) for t in fused]
    for a, b in zip(fused, twin):
        assert np.allclose(a.detach().numpy(), b.detach().numpy(), rtol=0, atol=1e-14)
    for a, b in zip(torch.autograd.grad(fused, leaves, grads), torch.autograd.grad(twin, leaves, grads)):
        assert np.allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_layer_equals_a_loop_over_its_cell(kind):
    torch.manual_seed(1)
    layer, cell = getattr(nn, kind)(3, 5), getattr(nn, kind + "Cell")(3, 5)
    cell.load_state_dict({k.replace("_l0", ""): v for k, v in layer.state_dict().items()})
    x = torch.randn(6, 2, 3)
    output, final = layer(x)
    hx, seen = None, []
    for step in x:
        hx = cell(step, hx)
        seen.append(states(hx)[0])
    assert torch.stack(seen).sub(output).abs().max() < 1e-6
    for a, b in zip(states(final), states(hx)):
        assert (a[0] - b).abs().max() < 1e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bidirectional", (False, True))
def test_packed_batch_equals_its_sequences_alone(kind, bidirectional):
    torch.manual_seed(2)
    net = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=bidirectional)
    sequences = [torch.randn(n, 3) for n in (2, 5, 3)]
    output, final = net(pack_sequence(sequences, enforce_sorted=False))
    for k, (x, out) in enumerate(zip(sequences, unpack_sequence(output))):
        alone, state = net(x)
        assert (alone - out).abs().max() < 1e-6
        for a, b in zip(states(state), states(final)):
            assert (a - b[:, k]).abs().max() < 1e-6


def test_no_grad_gives_the_same():
    for kind in KINDS:
        net, x = getattr(nn, kind)(3, 4, 2, bidirectional=True, batch_first=True), torch.randn(2, 5, 3)
        recorded = net(x)[0]
        with torch.no_grad():
            assert torch.equal(net(x)[0], recorded) and not net(x)[0].requires_grad


def test_writing_to_the_outputs_does_not_spoil_backward():
    for kind in KINDS:
        net, x = getattr(nn, kind)(3, 4), torch.randn(5, 2, 3)
        output, final = net(x)
        output.sum().backward(retain_graph=True)
        before = net.weight_ih_l0.grad.clone()
        net.zero_grad()
        with torch.no_grad():
            states(final)[0].zero_()
            output.zero_()
        output.sum().backward()
        assert torch.equal(net.weight_ih_l0.grad, before)


def test_frozen_weights_and_input_gradient():
    net = nn.LSTM(3, 4)
    net.weight_hh_l0.requires_grad_(False)
    x = torch.randn(5, 2, 3, requires_grad=True)
    net(x)[0].sum().backward()
    assert net.weight_hh_l0.grad is None and net.weight_ih_l0.grad is not None and x.grad.shape == (5, 2, 3)


def test_parameters_and_state():
    net = nn.LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2)
    assert [(k, tuple(v.shape)) for k, v in net.state_dict().items()][:6] == [
        ("weight_ih_l0", (16, 3)), ("weight_hh_l0", (16, 2)), ("bias_ih_l0", (16,)), ("bias_hh_l0", (16,)),
        ("weight_hr_l0", (2, 4)), ("weight_ih_l0_reverse", (16, 3))]
    assert net.weight_ih_l1.shape == (16, 4) and len(net.all_weights) == 4 and len(net.all_weights[0]) == 5
    assert net.weight_ih_l0.abs().max().item() <= 0.5
    assert net._flat_weights[0] is net.weight_ih_l0
    net.flatten_parameters()
    x = torch.randn(2, 1, 3)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert torch.equal(other(x)[0], net(x)[0])
    net.weight_hh_l0 = nn.Parameter(torch.zeros(16, 2))
    assert net._flat_weights[1] is net.weight_hh_l0


def test_repr():
    assert repr(nn.LSTM(3, 4, 2, bias=False, batch_first=True, dropout=0.5, bidirectional=True, proj_size=2)) == (
        "LSTM(3, 4, proj_size=2, num_layers=2, bias=False, batch_first=True, dropout=0.5, bidirectional=True)")
    assert repr(nn.RNNCell(3, 4, bias=False, nonlinearity="relu")) == "RNNCell(3, 4, bias=False, nonlinearity=relu)"


def test_dropout_between_layers_only_in_training():
    with pytest.warns(UserWarning, match="expects num_layers greater than 1"):
        nn.GRU(3, 4, dropout=0.5)
    net, x = nn.GRU(3, 64, 2, dropout=0.5), torch.randn(4, 2, 3)
    assert not torch.equal(net(x)[0], net(x)[0])
    net.eval()
    assert torch.equal(net(x)[0], net(x)[0])


@pytest.mark.parametrize("make, error, message", [
    (lambda: nn.GRU(2, 3, proj_size=2), ValueError, "only supported for LSTM"),
    (lambda: nn.LSTM(2, 3, proj_size=3), ValueError, "smaller than hidden_size"),
    (lambda: nn.RNN(2, 3, 1, "foo"), ValueError, "Unknown nonlinearity 'foo'"),
    (lambda: nn.RNN(0, 3), ValueError, "input_size must be greater than zero"),
    (lambda: nn.RNN(2, 3, bias=1), TypeError, "bias should be of type bool, got: int"),
    (lambda: nn.RNN(2, 3, dropout=2), ValueError, "dropout should be a number in range"),
    (lambda: nn.RNN(2, 3)(torch.ones(2)), ValueError, "RNN: Expected input to be 2D or 3D, got 1D tensor instead"),
    (lambda: nn.LSTM(2, 3)(torch.ones(2)), ValueError, "LSTM: Expected input to be 2D or 3D, got 1D instead"),
    (lambda: nn.GRU(2, 3)(torch.ones(2, 1, 4)), RuntimeError, "Expected 2, got 4"),
    (lambda: nn.GRU(2, 3)(torch.ones(0, 1, 2)), RuntimeError, "sequence length to be larger than 0"),
    (lambda: nn.GRU(2, 3)(torch.ones(2, 1, 2), torch.ones(1, 2, 3)),
     RuntimeError, r"Expected hidden size \(1, 1, 3\), got \[1, 2, 3\]"),
    (lambda: nn.GRU(2, 3)(torch.ones(2, 2), torch.ones(1, 1, 3)),
     RuntimeError, "unbatched 2-D input, hx should also be 2-D"),
    (lambda: nn.GRU(2, 3)(torch.ones(2, 1, 2).double()), ValueError, "does not match weight dtype"),
    (lambda: nn.GRUCell(2, 3)(torch.ones(1, 4)), RuntimeError, "inconsistent input_size: got 4 expected 2"),
    (lambda: nn.RNNCell(2, 3)(torch.ones(2, 2), torch.ones(1, 3)), RuntimeError, "doesn't match hidden0 batch size 1"),
    (lambda: nn.LSTMCell(2, 3)(torch.ones(1, 1, 2)), ValueError, "LSTMCell: Expected input to be 1D or 2D, got 3D"),
    (lambda: torch.gru(torch.ones(2, 1, 2)), TypeError, "invalid combination of arguments"),
    (lambda: nn.GRU(2, 3, dtype=torch.complex64)(torch.ones(2, 1, 2, dtype=torch.complex64)),
     NotImplementedError, "complex64"),
    (lambda: pack_padded_sequence(torch.ones(4, 3), [1, 2, 3]), RuntimeError, "must be sorted in decreasing order"),
    (lambda: pack_padded_sequence(torch.ones(4, 3), [3, 2, 0]), RuntimeError, "has to be greater than 0"),
    (lambda: pack_padded_sequence(torch.ones(4, 3), [3, 2]), RuntimeError, "equal to batch_size, but got 2"),
    (lambda: pack_padded_sequence(torch.ones(4, 3), [5, 2, 1]), RuntimeError, "at most 4"),
    (lambda: pad_packed_sequence(pack_sequence([torch.ones(3)]), total_length=2), ValueError, "total_length=2"),
    (lambda: pad_sequence([]), RuntimeError, "empty list"),
    (lambda: pad_sequence(3), RuntimeError, "Expected iterable"),
    (lambda: pad_sequence([torch.ones(2)], padding_side="up"), RuntimeError, "left or right, but got up"),
])
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_packing_round_trip_and_gradient():
    x = torch.randn(3, 4, 2, requires_grad=True)
    packed = pack_padded_sequence(x, [1, 4, 2], batch_first=True, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1] and packed.sorted_indices.tolist() == [1, 2, 0]
    padded, lengths = pad_packed_sequence(packed, batch_first=True, padding_value=-1.0)
    assert lengths.tolist() == [1, 4, 2] and padded[0, 1, 0].item() == -1.0
    padded.sum().backward()
    assert x.grad[:, :, 0].tolist() == [[1, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0, 0]]
    assert packed.to(torch.float32) is packed and packed.double().data.dtype == torch.float64
    assert invert_permutation(None) is None
    assert isinstance(PackedSequence((torch.ones(3), torch.tensor([2, 1]))), PackedSequence)


def test_pad_and_unpad():
    a, b = torch.tensor([1., 2.], requires_grad=True), torch.tensor([3.])
    assert pad_sequence([a, b], padding_value=9).tolist() == [[1, 3], [2, 9]]
    left = pad_sequence([a, b], batch_first=True, padding_side="left")
    assert left.tolist() == [[1, 2], [0, 3]]
    left.sum().backward()
    assert a.grad.tolist() == [1, 1]
    assert [t.tolist() for t in unpad_sequence(pad_sequence([a, b]), torch.tensor([2, 1]))] == [[1, 2], [3]]


@pytest.mark.parametrize("sizes", ([5] * 4000, [5] * 40, [0, 10], [2, 8], [5, 50], [5, -3, 8], [10, -1], [5, 0, 5],
                                   [10 ** 9], [-5, 15]), ids=lambda sizes: str(sizes[:3]))
def test_batch_sizes_that_do_not_fit(sizes):
    packed = PackedSequence(torch.randn(10, 64), torch.tensor(sizes))
    for kind in KINDS:
        for options in ({}, {"bidirectional": True}, {"dtype": torch.float64}):
            layer = getattr(nn, kind)(64, 32, **options)
            with pytest.raises(RuntimeError):
                layer(PackedSequence(packed.data.to(options.get("dtype")), packed.batch_sizes))
    with pytest.raises(RuntimeError):
        pad_packed_sequence(packed)
