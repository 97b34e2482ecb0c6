"""Recurrent layers: RNN LSTM GRU, and their cells."""
from __future__ import annotations

import math
import numbers
from typing import Any

from ...autograd.torch_function import modes
from ...errors import type_name, warn
from ...ops.creation.factories import empty, zeros
from ...ops.nn import rnn as ops
from ...ops.nn.packing import sizes_of_steps
from ...ops.nn.rnn import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from ...overrides import has_torch_function_unary
from ...seam import seam
from ...tensor import Tensor
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Base of RNN, LSTM and GRU: parameters, checks and the forward pass. `mode` is "RNN_TANH", "RNN_RELU", "LSTM" or
    "GRU"; the other arguments are those of these classes.

    >>> import tinytorch as torch
    >>> [name for name, _ in torch.nn.RNNBase("GRU", 2, 3).named_parameters()]
    ['weight_ih_l0', 'weight_hh_l0', 'bias_ih_l0', 'bias_hh_l0']
    """

    __constants__ = ["mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
                     "bidirectional", "proj_size"]
    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_settings(dropout)
        self._all_weights = self._weight_names()
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        rows, width = _GATES[mode] * hidden_size, proj_size or hidden_size
        inner = width * (2 if bidirectional else 1)
        for name in self._flat_weights_names:
            kind, of = name.split("_")[:2]
            shape: tuple[int, ...]
            if kind == "bias":
                shape = (rows,)
            elif of == "hr":
                shape = (proj_size, hidden_size)
            elif of == "hh":
                shape = (rows, width)
            else:
                shape = (rows, input_size if name.split("_")[2] == "l0" else inner)
            setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def _check_settings(self, dropout):
        if not isinstance(dropout, numbers.Number) or not 0 <= self.dropout <= 1 or isinstance(dropout, bool):
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element "
                             "being zeroed")
        if self.dropout > 0 and self.num_layers == 1:
            warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                 f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}")
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            value: Any = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
            if kind is int and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    def _weight_names(self):
        """Names of the parameters, a list for each layer and direction."""
        kinds = ["weight_ih", "weight_hh"]
        kinds += ["bias_ih", "bias_hh"] if self.bias else []
        kinds += ["weight_hr"] if self.proj_size else []
        return [[f"{kind}_l{layer}{suffix}" for kind in kinds] for layer in range(self.num_layers)
                for suffix in (("", "_reverse") if self.bidirectional else ("",))]

    @property
    def _flat_weights(self):
        registered = self._parameters
        return [registered[name] if name in registered else getattr(self, name, None)
                for name in self._flat_weights_names]

    @property
    def all_weights(self):
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Does nothing. In torch it speeds up GPUs."""

    def reset_parameters(self):
        """Draw the parameters from the uniform distribution over +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # -------------------------------------------------------------- checks
    def check_input(self, input, batch_sizes):
        weight = self._flat_weights[0]
        if input._array.dtype != weight._array.dtype:
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                             f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})")
        expected = 2 if batch_sizes is not None else 3
        if input.ndim != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.ndim}")
        if self.input_size != input._array.shape[-1]:
            raise RuntimeError("input.size(-1) must be equal to input_size. "
                               f"Expected {self.input_size}, got {input.size(-1)}")

    def get_expected_hidden_size(self, input, batch_sizes):
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0 if self.batch_first else 1)
        return self.num_layers * (2 if self.bidirectional else 1), batch, self.proj_size or self.hidden_size

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        if hx._array.shape != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        if hidden is not None:
            self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        return hx if permutation is None else hx.index_select(1, permutation)

    # -------------------------------------------------------------- forward
    def forward(self, input, hx=None):
        """Returns (outputs, final states): see the class."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        ndim = input.ndim
        if ndim not in (2, 3):
            raise ValueError(f"{self._label}: Expected input to be 2D or 3D, got {ndim}D{self._tensor} instead")
        if hx is not None:
            hx = self._with_batch(hx, ndim)
        batch_dim = 0 if self.batch_first else 1
        if ndim == 2:
            input = input.unsqueeze(batch_dim)
        self.check_forward_args(input, hx, None)
        output, *states = self._run(input, None, hx)
        if ndim == 2:
            output, states = output.squeeze(batch_dim), [s.squeeze(1) for s in states]
        return output, self._hidden(states)

    def _forward_packed(self, input, hx):
        data, batch_sizes, sorted_indices, unsorted_indices = input
        if hx is not None:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, *states = self._run(data, sizes_of_steps(batch_sizes), hx)
        output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return output, self.permute_hidden(self._hidden(states), unsorted_indices)

    def _run(self, input, sizes, hx):
        states = (hx,) if hx is None or isinstance(hx, Tensor) else tuple(hx)
        if seam.up and sizes is None and (modes() or has_torch_function_unary(input)):
            return self._seen(input, hx)
        return ops.run_layers(ops.LAYERS[self.mode], input, sizes, states, self._flat_weights, self.bias,
                              self.num_layers, self.dropout, self.training, self.bidirectional, self.batch_first)

    def _seen(self, input, hx):
        """Run the layers by the public function that torch's module calls, so that overriding inputs and modes see
        its call."""
        if hx is None or type(hx) is tuple and hx[0] is None:
            hx = zeros(*self.get_expected_hidden_size(input, None), dtype=input.dtype)
            if self.mode == "LSTM":
                hx = hx, zeros(*self.get_expected_cell_size(input, None), dtype=input.dtype)
        function = getattr(ops, self.mode.lower())
        return function(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                        self.bidirectional, self.batch_first)

    _label, _tensor = "RNN", ""                # words for the class and its input in error messages

    def _with_batch(self, hx, ndim):
        """`hx` with a batch dimension, for an input of `ndim` dimensions. RuntimeError if it does not fit."""
        if hx.ndim != ndim:
            kind = "batched 3-D" if ndim == 3 else "unbatched 2-D"
            raise RuntimeError(f"For {kind} input, hx should also be {ndim}-D but got {hx.ndim}-D tensor")
        return hx if ndim == 3 else hx.unsqueeze(1)

    def _hidden(self, states):
        """The final states in the form that `forward` returns."""
        return states[0]

    def extra_repr(self):
        s = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            s += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            s += f", num_layers={self.num_layers}"
        if self.bias is not True:
            s += f", bias={self.bias}"
        if self.batch_first is not False:
            s += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            s += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            s += f", bidirectional={self.bidirectional}"
        return s

    def __getstate__(self):
        return {**super().__getstate__(), "_flat_weights": self._flat_weights}     # torch pickles it

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.pop("_flat_weights", None)
        self.__dict__.setdefault("proj_size", 0)
        self._all_weights = self._weight_names()
        self._flat_weights_names = [name for names in self._all_weights for name in names]


