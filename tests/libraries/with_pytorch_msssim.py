"""pytorch-msssim: the structural similarity of images at one and at several scales, and an image fitted by it."""
import torch
from outcome import show
from pytorch_msssim import MS_SSIM, SSIM, ms_ssim, ssim

x = torch.rand(2, 3, 68, 68)
y = (x + 0.1 * torch.randn(2, 3, 68, 68)).clamp(0, 1)
volume = torch.rand(1, 1, 14, 14, 14)
image = torch.full_like(x, 0.5).requires_grad_()
measure, optimizer, losses = SSIM(data_range=1, channel=3, nonnegative_ssim=True), torch.optim.Adam([image], 0.02), []
for _ in range(6):
    optimizer.zero_grad()
    loss = 1 - measure(image, x)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
scales = MS_SSIM(data_range=1, channel=3, win_size=5, weights=[0.3, 0.4, 0.3])
y.requires_grad_()
scales(x, y).backward()
show(ssim=ssim(x, y, data_range=1, size_average=False), ms=scales(x, y), grad=y.grad, losses=losses, image=image,
     three=ssim(volume, volume * 0.9, data_range=1), five=ms_ssim(x * 255, y * 255, win_size=3, size_average=False))
