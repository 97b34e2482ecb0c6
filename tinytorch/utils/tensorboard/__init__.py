"""torch.utils.tensorboard: logs of training for TensorBoard, written by the library tensorboard."""
from tensorboard.summary.writer.record_writer import RecordWriter

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
