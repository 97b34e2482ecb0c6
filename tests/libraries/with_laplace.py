"""laplace-torch: Gaussian posteriors over a trained network's weights: full, Kronecker and diagonal."""
import torch
from laplace import Laplace
from laplace.curvature import BackPackGGN, CurvlinopsGGN
from outcome import network, regression, show, trained
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.double)
x, y = regression()
net = network()
trained(net, torch.optim.Adam(net.parameters(), 0.05), x, y, 40)
found = {}
for weights, structure, backend in (("all", "full", CurvlinopsGGN), ("last_layer", "full", BackPackGGN),
                                    ("all", "kron", CurvlinopsGGN), ("all", "diag", BackPackGGN)):
    posterior = Laplace(net, "regression", subset_of_weights=weights, hessian_structure=structure, backend=backend)
    posterior.fit(DataLoader(TensorDataset(x, y), batch_size=16))
    posterior.optimize_prior_precision(method="marglik", n_steps=10)
    mean, variance = posterior(x[:5])
    found[weights + structure] = [mean, variance, posterior.log_marginal_likelihood(), posterior.prior_precision]
labels = (y[:, 0] > 0).long()
classifier = network(out=2)
trained(classifier, torch.optim.Adam(classifier.parameters(), 0.05), x, labels, 20, torch.nn.functional.cross_entropy)
posterior = Laplace(classifier, "classification", subset_of_weights="all", hessian_structure="kron")
posterior.fit(DataLoader(TensorDataset(x, labels), batch_size=16))
show(**found, probit=posterior(x[:5], link_approx="probit"), bridge=posterior(x[:5], link_approx="bridge"),
     sampled=posterior(x[:5], pred_type="nn", link_approx="mc", n_samples=20))
