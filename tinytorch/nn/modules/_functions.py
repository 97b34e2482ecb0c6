"""Functions with a backward defined here, which layers run."""
from ...autograd.function import Function, once_differentiable
from ...dtypes import float32, float64
from ...ops.creation.factories import empty_like, zeros, zeros_like
from ...ops.layout.join import cat

__all__ = ["CrossMapLRN2d", "SyncBatchNorm"]


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
            if c > reach:                      # at c == reach, channel 0 should leave the sum, but torch keeps it
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


class SyncBatchNorm(Function):
    """Batch normalisation by the mean and variance over the inputs of all ranks of `group`: see the layer of this name.

    Forward gathers each rank's mean, variance and count (ranks may have different counts, or no samples). Backward sums
    the gradient, and its product with the centred input, over all ranks. Half precision is computed in float32.
    """

    @staticmethod
    def forward(ctx, input, weight, bias, running_mean, running_var, eps, momentum, group):
        from ... import distributed  # imported on use: it imports this package
        channels, world = input.size(1), distributed.get_world_size(group)
        wide = float64 if input.dtype is float64 else float32
        x = input.to(wide)
        others = [d for d in range(x.dim()) if d != 1]
        count = x.numel() // channels
        if count:
            var, mean = x.var(others, correction=0), x.mean(others)
        else:
            var = mean = zeros(channels, dtype=wide)
        all_of_them = zeros(world, 2 * channels + 1, dtype=wide)
        distributed.all_gather_into_tensor(all_of_them.view(-1), cat([mean, var, mean.new_full((1,), count)]),
                                           group=group)
        means, variances, counts = all_of_them.split([channels, channels, 1], 1)
        total = counts.sum()
        share = counts / total
        mean = (share * means).sum(0)
        var = (share * (variances + (means - mean).square())).sum(0)
        if running_mean is not None:
            running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
            running_var.mul_(1 - momentum).add_(var, alpha=momentum * total.item() / max(total.item() - 1, 1))
        shape = [1, channels] + [1] * (x.dim() - 2)
        scale = (var + eps).rsqrt()
        ctx.group, ctx.others, ctx.shape, ctx.total = group, others, shape, total
        ctx.save_for_backward(input, weight, mean, scale)
        out = (x - mean.view(shape)).mul_(scale.view(shape))
        if weight is not None:
            out.mul_(weight.to(wide).view(shape))
        if bias is not None:
            out.add_(bias.to(wide).view(shape))
        return out.to(input.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        from ... import distributed
        input, weight, mean, scale = ctx.saved_tensors
        others, shape, wide = ctx.others, ctx.shape, mean.dtype
        g, centred = grad.to(wide), input.to(wide) - mean.view(shape)
        sums = cat([g.sum(others), (g * centred).sum(others)])
        channels = mean.numel()
        grad_weight = (sums[channels:] * scale).to(weight.dtype) if ctx.needs_input_grad[1] else None
        grad_bias = sums[:channels].to(weight.dtype, copy=True) if ctx.needs_input_grad[2] else None
        if not ctx.needs_input_grad[0]:
            return None, grad_weight, grad_bias, None, None, None, None, None
        distributed.all_reduce(sums, group=ctx.group)
        sums.div_(ctx.total)
        by_mean, by_scale = sums[:channels], sums[channels:] * scale.square()
        factor = scale if weight is None else scale * weight.to(wide)
        g = (g - by_mean.view(shape) - centred * by_scale.view(shape)).mul_(factor.view(shape))
        return g.to(input.dtype), grad_weight, grad_bias, None, None, None, None, None
