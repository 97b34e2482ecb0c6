"""brevitas: layers of few bits, trained with their scales, and the integers that they come to."""
import brevitas.nn as qnn
import torch
from brevitas.quant import Int8ActPerTensorFloat, Int8WeightPerChannelFloat
from outcome import show, trained

torch.set_default_dtype(torch.float64)         # numbers of few bits jump where rounding differs
net = torch.nn.Sequential(
    qnn.QuantIdentity(bit_width=8), qnn.QuantConv2d(1, 4, 3, weight_bit_width=4), torch.nn.BatchNorm2d(4),
    qnn.QuantReLU(bit_width=4), torch.nn.Flatten(),
    qnn.QuantLinear(4 * 36, 3, bias=True, weight_quant=Int8WeightPerChannelFloat, output_quant=Int8ActPerTensorFloat))
x, y = torch.rand(16, 1, 8, 8), torch.arange(16) % 3
losses = trained(net, torch.optim.Adam(net.parameters(), 1e-2), x, y, 5, torch.nn.functional.cross_entropy)
net.eval()
weight = net[1].quant_weight()
quant = qnn.QuantIdentity(return_quant_tensor=True).eval()(x[:2])
show(losses=torch.tensor(losses), out=net(x[:3]), scale=weight.scale, zero=weight.zero_point, bits=weight.bit_width,
     integers=net[1].quant_weight().int().float(), value=quant.value, validity=str(bool(quant.is_valid)))
