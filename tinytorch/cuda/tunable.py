"""torch.cuda.tunable: the choice between kernels on a GPU, which is not available."""
from .._absent import answering, refusing

_REFUSED = """enable get_filename get_max_tuning_duration get_max_tuning_iterations get_results get_rotating_buffer_size
    get_validators mgpu_tune_gemm_in_file read_file record_untuned_enable set_filename set_max_tuning_duration
    set_max_tuning_iterations set_numerical_check_tolerances set_rotating_buffer_size tune_gemm_in_file tuning_enable
    write_file write_file_on_exit""".split()
_FALSE = "is_enabled record_untuned_is_enabled tuning_is_enabled".split()
__all__ = [*_FALSE, *_REFUSED]

globals().update(refusing(__name__, _REFUSED, AssertionError, "Torch not compiled with CUDA enabled"))
globals().update(answering(__name__, _FALSE, bool, "False."))
