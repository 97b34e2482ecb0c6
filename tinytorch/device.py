"""Device objects. Tensors are on the CPU, or on `meta`, where they have no numbers. Other devices can only be named."""
import importlib
import re


class device:
    """Where a tensor lives: `device("cpu")`, `device("cuda", 0)`, `device("cuda:0")`.

    RuntimeError for a string that names no device, and for a number alone: it counts accelerators, and there are none.

    >>> import tinytorch as torch
    >>> torch.device("cpu")
    device(type='cpu')
    """

    __slots__ = ("type", "index")
    _TYPES = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
              "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")

    def __init__(self, type=None, index=None, *, device=None):
        given = device if type is None else type
        if given.__class__ is self.__class__ and index is None:
            type, index = given.type, given.index
        elif isinstance(given, str):
            type, index = self._parsed(given, index)
        elif index is None and _is_number(given):
            if given < 0:
                raise RuntimeError("Device index must not be negative")
            raise RuntimeError("Cannot access accelerator device when none is available.")
        else:
            name = "torch.device" if given.__class__ is self.__class__ else given.__class__.__name__
            raise TypeError(f"device(): argument 'type' (position 1) must be str, not {name}")
        self.type, self.index = type, index

    def _parsed(self, text, index):
        """The type and index that a string and an index name."""
        if index is not None and (isinstance(index, bool) or not hasattr(index, "__index__")):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {index.__class__.__name__}")
        if not text:
            raise RuntimeError("Device string must not be empty")
        found = re.fullmatch("([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?", text)
        if found is None:
            raise RuntimeError(f"Invalid device string: '{text}'")
        kind, number = found.groups()
        if kind not in self._TYPES:
            raise RuntimeError(f"Expected one of {', '.join(self._TYPES)} device type at start of device string: "
                               f"{kind}")
        if number is None:
            if index is not None and index < 0:
                raise RuntimeError("Device index must not be negative")
            return kind, None if index is None else int(index)
        if index is not None:
            raise RuntimeError("type (string) must not include an index because index was passed explicitly: "
                               f"{text}")
        if int(number) >= 2 ** 31:
            raise RuntimeError(f"Could not parse device index '{number}' in device string '{text}'")
        return kind, int(number)

    def __repr__(self):
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, (self.type, self.index)

    def __enter__(self):
        try:
            _contexts().enter(self)
            return self
        except BaseException:                  # an interrupt: there will be no `__exit__`
            _contexts().leave(self)
            raise

    def __exit__(self, *exc_info):
        _contexts().leave(self)
        return False


def _is_number(x):
    """Whether `x` is an int, also one of NumPy's, and neither a bool nor an array or tensor of one element."""
    return hasattr(x, "__index__") and not isinstance(x, bool) and not hasattr(x, "__setitem__")


CPU, META = device("cpu"), device("meta")


def _contexts():
    """The module of default devices, imported here because few programs use them."""
    return importlib.import_module(f"{__package__}.utils._device")


def check_device(d):
    """The CPU for None and every spelling of it, or `meta`; torch's error for a device that is not available."""
    if d is None or d is CPU or d.__class__ is str and d == "cpu":
        return CPU
    d = device(d)
    if d.type == "cpu":
        return CPU
    if d.type == "meta":
        return META
    if d.type in ("cuda", "xpu"):
        raise AssertionError(f"Torch not compiled with {d.type.upper()} enabled")
    raise NotImplementedError(f"tinytorch computes on the CPU only: no tensor can be put on device '{d}'")
