"""tinytorch: PyTorch's API on NumPy. `import tinytorch as torch`, and the script runs."""
import atexit as _atexit
import gc as _gc
import os as _os

# Modules of torch for which there is little to do lie in a folder of their own: standins/README.md.
__path__.append(_os.path.join(__path__[0], "standins"))


class _NoCollection:
    """Switches garbage collection off while it lives: importing modules makes no garbage, and looking for it took a
    quarter of the time. If an import fails, this object is deleted too. The objects made meanwhile then move to the
    oldest generation; otherwise the next collection of young objects would look at all of them."""

    def __init__(self):
        self.enabled = _gc.isenabled()
        _gc.disable()

    def __del__(self):
        if _gc.get_freeze_count() < 1000:      # more: the program has frozen objects; Python 3.12 freezes a few hundred
            _gc.freeze()
            _gc.unfreeze()                     # gives all objects to the oldest generation
        if self.enabled:
            _gc.enable()


_no_collection = _NoCollection()
# At its end the process looked for cycles among tens of thousands of objects, which took as long as the import.
_atexit.register(_gc.freeze)

from .kernels.allocator import keep_freed_memory as _keep_freed_memory
from .kernels.linalg.blas import held as _held

_keep_freed_memory()
_held()                                        # OpenBLAS uses one thread from now on

from . import autograd
from .autograd import late_bound as _late_bound
from .autograd import enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled
from .autograd.grad_mode import is_inference
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .autograd.promotion import result_type
from .autograd.tensor_methods import detach
from .device import device
from .dtypes import (bfloat16, bool, can_cast, complex32, complex64, complex128, dtype, finfo, float8_e4m3fn,
                     float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float16, float32, float64,
                     get_default_dtype, iinfo, int8, int16, int32, int64, promote_types, set_default_dtype, uint8,
                     uint16, uint32, uint64)
from .ops.creation.legacy import *
from .missing import namespace as _namespace
from .memory_format import (channels_last, channels_last_3d, contiguous_format, layout, memory_format, preserve_format,
                            sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided)
from .ops.nn.activation import *
from .ops.elementwise.arithmetic import *
from .ops.elementwise.ternary import *
from .ops.elementwise.bessel import *
from .ops.elementwise.bitwise import *
from .ops.layout.broadcast import *
from .ops.elementwise.compare import *
from .ops.elementwise.complex import *
from .ops.elementwise.complex import _conj, _neg_view
from .ops.creation.factories import *
from .ops.creation.buffers import *
from .ops.creation.dlpack import *
from .ops.creation.sparse import *
from .ops.linalg.decompositions import *
from .ops.layout.diagonal import *
from .ops.fft.stft import *
from .ops.linalg.distance import *
from .ops.layout.index import *
from .ops.inplace import *
from .ops.foreach import *
from .ops.layout.join import *
from .ops.elementwise.incomplete_gamma import *
from .ops.elementwise.limits import *
from .ops.linalg.products import *
from .ops.linalg.added import *
from .ops.linalg.spectra import *
from .ops.linalg.triangular import *
from .ops.linalg.householder import *
from .ops.linalg.lu import *
from .ops.layout.masked import *
from .ops.elementwise.math import *
from .ops.linalg.functions import *
from .ops.nn.pad import *
from .ops.elementwise.power import *
from .ops.linalg.contractions import *
from .ops.random.factories import *
from .ops.random.gamma import *
from .ops.creation.ranges import *
from .ops.layout.rearrange import *
from .ops.reduction.extremes import *
from .ops.reduction.reductions import *
from .ops.reduction.quantiles import *
from .ops.elementwise.rounding import *
from .ops.reduction.cumulative import *
from .ops.layout.scatter import *
from .ops.layout.slices import *
from .ops.layout.shape import *
from .ops.nn.elu import *
from .ops.nn.relu import *
from .ops.nn.softmax import *
from .ops.reduction.sorting import *
from .ops.elementwise.special import *
from .ops.reduction.statistics import *
from .ops.reduction.correlation import *
from .ops.reduction.histograms import *
from .ops.reduction.hashes import *
from .ops.layout.views import *
from .ops.elementwise.where import *
from .ops.creation.rare_methods import dequantize, get_device, is_distributed
from .ops.creation.sparse_methods import resize_as_sparse_
from .ops.creation import casts as _casts, new_methods as _new_methods, sparse_methods as _sparse_methods
from .ops.layout import sequence as _sequence
from .ops.creation.conversion import clone, fill
from .printing import *
from .random import (Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state,
                     thread_safe_generator)
from .runtime import *
from .storage import *
from .checkpoint import sharing as _sharing
from .tensor import Size, Tensor
from .torch_version import __version__

import sys as _sys

from .autograd.overridable import complete as _complete, complete_tensor as _complete_tensor

_complete("", _sys.modules[__name__])
_complete_tensor()

from . import overrides, return_types, utils, version

torch = _sys.modules[__name__]                 # torch.torch is torch
half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
chalf, cfloat, cdouble = complex32, complex64, complex128

#: Submodules that take long to import and that few scripts use: they are loaded when they are first used.
_LATER = tuple("""
    _C __config__ __future__ _custom_ops _dynamo _functorch _higher_order_ops _inductor _jit_internal _library
    _lobpcg _lowrank _ops _prims_common _subclasses _tensor _tensor_str _utils _vmap_internals
    _weights_only_unpickler accelerator amp ao backends compiler cpu cuda debug distributed distributions export
    fft func functional futures fx hub jit library linalg masked monitor mps mtia multiprocessing nested nn onnx
    optim package profiler quantization quasirandom serialization signal sparse special testing vision viz
    xpu""".split())
