"""Every in-place method of torch's op_db, and every `out=`, of memory that may not be written to: torch writes, which
is undefined; here it is one error, and nothing is written."""
import pytest
import torch

import tinytorch

from .adapter import OPS, Untranslatable, convert, described, error_of, in_place_method, namesake, samples, tensors
from .test_op_db import HERE, NO_VALUES

pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
SAID = "the written-to tensor lies in read-only memory"
DTYPES = [torch.float64, torch.float32, torch.int64, torch.bool, torch.complex64]
#: They change sizes and strides of a tensor, not its memory.
OF_SHAPE = {"as_strided", "as_strided.partial_views", "resize_", "resize_as_", "t", "transpose", "squeeze",
            "squeeze.multiple", "unsqueeze", "swapaxes", "swapdims", "unsqueeze_copy", "squeeze_copy"}
#: Of real numbers it has nothing to write.
NOTHING_TO_DO = {"conj_physical"}


def closed(t):
    array = t.detach().resolve_conj().numpy().copy()
    array.flags.writeable = False
    return tinytorch.from_numpy(array)


@pytest.mark.parametrize("name", [n for n in HERE if in_place_method(OPS[n]) and n not in OF_SHAPE])
def test_in_place(name):
    for entry in (OPS[name], *OPS[name].aliases):
        method, refused = in_place_method(entry), 0
        for dtype in DTYPES if method else ():
            for x, args, kwargs, _ in samples(OPS[name], dtype, 3) if OPS[name].supports_dtype(dtype, "cpu") else ():
                try:
                    ours = convert((x, args, kwargs))
                except Untranslatable:
                    continue
                if error_of(lambda: getattr(ours[0].clone(), method)(*ours[1], **ours[2]))[0] is not None:
                    continue
                target = closed(ours[0])
                before = target.clone()
                error, _ = error_of(lambda: getattr(target, method)(*ours[1], **ours[2]))
                if name in NOTHING_TO_DO and not x.is_complex() or not target.numel() and error is None:
                    continue
                assert isinstance(error, RuntimeError) and SAID in str(error), f"{method} {described(*ours)}: {error!r}"
                assert target.equal(before) or before.isnan().any()
                assert target._version == 0
                refused += 1
        assert refused or not method or not any(OPS[name].supports_dtype(d, "cpu") for d in DTYPES)


@pytest.mark.parametrize("name", [n for n in HERE if OPS[n].supports_out and not NO_VALUES.match(n)])
def test_out(name):
    op = OPS[name]
    function = namesake(op.op, op.name)
    for dtype in DTYPES:
        for x, args, kwargs, _ in samples(op, dtype, 3) if op.supports_dtype(dtype, "cpu") else ():
            try:
                ours = convert((x, args, kwargs))
            except Untranslatable:
                continue
            error, result = error_of(lambda: function(ours[0], *ours[1], **ours[2]))
            if error is not None or not all(t.numel() for t in tensors(result)):
                continue
            several = not isinstance(result, tinytorch.Tensor)
            for i in range(len(tensors(result))):
                out = [closed(t) if i == k else t.clone() for k, t in enumerate(tensors(result))]
                given = {**ours[2], "out": tuple(out) if several else out[0]}
                error, _ = error_of(lambda: function(ours[0], *ours[1], **given))
                if isinstance(error, TypeError) and "out" in str(error):
                    break                      # of some forms of the call there is none with `out`
                assert isinstance(error, RuntimeError) and SAID in str(error), f"{name} {described(*ours)}: {error!r}"
                assert out[i].equal(closed(tensors(result)[i])) or out[i].isnan().any()
