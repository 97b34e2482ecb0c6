"""spikingjelly: spiking neurons and layers over time, trained by surrogate gradients, and spikes from numbers."""
import torch
from outcome import show
from spikingjelly.activation_based import encoding, functional, layer, neuron, surrogate

found, x = {}, torch.rand(4, 3, 6)
for name, make in {"lif": neuron.LIFNode, "if": neuron.IFNode, "plif": neuron.ParametricLIFNode, "qif": neuron.QIFNode,
                   "eif": neuron.EIFNode, "izhikevich": neuron.IzhikevichNode}.items():
    net = torch.nn.Sequential(layer.Linear(6, 8), make(surrogate_function=surrogate.ATan()), layer.Linear(8, 2))
    functional.set_step_mode(net, "m")
    optimizer, losses = torch.optim.Adam(net.parameters(), 1e-1), []
    for _ in range(3):
        loss = (net(x * 3).mean(0) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        functional.reset_net(net)
        losses.append(loss.item())
    found[name] = losses
images = torch.rand(2, 1, 8, 8)
conv = torch.nn.Sequential(layer.Conv2d(1, 4, 3), layer.BatchNorm2d(4), neuron.LIFNode(), layer.MaxPool2d(2),
                           layer.Flatten(), layer.Dropout(0.2), layer.Linear(36, 3))
out = sum(conv(images * 4) for _ in range(4))
out.pow(2).mean().backward()
spikes = encoding.PoissonEncoder()(x)
for name in ("Sigmoid", "PiecewiseQuadratic", "Erf", "LeakyKReLU"):
    v = torch.linspace(-1, 1, 9).requires_grad_()
    getattr(surrogate, name)()(v).sum().backward()
    found[name] = v.grad
show(out=out, gradient=conv[0].weight.grad, spikes=spikes, **{k: v if torch.is_tensor(v) else torch.tensor(v)
                                                              for k, v in found.items()})
