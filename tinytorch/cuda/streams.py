"""torch.cuda.streams: the classes of torch.cuda for streams."""
from . import Event, ExternalStream, Stream

__all__ = ["Event", "ExternalStream", "Stream"]
