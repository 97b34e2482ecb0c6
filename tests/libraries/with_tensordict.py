"""tensordict: dictionaries of tensors indexed, stacked and saved in modules that read and write them."""
import torch
from outcome import show
from tensordict import TensorDict
from tensordict.nn import ProbabilisticTensorDictModule, TensorDictModule, TensorDictSequential

data = TensorDict({"x": torch.randn(6, 3), "deep": {"y": torch.arange(12.0).view(6, 2)}}, batch_size=[6])
first = TensorDictModule(torch.nn.Linear(3, 4), in_keys=["x"], out_keys=["hidden"])
last = TensorDictModule(lambda h, y: (h[..., :2] * y, h[..., 2:].exp()), in_keys=["hidden", ("deep", "y")],
                        out_keys=["loc", "scale"])
dist = ProbabilisticTensorDictModule(["loc", "scale"], ["action"], distribution_class=torch.distributions.Normal,
                                     default_interaction_type="random", return_log_prob=True)
out = TensorDictSequential(first, last, dist)(data.clone())
out["loc"].sum().backward()
stacked = torch.stack([data[:2], data[2:4] * 2], 0).reshape(4)
split = torch.cat(data.split(4)[::-1], 0)
weights = TensorDict.from_module(first)
with (weights * 0.5).to_module(first):
    halved = first(data.clone())["hidden"]
show(loc=out["loc"], action=out["action"], grad=first.module.weight.grad, stacked=stacked["deep", "y"],
     split=split["x"], halved=halved, keys=" ".join(sorted(map(str, out.keys(True, True)))),
     mean=data.mean(0)["deep", "y"])
