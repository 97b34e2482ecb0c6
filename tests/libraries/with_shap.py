"""shap: what each input adds to a network's answers, by expected gradients, DeepLIFT and kernels."""
import numpy as np
import shap
import torch
from outcome import network, regression, show, trained

x, y = regression()
net = network()
losses = trained(net, torch.optim.Adam(net.parameters(), 0.05), x, y, 30)
deep = shap.DeepExplainer(net, x[:20]).shap_values(x[20:])
images = torch.randn(8, 1, 6, 6)
convolutional = torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                                    torch.nn.Flatten(), torch.nn.Linear(12, 3))
pixels = shap.DeepExplainer(convolutional, images[:6]).shap_values(images[6:])
gradients = shap.GradientExplainer(net, x[:20]).shap_values(x[20:], nsamples=50, rseed=0)
inner = shap.GradientExplainer((net, net[1]), x[:20]).shap_values(x[20:], nsamples=50, rseed=0)


def predict(rows):
    with torch.no_grad():
        return net(torch.as_tensor(rows, dtype=torch.float32)).numpy()[:, 0].astype(float)


kernel = shap.KernelExplainer(predict, x[:10].numpy()).shap_values(x[20:24].numpy(), silent=True)
show(losses=losses, **{name: torch.as_tensor(np.asarray(values)) for name, values in {
    "deep": deep, "pixels": pixels, "gradients": gradients, "inner": inner, "kernel": kernel}.items()})
