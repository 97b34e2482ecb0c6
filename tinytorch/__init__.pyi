# Written by tests/stubs.py. Do not edit.
from collections.abc import Callable as Callable
from collections.abc import Sequence as Sequence
from types import ModuleType as ModuleType
from typing import Any as Any
from numpy import ndarray as ndarray
from .types import Device as Device
from .types import Ints as Ints
from .types import Number as Number
from .types import Tensors as Tensors
from .types import _bool as _bool
from .types import _dtype as _dtype
from .types import _float as _float
from .types import _int as _int

accelerator: ModuleType
from . import amp as amp
from . import ao as ao
from . import autograd as autograd
from . import backends as backends
from . import compiler as compiler
cpu: ModuleType
from . import cuda as cuda
from . import debug as debug
from . import distributed as distributed
from . import distributions as distributions
from . import export as export
from . import fft as fft
from . import func as func
functional: ModuleType
from . import futures as futures
from . import fx as fx
from . import hub as hub
from . import jit as jit
from . import library as library
from . import linalg as linalg
from . import masked as masked
monitor: ModuleType
mps: ModuleType
mtia: ModuleType
from . import multiprocessing as multiprocessing
nested: ModuleType
from . import nn as nn
from . import onnx as onnx
from . import optim as optim
from . import overrides as overrides
package: ModuleType
from . import profiler as profiler
from . import quantization as quantization
from . import quasirandom as quasirandom
from . import random as random
from . import return_types as return_types
from . import serialization as serialization
from . import signal as signal
from . import sparse as sparse
from . import special as special
from . import storage as storage
from . import testing as testing
torch_version: ModuleType
from . import types as types
from . import utils as utils
from . import version as version
from . import vision as vision
from . import viz as viz
xpu: ModuleType
AcceleratorError: Any
from .jit import CompilationUnit as CompilationUnit
from .autograd.torch_function import DisableTorchFunction as DisableTorchFunction
from .autograd.torch_function import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
DispatchKey: Any
DispatchKeySet: Any
Event: Any
FatalError: Any
from .testing.file_check import FileCheck as FileCheck
from .futures import Future as Future
from .random import Generator as Generator
from .amp.grad_scaler import GradScaler as GradScaler
from .jit import Error as JITException
OutOfMemoryError: Any
PyTorchFileReader: Any
PyTorchFileWriter: Any
from .jit.modules import ScriptFunction as ScriptFunction
ScriptMethod: Any
ScriptModule: Any
from .tensor import Size as Size
Stream: Any
SymBool: Any
SymFloat: Any
SymInt: Any
Tag: Any
from .tensor import Tensor as Tensor
from .storage import TypedStorage as TypedStorage
from .storage import UntypedStorage as UntypedStorage
from .amp.autocast_mode import autocast as autocast
from .device import device as device
from .dtypes import dtype as dtype
from .autograd.grad_mode import enable_grad as enable_grad
from .dtypes import finfo as finfo
from .dtypes import iinfo as iinfo
from .autograd.grad_mode import inference_mode as inference_mode
from .memory_format import layout as layout
from .memory_format import memory_format as memory_format
from .autograd.grad_mode import no_grad as no_grad
from .func.tails import precise_tails as precise_tails
qscheme: Any
from .autograd.grad_mode import set_grad_enabled as set_grad_enabled

AnyType: Any
AwaitType: Any
BFloat16Storage: type[TypedStorage]
BFloat16Tensor: type[Tensor]
BoolStorage: type[TypedStorage]
BoolTensor: type[Tensor]
BoolType: Any
ByteStorage: type[TypedStorage]
ByteTensor: type[Tensor]
CharStorage: type[TypedStorage]
CharTensor: type[Tensor]
ClassType: Any
ComplexDoubleStorage: type[TypedStorage]
ComplexDoubleTensor: type[Tensor]
ComplexFloatStorage: type[TypedStorage]
ComplexFloatTensor: type[Tensor]
ComplexType: Any
DeviceObjType: Any
DictType: Any
DoubleStorage: type[TypedStorage]
DoubleTensor: type[Tensor]
EnumType: Any
FloatStorage: type[TypedStorage]
FloatTensor: type[Tensor]
FloatType: Any
FutureType: Any
HalfStorage: type[TypedStorage]
HalfTensor: type[Tensor]
InferredType: Any
IntStorage: type[TypedStorage]
IntTensor: type[Tensor]
IntType: Any
InterfaceType: Any
ListType: Any
LongStorage: type[TypedStorage]
LongTensor: type[Tensor]
NoneType: Any
NumberType: Any
OptionalType: Any
PyObjectType: Any
RRefType: Any
ShortStorage: type[TypedStorage]
ShortTensor: type[Tensor]
Storage: type[TypedStorage]
StreamObjType: Any
StringType: Any
SymBoolType: Any
SymIntType: Any
TensorType: Any
TupleType: Any
Type: Any
UnionType: Any
__version__: Any
bfloat16: _dtype
bit: Any
bits16: Any
bits1x8: Any
bits2x4: Any
bits4x2: Any
bits8: Any
bool: _dtype
cdouble: _dtype
cfloat: _dtype
chalf: _dtype
channels_last: Any
channels_last_3d: Any
complex128: _dtype
complex32: _dtype
complex64: _dtype
contiguous_format: Any
default_generator: Any
double: _dtype
e: _float
float: _dtype
float16: _dtype
float32: _dtype
float4_e2m1fn_x2: Any
float64: _dtype
float8_e4m3fn: _dtype
float8_e4m3fnuz: _dtype
float8_e5m2: _dtype
float8_e5m2fnuz: _dtype
float8_e8m0fnu: _dtype
half: _dtype
has_lapack: Any
has_mkl: Any
has_openmp: Any
has_spectral: Any
inf: _float
int: _dtype
int1: Any
int16: _dtype
int2: Any
int3: Any
int32: _dtype
int4: Any
int5: Any
int6: Any
int64: _dtype
int7: Any
int8: _dtype
long: _dtype
nan: _float
newaxis: Any
per_channel_affine: Any
per_channel_affine_float_qparams: Any
per_channel_symmetric: Any
per_tensor_affine: Any
per_tensor_symmetric: Any
pi: _float
preserve_format: Any
qint32: Any
qint8: Any
quint2x4: Any
quint4x2: Any
quint8: Any
short: _dtype
sparse_bsc: Any
sparse_bsr: Any
sparse_coo: Any
sparse_csc: Any
sparse_csr: Any
strided: Any
uint1: Any
uint16: _dtype
uint2: Any
uint3: Any
uint32: _dtype
uint4: Any
uint5: Any
uint6: Any
uint64: _dtype
uint7: Any
uint8: _dtype

