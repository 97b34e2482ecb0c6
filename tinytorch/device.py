"""Device objects. There is one device, the CPU; others can be named but hold no tensor."""


class device:
    """Where a tensor lives: `device("cpu")`, `device("cuda", 0)`, `device("cuda:0")`.

    >>> import tinytorch as torch
    >>> torch.device("cpu")
    device(type='cpu')
    """

    __slots__ = ("type", "index")
    _TYPES = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
              "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")

    def __init__(self, type="cpu", index=None):
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, int):
            type, index = "cuda", type
        elif isinstance(type, str):
            kind, _, number = type.partition(":")
            if number:
                if index is not None:
                    raise RuntimeError("type (string) must not include an index because index was passed explicitly: "
                                       f"{type}")
                if not number.isdigit():
                    raise RuntimeError(f"Invalid device string: '{type}'")
                index = int(number)
            type = kind
        else:
            raise TypeError(f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        if type not in self._TYPES:
            raise RuntimeError(f"Expected one of {', '.join(self._TYPES)} device type at start of device string: "
                               f"{type}")
        self.type, self.index = type, index

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
        check_device(self)
        return self

    def __exit__(self, *exc_info):
        return False


CPU = device("cpu")


def check_device(d):
    """The CPU for None and every spelling of it; torch's error for a device that is not there."""
    if d is None or d is CPU:
        return CPU
    d = device(d)
    if d.type == "cpu":
        return CPU
    if d.type == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    raise NotImplementedError(f"tinytorch computes on the CPU only: no tensor can be put on device '{d}'")
