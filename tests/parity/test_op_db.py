"""Every operator of torch's op_db that exists here, on torch's own sample inputs: values, dtypes, shapes,
gradients, second gradients, non-contiguous inputs, methods, in-place forms, error types."""
import inspect
import re
import warnings

import numpy as np
import pytest
import torch
from .adapter import (OPS, Different, Untranslatable, convert, error_of, namesake, samples, same, tensors)

import tinytorch

#: Not dense CPU operators for users: sparse layouts, code generation, raw dispatcher entries, internals.
OUT_OF_SCOPE = re.compile(r"^(jiterator_|sparse\.|to_sparse|torch\.|_softmax_backward_data|_batch_norm_with_update"
                          r"|_upsample_bilinear2d_aa|native_dropout_backward|max_pool2d_with_indices_backward|slice$)")
#: Contents of new memory, or factorisations that are unique only up to signs and phases: shape and dtype alone.
NO_VALUES = re.compile(r"^(empty|new_empty|resize_|linalg\.(qr|svd|eig|eigh|lstsq|householder|ldl)|qr|svd|geqrf|ormqr"
                       r"|pca_lowrank|svd_lowrank|linalg\.lu|lu$|lu_unpack)")
#: torch leaves open which of equal elements these find: where indices differ they must lead to equal elements.
ANY_OF_EQUALS = {"argsort", "kthvalue", "mode", "sort", "topk"}
DTYPES = {torch.float64: 8, torch.float32: 4, torch.int64: 4, torch.bool: 3, torch.complex64: 4}
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


def both(op, function, sample):
    """(our arguments, our result, torch's) for one sample; None where torch itself refuses it."""
    ours = convert(sample[:3])
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = op.op(sample[0], *sample[1], **sample[2])
        except Exception:
            return None
        tinytorch.manual_seed(0)
        return ours, function(ours[0], *ours[1], **ours[2]), theirs


@pytest.mark.parametrize("name", HERE)
def test_values(name):
    _compare_values(name, DTYPES)


@pytest.mark.sweep
@pytest.mark.parametrize("name", HERE)
def test_values_sweep(name):
    _compare_values(name, dict.fromkeys([*DTYPES, torch.int32, torch.uint8, torch.complex128], SWEEP))


def _compare_values(name, dtypes):
    op = OPS[name]
    function = namesake(op.op, op.name)
    compared = 0
    for dtype, count in dtypes.items():
        if not op.supports_dtype(dtype, "cpu"):
            continue
        for sample in samples(op, dtype, count):
            try:
                answer = both(op, function, sample)
            except Untranslatable:
                continue
            if answer is None:
                continue
            arguments, ours, theirs = answer
            if name in ANY_OF_EQUALS:
                theirs = _equals_found(function, arguments, ours, theirs)
            same(ours, theirs, f"{name} {dtype} {sample[1]} {sample[2]}", values=not NO_VALUES.match(name))
            compared += 1
    if not compared and any(op.supports_dtype(d, "cpu") for d in DTYPES):
        pytest.fail(f"{name}: no sample could be compared")


def _equals_found(function, arguments, ours, theirs):
    """torch's result with our indices in the place of its own wherever both lead to equal elements."""
    given = inspect.signature(function).bind(*arguments[0:1], *arguments[1], **arguments[2]).arguments
    x, dim = arguments[0].numpy(), given.get("dim", -1)
    mine, other = (tensors(r)[-1].numpy() for r in (ours, theirs))
    if not x.ndim or given.get("stable") or mine.shape != other.shape:
        return theirs
    if mine.ndim < x.ndim:
        mine, other = np.expand_dims(mine, dim), np.expand_dims(other, dim)
    equal = np.take_along_axis(x, mine, dim) == np.take_along_axis(x, other, dim)
    merged = torch.from_numpy(np.where(equal, mine, other))
    return merged if isinstance(theirs, torch.Tensor) else (theirs[0], merged.reshape(theirs[1].shape))


GRADS = [name for name in HERE if OPS[name].supports_autograd and not NO_VALUES.match(name)]


@pytest.mark.parametrize("name", GRADS)
def test_gradients(name):
    _compare_all_gradients(name, torch.float64, 6, 3)
    _compare_all_gradients(name, torch.complex128, 2, 2)


@pytest.mark.sweep
@pytest.mark.parametrize("name", GRADS)
def test_gradients_sweep(name):
    _compare_all_gradients(name, torch.float64, SWEEP, SWEEP)
    _compare_all_gradients(name, torch.complex128, SWEEP, SWEEP)