class RNN(RNNBase):
    """Plain (Elman) recurrent layers: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.

    RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False,
    dropout=0.0, bidirectional=False). Input (steps, batch, input_size), (batch, steps, input_size) if
    `batch_first`, (steps, input_size), or a PackedSequence; `hx` (layers * directions, batch, hidden)
    is zeros by default. Returns (outputs (steps, batch, directions * hidden), final states in the shape of hx).
    `dropout` acts between layers. ValueError and RuntimeError for shapes and dtypes that do not fit.

    >>> import tinytorch as torch
    >>> output, h = torch.nn.RNN(10, 20, 2)(torch.ones(5, 3, 10))
    >>> output.shape, h.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]))
    """

    _tensor = " tensor"

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__("RNN_" + nonlinearity.upper(), *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory layers.

    i, f, g, o = W_ih x + b_ih + W_hh h + b_hh; c' = sigmoid(f) c + sigmoid(i) tanh(g); h' = sigmoid(o) tanh(c').
    LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False, proj_size=0). The arguments are those of RNN, but `hx` and the final states are pairs
    (h, c). With `proj_size` > 0, h' is projected to `proj_size` features.

    >>> import tinytorch as torch
    >>> output, (h, c) = torch.nn.LSTM(10, 20, proj_size=5)(torch.ones(7, 3, 10))
    >>> output.shape, h.shape, c.shape
    (torch.Size([7, 3, 5]), torch.Size([1, 3, 5]), torch.Size([1, 3, 20]))
    """

    _label = "LSTM"

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        return self.get_expected_hidden_size(input, batch_sizes)[:2] + (self.hidden_size,)

    def check_forward_args(self, input, hidden, batch_sizes):
        weight = self._flat_weights[0]
        if batch_sizes is not None and input._array.dtype != weight._array.dtype:
            # In torch the matrix product raises this error.
            raise RuntimeError("mat1 and mat2 must have the same dtype, but got "
                               f"{type_name(input)} and {type_name(weight)}")
        self.check_input(input, batch_sizes)
        if hidden is not None:
            self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes),
                                   "Expected hidden[0] size {}, got {}")
            self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes),
                                   "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx, permutation):
        return hx if permutation is None else (hx[0].index_select(1, permutation), hx[1].index_select(1, permutation))

    def _run(self, input, sizes, hx):
        return super()._run(input, sizes, (None, None) if hx is None else hx)

    def _with_batch(self, hx, ndim):
        if hx[0].ndim != ndim or hx[1].ndim != ndim:
            kind = "batched 3-D" if ndim == 3 else "unbatched 2-D"
            raise RuntimeError(f"For {kind} input, hx and cx should also be {ndim}-D but got "
                               f"({hx[0].ndim}-D, {hx[1].ndim}-D) tensors")
        return hx if ndim == 3 else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def _hidden(self, states):
        return tuple(states)


class GRU(RNNBase):
    """Gated recurrent layers.

    r, z = sigmoid of the first two of W_ih x + b_ih + W_hh h + b_hh; n = tanh(W_in x + b_in + r (W_hn h + b_hn));
    h' = (1 - z) n + z h. GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
    dropout=0.0, bidirectional=False). The arguments are those of RNN.

    >>> import tinytorch as torch
    >>> output, h = torch.nn.GRU(10, 20, bidirectional=True)(torch.ones(5, 3, 10))
    >>> output.shape, h.shape
    (torch.Size([5, 3, 40]), torch.Size([2, 3, 20]))
    """

    _label = "GRU"

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """Base of the cells: parameters and checks. `num_chunks` is the number of gates.

    >>> import tinytorch as torch
    >>> torch.nn.RNNCellBase(2, 3, bias=False, num_chunks=4).weight_ih.shape
    torch.Size([12, 2])
    """

    __constants__ = ["input_size", "hidden_size", "bias"]
    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Tensor
    weight_hh: Tensor

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def extra_repr(self):
        s = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            s += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            s += f", nonlinearity={self.nonlinearity}"
        return s

    def reset_parameters(self):
        """Draw the parameters from the uniform distribution over +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _batched(self, input, states, names):
        """(input, states, whether they had a batch dimension), with a batch dimension. Missing states are zeros."""
        if input.ndim not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        for name, state in zip(names, states):
            if state is not None and state.ndim not in (1, 2):
                raise ValueError(f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {state.ndim}D instead")
        batched = input.ndim == 2
        if not batched:
            input = input.unsqueeze(0)
            states = [s if s is None else s.unsqueeze(0) for s in states]
        states = [zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device) if s is None else s
                  for s in states]
        return input, states, batched

    def _weights(self):
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class RNNCell(RNNCellBase):
    """One step h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.

    Input (batch, input_size) or (input_size); `hx` (batch, hidden_size) or (hidden_size), zeros by default.

    >>> import tinytorch as torch
    >>> torch.nn.RNNCell(10, 20)(torch.ones(3, 10)).shape
    torch.Size([3, 20])
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]
    nonlinearity: str

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        input, (hx,), batched = self._batched(input, (hx,), ("hidden",))
        if self.nonlinearity == "tanh":
            h = rnn_tanh_cell(input, hx, *self._weights())
        elif self.nonlinearity == "relu":
            h = rnn_relu_cell(input, hx, *self._weights())
        else:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return h if batched else h.squeeze(0)


class LSTMCell(RNNCellBase):
    """One LSTM step; `hx` and the result are pairs (h, c).

    >>> import tinytorch as torch
    >>> h, c = torch.nn.LSTMCell(10, 20)(torch.ones(3, 10))
    >>> h.shape, c.shape
    (torch.Size([3, 20]), torch.Size([3, 20]))
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        if hx is not None and not isinstance(hx, (tuple, list)):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not "
                            f"{type(hx).__name__}")
        input, hx, batched = self._batched(input, (None, None) if hx is None else hx, ("hx[0]", "hx[1]"))
        h, c = lstm_cell(input, tuple(hx), *self._weights())
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One GRU step.

    >>> import tinytorch as torch
    >>> torch.nn.GRUCell(10, 20)(torch.ones(3, 10)).shape
    torch.Size([3, 20])
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        input, (hx,), batched = self._batched(input, (hx,), ("hidden",))
        h = gru_cell(input, hx, *self._weights())
        return h if batched else h.squeeze(0)
