"""Every operator of torch's op_db that exists here, on torch's own sample inputs: values, dtypes, shapes,
gradients, second gradients, non-contiguous inputs, methods, in-place forms, error types."""
import inspect
import re

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import (
    OPS,
    Different,
    Untranslatable,
    array_of,
    convert,
    described,
    error_of,
    namesake,
    refused,
    same,
    samples,
    tensors,
)

#: Not dense CPU operators for users: sparse layouts, code generation, raw dispatcher entries, internals.
OUT_OF_SCOPE = re.compile(r"^(jiterator_|sparse\.|to_sparse|torch\.|_softmax_backward_data|_batch_norm_with_update"
                          r"|_upsample_bilinear2d_aa|native_dropout_backward|max_pool2d_with_indices_backward|slice$)")
#: Contents of new memory, or factorisations that are unique only up to signs and phases: shape and dtype alone.
NO_VALUES = re.compile(r"^(empty|new_empty|resize_|linalg\.(qr|svd|eig|eigh|lstsq|householder|ldl)|qr|svd|geqrf|ormqr"
                       r"|pca_lowrank|svd_lowrank|linalg\.lu|lu$|lu_unpack)")
#: torch leaves open which of equal elements these find: where indices differ they must lead to equal elements.
ANY_OF_EQUALS = {"argsort", "sort"}
#: Entries that have no samples for CPUs.
FOR_GPUS = {"nn.functional.batch_norm.without_cudnn": "its samples are for GPUs (batch_norm has those for CPUs)"}
DTYPES = {torch.float64: 8, torch.float32: 4, torch.int64: 4, torch.bool: 3, torch.complex64: 4, torch.float16: 3,
          torch.bfloat16: 3, torch.complex128: 2, torch.int32: 2, torch.int16: 2, torch.int8: 2, torch.uint8: 2,
          torch.uint16: 2, torch.uint32: 2, torch.uint64: 2}
#: (entry, dtype): why that is left out. Of gradients only, if the reason says so.
LEFT_OUT = {
    **dict.fromkeys([(name, torch.float16) for name in ("complex", "view_as_complex")],
                    "complex numbers of two halves are missing"),
    **dict.fromkeys([("matrix_exp", dtype) for dtype in (torch.float16, torch.bfloat16)],
                    "torch reads the coefficients, which are doubles, as halves"),
    **dict.fromkeys([(name, dtype) for name in ("nn.functional.grid_sample", "grid_sampler_3d")
                     for dtype in (torch.float16, torch.bfloat16)],
                    "gradients: torch mixes dtypes in the second ones where it reflects"),
    ("nn.functional.multi_head_attention_forward", torch.float32): "scores of thousands leave the weights three digits",
    ("logcumsumexp", torch.float32): "gradients: of numbers up to 10,000 torch's are right to three digits",
}
SWEEP = 60      # samples of each dtype in the long run


def _exists(name, op):
    if OUT_OF_SCOPE.match(name) or type(op.op).__name__.startswith(("OpOverload", "_Jitted")):
        return None
    return namesake(op.op, op.name) is not None


_FOUND = {name: _exists(name, op) for name, op in OPS.items()}
HERE = [name for name, found in _FOUND.items() if found]
MISSING = sorted({OPS[name].name for name, found in _FOUND.items() if found is False})


def summary():
    return (f"op_db: {len(HERE)} entries compared; {len(MISSING)} operators not implemented: " + ", ".join(MISSING))


def both(op, function, sample, label):
    """(our arguments, our result, torch's) for one sample; None where torch refuses it, as tinytorch must."""
    ours = convert(sample[:3])
    torch.manual_seed(0)
    error, theirs = error_of(lambda: op.op(sample[0], *sample[1], **sample[2]))
    tinytorch.manual_seed(0)
    our_error, mine = error_of(lambda: function(ours[0], *ours[1], **ours[2]))
    return None if refused(our_error, error, label) else (ours, mine, theirs)


@pytest.mark.counted(nothing=FOR_GPUS)
@pytest.mark.parametrize("name", HERE)
def test_values(name):
    _compare_values(name, DTYPES)


@pytest.mark.sweep
@pytest.mark.counted(nothing=FOR_GPUS)
@pytest.mark.parametrize("name", HERE)
def test_values_sweep(name):
    _compare_values(name, dict.fromkeys(DTYPES, SWEEP))


