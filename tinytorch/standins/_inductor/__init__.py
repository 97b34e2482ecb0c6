"""torch._inductor: settings and tables of a compiler that libraries write to. Nothing reads them."""
from .._refused import refused as _refused
from ..missing import namespace as _namespace

compile, aot_compile, aoti_compile_and_package, aoti_load_package, standalone_compile = [
    _refused(__name__, _name, "there is no compiler")
    for _name in ("compile", "aot_compile", "aoti_compile_and_package", "aoti_load_package", "standalone_compile")]


def cudagraph_mark_step_begin():
    """Does nothing: there is no CUDA."""


def list_mode_options(mode=None, dynamic=None):
    """The empty dict: no mode of compilation has options."""
    return {}


def list_options():
    """The empty list."""
    return []


__getattr__ = _namespace(__name__, ("config", "decomposition"))
