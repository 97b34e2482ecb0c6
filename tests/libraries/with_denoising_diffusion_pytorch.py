"""denoising_diffusion_pytorch: a small U-Net trained as a diffusion of images, and a sample of it."""
import torch
from denoising_diffusion_pytorch import GaussianDiffusion, Unet
from outcome import show

net = Unet(dim=8, dim_mults=(1, 2), attn_dim_head=4, attn_heads=2)
diffusion = GaussianDiffusion(net, image_size=8, timesteps=10, sampling_timesteps=3)
optimizer, losses = torch.optim.Adam(diffusion.parameters(), 1e-3), []
for _ in range(3):
    loss = diffusion(torch.rand(4, 3, 8, 8))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
show(losses=losses, sample=diffusion.sample(batch_size=2))
