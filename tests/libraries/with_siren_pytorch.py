"""siren-pytorch: networks of sines that learn an image by its coordinates, also steered by a latent vector."""
import torch
from outcome import show, trained
from siren_pytorch import SirenNet, SirenWrapper

shape = {"dim_in": 2, "dim_hidden": 16, "dim_out": 3, "num_layers": 3, "w0_initial": 5.0}
net = SirenNet(final_activation=torch.nn.Sigmoid(), **shape)
grid = torch.stack(torch.meshgrid(torch.linspace(-1, 1, 6), torch.linspace(-1, 1, 6), indexing="ij"), -1).reshape(-1, 2)
losses = trained(net, torch.optim.Adam(net.parameters(), 1e-3), grid, torch.sin(3 * grid @ torch.randn(2, 3)), 8)
point = grid[:4].clone().requires_grad_()
slope, = torch.autograd.grad(net(point).sum(), point, create_graph=True)
curve, = torch.autograd.grad(slope.sum(), point)
wrapper = SirenWrapper(SirenNet(**shape), latent_dim=5, image_width=6, image_height=4)
latent = torch.zeros(5).normal_(0, 0.1).requires_grad_()
loss = wrapper(torch.rand(1, 3, 4, 6), latent=latent)
loss.backward()
show(losses=losses, slope=slope, curve=curve, loss=loss, grad=latent.grad, image=wrapper(latent=latent))
