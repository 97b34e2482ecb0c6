"""torchinfo: the summary of a model."""
from outcome import network, show
from torchinfo import summary

text = str(summary(network(), input_size=(2, 4), verbose=0))
show(text=text)