def _compare_all_gradients(name, dtype, count, count_second):
    op = OPS[name]
    if not op.supports_dtype(dtype, "cpu"):
        return
    function = namesake(op.op, op.name)
    for k, sample in enumerate(samples(op, dtype, count, requires_grad=True)):
        try:
            answer = both(op, function, sample)
        except Untranslatable:
            continue
        if answer is None:
            continue
        arguments, ours, theirs = answer
        label = f"{name} {sample[1]} {sample[2]}"
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                b = torch.autograd.grad(theirs, [p[1] for p in pairs], weights, create_graph=create,
                                        allow_unused=True, materialize_grads=True)
            except (RuntimeError, NotImplementedError):
                return
            a = tinytorch.autograd.grad(ours, [p[0] for p in pairs], our_weights, create_graph=create,
                                        allow_unused=True, materialize_grads=True)
        same(list(a), list(b), f"{label}: gradient {order}", scale=10.0 ** order)
        kept = [(x, y) for x, y in zip(a, b) if y.requires_grad]
        ours, theirs = [x for x, _ in kept], [y for _, y in kept]


def random_weights(random, t):
    """Random numbers like the tensor `t` of torch."""
    values = random.standard_normal(tuple(t.shape))
    if t.is_complex():
        values = values + 1j * random.standard_normal(tuple(t.shape))
    return torch.as_tensor(values).to(t.dtype)


@pytest.mark.parametrize("name", [n for n in HERE
                                  if OPS[n].supports_dtype(torch.float32, "cpu") and not NO_VALUES.match(n)])
def test_noncontiguous(name):
    op = OPS[name]
    function = namesake(op.op, op.name)
    for sample in samples(op, torch.float32, 3):
        sample = (_strided(sample[0]), _strided(sample[1]), _strided(sample[2]), None)
        try:
            answer = both(op, function, sample)
        except Untranslatable:
            continue
        if answer is not None:
            same(answer[1], answer[2], f"{name} {sample[1]} {sample[2]}")


def _strided(x):
    """The same tensors at every second place of a larger memory."""
    if isinstance(x, torch.Tensor) and x.layout == torch.strided and x.ndim and x.numel() > 1:
        larger = x.new_zeros((*x.shape, 2))
        larger[..., 0] = x
        return larger[..., 0]
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(_strided(v) for v in x)
    return {k: _strided(v) for k, v in x.items()} if isinstance(x, dict) else x


@pytest.mark.parametrize("name", [n for n in HERE if (OPS[n].method_variant or OPS[n].inplace_variant)
                                  and OPS[n].supports_dtype(torch.float64, "cpu") and not NO_VALUES.match(n)])
def test_methods_and_inplace(name):
    op = OPS[name]
    for variant in (op.method_variant, op.inplace_variant):
        attribute = getattr(variant, "__name__", "<lambda>")
        if variant is None or attribute == "<lambda>" or not hasattr(torch.Tensor, attribute):
            continue
        assert hasattr(tinytorch.Tensor, attribute), f"Tensor.{attribute} is missing"
        for sample in samples(op, torch.float64, 3):
            x, args, kwargs, _ = sample
            try:
                ours = convert((x, args, kwargs))
            except Untranslatable:
                continue
            torch.manual_seed(0)
            error, theirs = error_of(lambda: variant(x, *args, **kwargs))
            if error is not None:
                continue
            tinytorch.manual_seed(0)
            result = getattr(ours[0], attribute)(*ours[1], **ours[2])
            same(result, theirs, f"Tensor.{attribute} {args} {kwargs}")
            if variant is op.inplace_variant:
                same(ours[0], x, f"Tensor.{attribute} {args} {kwargs}: self")


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
        if not _can_exist(tensors(arguments)):
            continue
        try:
            ours = convert(arguments)
        except Untranslatable:
            continue
        error, _ = error_of(lambda: op.op(sample.input, *sample.args, **sample.kwargs))
        if error is None:
            continue
        mine, _ = error_of(lambda: function(ours[0], *ours[1], **ours[2]))
        # The arguments stay out of the message: torch may crash on printing what a refused call left behind.
        assert isinstance(mine, type(error)), f"{name}: {mine!r} for {error!r}"


def _can_exist(found):
    """Whether tensors can be carried over: NumPy has no more than 64 dimensions, and `convert` gives each tensor memory
    of its own (test_errors.py has outputs that overlap inputs)."""
    memories = {id(t): t.untyped_storage().data_ptr() for t in found if t.layout == torch.strided and t.numel()}
    return all(t.ndim <= 64 for t in found) and len(set(memories.values())) == len(memories)
