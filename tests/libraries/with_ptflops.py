"""ptflops: the work and the parameters of networks, counted."""
import torch
from outcome import show
from ptflops import get_model_complexity_info

net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                          torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(32, 5))
encoder = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
options = {"as_strings": False, "print_per_layer_stat": False}
show(net=get_model_complexity_info(net, (3, 16, 16), backend="pytorch", **options),
     encoder=get_model_complexity_info(encoder, (10, 16), backend="pytorch", **options))
