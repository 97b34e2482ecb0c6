"""torchao: numbers of few bits by its functions, and layers that learn with numbers as they would be rounded."""
import torch
from outcome import show
from torchao.quantization.granularity import PerRow
from torchao.quantization.qat import FakeQuantizedLinear, IntxFakeQuantizeConfig
from torchao.quantization.quant_primitives import MappingType, choose_qparams_affine, dequantize_affine, quantize_affine

x, found = torch.randn(4, 16), {}
for name, mapping, dtype, block in (("asymmetric", MappingType.ASYMMETRIC, torch.int8, (1, 16)),
                                    ("symmetric", MappingType.SYMMETRIC, torch.int8, (1, 8)),
                                    ("whole", MappingType.ASYMMETRIC, torch.uint8, (4, 16))):
    scale, zero = choose_qparams_affine(x, mapping, block, dtype)
    few = quantize_affine(x, block, scale, zero, dtype)
    found[name] = [scale, zero, few, dequantize_affine(few, block, scale, zero, dtype)]
layer = FakeQuantizedLinear(16, 8, weight_config=IntxFakeQuantizeConfig(torch.int4, group_size=8),
                            activation_config=IntxFakeQuantizeConfig(torch.int8, "per_token", is_symmetric=False))
optimizer, losses = torch.optim.SGD(layer.parameters(), 0.1), []
for _ in range(4):
    loss = (layer(x) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
show(losses=torch.tensor(losses), weight=layer.weight, granularity=str(PerRow()), **found)
