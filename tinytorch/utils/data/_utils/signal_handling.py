"""The error for a worker process that ends unexpectedly.

No handler of SIGCHLD is installed: the loader waits for the end of its workers together with their batches.
"""
__all__ = ["cause_of_end"]


def cause_of_end(process):
    """RuntimeError that says how the process ended."""
    import signal  # slow to import because of its enumerations, and only needed for this error

    code = process.exitcode
    if code is None or code >= 0:
        return RuntimeError(
            f"DataLoader worker (pid {process.pid}) exited unexpectedly with exit code {code}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace.")
    said = f"DataLoader worker (pid {process.pid}) is killed by signal: {signal.strsignal(-code)}. "
    if -code == signal.SIGBUS:
        said += ("It is possible that dataloader's workers are out of shared memory. Please try to raise your shared "
                 "memory limit.")
    return RuntimeError(said)
