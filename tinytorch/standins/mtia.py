"""torch.mtia on a machine without Meta's accelerator."""
from . import _absent

_REASON = ("Torch not compiled with MTIA enabled. Ensure you have `import "
           "mtia.host_runtime.torch_mtia.dynamic_library` in your python src file and include "
           "`//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!")
_more = _absent.refusing(__name__, """attach_out_of_memory_observer current_device current_stream default_stream
    empty_cache get_device_capability get_device_properties get_rng_state graph graph_pool_handle init
    initial_seed manual_seed manual_seed_all set_device set_rng_state set_rng_state_all set_stream snapshot stream
    synchronize""".split(), AssertionError, _REASON)
_more.update(_absent.answering(__name__, ("is_available", "is_initialized"), bool, "False."))
for _names, _result, _text in (("device_count", int, "0."), ("is_bf16_supported", lambda: True, "True."),
                               ("max_memory_allocated memory_allocated", int, "0 bytes."),
                               ("memory_stats", dict, "The empty dict."),
                               ("get_rng_state_all", list, "The empty list."),
                               ("record_memory_history reset_peak_memory_stats seed seed_all", lambda: None,
                                "Nothing.")):
    _more.update(_absent.answering(__name__, _names.split(), _result, _text))
_more.update(_absent.dummies(__name__, ("Event", "MTIAGraph", "Stream")))
globals().update(_more)
__all__ = ["device", *_more]


class device:
    """AssertionError when it is entered: there is no such device."""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        raise AssertionError(_REASON)

    def __exit__(self, *error):
        """Nothing."""
