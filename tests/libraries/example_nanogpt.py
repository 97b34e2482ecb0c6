"""A GPT trained to write letter by letter (examples/nanogpt.py)."""
from outcome import example, show

show(**example("nanogpt", "--data", "LICENSE", "--epochs", "2", "--steps", "60", "--width", "64", "--depth", "3",
               "--letters", "80"))
