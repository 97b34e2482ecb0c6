"""sbi: posteriors of a simulator's parameters by neural estimation, with samples."""
import torch
from outcome import show
from sbi.inference import NLE, NPE
from sbi.utils import BoxUniform

prior = BoxUniform(-2 * torch.ones(2), 2 * torch.ones(2))
theta = prior.sample((200,))
x = theta + 0.3 * torch.randn(200, 2)
posterior = NPE(prior, density_estimator="maf", show_progress_bars=False)
estimator = posterior.append_simulations(theta, x).train(max_num_epochs=3, training_batch_size=50)
made = posterior.build_posterior(estimator).set_default_x(torch.tensor([0.5, -0.5]))
samples = made.sample((20,), show_progress_bars=False)
likelihood = NLE(prior, density_estimator="mdn", show_progress_bars=False)
net = likelihood.append_simulations(theta, x).train(max_num_epochs=3, training_batch_size=50)
show(samples=samples, log_prob=made.log_prob(samples), losses=posterior.summary["training_loss"],
     validation=likelihood.summary["validation_loss"], likelihood=net.log_prob(x[:5].unsqueeze(0), theta[:5]))