#: Names of such submodules: name -> submodule that has it.
_OF = {"compile": "_dynamo", "export_c": "c_export",
       "load": "serialization", "save": "serialization", "vmap": "func", "ops": "_ops",
       "cond": "_higher_order_ops", "while_loop": "_higher_order_ops",
       **dict.fromkeys(("DisableTorchFunction", "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet",
                        "ScriptMethod"), "_C"),
       "FileCheck": "testing", "PyTorchFileReader": "_C", "PyTorchFileWriter": "_C", "SymBool": "_C",
       "SymFloat": "_C", "SymInt": "_C", "ScriptModule": "_C", "Future": "futures",
       "GradScaler": "amp", "autocast": "amp", "install": "environment.finder", "uninstall": "environment.finder",
       "Stream": "cpu", "Event": "cpu", "precise_tails": "func.tails",
       **dict.fromkeys(("eig", "lstsq", "matrix_rank", "solve", "symeig"), "_removed"),
       **dict.fromkeys("""adaptive_max_pool1d addmv_ as_strided_ batch_norm binary_cross_entropy_with_logits
           cosine_embedding_loss ctc_loss embedding frobenius_norm hinge_embedding_loss instance_norm kl_div
           margin_ranking_loss norm_except_dim poisson_nll_loss triplet_margin_loss""".split(), "ops.nn.native_calls"),
       **dict.fromkeys(("fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"),
                       "ops.nn.fake_quantize"),
       **dict.fromkeys("""alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy select_copy
           slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy
           unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy""".split(), "ops.layout.view_copies"),
       **dict.fromkeys("""conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
           convolution""".split(), "ops.nn.conv"),
       **dict.fromkeys("""avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d
           max_pool3d""".split(), "ops.nn.pool"),
       "adaptive_avg_pool1d": "ops.nn.adaptive_pool", "group_norm": "ops.nn.group_norm",
       **dict.fromkeys(("layer_norm", "rms_norm"), "ops.nn.norm"),
       **dict.fromkeys(("channel_shuffle", "pixel_shuffle", "pixel_unshuffle"), "ops.nn.pixel_shuffle"),
       **dict.fromkeys("""alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_
           feature_dropout feature_dropout_ native_dropout""".split(), "ops.nn.native_dropout"),
       **dict.fromkeys(("cosine_similarity", "pairwise_distance", "pdist"), "ops.nn.similarity"),
       **dict.fromkeys(("_pack_padded_sequence", "_pad_packed_sequence"), "ops.nn.packing"),
       "einsum": "ops.linalg.einsum", "gradient": "ops.layout.gradient", "bilinear": "ops.nn.bilinear",
       **dict.fromkeys(("_segment_reduce", "segment_reduce"), "ops.reduction.segments"),
       **dict.fromkeys(("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"),
                       "ops.creation.windows"),
       **dict.fromkeys(("_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"), "ops.layout.unsafe_index"),
       **dict.fromkeys(("_native_batch_norm_legit", "native_batch_norm", "native_group_norm", "native_layer_norm"),
                       "ops.nn.native_norm"),
       **dict.fromkeys(("affine_grid_generator", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"),
                       "ops.nn.grid_sample"),
       **dict.fromkeys(("gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu", "rnn_relu_cell", "rnn_tanh",
                        "rnn_tanh_cell"), "ops.nn.rnn"),
       "lobpcg": "ops.linalg.lobpcg", "pca_lowrank": "ops.linalg.lowrank", "svd_lowrank": "ops.linalg.lowrank",
       "conv_tbc": "ops.nn.conv_tbc", "is_same_size": "ops.layout.shape",
       **dict.fromkeys(("_assert", "_check", "_check_index", "_check_is_size", "_check_not_implemented",
                        "_check_tensor_all", "_check_type", "_check_value", "_check_with"), "_checks"),
       **dict.fromkeys("""compiled_with_cxx11_abi embedding_renorm_ from_file get_autocast_ipu_dtype
           get_autocast_xla_dtype get_device_module has_lapack has_mkl has_openmp has_spectral
           init_num_threads is_autocast_ipu_enabled is_autocast_xla_enabled is_vulkan_available
           native_channel_shuffle per_channel_affine per_channel_affine_float_qparams per_channel_symmetric
           per_tensor_affine per_tensor_symmetric qscheme set_anomaly_enabled sym_constrain_range
           sym_constrain_range_for_size sym_float sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sqrt
           sym_sum _has_compatible_shallow_copy_type _sym_sqrt AcceleratorError FatalError OutOfMemoryError Storage
           Tag""".split(), "_rare"),
       **dict.fromkeys("""bit bits16 bits1x8 bits2x4 bits4x2 bits8 float4_e2m1fn_x2 int1 int2 int3 int4 int5 int6 int7
           qint32 qint8 quint2x4 quint4x2 quint8 uint1 uint2 uint3 uint4 uint5 uint6 uint7""".split(), "_rare"),
       **dict.fromkeys("""AnyType AwaitType BoolType ClassType ComplexType DeviceObjType DictType EnumType FloatType
           FutureType InferredType IntType InterfaceType ListType NoneType NumberType OptionalType PyObjectType
           RRefType StreamObjType StringType SymBoolType SymIntType TensorType TupleType Type UnionType""".split(),
                       "_rare"),
       **dict.fromkeys(("CompilationUnit", "JITException", "ScriptFunction", "fork", "wait"), "jit"),
       **dict.fromkeys(("autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
                        "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
                        "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
                        "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
                        "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype"), "autograd.casts")}
del globals()["ops"]                           # our package of operations; torch.ops holds operators by name
_complete("autograd", autograd)
_late_bound.later.update(custom="tinytorch.func", vmap="tinytorch.func")

__getattr__ = _namespace(__name__, _LATER, _OF)
del _no_collection


def __dir__():
    return sorted({*globals(), *_LATER, *_OF})
