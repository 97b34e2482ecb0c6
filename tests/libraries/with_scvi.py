"""scvi-tools: variational models of counts of genes, fitted; latent variables and expression."""
import anndata
import numpy as np
import scvi
import torch
from outcome import show

scvi.settings.seed = 0
scvi.settings.verbosity = 40
rng = np.random.default_rng(0)
data = anndata.AnnData(rng.poisson(3.0, (60, 12)).astype(np.float32))
data.obs["batch"] = np.array(["a", "b"])[rng.integers(0, 2, 60)]
data.obs["kind"] = np.array(["x", "y", "z"])[rng.integers(0, 3, 60)]
data.obs_names = [f"c{i}" for i in range(60)]
data.var_names = [f"g{i}" for i in range(12)]
quiet = {"max_epochs": 3, "accelerator": "cpu", "enable_progress_bar": False, "logger": None, "batch_size": 20}
scvi.model.SCVI.setup_anndata(data, batch_key="batch")
model = scvi.model.SCVI(data, n_hidden=8, n_latent=3, n_layers=1)
model.train(**quiet)
scvi.model.LinearSCVI.setup_anndata(data)
linear = scvi.model.LinearSCVI(data, n_hidden=8, n_latent=3)
linear.train(**quiet)
show(latent=torch.tensor(model.get_latent_representation()), elbo=float(model.get_elbo()),
     expression=torch.tensor(model.get_normalized_expression(n_samples=2, return_numpy=True)),
     linear=torch.tensor(linear.get_latent_representation()), loadings=torch.tensor(linear.get_loadings().to_numpy()))
