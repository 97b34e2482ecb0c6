"""Every public function and method called with what it cannot take: exceptions of torch's types.

The arguments are tensors of two by three numbers, one of them replaced by a list, a string, None or a number that is no
dimension, or all of them of another dtype. What torch takes we must take, and the other way round.
"""
import functools
import inspect

import pytest
import torch

import tinytorch

from .adapter import error_of

SPACES = {"torch": "", "F": "nn.functional", "linalg": "linalg", "special": "special", "Tensor": "Tensor"}
#: Functions that change the process or its settings, start something or read files.
UNTOUCHED = {
    "autocast", "compile", "inference_mode", "initial_seed", "load", "manual_seed", "save", "seed",
    "set_default_device", "set_default_dtype", "set_default_tensor_type", "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal", "set_grad_enabled", "set_num_interop_threads", "set_num_threads", "set_printoptions",
    "set_rng_state", "set_warn_always", "share_memory_", "use_deterministic_algorithms"}
#: Calls whose exceptions differ: {reason: {namespace.function: cases}}; "*": most of them.
DIFFERENT = {
    "torch chooses between two Python functions by a flag, and looks at the tensor in its place first": {
        **dict.fromkeys([f"F.{kind}max_pool{n}d" for kind in ("", "adaptive_") for n in (1, 2, 3)], "too many"),
        **dict.fromkeys([f"F.fractional_max_pool{n}d" for n in (2, 3)],
                        "argument 5 a list, argument 5 a string, argument 5 None, too many"),
        "torch.unique": "too many", "torch.unique_consecutive": "too many"},
    "torch factors the matrix before it looks at `out`, which can be given by position": {
        "torch.lu": "argument 3 a list, argument 3 a string, argument 3 None, too many"},
    "torch's Python compares numbers and sizes before anything looks at what the arguments are": {
        "Tensor.stft": "*", "torch.stft": "*"},
    "one function is torch.group_norm, whose TypeErrors it has, and F.group_norm, which is Python in torch": {
        "F.group_norm": "*"},
    "torch's Python asks the input for is_cuda first": {
        "F.max_pool3d_with_indices": "argument 0 a list, argument 0 a string, argument 0 None"},
    "torch compares the complex kernel size first": {"F.max_unpool2d": "complex64", "F.max_unpool3d": "complex64"},
    "None counts as not given": {"torch.repeat_interleave": "argument 1 None", "Tensor.to_sparse": "argument 1 None"},
    "nothing here is kept in oneDNN's order of elements: what torch would put there is refused by name": {
        "Tensor.to_mkldnn": "argument 1 None, uint8, bfloat16"},
    "torch's reader of arguments knows no streams of another class, and says so before it looks at keywords": {
        "Tensor.record_stream": "dim=7, an unknown keyword"},
    "tensors, which are no functions, have the docstring of their class here": {
        "F.boolean_dispatch": "argument 6 a string, argument 6 None"},
    "numbers in lists stand for a tensor": {"torch.sparse_coo_tensor": "argument 0 a list"},
    "of sparse tensors, block layouts and batches are refused before anything else, the rest is looked at in another "
    "order": {
        "torch.sparse_csc_tensor": "*", "torch.sparse_csr_tensor": "*", "torch.sparse_compressed_tensor": "*",
        "Tensor.sparse_mask": "*", "Tensor.to_dense": "argument 1 a string, argument 1 a 7",
        **dict.fromkeys([f"Tensor.to_sparse_{layout}" for layout in ("bsc", "bsr", "csc", "csr")], "*")},
}

BAD = {"a list": [1., 2.], "a string": "abc", "None": None}
DTYPES = ("bool", "uint8", "int64", "bfloat16", "complex64")


def members(t, path):
    space = functools.reduce(getattr, filter(None, path.split(".")), t)
    names = [name for name in dir(space) if not name.startswith(("_", "set_autocast")) and name not in UNTOUCHED]
    return {name: getattr(space, name) for name in names if hasattr(space, name)}


def functions():
    """{namespace.function: (torch's, ours)} of the functions that both have."""
    found = {}
    for label, path in SPACES.items():
        theirs = members(torch, path)
        for name, ours in members(tinytorch, path).items():
            if callable(ours) and not inspect.isclass(ours) and name in theirs and (
                    getattr(ours, "__module__", "") or "").startswith("tinytorch"):
                found[f"{label}.{name}"] = theirs[name], ours
    return found


FUNCTIONS = functions()


def numbers(t, dtype="float32"):
    return t.tensor([[.5, .25, 1.], [.125, .75, 2.]]).to(getattr(t, dtype))


def cases(function, is_method):
    """{case: function(torch) -> (arguments, keywords)} by our signature: torch's builtins have none."""
    parameters = [p for p in inspect.signature(function).parameters.values()
                  if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = max(1, sum(p.default is p.empty for p in parameters))

    def with_bad(bad, at):
        count = max(needed, at + 1)
        return lambda t: ([bad if i == at else numbers(t) for i in range(count)], {})
    found = {}
    for word, bad in BAD.items():
        for at in range(1 if is_method else 0, max(len(parameters), 2)):
            found[f"argument {at} {word}"] = with_bad(bad, at)
    found["argument 1 a 7"] = with_bad(7, 1)
    found["dim=7"] = lambda t: ([numbers(t)] * needed, {"dim": 7})
    for dtype in DTYPES:
        found[dtype] = lambda t, dtype=dtype: ([numbers(t, dtype) for _ in range(needed)], {})
    found["too many"] = lambda t: ([numbers(t)] * (len(parameters) + 3), {})
    found["an unknown keyword"] = lambda t: ([numbers(t)] * needed, {"nonsense": 1})
    return found


def kind_of_error(t, function, arguments):
    args, kwargs = arguments(t)
    error, _ = error_of(lambda: function(*args, **kwargs))
    return "none" if error is None else type(error).__name__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bad_arguments(name):
    theirs, ours = FUNCTIONS[name]
    differing = {}
    for case, arguments in cases(ours, name.startswith("Tensor.")).items():
        expected, got = kind_of_error(torch, theirs, arguments), kind_of_error(tinytorch, ours, arguments)
        if got != expected:
            differing[case] = f"torch: {expected}, ours: {got}"
    listed = ", ".join(entries[name] for entries in DIFFERENT.values() if name in entries)
    assert ", ".join(differing) == listed or differing and listed == "*", differing
