"""Recurrent layers of batches: the sequences of all samples side by side if the weights are the same, and step by step
otherwise."""
from ...autograd.engine import run_backward
from ...autograd.grad_mode import enable_grad, no_grad
from ...kernels.rnn.elman import FORWARD, rnn_backward
from ...kernels.rnn.gru import gru_backward, gru_forward
from ...kernels.rnn.lstm import lstm_backward, lstm_forward
from ...ops.nn import rnn
from ...tensor import wrap
from ..batched import Batched, level_of
from ..dispatch import backward_rule, forward_rule
from .functions import apart, batch, side_by_side, size_of
from .refusals import check_layer


class _Together:
    """The values that backward needs, for the sequences of all samples as one batch."""

    __slots__ = ("order", "saved", "size")

    def __init__(self, order, saved, size):
        self.order, self.saved, self.size = order, saved, size


def _layer(call, kernel, backward, states, of_kernel, name):
    """Registers the rules of one kind of layer. `states`: the number of its states; `kernel` and `backward`: its
    functions; `of_kernel`: the places of the weights that `backward` takes.

    The forward rule puts the samples of a batch side by side as one larger batch, and runs the kernel once. It computes
    in ordinary operations instead if sequences have lengths, the weights are a batch, the batch is empty, the numbers
    have half precision, or there is a second batch inside. The rule of the gradients does what the forward did.
    """
    first, decomposition = call.op.first, call.op.decomposition

    @forward_rule(call)
    def forward_of(level, *args):
        settings, input, given, weights = args[:first], args[first], args[first + 1:first + 1 + states], args[
            first + 1 + states:]
        check_layer(name or f"rnn_{settings[0]}")
        sizes, batch_first, reverse = settings[-3:]
        size = size_of(level, args)
        *weights, keep = weights
        if sizes is not None or level_of(weights) or not size or input.itemsize == 2 or level_of(
                *[x.physical for x in (input, *given) if type(x) is Batched]):
            with no_grad():
                found = decomposition(*settings, *[x if x is None else wrap(x) for x in (input, *given, *weights)])
            return tuple([y._array for y in found]), None
        x = side_by_side(rnn._steps_first(input, None, batch_first), level, size, 1)
        order = rnn._order(None, x, reverse)
        flat = [side_by_side(s, level, size, 1) for s in given]
        out, *finals, saved = kernel(settings)(order, x, *flat, *weights, keep)
        out = apart(out.reshape(x.shape[:2] + out.shape[1:]), level, size, 1)
        return (rnn._steps_first(out, None, batch_first),
                *[apart(rnn._as_layer(h), level, size, 1) for h in finals]), _Together(order, saved, size)

    @backward_rule(call)
    def gradients(level, run, g, saved, edges):
        *args, _, aux = saved
        settings, tensors = args[:first], args[first:]
        wanted = [edge is not None for edge in edges]
        if type(aux) is not _Together or level_of(tensors[1 + states:]):
            return _of_steps(decomposition, settings, tensors, g, wanted)
        _, batch_first, _ = settings[-3:]
        order, size, count = aux.order, aux.size, len(aux.order)
        g_out = None if g[0] is None else side_by_side(rnn._steps_first(g[0], None, batch_first), level, size, 1)
        g_states = [side_by_side(h, level, size, 1) for h in g[1:]]
        shape = rnn._steps_first(tensors[0], None, batch_first).shape
        every, at = wanted[:1 + states], 1 + states
        every += [wanted[at], wanted[at + 1], wanted[at + 2] or wanted[at + 3]] + wanted[at + 4:]
        if name == "gru":
            every = wanted
        dx, *rest = backward(g_out, *g_states, every, order, aux.saved, *[tensors[i] for i in of_kernel],
                             samples=(size, count))
        d_states, d_weights = rest[:states], [d if d is None else batch(d, level) for d in rest[states:]]
        if name != "gru":                      # both biases have the same
            d_weights.insert(3, d_weights[2])
        if dx is not None:
            dx = apart(dx.reshape(count, size * shape[1], shape[2]), level, size, 1)
            dx = rnn._steps_first(dx, None, batch_first)
        return [dx, *[apart(rnn._as_layer(d), level, size, 1) for d in d_states], *d_weights]


def _of_steps(decomposition, settings, tensors, g, wanted):
    """The gradients of the same in ordinary operations."""
    operands = [x if x is None else wrap(x) for x in tensors]
    for x, is_wanted in zip(operands, wanted):
        if x is not None:
            x._requires_grad = is_wanted
    with enable_grad():
        pairs = [(y, wrap(d)) for y, d in zip(decomposition(*settings, *operands), g) if d is not None]
    leaves = [x for x in operands if x is not None and x._requires_grad]
    found = iter(run_backward([y for y, _ in pairs], [d for _, d in pairs], False, False, leaves, False))
    return [next(found)._array if x is not None and x._requires_grad else None for x in operands]


_layer(rnn._rnn, lambda settings: FORWARD[settings[0]], rnn_backward, 1, (2, 3), None)
_layer(rnn._lstm, lambda settings: lstm_forward, lstm_backward, 2, (3, 4, 7), "lstm")
_layer(rnn._gru, lambda settings: gru_forward, gru_backward, 1, (2, 3), "gru")
