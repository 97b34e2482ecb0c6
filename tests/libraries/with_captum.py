"""captum: what a network's output is due to."""
import torch
from captum.attr import DeepLift, FeatureAblation, IntegratedGradients, Saliency
from outcome import network, show

net, x = network(), torch.randn(3, 4)
show(**{kind.__name__: kind(net).attribute(x) for kind in (IntegratedGradients, Saliency, DeepLift, FeatureAblation)})
