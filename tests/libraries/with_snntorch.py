"""snntorch: spiking neurons of several kinds, trained through surrogate gradients, and ways to make spikes."""
import snntorch
import torch
from outcome import show, trained
from snntorch import functional, spikegen, surrogate

data, y = torch.rand(8, 4), torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])
rate, latency = spikegen.rate(data, num_steps=6), spikegen.latency(data, num_steps=6, normalize=True, linear=True)
first, second = torch.nn.Linear(4, 12), torch.nn.Linear(12, 3)
recurrent = snntorch.RLeaky(beta=0.9, all_to_all=True, linear_features=12, spike_grad=surrogate.atan())
synaptic = snntorch.Synaptic(alpha=0.8, beta=0.9, learn_beta=True, spike_grad=surrogate.fast_sigmoid())


def fired(steps):
    (spikes, potential), (current, out), found = recurrent.init_rleaky(), synaptic.init_synaptic(), []
    for step in steps:
        spikes, potential = recurrent(first(step) * 3, spikes, potential)
        last, current, out = synaptic(second(spikes), current, out)
        found.append(last)
    return torch.stack(found)


losses = trained(fired, torch.optim.Adam(torch.nn.ModuleList([first, second, recurrent, synaptic]).parameters(), 0.01),
                 rate, y, 5, lambda s, t: functional.ce_rate_loss()(s, t) + functional.mse_count_loss()(s, t))
lstm = snntorch.SLSTM(4, 5, threshold=0.1)
memory = lstm.init_slstm()
for step in rate:
    spikes, *memory = lstm(step, *memory)
show(rate=rate, latency=latency, losses=losses, fired=fired(rate), beta=synaptic.beta, memory=memory,
     accuracy=functional.accuracy_rate(fired(rate), y))
