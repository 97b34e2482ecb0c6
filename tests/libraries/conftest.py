"""The programs are run, not imported: their libraries may not be there."""
collect_ignore_glob = ["with_*.py", "example_*.py", "outcome.py", "under_torch.py"]
