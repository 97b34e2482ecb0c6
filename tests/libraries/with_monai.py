"""monai: a segmentation network trained with the Dice loss, transforms, a metric and sliding windows."""
import torch
from monai.inferers import sliding_window_inference
from monai.losses import DiceCELoss, FocalLoss
from monai.metrics import DiceMetric
from monai.networks.nets import UNet
from monai.transforms import Compose, GaussianSmooth, RandFlip, RandGaussianNoise, ScaleIntensity
from outcome import show, trained

transform = Compose([ScaleIntensity(), GaussianSmooth(0.7), RandFlip(prob=0.5), RandGaussianNoise(prob=1.0, std=0.05)])
transform.set_random_state(seed=1)
x = torch.stack([transform(torch.randn(1, 16, 16)).as_tensor() for _ in range(4)])
y = (x > x.mean()).float()
net = UNet(spatial_dims=2, in_channels=1, out_channels=1, channels=(4, 8, 16), strides=(2, 2), num_res_units=1,
           act="prelu", norm="instance")
losses = trained(net, torch.optim.Adam(net.parameters(), 1e-2), x, y, 6, DiceCELoss(sigmoid=True))
out = sliding_window_inference(torch.randn(1, 1, 24, 24), (16, 16), 2, net.eval(), overlap=0.5, mode="gaussian")
dice = DiceMetric(include_background=True)
dice((net(x) > 0).float(), y)
show(x=x, losses=losses, focal=FocalLoss()(net(x), y), out=out, dice=dice.aggregate())
