"""diffusers: denoising networks trained on noised images, several samplers, and a latent autoencoder."""
import diffusers
import torch
from outcome import show, trained

shape = {"sample_size": 8, "in_channels": 1, "out_channels": 1, "layers_per_block": 1, "block_out_channels": (8, 16),
         "norm_num_groups": 4}
net = diffusers.UNet2DModel(**shape, down_block_types=("DownBlock2D", "AttnDownBlock2D"), attention_head_dim=8,
                            up_block_types=("AttnUpBlock2D", "UpBlock2D"))
ddpm = diffusers.DDPMScheduler(num_train_timesteps=50)
x, noise, times = torch.rand(4, 1, 8, 8), torch.randn(4, 1, 8, 8), torch.tensor([3, 10, 20, 40])
losses = trained(lambda noisy: net(noisy, times).sample, torch.optim.AdamW(net.parameters(), 1e-3),
                 ddpm.add_noise(x, noise, times), noise, 4)
pipeline = diffusers.DDPMPipeline(net.eval(), ddpm)
pipeline.set_progress_bar_config(disable=True)
images = pipeline(batch_size=1, generator=torch.manual_seed(1), num_inference_steps=4, output_type="np").images
text, guided = torch.randn(1, 3, 8), diffusers.UNet2DConditionModel(
    **shape, cross_attention_dim=8, attention_head_dim=4, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D")).eval()


@torch.no_grad()
def sampled(kind):
    sampler = getattr(diffusers, kind)(num_train_timesteps=50)
    sampler.set_timesteps(4)
    image = torch.randn(1, 1, 8, 8, generator=torch.manual_seed(2)) * sampler.init_noise_sigma
    for t in sampler.timesteps:
        out = guided(sampler.scale_model_input(image, t), t, encoder_hidden_states=text).sample
        image = sampler.step(out, t, image).prev_sample
    return image


vae = diffusers.AutoencoderKL(block_out_channels=(8,), norm_num_groups=4, latent_channels=2, in_channels=1,
                              out_channels=1)
latent = vae.encode(x).latent_dist
(torch.nn.functional.mse_loss(vae.decode(latent.mean).sample, x) + 1e-3 * latent.kl().mean()).backward()
show(losses=losses, images=torch.as_tensor(images), latent=latent.std, grad=vae.encoder.conv_in.weight.grad,
     samples=[sampled(f"{k}Scheduler") for k in ("DDIM", "EulerDiscrete", "DPMSolverMultistep", "UniPCMultistep")])
