"""For `pytest benchmarks`: these two need libraries that only peers.py asks for."""
collect_ignore = ["in_jax.py", "in_tinygrad.py"]
