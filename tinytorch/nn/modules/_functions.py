"""Functions with a backward of their own that layers run."""
from ...autograd.function import Function
from ...ops.creation.factories import empty_like, zeros_like

__all__ = ["CrossMapLRN2d"]


class CrossMapLRN2d(Function):
    """Local response normalisation by running sums over the channels: see the layer of this name."""

    @staticmethod
    def forward(ctx, input, size, alpha=1e-4, beta=0.75, k=1):
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        squares = input.pow(2)
        channels, reach = input.size(1), int((size - 1) / 2 + 1)
        scale = empty_like(input)
        total = zeros_like(input[:, 0])
        for c in range(min(reach, channels)):
            total.add_(squares[:, c])
        scale[:, 0] = total
        for c in range(1, channels):
            if c + reach <= channels:
                total.add_(squares[:, c + reach - 1])
            if c > reach:                      # at c == reach channel 0 should go: in torch it stays
                total.sub_(squares[:, c - reach])
            scale[:, c] = total
        scale.mul_(alpha / size).add_(k)
        output = scale.pow(-beta).mul_(input)
        ctx.settings, ctx.scale = (size, alpha, beta), scale
        ctx.save_for_backward(input, output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        (size, alpha, beta), scale = ctx.settings, ctx.scale
        samples, channels, height, width = input.shape
        before = int(size - (size - 1) / 2)
        ratios = input.new_zeros(samples, channels + size - 1, height, width)
        ratios.narrow(1, before, channels).copy_(grad_output * output / scale)
        grad = scale.pow(-beta).mul_(grad_output)
        total = ratios[:, :size - 1].sum(1)
        for c in range(channels):
            total.add_(ratios[:, c + size - 1])
            grad[:, c].addcmul_(input[:, c], total, value=-2 * alpha * beta / size)
            total.sub_(ratios[:, c])
        return grad, None, None, None, None
