"""Kernels in C: the door to them. Each has a NumPy twin in kernels/, which is its text, its oracle and what computes
where it cannot: without the library (there was no compiler), for other dtypes and layouts, and for few elements.

A twin says `if native.takes("softmax", x): return native.run("softmax", ...)`. No address reaches C but through `run`,
which checks class, dtype, byte order, layout, size and writability of every array, whatever `takes` said.

TINYTORCH_NATIVE=0 in the environment: never. TINYTORCH_NATIVE=1: ImportError if there is no library.
TINYTORCH_NATIVE_LEVEL: baseline, avx2 or avx512; by default the last of them that the machine knows.
"""
import ctypes
import os
import re
import sys

import numpy as np

from ..threads import free

__all__ = ["LEAST", "each", "level", "run", "takes"]

#: In the order of what `level` of level.c says.
LEVELS = "baseline", "avx2", "avx512"

#: What each takes after the number of threads, and from how many elements of its first array on it is the faster one.
#: `n`: a whole number; `.eps`: a real one; `x[n]`: an array to read of as many elements; `>x[n]`: one to write to;
#: `?x[n]`: one that may be None; `x{t,m,n,ld}`: a matrix of m rows and n columns (of n rows and m columns if t) to read
#: of, whose rows are runs and begin ld elements apart. Arrays are float32 unless another type follows.
_KERNELS = {
    "words": (0, "n >key[625]:u4 >out[n]:u8"),
    "double_words": (0, "n >key[625]:u4 >out[n]:u8"),
    "below": (0, "n limit >key[625]:u4 >out[n]:?"),
    "uniform": (0, "n >key[625]:u4 >out[n]"),
    "box_muller": (16, "blocks .mean .std >u[16*blocks]"),
    "softmax": (1024, "rows width safe x[rows*width] >out[rows*width]"),
    "softmax_backward": (1024, "rows width g[rows*width] y[rows*width] >out[rows*width]"),
    "log_softmax": (1024, "rows width x[rows*width] >out[rows*width]"),
    "log_softmax_backward": (1024, "rows width g[rows*width] y[rows*width] >out[rows*width]"),
    "cross_entropy": (8, "rows width .scale x[rows*width] target[rows]:i8 >out[rows*width] >losses[rows+1]"),
    "cross_entropy_backward": (8, "rows width .scale x[rows*width] target[rows]:i8 >out[rows*width]"),
    "attention_weights": (512, "rows keys queries causal divided .scale >scores[rows*keys] >total[rows]"),
    "attention_weights_backward": (512, "rows keys .scale weights[rows*keys] dots[rows] >g[rows*keys]"),
    "layer_norm": (512, "rows width .eps x[rows*width] ?weight[width] ?bias[width] >out[rows*width] >mean[rows] "
                   ">rate[rows]"),
    "layer_norm_backward": (512, "rows width grain pieces g[rows*width] x[rows*width] ?weight[width] mean[rows] "
                            "rate[rows] >g_input[rows*width] ?>sums[pieces*2*width]"),
    "batch_norm": (2048, "images channels size .eps x[images*channels*size] ?weight[channels] ?bias[channels] "
                   ">out[images*channels*size] >mean[channels] >variance[channels] >rate[channels]"),
    "batch_norm_backward": (2048, "images channels size g[images*channels*size] x[images*channels*size] "
                            "?weight[channels] mean[channels] rate[channels] >out[images*channels*size] "
                            ">total[channels] >dot[channels]"),
    "scale_shift": (2048, "images channels size x[images*channels*size] ?weight[channels] ?bias[channels] "
                    ">out[images*channels*size]"),
    **dict.fromkeys("relu sigmoid silu".split(), (2048, "n x[n] >out[n]")),
    **dict.fromkeys(("gelu", "gelu_tanh"), (2048, "n x[n] ?>kept[n] >out[n]")),
    **dict.fromkeys(("gelu_backward", "gelu_tanh_backward"), (2048, "n g[n] x[n] share[n] >out[n]")),
    **dict.fromkeys("silu_backward sigmoid_backward tanh_backward relu_backward".split(),
                    (2048, "n g[n] x[n] >out[n]")),
    "lstm_step": (512, "batch hidden >a[4*batch*hidden] before[batch*hidden] >cells[batch*hidden] "
                  ">squashed[batch*hidden] >out[batch*hidden]"),
    "lstm_step_backward": (512, "batch hidden a[4*batch*hidden] before[batch*hidden] squashed[batch*hidden] "
                           "dh[batch*hidden] >dc[batch*hidden] >d[4*batch*hidden]"),
    "gru_step": (512, "batch hidden >a[4*batch*hidden] h[batch*hidden] >out[batch*hidden]"),
    "gru_step_backward": (512, "batch hidden pitch offset a[4*batch*hidden] h[batch*pitch] >dh[batch*hidden] "
                          ">d[4*batch*hidden]"),
    "recurrent": (256, "kind steps batch rows kept narrow wide features hidden gates used pitch keep started "
                  "order[2*steps]:i8 x[rows*wide] w_ih[used*hidden*features] w_hh[used*hidden*hidden] "
                  "?b_ih[used*hidden] ?b_hh[used*hidden] >joined[rows*pitch] ?>a[kept*gates*hidden] "
                  "?>cells[rows*hidden] ?>squashed[kept*hidden] >out[rows*hidden] ?>outputs[rows*hidden] "
                  ">h[batch*hidden] ?>c[batch*hidden]"),
    "recurrent_backward": (256, "kind steps batch rows narrow hidden gates used pitch wanted turned order[2*steps]:i8 "
                           "?g[rows*hidden] w_hh[used*hidden*hidden] joined[rows*pitch] ?a[rows*gates*hidden] "
                           "?cells[rows*hidden] ?squashed[rows*hidden] ?out[rows*hidden] >dh[batch*hidden] "
                           "?>dc[batch*hidden] >d[rows*gates*hidden]"),
    "convolve": (256, "images lines width length outputs terms rows out_width places grain x[images*lines*width] "
                 "w[outputs*terms] ?bias[outputs] plan[lines+terms+rows]:i8 >out[images*outputs*rows*out_width]"),
    "convolve_weights": (256, "images lines width length outputs terms rows out_width places grain pieces "
                         "x[images*lines*width] g[images*outputs*rows*out_width] plan[lines+terms+rows]:i8 "
                         ">parts[pieces*outputs*terms]"),
    "product": (1, "ta tb m n k lda ldb left packed block grain a{ta,m,k,lda} b{tb,k,n,ldb} ?bias[n] >c[m*n]"),
    "rnn_step_backward": (512, "n out[n] dh[n] >d[n]"),
    "max_pool": (2048, "images height width rows columns x[images*height*width] >out[images*rows*columns]"),
    "max_pool_backward": (2048, "images height width rows columns x[images*height*width] largest[images*rows*columns] "
                          "g[images*rows*columns] >out[images*height*width]"),
    "row_sums": (1024, "rows width grain pieces x[rows*width] ?>parts[pieces]:f8 >out[rows]"),
    "column_sums": (1024, "rows width grain pieces x[rows*width] >parts[pieces*width]"),
    "sgd": (8192, "n nesterov fresh .sign .weight_decay .lr .momentum .share >p[n] g[n] ?>buf[n]"),
    "adam": (4096, "n .sign .weight_decay .beta1 .beta2 .rate .eps .shrink >p[n] g[n] >m[n] >v[n] ?>largest[n]"),
    "adamax": (4096, "n .sign .weight_decay .beta1 .beta2 .rate .eps >p[n] g[n] >m[n] >largest[n]"),
    "rmsprop": (4096, "n .sign .weight_decay .alpha .eps .momentum .lr >p[n] g[n] >square[n] ?>mean[n] ?>buf[n]"),
    "adagrad": (4096, "n .sign .weight_decay .lr .eps >p[n] g[n] >total[n]"),
    "adadelta": (4096, "n .sign .weight_decay .rho .eps .lr >p[n] g[n] >square[n] >squared_moves[n]"),
}
#: Those that may fail, and say so at the end: what is raised then.
_NO_MEMORY, _NO_CLASS = MemoryError("no memory for a kernel"), IndexError("a target is out of bounds")
_FAILING = {**dict.fromkeys(("convolve", "convolve_weights", "recurrent", "recurrent_backward"), _NO_MEMORY),
            **dict.fromkeys(("cross_entropy", "cross_entropy_backward"), _NO_CLASS)}
