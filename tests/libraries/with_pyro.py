"""pyro: variational inference, and a Markov chain."""
import pyro
import pyro.distributions as dist
import torch
from outcome import show
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

data = torch.randn(20) + 2


def model():
    mean = pyro.sample("mean", dist.Normal(0.0, 5.0))
    with pyro.plate("data", len(data)):
        pyro.sample("obs", dist.Normal(mean, 1.0), obs=data)


pyro.set_rng_seed(0)
guide = AutoNormal(model)
svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
losses = [svi.step() for _ in range(10)]
chain = MCMC(NUTS(model), num_samples=5, warmup_steps=5, disable_progbar=True)
chain.run()
show(losses=losses, chain=chain.get_samples()["mean"])
