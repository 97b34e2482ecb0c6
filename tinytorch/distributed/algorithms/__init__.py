"""torch.distributed.algorithms: what is built on collectives."""
from ...missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("_checkpoint", "ddp_comm_hooks", "join"),
                         dict.fromkeys(("Join", "Joinable", "JoinHook"), "join"))
