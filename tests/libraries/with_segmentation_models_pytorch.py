"""segmentation-models-pytorch: several networks that label pixels, trained with its losses, and its scores."""
import segmentation_models_pytorch as smp
import torch
from outcome import show, trained

torch.set_default_dtype(torch.double)
x = torch.randn(2, 3, 32, 32)
y = (torch.nn.functional.avg_pool2d(x, 3, 1, 1).mean(1, keepdim=True) > 0).float()
losses = {}
for kind, loss in ((smp.Unet, smp.losses.DiceLoss("binary")), (smp.FPN, smp.losses.FocalLoss("binary")),
                   (smp.Linknet, smp.losses.SoftBCEWithLogitsLoss(smooth_factor=0.1)),
                   (smp.PSPNet, smp.losses.JaccardLoss("binary"))):
    torch.manual_seed(1)
    net = kind("resnet18", encoder_weights=None, classes=1)
    losses[kind.__name__] = trained(net, torch.optim.SGD(net.parameters(), 1e-2), x, y, 2, loss)
light = smp.Unet("mobilenet_v2", encoder_weights=None, encoder_depth=3, decoder_channels=(32, 16, 16), classes=3,
                 decoder_attention_type="scse", aux_params={"classes": 2}).eval()
with torch.no_grad():
    masks, labels = light(x)
counts = smp.metrics.get_stats(masks.argmax(1), y[:, 0].long(), mode="multiclass", num_classes=3)
several = smp.losses.TverskyLoss("multiclass", alpha=0.3, beta=0.7)(masks, y[:, 0].long())
show(**losses, masks=masks, labels=labels, counts=counts, several=several,
     lovasz=smp.losses.LovaszLoss("binary")(net(x).float(), y),
     soft=smp.losses.SoftCrossEntropyLoss(smooth_factor=0.1)(masks, y[:, 0].long()),
     iou=smp.metrics.iou_score(*counts, reduction="micro"), mcc=smp.losses.MCCLoss()(net(x).sigmoid(), y))
