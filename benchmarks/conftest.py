"""For `pytest benchmarks`: these two files need libraries that only peers.py uses."""
collect_ignore = ["in_jax.py", "in_tinygrad.py"]
