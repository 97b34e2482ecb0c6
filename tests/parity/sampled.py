"""torch's own samples of its operators, a few of each, and their tensors as ours."""
import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import tinytorch


def converted(x):
    """Tensors as ours. KeyError for what has no counterpart."""
    if isinstance(x, torch.Tensor):
        if x.layout != torch.strided or x.is_conj() or x.dtype is torch.bfloat16:
            raise KeyError(x.dtype)
        return tinytorch.from_numpy(np.array(x.detach().numpy()))
    if isinstance(x, torch.dtype):
        return getattr(tinytorch, str(x)[6:])
    if isinstance(x, (torch.device, torch.memory_format, torch.layout)):
        raise KeyError(x)
    if isinstance(x, torch.Size):
        return tinytorch.Size(x)
    if isinstance(x, (list, tuple)):
        return type(x)(map(converted, x))
    return {key: converted(y) for key, y in x.items()} if isinstance(x, dict) else x


def samples_of(without, most=3):
    """[(name, function that gives the samples)] of the operators that are here, in one dtype."""
    found = {}
    for op in op_db:
        function = tinytorch
        for part in op.name.split("."):
            function = getattr(function, part, None)
        dtypes = op.supported_dtypes("cpu")
        if op.name in without or op.name in found or op.name.startswith(("_refs", "torch.ops")) or not (
                callable(function) and dtypes & {torch.float32, torch.int64}):
            continue
        dtype = torch.float32 if torch.float32 in dtypes else torch.int64

        def draw(op=op, dtype=dtype):
            samples = list(op.sample_inputs("cpu", dtype))
            return samples[::max(len(samples) // most, 1)][:most]
        found[op.name] = draw
    return list(found.items())