_place_of, _address_of = ctypes.c_byte.from_buffer, ctypes.addressof
_FLOAT, _NDARRAY = np.dtype(np.float32), np.ndarray


def _address(array, size, dtype, written=False):
    """Where an array lies that is of that size and dtype, contiguous, aligned, and may be written to if it is to be.
    TypeError or ValueError for any other. None if it is empty."""
    if type(array) is _NDARRAY and (array.dtype is dtype or array.dtype == dtype):         # stand-ins fake __class__
        if array.size == size:
            try:
                at = _address_of(_place_of(array))         # of what is contiguous and may be written to
                if not at % dtype.itemsize:
                    return at
            except (TypeError, ValueError):
                flags = array.flags
                if not size:
                    return None
                if flags.c_contiguous and flags.aligned and not written:
                    return array.__array_interface__["data"][0]
        else:
            raise ValueError(f"an array of {array.size} elements for {size}")
    raise TypeError(f"no array for a kernel: {type(array).__name__} of {array.dtype}, strides {array.strides}")


def _matrix(array, turned, rows, columns, distance):
    """Where a matrix of floats lies for C to read: see `_KERNELS`. TypeError or ValueError if it is another."""
    flags = array.flags
    if type(array) is not _NDARRAY or array.dtype != _FLOAT or not flags.aligned:
        raise TypeError(f"no matrix for a kernel: {type(array).__name__} of {array.dtype}")
    if array.shape != ((columns, rows) if turned else (rows, columns)) or (
            array.strides != (distance * 4, 4) or distance < array.shape[1]):
        raise ValueError(f"a matrix of {array.shape}, strides {array.strides}, for {rows} by {columns}, {distance}")
    if flags.carray and array.size:
        return _address_of(_place_of(array))   # quicker
    return array.__array_interface__["data"][0]


