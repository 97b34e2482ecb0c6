"""torch.distributed.rpc: calls of functions in other processes, which are not supported here."""
from .._refused import refused, refused_class

__all__ = ["RRef", "init_rpc", "is_available", "remote", "rpc_async", "rpc_sync", "shutdown"]

RRef = refused_class(__name__, "RRef", "processes do not call functions of each other")
init_rpc, remote, rpc_async, rpc_sync, shutdown = [
    refused(__name__, name, "processes do not call functions of each other")
    for name in ("init_rpc", "remote", "rpc_async", "rpc_sync", "shutdown")]


def is_available():
    """False."""
    return False
