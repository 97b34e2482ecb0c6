"""lion-pytorch: an optimiser."""
from lion_pytorch import Lion
from outcome import network, regression, show, trained

x, y = regression()
net = network()
show(losses=trained(net, Lion(net.parameters(), lr=1e-2, weight_decay=1e-2), x, y))
