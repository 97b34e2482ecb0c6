"""torchtuples: a model fitted from arrays with a callback, and its predictions."""
import numpy as np
import torch
import torchtuples as tt
from outcome import regression, show

np.random.seed(0)
x, y = (part.numpy() for part in regression(64))
net = tt.practical.MLPVanilla(4, [8, 8], 1, batch_norm=True, dropout=0.1, output_bias=True)
model = tt.Model(net, torch.nn.MSELoss(), tt.optim.AdamWR(lr=0.01, decoupled_weight_decay=0.01))
log = model.fit(x[:48], y[:48], batch_size=16, epochs=4, verbose=False, val_data=(x[48:], y[48:]),
                callbacks=[tt.callbacks.EarlyStopping(patience=3)])
frame = log.to_pandas()
show(train=frame.train_loss.tolist(), val=frame.val_loss.tolist(), out=torch.tensor(model.predict(x[48:])),
     score=model.score_in_batches(x, y)["loss"])