def _compare_values(name, dtypes):
    op = OPS[name]
    function = namesake(op.op, op.name)
    for dtype, count in dtypes.items():
        if not op.supports_dtype(dtype, "cpu") or not LEFT_OUT.get((name, dtype), "gradients").startswith("gradients"):
            continue
        for sample in samples(op, dtype, count):
            label = f"{name} {dtype} {described(sample[:3])}"
            try:
                answer = both(op, function, sample, label)
            except Untranslatable:
                continue
            if answer is None:
                continue
            arguments, ours, theirs = answer
            if name in ANY_OF_EQUALS:
                theirs = _equals_found(function, arguments, ours, theirs)
            same(ours, theirs, label, values=not NO_VALUES.match(name))


def _equals_found(function, arguments, ours, theirs):
    """torch's result with our indices in the place of its own wherever both lead to equal elements."""
    given = inspect.signature(function).bind(*arguments[0:1], *arguments[1], **arguments[2]).arguments
    x, dim = array_of(arguments[0]), given.get("dim", -1)
    mine, other = (tensors(r)[-1].numpy() for r in (ours, theirs))
    if not x.ndim or given.get("stable") or mine.shape != other.shape:
        return theirs
    if mine.ndim < x.ndim:
        mine, other = np.expand_dims(mine, dim), np.expand_dims(other, dim)
    equal = np.take_along_axis(x, mine, dim) == np.take_along_axis(x, other, dim)
    merged = torch.from_numpy(np.where(equal, mine, other))
    return merged if isinstance(theirs, torch.Tensor) else type(theirs)((theirs[0], merged.reshape(theirs[1].shape)))


#: Entries without an input that is differentiable.
NO_GRADIENTS = {**FOR_GPUS, "nn.functional.one_hot": "no input is differentiable"}
GRADS = [name for name in HERE if OPS[name].supports_autograd and not NO_VALUES.match(name)]


@pytest.mark.counted(nothing=NO_GRADIENTS)
@pytest.mark.parametrize("name", GRADS)
def test_gradients(name):
    _compare_all_gradients(name, torch.float64, 6, 3)
    _compare_all_gradients(name, torch.complex128, 2, 2)
    _compare_all_gradients(name, torch.float32, 2, 1)
    _compare_all_gradients(name, torch.float16, 2, 2)
    _compare_all_gradients(name, torch.bfloat16, 2, 2)


@pytest.mark.sweep
@pytest.mark.counted(nothing=NO_GRADIENTS)
@pytest.mark.parametrize("name", GRADS)
def test_gradients_sweep(name):
    for dtype in (torch.float64, torch.complex128, torch.float32, torch.complex64, torch.float16, torch.bfloat16):
        _compare_all_gradients(name, dtype, SWEEP, SWEEP)


def _compare_all_gradients(name, dtype, count, count_second):
    op = OPS[name]
    if not op.supports_dtype(dtype, "cpu") or (name, dtype) in LEFT_OUT:
        return
    function = namesake(op.op, op.name)
    for k, sample in enumerate(samples(op, dtype, count, requires_grad=True)):
        label = f"{name} {dtype} {described(sample[:3])}"
        try:
            answer = both(op, function, sample, label)
        except Untranslatable:
            continue
        if answer is None:
            continue
        arguments, ours, theirs = answer
        second = op.supports_gradgrad and k < count_second
        _compare_gradients(arguments, sample[:3], ours, theirs, sample[3], label, second)


def _compare_gradients(our_arguments, their_arguments, ours, theirs, process, label, second):
    """First and, if asked, second gradients of both results by the same random weights."""
    random = np.random.RandomState(0)
    theirs = [t for t in tensors(process(theirs) if process else theirs) if t.requires_grad]
    ours = [t for t in tensors(process(ours) if process else ours) if t.requires_grad]
    if len(ours) != len(theirs):
        raise Different(f"{label}: {len(ours)} outputs require grad, in torch {len(theirs)}")
    pairs = [(a, b) for a, b in zip(tensors(our_arguments), tensors(their_arguments)) if b.requires_grad]
    for order in (1, 2) if second else (1,):
        if not theirs or not pairs:
            return
        weights = [random_weights(random, t) for t in theirs]
        our_weights = [convert(w) for w, t in zip(weights, ours) if t.requires_grad]
        ours = [t for t in ours if t.requires_grad]      # one that is constant here has zero derivatives
        create = second and order == 1
        error, b = error_of(lambda: torch.autograd.grad(theirs, [p[1] for p in pairs], weights, create_graph=create,
                                                        allow_unused=True, materialize_grads=True))
        our_error, a = error_of(lambda: tinytorch.autograd.grad(ours, [p[0] for p in pairs], our_weights,
                                                                create_graph=create, allow_unused=True,
                                                                materialize_grads=True))
        if refused(our_error, error, f"{label}: gradient {order}"):
            return
        same(list(a), list(b), f"{label}: gradient {order}", scale=10.0 ** order, history=False, bits=False)
        kept = [(x, y) for x, y in zip(a, b) if y.requires_grad]
        ours, theirs = [x for x, _ in kept], [y for _, y in kept]


