"""Parity tests compare with the real torch: without it there is nothing to run here."""
import os
import sys

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

try:
    import torch
except ImportError:
    collect_ignore_glob = ["test_*.py", "adapter.py"]
else:
    torch.set_num_threads(1)


def pytest_terminal_summary(terminalreporter):
    """Say what torch's tables hold that is not implemented here (and so was not tested)."""
    for table in ("op_db", "module_db", "optim_db"):
        module = sys.modules.get(f"{__package__}.test_{table}")
        if module is not None:
            terminalreporter.write_line(module.summary())
