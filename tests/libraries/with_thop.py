"""thop: the work and the parameters of networks, counted by hooks."""
import torch
from outcome import show
from thop import clever_format, profile

net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.BatchNorm2d(8), torch.nn.PReLU(),
                          torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(32, 5),
                          torch.nn.Softmax(1))
counted = profile(net, inputs=(torch.randn(2, 3, 16, 16),), verbose=False)
lstm = torch.nn.LSTM(4, 8, num_layers=2, bidirectional=True)
recurrent = profile(lstm, inputs=(torch.randn(5, 2, 4),), verbose=False)
show(counted=counted, recurrent=recurrent, written=" ".join(clever_format(counted, "%.3f")))
