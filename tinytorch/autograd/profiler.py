"""torch.autograd.profiler: the old name of torch.profiler."""
from .._refused import refused, refused_class
from ..profiler import kineto_available, profile as _profile, record_function

__all__ = ["EventList", "FunctionEvent", "emit_itt", "emit_nvtx", "kineto_available", "load_nvprof", "profile",
           "record_function"]

FunctionEvent = refused_class(__name__, "FunctionEvent", "events are torch.profiler's here")
emit_itt, emit_nvtx, load_nvprof = [refused(__name__, name, "there is no tool of the machine's to tell")
                                    for name in ("emit_itt", "emit_nvtx", "load_nvprof")]


class EventList(list):
    """A list of events."""


class profile(_profile):
    """torch.profiler.profile for the CPU; with enabled=False a context that records nothing."""

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False,
                 profile_memory=False, with_stack=False, with_modules=False, use_kineto=False, use_cpu=True,
                 experimental_config=None, acc_events=False, custom_trace_id_callback=None):
        super().__init__(record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack)
        self.enabled = enabled

    def __repr__(self):
        """The table of the recorded events."""
        return self.key_averages().table() if self.events() else "<unfinished torch.autograd.profile>"

    def __enter__(self):
        return super().__enter__() if self.enabled else self

    def __exit__(self, *exc_info):
        return super().__exit__(*exc_info) if self.enabled else None
