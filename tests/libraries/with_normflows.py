"""normflows: normalizing flows of many kinds fitted to data and to a density, with stochastic steps between them."""
import normflows as nf
import torch
from outcome import show, trained

torch.set_default_dtype(torch.double)
flows, dists, net = nf.flows, nf.distributions, nf.nets.MLP
x, moons = torch.cat([torch.randn(16, 2) * 0.4 + 1, torch.randn(16, 2) * 0.3 - 1]), dists.TwoMoons()
kinds = {"real_nvp": [flows.MaskedAffineFlow(mask, net([2, 8, 2]), net([2, 8, 2])) for mask in torch.eye(2)],
         "coupling": [flows.AffineCouplingBlock(net([1, 8, 2]), scale_map="sigmoid"), flows.ActNorm(2)],
         "spline": [flows.CoupledRationalQuadraticSpline(2, 1, 8, num_bins=4), flows.LULinearPermute(2),
                    flows.AutoregressiveRationalQuadraticSpline(2, 1, 8, num_bins=4)],
         "autoregressive": [flows.MaskedAffineAutoregressive(2, 8, num_blocks=1), flows.InvertibleAffine(2)],
         "residual": [flows.Residual(nf.nets.LipschitzMLP([2, 8, 2], init_zeros=False), exact_trace=True)],
         "reverse": [flows.Planar((2,)), flows.MetropolisHastings(moons, dists.DiagGaussianProposal((2,), 0.2), 3),
                     flows.HamiltonianMonteCarlo(moons, 3, torch.full((2,), -2.0), torch.zeros(2))]}
results = {}
for name, parts in kinds.items():
    mixture = dists.GaussianMixture(2, 2, loc=[[1, 1], [-1, -1]])
    model = nf.NormalizingFlow(mixture if name == "coupling" else dists.DiagGaussian(2), parts, moons)
    loss, data = (model.reverse_kld, 20) if name == "reverse" else (model.forward_kld, x)
    results[name] = trained(loss, torch.optim.Adam(model.parameters(), 0.01), data, None, 5, lambda out, _: out)
    results[f"of_{name}"] = [*model.eval().sample(5), *([] if name == "reverse" else [model.log_prob(x)])]
show(**results)
