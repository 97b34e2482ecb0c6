"""GPT-2 trained by the Trainer of transformers, and what it goes on to write (examples/hf_trainer.py)."""
from outcome import example, show

show(**example("hf_trainer", "--data", "LICENSE", "--epochs", "4", "--batch", "4", "--letters", "40"))
