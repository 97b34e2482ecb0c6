"""torch.monitor: names to import. There are no counters."""
from ._refused import refused_names

_REFUSED = refused_names(__name__, "there are no counters here; torch.utils.tensorboard writes logs", """
    log_event register_event_handler unregister_event_handler""", """Aggregation Event EventHandlerHandle Stat
    TensorboardEventHandler data_value_t""")
globals().update(_REFUSED)
__all__ = [*_REFUSED]
