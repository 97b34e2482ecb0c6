"""safetensors: a file written and read."""
import hashlib
import os
import tempfile

import torch
from outcome import network, show
from safetensors.torch import load_file, save_file, save_model

net = network()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net.safetensors")
    save_file({k: v.contiguous() for k, v in net.state_dict().items()} | {"half": torch.ones(3).bfloat16()}, path)
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    loaded = load_file(path)
    save_model(net, path)
show(digest=digest, weight=loaded["0.weight"], half=loaded["half"])
