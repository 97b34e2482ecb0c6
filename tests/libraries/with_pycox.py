"""pycox: survival models (Cox and discrete hazards) fitted, their survival functions and concordance."""
import numpy as np
import torch
import torchtuples as tt
from outcome import show
from pycox.evaluation import EvalSurv
from pycox.models import CoxPH, LogisticHazard

rng = np.random.RandomState(0)
np.random.seed(0)
x = rng.randn(64, 3).astype("float32")
durations = rng.exponential(np.exp(x[:, 0])).astype("float32")
events = rng.randint(0, 2, 64).astype("float32")
cox = CoxPH(tt.practical.MLPVanilla(3, [8], 1, output_bias=False), tt.optim.Adam(0.01))
log = cox.fit(x, (durations, events), batch_size=32, epochs=3, verbose=False)
cox.compute_baseline_hazards()
surv = cox.predict_surv_df(x[:5])
grid = LogisticHazard.label_transform(6)
target = grid.fit_transform(durations, events)
net = tt.practical.MLPVanilla(3, [8], grid.out_features)
hazard = LogisticHazard(net, tt.optim.Adam(0.01), duration_index=grid.cuts)
log2 = hazard.fit(x, target, batch_size=32, epochs=3, verbose=False)
score = EvalSurv(hazard.predict_surv_df(x), durations, events, censor_surv="km")
show(losses=log.to_pandas().train_loss.tolist(), surv=torch.tensor(surv.values),
     hazard=log2.to_pandas().train_loss.tolist(), concordance=score.concordance_td("antolini"))
