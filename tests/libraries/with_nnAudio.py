"""nnAudio: spectrograms computed by convolution, from sounds back and forth, with filters that are trained."""
import torch
from nnAudio import features
from outcome import show, trained

quiet = {"sr": 2000, "verbose": False}
x = torch.sin(torch.arange(1500) * torch.tensor([[0.2], [0.7]])) + 0.1 * torch.randn(2, 1500)
short = {"n_fft": 128, "hop_length": 64}
stft = features.STFT(**short, **quiet, iSTFT=True)
spectrum = stft(x, output_format="Complex")
layers = {"magnitude": features.STFT(**short, **quiet, freq_scale="log", fmin=50, fmax=900, freq_bins=30,
                                     output_format="Magnitude"),
          "mel": features.MelSpectrogram(**short, **quiet, n_mels=12),
          "gamma": features.Gammatonegram(**short, **quiet, n_bins=8),
          "mfcc": features.MFCC(**short, **quiet, n_mfcc=5, n_mels=12),
          "cqt": features.CQT2010v2(**quiet, hop_length=64, fmin=60, n_bins=24, bins_per_octave=8),
          "cqt1": features.CQT1992v2(**quiet, hop_length=64, fmin=60, n_bins=24, bins_per_octave=8),
          "vqt": features.VQT(**quiet, hop_length=64, fmin=60, n_bins=16, bins_per_octave=8, gamma=5)}
net = torch.nn.Sequential(features.MelSpectrogram(**short, **quiet, n_mels=8, trainable_mel=True, trainable_STFT=True),
                          torch.nn.Flatten(), torch.nn.Linear(192, 1))
losses = trained(net, torch.optim.SGD(net.parameters(), 1e-6), x, torch.tensor([[0.0], [1.0]]), 4)
show(**{name: layer(x).flatten()[:200] for name, layer in layers.items()}, spectrum=spectrum[1, 20:40],
     back=stft.inverse(spectrum, length=1500), losses=losses, filters=net[0].mel_basis.grad)
