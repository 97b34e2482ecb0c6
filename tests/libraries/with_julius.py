"""julius: signals resampled, filtered and split into bands, convolution by FFT, with gradients."""
import julius
import torch
from outcome import show

x = torch.randn(2, 3, 400, dtype=torch.double, requires_grad=True)
kernel = torch.randn(4, 3, 32, dtype=torch.double, requires_grad=True)
tone = julius.core.pure_tone(5, 100, 2)
parts = {"resampled": julius.resample_frac(x, 5, 3, zeros=8), "full": julius.ResampleFrac(4, 7).double()(x, full=True),
         "low": julius.lowpass_filter(x, 0.1), "lows": julius.lowpass_filters(x, [0.05, 0.2], stride=2, fft=True),
         "high": julius.highpass_filter(x, 0.2, pad=False), "band": julius.bandpass_filter(x, 0.1, 0.3, fft=False),
         "bands": julius.SplitBands(8000, 4).double()(x), "fft": julius.fft_conv1d(x, kernel, stride=3, padding=5),
         "tone": julius.split_bands(tone, 100, n_bands=3)}
total = sum([(part * torch.linspace(-1, 1, part.shape[-1])).sum() for part in parts.values()])
total.backward()
layer = julius.FFTConv1d(3, 2, 40, stride=2).double()
layer(x).square().mean().backward()
mels = julius.core.mel_frequencies(10, 40, 4000)
show(**{name: part.flatten()[-200:] for name, part in parts.items()}, x=x.grad, kernel=kernel.grad,
     weight=layer.weight.grad, mels=mels, volume=julius.core.volume(tone),
     frames=julius.core.unfold(x[0], 50, 30), written=str(layer))
