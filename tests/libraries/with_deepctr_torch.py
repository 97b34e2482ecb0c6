"""deepctr-torch: click models (DeepFM, DCN, AutoInt) fitted to features of two kinds, and their predictions."""
import contextlib
import io

import numpy as np
import torch
from deepctr_torch.inputs import DenseFeat, SparseFeat
from deepctr_torch.models import DCN, AutoInt, DeepFM
from outcome import show

rng = np.random.RandomState(0)
columns = [SparseFeat("item", 6, embedding_dim=4), SparseFeat("user", 5, embedding_dim=4), DenseFeat("price", 1)]
data = {"item": rng.randint(0, 6, 64), "user": rng.randint(0, 5, 64), "price": rng.rand(64)}
y = (data["price"] + data["item"] / 6 > 1).astype("float32")
found = {}
for kind in (DeepFM, DCN, AutoInt):
    with contextlib.redirect_stdout(io.StringIO()):
        model = kind(columns, columns, dnn_hidden_units=(8,), task="binary", seed=1)
        model.compile("adagrad", "binary_crossentropy", metrics=["binary_crossentropy", "auc"])
        history = model.fit(data, y, batch_size=32, epochs=3, verbose=0, validation_split=0.25, shuffle=False)
    found[kind.__name__] = [history.history["loss"], history.history["val_auc"],
                            torch.tensor(model.predict(data)).flatten()]
show(**found)
