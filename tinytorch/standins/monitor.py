"""torch.monitor: names to import. Nothing is counted."""
from ._refused import refused_names

_REFUSED = refused_names(__name__, "nothing is counted here; torch.utils.tensorboard writes what is logged", """
    log_event register_event_handler unregister_event_handler""", """Aggregation Event EventHandlerHandle Stat
    TensorboardEventHandler data_value_t""")
globals().update(_REFUSED)
__all__ = [*_REFUSED]
