"""Orders of arguments that torch deprecates: results, and the warning."""
import warnings

import pytest
import torch

import tinytorch

from .adapter import same

CALLS = """
torch.add(t, 3, t); t.add(3, t); t.clone().add_(3, t); torch.add(t, 3, 4); torch.add(2, 3, t); torch.add(i, 3, i)
torch.add(t, torch.tensor(3.), t); torch.add(t, 3, t, out=torch.empty(3)); torch.add(t, 2, g)
torch.sub(t, 3, t); t.sub(3, t); t.clone().sub_(3, t); torch.sub(2, 3, t)
torch.addcmul(t, 3, t, t); t.addcmul(3, t, t); t.clone().addcmul_(3, t, t); torch.addcmul(t, 3, t, tensor2=t)
torch.addcdiv(t, 3, t, t); t.addcdiv(3, t, t); t.clone().addcdiv_(3, t, t)
torch.addmm(2, q, q, q); torch.addmm(2, q, 3, q, q); torch.addmm(2, q, 3, q, q, out=torch.empty(2, 2))
q.addmm(2, q, q); q.addmm(2, 3, q, q); q.clone().addmm_(2, q, q); q.clone().addmm_(2, 3, q, q)
torch.addmv(2, t, q3, t); torch.addmv(2, t, 3, q3, t); t.addmv(2, q3, t); t.addmv(2, 3, q3, t)
t.clone().addmv_(2, q3, t); t.clone().addmv_(2, 3, q3, t)
torch.addr(2, q3, t, t); q3.addr(2, 3, t, t); q3.clone().addr_(2, t, t); torch.addr(2, q3, 3, g, t)
torch.baddbmm(2, b3, b3, b3); torch.baddbmm(2, b3, 3, b3, b3); b3.baddbmm(2, b3, b3)
b3.clone().baddbmm_(2, 3, b3, b3); torch.addbmm(2, q, b3, b3); q.addbmm(2, 3, b3, b3); q.clone().addbmm_(2, b3, b3)
torch.add(t, t, t); torch.add(t, 3, 4, 5); torch.addmm(2, q, "a", q, q); torch.addmm(q, q, q, q)
torch.addmm(2, q, 3, q, q, alpha=2); torch.addmm(2, q, q, q, alpha=2); torch.addmm(q, q); t.clone().add_(3, t, 5)
torch.addcmul(t, 3, t); torch.addcdiv(i, 3, i, i)
"""


def _run(module, call):
    names = dict(torch=module, t=module.tensor([1., 2., 3.]), i=module.tensor([1, 2]), q=module.ones(2, 2),
                 q3=module.ones(3, 3), b3=module.ones(2, 2, 2), g=module.tensor([1., 2., 3.], requires_grad=True))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = eval(call, names)
        except Exception as error:
            result = type(error)
    words = [str(w.message).partition(" (Triggered")[0].partition("\n\taddmm(Tensor input, Tensor mat1, Tensor mat2, "
             "torch.dtype out")[0].partition("\n\tbaddbmm(Tensor input, Tensor batch1, Tensor batch2, torch.dtype "
             "out")[0] for w in caught]
    return result, words, {w.filename for w in caught}


@pytest.mark.parametrize("line", CALLS.strip().splitlines())
def test_older_orders(line):
    torch.set_warn_always(True)                # else it warns once of them all
    try:
        for call in line.split("; "):
            (theirs, their_words, _), (ours, words, files) = _run(torch, call), _run(tinytorch, call)
            assert words == their_words and files <= {"<string>"}, call
            if isinstance(theirs, type):
                assert ours is theirs, call
            else:
                same(ours, theirs, call)
    finally:
        torch.set_warn_always(False)