def _caller(name, function, declared):
    """A function of what a kernel takes, that checks it and calls the kernel. It is made of text, without loops and
    lookups: checking takes as long as many a kernel."""
    parameters, given, types, dtypes = [], [], [], {}
    for token in declared.split():
        parameter, kind, inside = re.fullmatch(r"[.?>]*(\w+)(?:([\[{])(.*))?", token).groups()
        parameters.append(parameter)
        if kind is None:
            types.append(ctypes.c_float if token[0] == "." else ctypes.c_int64)
            given.append(parameter)
            continue
        types.append(ctypes.c_void_p)
        if kind == "[":
            size, _, dtype = inside.partition("]")
            dtype = np.dtype(dtype[1:] or np.float32)
            dtypes[dtype.name] = dtype
            call = f"address({parameter}, {size}, {dtype.name}{', True' if '>' in token else ''})"
        else:
            call = f"matrix({parameter}, {inside[:-1].replace(',', ', ')})"
        given.append(f"{parameter} if {parameter} is None else {call}" if token[0] == "?" else call)
    function.restype, function.argtypes = ctypes.c_int64 if name in _FAILING else None, [ctypes.c_int64, *types]
    scope = {"kernel": function, "free": free, "address": _address, "matrix": _matrix, **dtypes}
    call = f"kernel(free(), {', '.join(given)})"
    if name in _FAILING:
        error = _FAILING[name]
        call = f"if {call}:\n        raise {type(error).__name__}({str(error)!r})"
    exec(f"def {name}({', '.join(parameters)}):\n    {call}", scope)
    return scope[name]


def _load():
    """(name of the level, library), or None."""
    setting = os.environ.get("TINYTORCH_NATIVE", "")
    folder, ending = os.path.dirname(__file__), ".dll" if os.name == "nt" else ".so"
    try:
        if setting == "0":
            return None
        wanted = os.environ.get("TINYTORCH_NATIVE_LEVEL") or None
        base = ctypes.CDLL(os.path.join(folder, "library_baseline" + ending))
        base.level.restype = ctypes.c_int64
        for name in [wanted] if wanted else LEVELS[base.level()::-1]:
            path = os.path.join(folder, f"library_{name}{ending}")
            if name == "baseline":
                return name, base
            if os.path.exists(path) or wanted:
                return name, ctypes.CDLL(path)
    except OSError as error:
        if setting == "1" or os.environ.get("TINYTORCH_NATIVE_LEVEL"):
            raise ImportError(f"TINYTORCH_NATIVE: no library of native kernels can be loaded ({error})") from None
    return None


def _functions(library):
    """Name -> function that checks what a kernel is given, and calls it."""
    return {name: _caller(name, getattr(library, name), declared) for name, (_, declared) in _KERNELS.items()}


_loaded = _load()
_known = _functions(_loaded[1]) if _loaded else {}
_least = {name: least if name in _known else sys.maxsize for name, (least, _) in _KERNELS.items()}
#: Fewer elements no kernel takes: for those to look at whose twin takes hardly longer than to ask.
LEAST = 512 if _loaded else sys.maxsize


def level():
    """The set of instructions of the library in use, or None without one."""
    return _loaded[0] if _loaded else None


def takes(name, first, *others):
    """Whether a kernel is there and the faster one for these arrays (None: one that is not given), all in float32."""
    if first.size < _least[name]:
        return False
    for array in (first, *others):
        if array is None:
            continue
        dtype, flags = array.dtype, array.flags
        if type(array) is not _NDARRAY or dtype is not _FLOAT and dtype != _FLOAT or not (
                flags.c_contiguous and flags.aligned):
            return False
    return True


def run(name, *args):
    """Call a kernel, on as many threads as are allowed."""
    _known[name](*args)


def each(name, *arrays):
    """What a kernel of single elements makes of those of `arrays`; None where it does not take them, and where they are
    not of one shape."""
    first = arrays[0]
    if first.size < _least[name] or not takes(name, *arrays) or arrays[-1].shape != first.shape:
        return None
    result = np.empty(first.shape, first.dtype)
    run(name, result.size, *arrays, result)
    return result
