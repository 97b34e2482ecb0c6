"""The layers: one file for each family."""
from ...missing import namespace as _namespace
from .activation import *
from .adaptive import *
from .batchnorm import *
from .channelshuffle import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .linear import *
from .linear_cross_entropy_options import *
from .loss import *
from .module import Module
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *

__getattr__ = _namespace(__name__, ["utils"])      # not imported: `from .modules import *` would replace nn.utils
