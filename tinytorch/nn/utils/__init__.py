"""Helpers for training: gradient clipping, parameters as vectors, padded sequences."""
from . import rnn
from .clip_grad import *
from .convert_parameters import *
