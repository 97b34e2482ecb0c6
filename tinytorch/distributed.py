"""torch.distributed where there is one process: questions say so, and starting more is refused."""

__all__ = ["barrier", "get_rank", "get_world_size", "init_process_group", "is_available", "is_initialized"]


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def init_process_group(*args, **kwargs):
    """NotImplementedError: there is one process."""
    raise NotImplementedError("torch.distributed is not supported: tinytorch runs in one process")


def _refuse():
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def get_rank(group=None):
    """ValueError: there is no process group."""
    _refuse()


def get_world_size(group=None):
    """ValueError: there is no process group."""
    _refuse()


def barrier(*args, **kwargs):
    """ValueError: there is no process group."""
    _refuse()
