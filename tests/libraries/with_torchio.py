"""torchio: images of volumes transformed (affinely, with noise, blur and a field's bias), queued as patches."""
import torch
import torchio as tio
from outcome import show

subject = tio.Subject(scan=tio.ScalarImage(tensor=torch.rand(1, 12, 12, 12)),
                      marks=tio.LabelMap(tensor=(torch.rand(1, 12, 12, 12) > 0.5).float()))
found = {}
for transform in (tio.RandomAffine(), tio.RandomNoise(std=0.1), tio.RandomBlur(), tio.RandomBiasField(),
                  tio.ZNormalization(), tio.RandomFlip(axes=(0, 1)), tio.RescaleIntensity((0, 1)), tio.Resample(2),
                  tio.RandomGamma(), tio.CropOrPad(8)):
    torch.manual_seed(1)
    found[type(transform).__name__] = transform(subject)["scan"].data.float().reshape(-1)[::7]
torch.manual_seed(2)
sampler = tio.UniformSampler(4)
patches = torch.stack([patch["scan"].data for patch, _ in zip(sampler(subject), range(3))])
grid = tio.GridSampler(subject, 6, 2)
joined = tio.GridAggregator(grid)
for patch in torch.utils.data.DataLoader(grid, batch_size=4):
    joined.add_batch(patch["scan"]["data"] * 2, patch["location"])
show(patches=patches, joined=joined.get_output_tensor().reshape(-1)[::9], **found)
