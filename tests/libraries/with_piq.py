"""piq: measures of how good images are, their gradients, and distances between sets of features."""
import piq
import torch
from outcome import show

torch.set_default_dtype(torch.float64)
x, y = torch.rand(2, 3, 96, 96), torch.rand(2, 3, 96, 96)
y = (x + 0.1 * y).clamp(0, 1)
found = {}
for name, loss in {"ssim": piq.SSIMLoss(), "tv": None, "gmsd": piq.GMSDLoss(), "vsi": piq.VSILoss(),
                   "fsim": piq.FSIMLoss(), "mdsi": piq.MDSILoss(), "haar": piq.HaarPSILoss(), "vif": piq.VIFLoss(),
                   "srsim": piq.SRSIMLoss(), "dss": piq.DSSLoss(), "iw": piq.InformationWeightedSSIMLoss(
                       scale_weights=torch.tensor([0.4, 0.6]))}.items():
    image = x.clone().requires_grad_()
    value = piq.TVLoss()(image) if loss is None else loss(image, y)
    value.backward()
    found[name] = [value, image.grad[0, 0, 0]]
a, b = torch.rand(20, 6), torch.rand(20, 6) + 0.2
show(psnr=piq.psnr(x, y), multi=piq.multi_scale_ssim(x, y, kernel_size=5), fid=piq.FID()(a, b), kid=piq.KID()(a, b),
     inception=piq.IS(num_splits=2)(a, b), pr=list(piq.PR(nearest_k=3)(a, b)), **found)
