"""auraloss: losses of audio in time and in frequency, their gradients, and a filter trained by weighted ones."""
import auraloss
import torch
from outcome import show, trained

x, y = torch.randn(2, 1, 1024), torch.randn(2, 1, 1024)
short = {"fft_sizes": [128, 64], "hop_sizes": [32, 16], "win_lengths": [128, 48]}
mono = {"esr": auraloss.time.ESRLoss(), "dc": auraloss.time.DCLoss(), "logcosh": auraloss.time.LogCoshLoss(),
        "snr": auraloss.time.SNRLoss(), "sisdr": auraloss.time.SISDRLoss(), "sdsdr": auraloss.time.SDSDRLoss(),
        "stft": auraloss.freq.STFTLoss(128, 32, 128, w_lin_mag=0.5),
        "multi": auraloss.freq.MultiResolutionSTFTLoss(**short),
        "windowed": auraloss.freq.STFTLoss(128, 32, 96, window="blackman_window", w_sc=0, mag_distance="L2")}
stereo = {"sumdiff": auraloss.freq.SumAndDifferenceSTFTLoss(**short, w_diff=0.5)}
values, grads = {}, {}
for name, loss in {**mono, **stereo}.items():
    channels = 1 + (name in stereo)
    a, b = x.repeat(1, channels, 1).cumsum(1).requires_grad_(), y.repeat(1, channels, 1)
    values[name] = loss(a, b)
    grads[f"d_{name}"], = torch.autograd.grad(values[name], a)
weigh, esr = auraloss.perceptual.FIRFilter("aw", fs=8000), auraloss.time.ESRLoss()
net = torch.nn.Conv1d(1, 1, 5, padding=2)
losses = trained(net, torch.optim.Adam(net.parameters(), 0.02), x, x.roll(1, -1), 5, lambda a, b: esr(*weigh(a, b)))
show(**values, **grads, losses=losses)
