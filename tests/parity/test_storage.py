"""Storages against torch: each expression gives the same under both modules, or the same error."""
import copy
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same


def of_numpy(t):
    """A tensor in memory of NumPy's."""
    return t.from_numpy(np.arange(2.))


def outcome(expression, t):
    """(what the expression gives, the tensor, its version); a storage as its class, contents and text."""
    x = t.arange(6.).reshape(2, 3)
    names = dict(t=t, copy=copy, n=of_numpy, x=x, v=x[1], u=x.untyped_storage(), a=lambda *results: results[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            names["s"] = x.storage()
            result = eval(expression, names)
        except Exception as error:
            return type(error).__name__, str(error).replace("tinytorch.", "torch.").split(" but expected one of")[0]
    if isinstance(result, (t.UntypedStorage, t.TypedStorage)):
        result = type(result), result.tolist(), repr(result).replace("tinytorch.", "torch.")
    return result, x, x._version


@pytest.mark.parametrize("expression", """
u.nbytes(); u.size(); len(u); u.tolist(); u[0]; u[4:8]; u[-1]; u[100]; u['a']; u[4:8:2]; u.device; u.element_size()
u.is_cuda; u.is_shared(); u == v.untyped_storage(); u == t.zeros(6).untyped_storage()
hash(u) == hash(v.untyped_storage()); u; u.data_ptr() == x.data_ptr(); v.untyped_storage().data_ptr() == x.data_ptr()
s.data_ptr() == x.data_ptr(); type(u); x.t()[1].untyped_storage().data_ptr() == x.data_ptr()
x.expand(2, 2, 3).untyped_storage().nbytes(); x.detach().untyped_storage().data_ptr() == x.data_ptr()
x.clone().untyped_storage().data_ptr() == x.data_ptr(); x.view(t.int32).untyped_storage() == u
x.reshape(-1).untyped_storage() == u; x.unfold(1, 2, 1).untyped_storage() == u
x.as_strided((2,), (1,)).untyped_storage() == u; x.split(1)[1].untyped_storage() == u; x[:, ::2].untyped_storage() == u
s; s.size(); len(s); s.nbytes(); s.tolist(); s[1]; s[-1]; s[1:3]; s[10]; s['a']; s.dtype; s.element_size(); s.type()
type(s); s.untyped() == u; s.device; list(s); s.pickle_storage_type(); u.cpu() is u; s.double(); s.long(); s.bool()
u.clone() == u; s.clone(); u.fill_(0); s.fill_(7); a(s.__setitem__(0, 3), s); a(s.__setitem__(slice(1, 3), 5), s)
a(u.__setitem__(0, 255), u[0]); a(u.__setitem__(0, 256), u[0]); a(u.__setitem__(3, 64), u[3])
u.copy_(t.ones(2, 3).untyped_storage()); s.copy_(t.ones(6).storage()); u.copy_(t.ones(2).untyped_storage())
s.copy_(t.ones(2).storage()); t.UntypedStorage(4).nbytes(); t.UntypedStorage([1, 2, 3]); t.UntypedStorage()
t.UntypedStorage('a'); t.UntypedStorage(2.5); t.UntypedStorage([300]); t.TypedStorage([1., 2.], dtype=t.float64)
t.is_storage(u); t.is_storage(s); t.is_storage(x); t.zeros(0).untyped_storage().data_ptr(); t.zeros(0).storage()
t.tensor(5).storage(); t.zeros(2, dtype=t.bool).storage(); t.zeros(2, dtype=t.bfloat16).storage()
t.zeros(2, dtype=t.complex64).storage(); t.zeros(2).set_(u); t.zeros(2).set_(s); t.zeros(2).set_(u, 1, (2,), (2,))
t.zeros(2).set_(s, 1, (2, 2)); t.zeros(2).set_(x); t.zeros(2).set_(); t.zeros(2).set_(x.double())
t.zeros(2).set_(x.double().storage()); t.zeros(2).set_(x, 0, (2,), (1,)); t.zeros(2).set_(x)._version
t.zeros(2, requires_grad=True).set_(x); t.zeros(2).set_(x).data_ptr() == x.data_ptr(); x.is_set_to(x.view(2, 3))
x.is_set_to(v); copy.deepcopy(u) == u; 1 in u; v.storage_offset(); u.new(); u.type(); u.is_pinned()
v.pin_memory()
u.resizable(); s.resizable(); u.resize_(24) == u; u.resize_(-1); u.resize_(); u.resize_(2.); s.resize_(6)
t.from_numpy(t.ones(2).numpy()).untyped_storage().resize_(8); n(t).untyped_storage().resizable()
n(t).untyped_storage().resize_(16); n(t).untyped_storage().resize_(3); n(t).untyped_storage().resize_(300)
n(t).storage().resize_(5); n(t).untyped_storage().clone().resize_(3); u.clone().resize_(30).tolist()[:24]
s.clone().resize_(2); t.UntypedStorage([1, 2, 3]).resize_(2); t.UntypedStorage().resize_(2).nbytes()
x.set_(v.untyped_storage(), 3, (3,), (1,)); t.storage.UntypedStorage; s.filename; v.storage().data_ptr() == x.data_ptr()
""".strip().replace("\n", "; ").split("; "))
def test_storage(expression):
    same(outcome(expression, tinytorch), outcome(expression, torch), tolerance=0)