def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def abs_(self) -> Any: ...
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def acos_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def acosh_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Ints) -> Tensor: ...
def adaptive_max_pool1d(
    input: Tensor,
    output_size: _int | Ints,
    return_indices: Any = True,
) -> tuple[Tensor, Tensor]: ...
def add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: ...
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def adjoint(input: Tensor) -> Tensor: ...
def affine_grid_generator(theta: Tensor, size: Ints, align_corners: _bool) -> Tensor: ...
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def all(
    input: Tensor,
    dim: Ints | _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: _float | _bool = 1e-05,
    atol: _float | _bool = 1e-08,
    equal_nan: _bool = False,
) -> _bool: ...
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def amax(
    input: Tensor,
    dim: _int | Ints | None = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def amin(
    input: Tensor,
    dim: _int | Ints | None = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def aminmax(
    input: Tensor,
    *,
    dim: _int | None = None,
    keepdim: _bool = False,
    out: Tensors | None = None,
) -> return_types.aminmax: ...
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def any(
    input: Tensor,
    dim: Ints | _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def arange(
    *args: Number,
    start: Number = 0,
    end: Number | None = None,
    step: Number = 1,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor: ...
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arccos_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arccosh_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arcsin_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arcsinh_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctan2(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def arctan_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctanh_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def are_deterministic_algorithms_enabled() -> _bool: ...
def argmax(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def argmin(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: _bool = False) -> Tensor: ...
def argwhere(input: Tensor) -> Tensor: ...
def as_strided(input: Tensor, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor: ...
def as_strided_(input: Tensor, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor: ...
def as_strided_copy(
    input: Tensor,
    size: Ints,
    stride: Ints,
    storage_offset: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Ints,
    stride: Ints,
    storage_offset: _int | None = None,
) -> Tensor: ...
def as_tensor(data: Any, *, dtype: Any = None, device: Device = ...) -> Tensor: ...
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Device = ...,
    copy: _bool | None = None,
    requires_grad: _bool | None = None,
) -> Tensor: ...
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def asin_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def asinh_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def atan2(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def atan_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def atanh_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def atleast_1d(*tensors: Tensor | Tensors) -> Tensor | Tensors: ...
def atleast_2d(*tensors: Tensor | Tensors) -> Tensor | Tensors: ...
def atleast_3d(*tensors: Tensor | Tensors) -> Tensor | Tensors: ...
def autocast_decrement_nesting() -> _int: ...
def autocast_increment_nesting() -> _int: ...
def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Ints,
    stride: _int | Ints | None = None,
    padding: _int | Ints = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor: ...
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def bartlett_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor: ...
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool,
) -> Tensor: ...
def bernoulli(
    input: Tensor,
    p: _float = ...,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: _int = 0,
) -> Tensor: ...
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor: ...
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor: ...
def bitwise_and(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_left_shift(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_or(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_right_shift(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_xor(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def blackman_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor: ...
def block_diag(*tensors: Tensor) -> Tensor: ...
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def broadcast_shapes(*shapes: _int | Ints) -> Size: ...
def broadcast_tensors(*tensors: Tensor) -> Tensors: ...
def broadcast_to(input: Tensor, size: Ints) -> Tensor: ...
def bucketize(
    input: Tensor | Number,
    boundaries: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def can_cast(from_: _dtype, to: _dtype) -> Any: ...
def cartesian_prod(*tensors: Tensor | Tensors) -> Tensor: ...
def cat(tensors: Tensors, dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor: ...
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    compute_mode: str = 'use_mm_for_euclid_dist_if_necessary',
) -> Tensor: ...
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def ceil_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def celu(input: Tensor, alpha: Number = 1.0) -> Tensor: ...
def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor: ...
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor: ...
def channel_shuffle(input: Tensor, groups: _int) -> Tensor: ...
def cholesky(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def cholesky_inverse(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def cholesky_solve(input: Tensor, input2: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> Tensors: ...
def clamp(
    input: Tensor,
    min: Tensor | Number | None = None,
    max: Tensor | Number | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def clamp_(
    input: Tensor,
    min: Tensor | Number | None = None,
    max: Tensor | Number | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def clamp_max(input: Tensor, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def clamp_max_(input: Tensor, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def clamp_min(input: Tensor, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def clamp_min_(input: Tensor, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def clear_autocast_cache() -> None: ...
def clip(
    input: Tensor,
    min: Tensor | Number | None = None,
    max: Tensor | Number | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def clip_(
    input: Tensor,
    min: Tensor | Number | None = None,
    max: Tensor | Number | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor: ...
def column_stack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor: ...
def compile(
    model: Callable | None = None,
    *,
    fullgraph: _bool = False,
    dynamic: _bool | None = None,
    backend: str | Callable | None = None,
    mode: str | None = None,
    options: dict | None = None,
    name: str | None = None,
    disable: _bool = False,
    recompile_limit: _int | None = None,
    isolate_recompiles: _bool = False,
    shapes_spec: Any = None,
) -> Callable: ...
def compiled_with_cxx11_abi() -> _bool: ...
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def concat(tensors: Tensors, dim: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def concatenate(tensors: Tensors, dim: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def cond(pred: Any, true_fn: Any, false_fn: Any, operands: tuple | list = ...) -> Any: ...
def conj(input: Tensor) -> Tensor: ...
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def conj_physical_(self) -> Any: ...
def constant_pad_nd(input: Tensor, pad: Ints, value: Number = 0) -> Tensor: ...
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Ints = 1,
    padding: _int | Ints | str = 0,
    dilation: _int | Ints = 1,
    groups: _int = 1,
) -> Tensor: ...
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Ints = 1,
    padding: _int | Ints | str = 0,
    dilation: _int | Ints = 1,
    groups: _int = 1,
) -> Tensor: ...
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Ints = 1,
    padding: _int | Ints | str = 0,
    dilation: _int | Ints = 1,
    groups: _int = 1,
) -> Tensor: ...
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor: ...
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Ints = 1,
    padding: _int | Ints = 0,
    output_padding: _int | Ints = 0,
    groups: _int = 1,
    dilation: _int | Ints = 1,
) -> Tensor: ...
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Ints = 1,
    padding: _int | Ints = 0,
    output_padding: _int | Ints = 0,
    groups: _int = 1,
    dilation: _int | Ints = 1,
) -> Tensor: ...
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Ints = 1,
    padding: _int | Ints = 0,
    output_padding: _int | Ints = 0,
    groups: _int = 1,
    dilation: _int | Ints = 1,
) -> Tensor: ...
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: _bool,
    output_padding: Ints,
    groups: _int,
) -> Tensor: ...
def copysign(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def corrcoef(input: Tensor) -> Tensor: ...
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def cos_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def cosh_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    reduction: _int = 0,
) -> Tensor: ...
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor: ...
def count_nonzero(input: Tensor, dim: Ints | _int | None = None) -> Tensor: ...
def cov(
    input: Tensor,
    *,
    correction: _int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor: ...
def cross(input: Tensor, other: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor: ...
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Ints,
    target_lengths: Tensor | Ints,
    blank: _int = 0,
    reduction: _int = 0,
    zero_infinity: _bool = False,
) -> Tensor: ...
def cummax(input: Tensor, dim: _int, *, out: Tensors | None = None) -> return_types.cummax: ...
def cummin(input: Tensor, dim: _int, *, out: Tensors | None = None) -> return_types.cummin: ...
def cumprod(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor: ...
def cumsum(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor: ...
def cumulative_trapezoid(y: Tensor, x: Tensor = ..., *, dx: Number = 1, dim: _int = -1) -> Tensor: ...
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def deg2rad_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def dequantize(input: Tensor) -> Tensor: ...
def det(input: Tensor) -> Tensor: ...
def detach(input: Tensor) -> Tensor: ...
def detach_(input: Tensor) -> Tensor: ...
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def diag(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor: ...
def diagflat(input: Tensor, offset: _int = 0) -> Tensor: ...
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor: ...
def diagonal_copy(
    input: Tensor,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def diagonal_scatter(input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor: ...
def diff(
    input: Tensor,
    n: _int = 1,
    dim: _int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor: ...
def div(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def divide(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def dsmm(input: Tensor, mat2: Tensor) -> Tensor: ...
def dsplit(input: Tensor, sections: Ints | _int | None = None, *, indices: Ints | None = None) -> Tensors: ...
def dstack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
def eig(self, eigenvectors=False, *, e=None, v=None) -> Any: ...
def einsum(*args) -> Tensor: ...
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: _int = -1,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor: ...
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: _float, norm_type: _float) -> Tensor: ...
def empty(
    *args: _int | Ints,
    size: Ints | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: Any = None,
) -> Tensor: ...
def empty_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: Any = ...,
) -> Tensor: ...
def empty_permuted(
    size: Ints,
    physical_layout: Ints,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def empty_strided(
    size: Ints,
    stride: Ints,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def eq(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def equal(input: Tensor, other: Tensor) -> _bool: ...
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def erf_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def erfc_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def exp2_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def exp_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def expand_copy(input: Tensor, size: Ints, *, implicit: _bool = False, out: Tensor | None = None) -> Tensor: ...
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def expm1_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def export_c(model: Any, inputs: Any, path: Any = None, *, name: str = 'model') -> str: ...
def eye(
    n: _int,
    m: _int = ...,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def fake_quantize_per_channel_affine(
    input: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: _int,
    quant_min: _int,
    quant_max: _int,
) -> Tensor: ...
def fake_quantize_per_tensor_affine(
    input: Tensor,
    scale: _float | Tensor,
    zero_point: _int | Tensor,
    quant_min: _int,
    quant_max: _int,
) -> Tensor: ...
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def fill(input: Tensor, value: Tensor | Number) -> Tensor: ...
def fill_(input: Tensor, value: Tensor | Number) -> Tensor: ...
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def fix_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor: ...
def flip(input: Tensor, dims: Ints) -> Tensor: ...
def fliplr(input: Tensor) -> Tensor: ...
def flipud(input: Tensor) -> Tensor: ...
def float_power(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def floor_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def floor_divide(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def fmax(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def fmin(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def fmod(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def fork(func, *args, **kwargs) -> Any: ...
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def frac_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def frexp(input: Tensor, *, out: Tensors | None = None) -> return_types.frexp: ...
def frobenius_norm(input: Tensor, dim: _int | Ints, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def from_dlpack(ext_tensor: Any, *, device: Device = ..., copy: _bool | None = None) -> Tensor: ...
def from_file(
    filename: str,
    shared: _bool | None = None,
    size: _int | None = 0,
    *,
    dtype: _dtype | None = None,
    layout: object = ...,
    device: Any = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def from_numpy(ndarray: Any, /) -> Tensor: ...
def frombuffer(
    buffer: Any,
    *,
    dtype: Any,
    count: _int = -1,
    offset: _int = 0,
    requires_grad: _bool | None = False,
) -> Tensor: ...
def full(
    size: Ints,
    fill_value: Number,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor: ...
def full_like(
    input: Tensor,
    fill_value: Number,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: Any = ...,
) -> Tensor: ...
def gather(
    input: Tensor,
    dim: _int,
    index: Tensor,
    *,
    sparse_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def gcd(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def gcd_(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def ge(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def geqrf(input: Tensor, *, out: Tensors | None = None) -> return_types.geqrf: ...
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def get_autocast_cpu_dtype() -> _dtype: ...
def get_autocast_dtype(device_type: str) -> _dtype: ...
def get_autocast_gpu_dtype() -> _dtype: ...
def get_autocast_ipu_dtype() -> _dtype: ...
def get_autocast_xla_dtype() -> _dtype: ...
def get_default_device() -> Device: ...
def get_default_dtype() -> _dtype: ...
def get_deterministic_debug_mode() -> _int: ...
def get_device(input: Tensor) -> _int: ...
def get_device_module(device: Any = None) -> Any: ...
def get_float32_matmul_precision() -> str: ...
def get_num_interop_threads() -> _int: ...
def get_num_threads() -> _int: ...
def get_printoptions() -> dict: ...
def get_rng_state() -> Tensor: ...
def gradient(
    input: Tensor,
    *,
    spacing: Any = 1,
    dim: _int | Sequence[_int] | None = None,
    edge_order: _int = 1,
) -> tuple[Tensor, ...]: ...
def greater(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def greater_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor: ...
def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor: ...
def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor: ...
def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
) -> Tensor: ...
def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]: ...
def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor: ...
def gt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def hamming_window(
    window_length: _int,
    periodic: _bool = True,
    alpha: _float = 0.54,
    beta: _float = 0.46,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor: ...
def hann_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor: ...
def hardshrink(input: Tensor, lambd: Number = 0.5) -> Tensor: ...
def hash_tensor(
    input: Tensor,
    dim: _int | Ints | None = ...,
    *,
    keepdim: _bool = False,
    mode: _int = 0,
    out: Tensor | None = None,
) -> Tensor: ...
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1.0, reduction: _int = 0) -> Tensor: ...
def histc(
    input: Tensor,
    bins: _int = 100,
    min: Number = 0,
    max: Number = 0,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def histogram(
    input: Tensor,
    bins: _int | Tensor = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: _bool = False,
    out: Any = None,
) -> tuple[Tensor, Tensor]: ...
def histogramdd(
    input: Tensor,
    bins: _int | Ints | Tensors,
    range: Any = None,
    weight: Tensor | None = None,
    density: _bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]: ...
def hsmm(mat1: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def hsplit(input: Tensor, sections: Ints | _int | None = None, *, indices: Ints | None = None) -> Tensors: ...
def hspmm(mat1: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def hstack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
def hypot(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def i0_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def igamma(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def igammac(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def imag(input: Tensor) -> Tensor: ...
def index_add(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Tensor | Number) -> Tensor: ...
def index_put(input: Tensor, indices: Tensors, values: Tensor, accumulate: _bool = False) -> Tensor: ...
def index_put_(input: Tensor, indices: Tensors, values: Tensor, accumulate: _bool = False) -> Tensor: ...
def index_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor: ...
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def init_num_threads() -> None: ...
def initial_seed() -> _int: ...
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def install(children: _bool = True) -> None: ...
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool,
) -> Tensor: ...
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def is_anomaly_check_nan_enabled() -> _bool: ...
def is_anomaly_enabled() -> _bool: ...
def is_autocast_cache_enabled() -> _bool: ...
def is_autocast_cpu_enabled() -> _bool: ...
def is_autocast_enabled(device_type: str = 'cuda') -> _bool: ...
def is_autocast_ipu_enabled() -> _bool: ...
def is_autocast_xla_enabled() -> _bool: ...
def is_complex(input: Tensor) -> _bool: ...
def is_conj(input: Tensor) -> _bool: ...
def is_deterministic_algorithms_warn_only_enabled() -> _bool: ...
def is_distributed(input: Tensor) -> _bool: ...
def is_floating_point(input: Tensor) -> _bool: ...
def is_grad_enabled() -> _bool: ...
def is_inference(input: Tensor) -> _bool: ...
def is_inference_mode_enabled() -> _bool: ...
def is_neg(input: Tensor) -> _bool: ...
def is_nonzero(input: Tensor) -> _bool: ...
def is_same_size(self: Tensor, other: Tensor) -> _bool: ...
def is_signed(input: Tensor) -> _bool: ...
def is_storage(obj: object, /) -> _bool: ...
def is_tensor(obj: Any) -> _bool: ...
def is_vulkan_available(*args: object, **kwargs: object) -> _bool: ...
def is_warn_always_enabled() -> _bool: ...
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: _float | _bool = 1e-05,
    atol: _float | _bool = 1e-08,
    equal_nan: _bool = False,
) -> Tensor: ...
def isfinite(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def isin(
    elements: Tensor | Number,
    test_elements: Tensor | Number,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def isinf(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def isnan(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def isreal(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def istft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    normalized: _bool = False,
    onesided: _bool | None = None,
    length: _int | None = None,
    return_complex: _bool = False,
) -> Tensor: ...
def kaiser_window(
    window_length: _int,
    periodic: _bool = True,
    beta: _float = 12.0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor: ...
def kl_div(input: Tensor, target: Tensor, reduction: _int = 0, *, log_target: _bool = False) -> Tensor: ...
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def kthvalue(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    out: Tensors | None = None,
) -> return_types.kthvalue: ...
def layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
) -> Tensor: ...
def lcm(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def lcm_(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def ldexp_(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def le(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def less(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def less_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def linspace(
    start: Tensor | Number,
    end: Tensor | Number,
    steps: _int,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args) -> Any: ...
def lobpcg(
    A: Tensor,
    k: _int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: _int | None = None,
    iK: Tensor | None = None,
    niter: _int | None = None,
    tol: _float | None = None,
    largest: _bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict | None = None,
    ortho_fparams: dict | None = None,
    ortho_bparams: dict | None = None,
) -> tuple[Tensor, Tensor]: ...
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log10_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log1p_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log2_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log_softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor: ...
def logaddexp(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def logaddexp2(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor: ...
def logdet(input: Tensor) -> Tensor: ...
def logical_and(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def logical_or(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def logical_xor(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def logit(input: Tensor, eps: _float | _bool | None = None, *, out: Tensor | None = None) -> Tensor: ...
def logit_(input: Tensor, eps: _float | _bool | None = None, *, out: Tensor | None = None) -> Tensor: ...
def logspace(
    start: Tensor | Number,
    end: Tensor | Number,
    steps: _int,
    base: _float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def logsumexp(input: Tensor, dim: _int | Ints, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]: ...
def lstm_cell(
    input: Tensor,
    hx: Tensors,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
def lstsq(input, A, *, out=None) -> Any: ...
def lt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def lu(A: Tensor, pivot: _bool = True, get_infos: Any = False, out: Tensors | None = None) -> tuple[Tensor, ...]: ...
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: _bool = True,
    unpack_pivots: _bool = True,
    *,
    out: Tensors | None = None,
) -> return_types.lu_unpack: ...
def manual_seed(seed: _int) -> Generator: ...
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    reduction: _int = 0,
) -> Tensor: ...
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor: ...
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor: ...
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def matrix_exp(input: Tensor) -> Tensor: ...
def matrix_power(input: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor: ...
def matrix_rank(input, tol=None, symmetric=False, *, out=None) -> Any: ...
def max(
    input: Tensor,
    dim: _int | Tensor = ...,
    keepdim: _bool = False,
    *,
    other: Tensor = ...,
    out: Tensor | Tensors | None = None,
) -> Tensor | return_types.max: ...
def max_pool1d(
    input: Tensor,
    kernel_size: _int | Ints,
    stride: _int | Ints | None = None,
    padding: _int | Ints = 0,
    dilation: _int | Ints = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Tensor | tuple[Tensor, Tensor]: ...
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _int | Ints,
    stride: _int | Ints | None = None,
    padding: _int | Ints = 0,
    dilation: _int | Ints = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = True,
) -> tuple[Tensor, Tensor]: ...
def max_pool2d(
    input: Tensor,
    kernel_size: _int | Ints,
    stride: _int | Ints | None = None,
    padding: _int | Ints = 0,
    dilation: _int | Ints = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Tensor | tuple[Tensor, Tensor]: ...
def max_pool3d(
    input: Tensor,
    kernel_size: _int | Ints,
    stride: _int | Ints | None = None,
    padding: _int | Ints = 0,
    dilation: _int | Ints = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Tensor | tuple[Tensor, Tensor]: ...
def maximum(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def mean(
    input: Tensor,
    dim: _int | Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
    **numpy,
) -> Tensor: ...
def median(
    input: Tensor,
    dim: _int = ...,
    keepdim: _bool = False,
    *,
    out: Tensors | None = None,
) -> Tensor | return_types.median: ...
def meshgrid(*tensors: Tensor | Tensors, indexing: str | None = None) -> Tensors: ...
def min(
    input: Tensor,
    dim: _int | Tensor = ...,
    keepdim: _bool = False,
    *,
    other: Tensor = ...,
    out: Tensor | Tensors | None = None,
) -> Tensor | return_types.min: ...
def minimum(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: Tensors | None = None) -> return_types.mode: ...
def moveaxis(input: Tensor, source: Ints | _int, destination: Ints | _int) -> Tensor: ...
def movedim(input: Tensor, source: Ints | _int, destination: Ints | _int) -> Tensor: ...
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def mul(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def multinomial(
    input: Tensor,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def multiply(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def mvlgamma(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor: ...
def nan_to_num(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def nan_to_num_(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def nanmean(
    input: Tensor,
    dim: _int | Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def nanmedian(
    input: Tensor,
    dim: _int = ...,
    keepdim: _bool = False,
    *,
    out: Tensors | None = None,
) -> Tensor | return_types.nanmedian: ...
def nanquantile(
    input: Tensor,
    q: Tensor | _float | _bool,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
def nansum(
    input: Tensor,
    dim: _int | Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def narrow(input: Tensor, dim: _int, start: Tensor | _int, length: _int) -> Tensor: ...
def narrow_copy(input: Tensor, dim: _int, start: _int, length: _int, *, out: Tensor | None = None) -> Tensor: ...
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    *,
    out: Any = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor: ...
def native_dropout(input: Tensor, p: _float, train: _bool | None) -> tuple[Tensor, Tensor]: ...
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: _int,
    C: _int,
    HxW: _int,
    group: _int,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]: ...
def ne(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def neg_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def negative_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def nextafter(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: _bool = False) -> Tensor | tuple[Tensor, ...]: ...
def nonzero_static(input: Tensor, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor: ...
def norm(
    input: Tensor,
    p: Number | str | None = 'fro',
    dim: _int | Ints | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
) -> Tensor: ...
def norm_except_dim(v: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor: ...
def normal(
    mean: Tensor | _float,
    std: Tensor | _float = 1.0,
    size: Ints = ...,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device | str | None = None,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def not_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def nuclear_norm(
    input: Tensor,
    dim: _bool | _int | Ints = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def numel(input: Tensor) -> _int: ...
def ones(
    *args: _int | Ints,
    size: Ints | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor: ...
def ones_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: Any = ...,
) -> Tensor: ...
def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def ormqr(
    input: Tensor,
    input2: Tensor,
    input3: Tensor,
    left: _bool = True,
    transpose: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    eps: _float = 1e-06,
    keepdim: _bool = False,
) -> Tensor: ...
def pca_lowrank(
    A: Tensor,
    q: _int | None = None,
    center: _bool = True,
    niter: _int = 2,
) -> tuple[Tensor, Tensor, Tensor]: ...
def pdist(input: Tensor, p: _float = 2) -> Tensor: ...
def permute(input: Tensor, dims: Ints) -> Tensor: ...
def permute_copy(input: Tensor, dims: Ints, *, out: Tensor | None = None) -> Tensor: ...
def pinverse(input: Tensor, rcond: _float = 1e-15) -> Tensor: ...
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor: ...
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor: ...
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor: ...
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: _bool,
    full: _bool,
    eps: _float,
    reduction: _int,
) -> Tensor: ...
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def positive(input: Tensor) -> Tensor: ...
def pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def prelu(input: Tensor, weight: Tensor) -> Tensor: ...
def prod(
    input: Tensor,
    dim: _int = ...,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def promote_types(type1: _dtype, type2: _dtype) -> _dtype: ...
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor: ...
def qr(input: Tensor, some: _bool = True, *, out: Tensors | None = None) -> return_types.qr: ...
def quantile(
    input: Tensor,
    q: Tensor | _float | _bool,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def rad2deg_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def rand(
    *sizes: _int,
    size: Ints = ...,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device | str | None = None,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    memory_format: Any = None,
) -> Tensor: ...
def randint(
    low: _int = 0,
    high: _int | Ints = ...,
    size: Ints = ...,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device | str | None = None,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def randint_like(
    input: Tensor,
    low: _int | Tensor = ...,
    high: _int = ...,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    memory_format: Any = None,
) -> Tensor: ...
def randn(
    *sizes: _int,
    size: Ints = ...,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device | str | None = None,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    memory_format: Any = None,
) -> Tensor: ...
def randperm(
    n: _int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device | str | None = None,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def range(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool | None = False,
) -> Tensor: ...
def ravel(input: Tensor) -> Tensor: ...
def real(input: Tensor) -> Tensor: ...
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def reciprocal_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def relu_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def remainder(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def renorm(input: Tensor, p: Number, dim: _int, maxnorm: Number, *, out: Tensor | None = None) -> Tensor: ...
def repeat_interleave(
    input: Tensor,
    repeats: Tensor | _int | None = None,
    dim: _int | None = None,
    *,
    output_size: _int | None = None,
) -> Tensor: ...
def reshape(input: Tensor, shape: Ints) -> Tensor: ...
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor: ...
def resize_as_sparse_(input: Tensor, the_template: Tensor) -> Tensor: ...
def resolve_conj(input: Tensor) -> Tensor: ...
def resolve_neg(input: Tensor) -> Tensor: ...
def result_type(*args: Tensor | Number, **kwargs: Tensor | Number) -> _dtype: ...
def rms_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    eps: _float | None = None,
) -> Tensor: ...
def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]: ...
def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor: ...
def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]: ...
def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor: ...
def roll(input: Tensor, shifts: _int | Ints, dims: _int | Ints | None = None) -> Tensor: ...
def rot90(input: Tensor, k: _int = 1, dims: Ints = ...) -> Tensor: ...
def round(input: Tensor, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor: ...
def round_(input: Tensor, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor: ...
def row_stack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
def rrelu(
    input: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
def rrelu_(
    input: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def rsqrt_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor: ...
def saddmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def save(
    obj,
    f,
    pickle_module=...,
    pickle_protocol=2,
    _use_new_zipfile_serialization=True,
    *,
    compact=False,
) -> Any: ...
def scalar_tensor(
    s: Number,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def scatter(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor | Number = ...,
    *,
    value: Number = ...,
    reduce: str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def scatter_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor: ...
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | Number,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def seed() -> _int: ...
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: _int = 0,
    unsafe: _bool = False,
    initial: Number | None = None,
) -> Tensor: ...
def select(input: Tensor, dim: _int, index: _int) -> Tensor: ...
def select_copy(input: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor: ...
def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int) -> Tensor: ...
def selu(input: Tensor) -> Tensor: ...
def selu_(input: Tensor) -> Tensor: ...
def set_anomaly_enabled(enabled: _bool, check_nan: _bool = True) -> None: ...
def set_autocast_cache_enabled(enabled: _bool) -> None: ...
def set_autocast_cpu_dtype(dtype: _dtype) -> None: ...
def set_autocast_cpu_enabled(enabled: _bool) -> None: ...
def set_autocast_dtype(device_type: str, dtype: _dtype) -> None: ...
def set_autocast_enabled(device_type: Any, enabled: _bool | None = None) -> None: ...
def set_autocast_gpu_dtype(dtype: _dtype) -> None: ...
def set_default_device(device: Device) -> None: ...
def set_default_dtype(d: _dtype, /) -> None: ...
def set_default_tensor_type(t: Any, /) -> None: ...
def set_deterministic_debug_mode(debug_mode: _int | str) -> None: ...
def set_float32_matmul_precision(precision: str) -> None: ...
def set_flush_denormal(mode: _bool, /) -> _bool: ...
def set_num_interop_threads(int: _int, /) -> None: ...
def set_num_threads(int: _int, /) -> None: ...
def set_printoptions(
    precision: _int | None = None,
    threshold: _float | None = None,
    edgeitems: _int | None = None,
    linewidth: _int | None = None,
    profile: str | None = None,
    sci_mode: _bool | None = None,
) -> None: ...
def set_rng_state(new_state: Tensor) -> None: ...
def set_warn_always(b: _bool, /) -> None: ...
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sigmoid_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sin_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sinc_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sinh_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def slice_copy(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
) -> Tensor: ...
def slogdet(input: Tensor, *, out: Tensors | None = None) -> return_types.slogdet: ...
def smm(input: Tensor, mat2: Tensor) -> Tensor: ...
def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor: ...
def solve(input, A, *, out=None) -> Any: ...
def sort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool | None = False,
    out: Tensors | None = None,
) -> return_types.sort: ...
def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    **kwargs: Any,
) -> Tensor: ...
def sparse_coo_tensor(*args: Any, **kwargs: Any) -> Tensor: ...
def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **kwargs: Any) -> Tensor: ...
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **kwargs: Any) -> Tensor: ...
def split(tensor: Tensor, split_size_or_sections: _int | Ints, dim: _int = 0) -> Tensors: ...
def split_copy(input: Tensor, split_size: _int, dim: _int = 0, *, out: Tensors | None = None) -> Tensors: ...
def split_with_sizes(input: Tensor, split_sizes: Ints, dim: _int = 0) -> Tensors: ...
def split_with_sizes_copy(
    input: Tensor,
    split_sizes: Ints,
    dim: _int = 0,
    *,
    out: Tensors | None = None,
) -> Tensors: ...
def spmm(input: Tensor, mat2: Tensor) -> Tensor: ...
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sqrt_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def square_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def squeeze(input: Tensor, dim: Ints | _int = ...) -> Tensor: ...
def squeeze_copy(input: Tensor, dim: Ints | _int = ..., *, out: Tensor | None = None) -> Tensor: ...
def sspaddmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def stack(tensors: Tensors, dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor: ...
def std(
    input: Tensor,
    dim: _int | Ints | _bool | None = None,
    unbiased: _bool = ...,
    keepdim: _bool = False,
    *,
    correction: Number | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def std_mean(
    input: Tensor,
    dim: _int | Ints | _bool | None = None,
    unbiased: _bool = ...,
    keepdim: _bool = False,
    *,
    correction: Number | None = None,
) -> tuple[Tensor, Tensor]: ...
def stft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    pad_mode: str = 'reflect',
    normalized: _bool = False,
    onesided: _bool | None = None,
    return_complex: _bool | None = None,
    align_to_window: _bool | None = None,
) -> Tensor: ...
def sub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: ...
def subtract(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def sum(
    input: Tensor,
    dim: _int | Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
    **numpy,
) -> Tensor: ...
def svd(
    input: Tensor,
    some: _bool = True,
    compute_uv: _bool = True,
    *,
    out: Tensors | None = None,
) -> return_types.svd: ...
def svd_lowrank(
    A: Tensor,
    q: _int | None = 6,
    niter: _int | None = 2,
    M: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor: ...
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...
def sym_constrain_range(size: Number, *, min: _int | None = None, max: _int | None = None) -> None: ...
def sym_constrain_range_for_size(size: Number, *, min: _int | None = None, max: _int | None = None) -> None: ...
def sym_float(a) -> _float: ...
def sym_fresh_size(expr) -> Any: ...
def sym_int(a) -> Any: ...
def sym_ite(b, t, f) -> Any: ...
def sym_max(a, b) -> Any: ...
def sym_min(a, b) -> Any: ...
def sym_not(a) -> _bool: ...
def sym_sqrt(a) -> _float: ...
def sym_sum(*args) -> Any: ...
def symeig(input, eigenvectors=False, upper=True, *, out=None) -> Any: ...
def t(input: Tensor) -> Tensor: ...
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def take_along_dim(input: Tensor, indices: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor: ...
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def tan_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def tanh_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor: ...
def tensor_split(
    input: Tensor,
    sections: Tensor | _int | Ints | None = None,
    dim: _int = 0,
    *,
    indices: Ints | None = None,
    tensor_indices_or_sections: Tensor | None = None,
) -> Tensors: ...
def tensordot(a: Tensor, b: Tensor, dims: _int | Ints | Tensor = 2, out: Tensor | None = None) -> Tensor: ...
def thread_safe_generator() -> None: ...
def threshold(input: Tensor, threshold: Number, value: Number) -> Tensor: ...
def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor: ...
def tile(input: Tensor, dims: Ints) -> Tensor: ...
def to_dlpack(data: Tensor) -> Any: ...
def topk(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    largest: _bool = True,
    sorted: _bool = True,
    *,
    out: Tensors | None = None,
) -> return_types.topk: ...
def trace(input: Tensor) -> Tensor: ...
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...
def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor: ...
def trapezoid(y: Tensor, x: Tensor = ..., *, dx: Number = 1, dim: _int = -1) -> Tensor: ...
def trapz(y: Tensor, x: Tensor = ..., *, dx: Number = 1, dim: _int = -1) -> Tensor: ...
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: _bool = True,
    transpose: _bool = False,
    unitriangular: _bool = False,
    *,
    out: Any = None,
) -> tuple[Tensor, Tensor]: ...
def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def tril_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2.0,
    eps: _float = 1e-06,
    swap: _bool = False,
    reduction: _int = 0,
) -> Tensor: ...
def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def triu_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool | None = False,
    pin_memory: _bool | None = False,
) -> Tensor: ...
def true_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def trunc_(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def typename(obj: object, /) -> str: ...
def unbind(input: Tensor, dim: _int = 0) -> Tensors: ...
def unbind_copy(input: Tensor, dim: _int = 0, *, out: Tensors | None = None) -> Tensors: ...
def unflatten(input: Tensor, dim: _int, sizes: Ints) -> Tensor: ...
def unfold_copy(input: Tensor, dimension: _int, size: _int, step: _int, *, out: Tensor | None = None) -> Tensor: ...
def uninstall() -> None: ...
def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Tensor | tuple[Tensor, ...]: ...
def unique_consecutive(
    input: Tensor,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Tensor | tuple[Tensor, ...]: ...
def unravel_index(indices: Tensor, shape: _int | Ints) -> tuple[Tensor, ...]: ...
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> Tensors: ...
def unsafe_split(input: Tensor, split_size: _int, dim: _int = 0) -> Tensors: ...
def unsafe_split_with_sizes(input: Tensor, split_sizes: Ints, dim: _int = 0) -> Tensors: ...
def unsqueeze(input: Tensor, dim: _int) -> Tensor: ...
def unsqueeze_copy(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor: ...
def use_deterministic_algorithms(mode: _bool, *, warn_only: _bool = False) -> None: ...
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor: ...
def var(
    input: Tensor,
    dim: _int | Ints | _bool | None = None,
    unbiased: _bool = ...,
    keepdim: _bool = False,
    *,
    correction: Number | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def var_mean(
    input: Tensor,
    dim: _int | Ints | _bool | None = None,
    unbiased: _bool = ...,
    keepdim: _bool = False,
    *,
    correction: Number | None = None,
) -> tuple[Tensor, Tensor]: ...
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def view_as_complex(input: Tensor) -> Tensor: ...
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def view_as_real(input: Tensor) -> Tensor: ...
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def view_copy(
    input: Tensor,
    size: Ints | _dtype | None = None,
    dtype: _dtype | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def vmap(func, in_dims=0, out_dims=0, randomness='error', *, chunk_size=None) -> Any: ...
def vsplit(input: Tensor, sections: Ints | _int | None = None, *, indices: Ints | None = None) -> Tensors: ...
def vstack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
def wait(future) -> Any: ...
def where(
    condition: Tensor,
    input: Tensor | Number = ...,
    other: Tensor | Number = ...,
    *,
    out: Tensor | None = None,
) -> Tensor | tuple[Tensor, ...]: ...
def while_loop(cond_fn: Any, body_fn: Any, carried_inputs: tuple | list) -> Any: ...
def xlogy(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def xlogy_(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def zero_(input: Tensor) -> Tensor: ...
def zeros(
    *args: _int | Ints,
    size: Ints | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor: ...
def zeros_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Device = ...,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: Any = ...,
) -> Tensor: ...