def random_weights(random, t):
    """Random numbers like the tensor `t` of torch."""
    values = random.standard_normal(tuple(t.shape))
    if t.is_complex():
        values = values + 1j * random.standard_normal(tuple(t.shape))
    return torch.as_tensor(values).to(t.dtype)


@pytest.mark.counted(nothing={"view_as_complex": "torch refuses it where the last dimension is not contiguous",
                              "native_group_norm": "torch refuses all but memory without gaps"})
@pytest.mark.parametrize("name", [n for n in HERE
                                  if OPS[n].supports_dtype(torch.float32, "cpu") and not NO_VALUES.match(n)])
def test_noncontiguous(name):
    op = OPS[name]
    function = namesake(op.op, op.name)
    for sample in samples(op, torch.float32, 3):
        sample = (_strided(sample[0]), _strided(sample[1]), _strided(sample[2]), None)
        label = f"{name} {described(sample[:3])}"
        try:
            answer = both(op, function, sample, label)
        except Untranslatable:
            continue
        if answer is not None:
            same(answer[1], answer[2], label)


def _strided(x):
    """The same tensors at every second place of a larger memory."""
    if isinstance(x, torch.Tensor) and x.layout == torch.strided and x.ndim and x.numel() > 1:
        larger = x.new_zeros((*x.shape, 2))
        larger[..., 0] = x
        return larger[..., 0]
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(_strided(v) for v in x)
    return {k: _strided(v) for k, v in x.items()} if isinstance(x, dict) else x


def _methods(name):
    """The methods of tensors that an entry names: the plain one and the one in place."""
    found = {getattr(f, "__name__", "<lambda>"): f for f in (OPS[name].method_variant, OPS[name].inplace_variant) if f}
    return [attribute for attribute in found if hasattr(torch.Tensor, attribute)]


@pytest.mark.counted
@pytest.mark.parametrize("name, attribute", [pytest.param(n, a, id=f"{n}-{a}") for n in HERE if not NO_VALUES.match(n)
                                             for a in _methods(n) if OPS[n].supports_dtype(torch.float64, "cpu")])
def test_methods(name, attribute):
    """The method, and the tensor that it was called on: written to by one in place, otherwise as it was."""
    for x, args, kwargs, _ in samples(OPS[name], torch.float64, 3):
        label = f"Tensor.{attribute} {described(x, args, kwargs)}"
        try:
            ours = convert((x, args, kwargs))
        except Untranslatable:
            continue
        torch.manual_seed(0)
        error, theirs = error_of(lambda: getattr(x, attribute)(*args, **kwargs))
        tinytorch.manual_seed(0)
        our_error, result = error_of(lambda: getattr(ours[0], attribute)(*ours[1], **ours[2]))
        if not refused(our_error, error, label):
            same((result, ours[0]), (theirs, x), label)


#: Entries whose error inputs are for GPUs, or make torch return NotImplemented.
NO_ERRORS = {
    **dict.fromkeys(["T", "add", "div.floor_rounding", "div.no_rounding_mode", "div.trunc_rounding", "floor_divide",
                     "median", "mul", "sub", "true_divide", "where"], "its error inputs are for GPUs"),
    **dict.fromkeys(["__rmod__", "__rpow__", "__rsub__"], "called as Tensor.__rmod__(2, 3) it returns"
                    " NotImplemented in torch and raises TypeError here, as Python's own classes do")}


@pytest.mark.counted(of="errors", nothing=NO_ERRORS)
@pytest.mark.parametrize("name", [n for n in HERE if OPS[n].error_inputs_func is not None])
def test_error_types(name):
    op = OPS[name]
    function = namesake(op.op, op.name)
    torch.manual_seed(0)
    twins = list(op.error_inputs("cpu"))       # to convert: sharing memory with NumPy would change what torch does
    torch.manual_seed(0)
    for case, twin in zip(op.error_inputs("cpu"), twins):
        sample, arguments = case.sample_input, twin.sample_input
        arguments = (arguments.input, arguments.args, arguments.kwargs)
        if any(t.ndim > 64 for t in tensors(arguments)):       # NumPy has no more dimensions
            continue
        try:
            ours = convert(arguments)
        except Untranslatable:
            continue
        error, _ = error_of(lambda: op.op(sample.input, *sample.args, **sample.kwargs))
        mine, _ = error_of(lambda: function(ours[0], *ours[1], **ours[2]))
        # The arguments stay out of the message: torch may crash on printing what a refused call left behind.
        if name not in NO_ERRORS:
            refused(mine, error, name)
