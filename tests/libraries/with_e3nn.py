"""e3nn: spherical harmonics, tensor products and a network that turns with its input, trained."""
import torch
from e3nn import nn, o3
from e3nn.math import soft_one_hot_linspace
from outcome import show

irreps_in, irreps_sh, irreps_out = o3.Irreps("4x0e + 2x1o"), o3.Irreps.spherical_harmonics(2), o3.Irreps("3x0e + 1x1o")
positions = torch.randn(12, 3)
harmonics = o3.spherical_harmonics(irreps_sh, positions, normalize=True, normalization="component")
product = o3.FullyConnectedTensorProduct(irreps_in, irreps_sh, irreps_out, shared_weights=False)
weights = nn.FullyConnectedNet([5, 8, product.weight_numel], torch.nn.functional.silu)
gate = nn.Gate("4x0e", [torch.tanh], "2x0e", [torch.sigmoid], "2x1o")
linear, norm = o3.Linear(irreps_in, gate.irreps_in), nn.BatchNorm(gate.irreps_out)
features = irreps_in.randn(12, -1)
radial = soft_one_hot_linspace(positions.norm(dim=1), 0.0, 3.0, 5, basis="smooth_finite", cutoff=True)


def network(x, sh):
    return product(norm(gate(linear(x))), sh, weights(radial))


parameters = [p for m in (product, weights, linear, norm) for p in m.parameters()]
optimizer, target, losses = torch.optim.Adam(parameters, 1e-2), torch.randn(12, irreps_out.dim), []
for _ in range(4):
    loss = (network(features, harmonics) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
turn = o3.rand_matrix()
turned = o3.spherical_harmonics(irreps_sh, positions @ turn.T, normalize=True, normalization="component")
norm.eval()
with torch.no_grad():
    first = network(features, harmonics) @ irreps_out.D_from_matrix(turn).T
    second = network(features @ irreps_in.D_from_matrix(turn).T, turned)
show(harmonics=harmonics, losses=torch.tensor(losses), turned=first, same=str(torch.allclose(first, second, atol=1e-4)),
     wigner=o3.wigner_3j(1, 1, 2), angles=torch.stack(o3.matrix_to_angles(turn)), irreps=str(product.irreps_out))
