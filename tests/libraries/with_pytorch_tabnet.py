"""pytorch-tabnet: a classifier of tables fitted, its probabilities and which columns mattered."""
import numpy as np
import torch
from outcome import show
from pytorch_tabnet.pretraining import TabNetPretrainer
from pytorch_tabnet.tab_model import TabNetClassifier

rng = np.random.RandomState(0)
x = np.concatenate([rng.randn(96, 4), rng.randint(0, 3, (96, 1))], 1).astype("float32")
y = (x[:, 0] + x[:, 4] > 1).astype(int)
options = {"n_d": 4, "n_a": 4, "n_steps": 2, "cat_idxs": [4], "cat_dims": [3], "seed": 0, "verbose": 0}
fit = {"max_epochs": 1, "batch_size": 32, "virtual_batch_size": 16}
before = TabNetPretrainer(**options)
before.fit(x, eval_set=[x], **fit)
model = TabNetClassifier(**options)
model.fit(x, y, eval_set=[(x, y)], eval_metric=["logloss"], from_unsupervised=before, **fit)
explained, _ = model.explain(x[:8])
show(pretrained=before.history["loss"], losses=model.history["loss"], val=model.history["val_0_logloss"],
     out=torch.tensor(model.predict_proba(x)), importances=torch.tensor(model.feature_importances_),
     explained=torch.tensor(explained))
