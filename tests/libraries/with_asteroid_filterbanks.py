"""asteroid-filterbanks: filterbanks of sound (short-time Fourier, learned) and back, with gradients."""
import torch
from asteroid_filterbanks import griffin_lim, make_enc_dec
from asteroid_filterbanks.transforms import angle, mag
from outcome import show

wave = torch.randn(2, 1, 256).cumsum(-1) / 8
found = {}
for name in ("free", "analytic_free", "param_sinc"):
    encoder, decoder = make_enc_dec(name, n_filters=32, kernel_size=32, stride=16)
    coded = encoder(wave)
    out = decoder(coded)
    out.pow(2).mean().backward()
    found[name] = [coded, out] + [p.grad for p in encoder.parameters()]
stft, back = make_enc_dec("stft", n_filters=32, kernel_size=32, stride=16)
spectrum = stft(wave)
show(back=back(spectrum), mag=mag(spectrum), phase=angle(spectrum).cos(), wave=griffin_lim(mag(spectrum), stft,
     angles=torch.zeros(2, 17, 15), n_iter=3), **found)
