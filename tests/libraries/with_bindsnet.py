"""bindsnet: layers of spiking neurons (integrating, adaptive) with connections between them: spikes and voltages."""
import torch
from bindsnet.encoding import poisson
from bindsnet.network import Network
from bindsnet.network.monitors import Monitor
from bindsnet.network.nodes import AdaptiveLIFNodes, Input, LIFNodes
from bindsnet.network.topology import Connection
from outcome import show

network = Network(dt=1.0)
source, middle, last = Input(20), LIFNodes(10), AdaptiveLIFNodes(5)
network.add_layer(source, "in")
network.add_layer(middle, "middle")
network.add_layer(last, "out")
network.add_connection(Connection(source, middle, w=torch.rand(20, 10) * 8, norm=40.0), "in", "middle")
network.add_connection(Connection(middle, last, w=torch.rand(10, 5) * 20), "middle", "out")
network.add_connection(Connection(last, last, w=-torch.ones(5, 5) + torch.eye(5)), "out", "out")
for name in ("middle", "out"):
    network.add_monitor(Monitor(network.layers[name], ["s", "v"], time=60), name)
rain = poisson(128 * torch.rand(20), time=60)
network.run({"in": rain}, time=60)
seen = {name: network.monitors[name] for name in ("middle", "out")}
show(rain=rain.float().sum(0), **{f"{name}_spikes": one.get("s").float().sum(-1) for name, one in seen.items()},
     **{f"{name}_volts": one.get("v").reshape(-1)[-200:] for name, one in seen.items()})
