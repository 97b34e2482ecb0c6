"""efficientnet-pytorch: a small EfficientNet trained, its features, and the swish that saves memory."""
import torch
from efficientnet_pytorch import EfficientNet
from efficientnet_pytorch.utils import BlockDecoder, GlobalParams, get_model_params
from outcome import show, trained

blocks = BlockDecoder.decode(["r1_k3_s11_e1_i32_o16_se0.25", "r2_k3_s22_e4_i16_o24_se0.25",
                              "r1_k5_s22_e4_i24_o32_se0.25"])
parameters = GlobalParams(width_coefficient=0.5, depth_coefficient=1.0, image_size=32, dropout_rate=0.0, num_classes=3,
                          batch_norm_momentum=0.99, batch_norm_epsilon=1e-3, drop_connect_rate=0.0, depth_divisor=8,
                          min_depth=None, include_top=True)
net = EfficientNet(blocks, parameters)
x, y = torch.randn(6, 3, 32, 32), torch.tensor([0, 1, 2, 0, 1, 2])
losses = trained(net, torch.optim.SGD(net.parameters(), 0.02), x, y, 4, torch.nn.functional.cross_entropy)
ends = net.extract_endpoints(x)
net.set_swish(memory_efficient=False)
out = net.eval()(x)
whole = EfficientNet.from_name("efficientnet-b0", in_channels=1, num_classes=4).eval()
with torch.no_grad():
    large = whole(torch.randn(1, 1, 48, 48))
show(losses=losses, ends=list(ends.values()), out=out, large=large, size=EfficientNet.get_image_size("efficientnet-b3"),
     parameters=sum(p.numel() for p in whole.parameters()), width=get_model_params("efficientnet-b2", {})[1][0])
