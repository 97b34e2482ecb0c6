"""torch.cuda.streams: the classes of torch.cuda that are about streams."""
from . import Event, ExternalStream, Stream

__all__ = ["Event", "ExternalStream", "Stream"]
