"""pytorch-lightning: a Trainer, with a callback and a checkpoint."""
import sys

import pytorch_lightning

sys.modules["lightning"] = pytorch_lightning       # of the same classes, under its older name
import with_lightning  # noqa: E402, F401
