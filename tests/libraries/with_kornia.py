"""kornia: filters, colours and a warp, with a gradient."""
import kornia
import torch
from outcome import show

x = torch.rand(1, 3, 8, 8, requires_grad=True)
blurred = kornia.filters.gaussian_blur2d(x, (3, 3), (1.0, 1.0))
edges = kornia.filters.sobel(blurred)
turned = kornia.geometry.transform.rotate(edges, torch.tensor([30.0]))
turned.sum().backward()
show(blurred=blurred, turned=turned, hsv=kornia.color.rgb_to_hsv(x), grad=x.grad)
