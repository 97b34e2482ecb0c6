"""Tensors pickled by pickle itself, without torch.save: what torch writes is read where tinytorch has its name, and the
other way round."""
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tests import torch_names

pytestmark = pytest.mark.any_kernels

_ROOT = Path(__file__).parents[2]
_PROGRAM = """
import pickle, sys, torch
assert torch.__file__.endswith("tinytorch/__init__.py")
made = {}
exec(sys.argv[1])
read = {key: pickle.loads(content) for key, content in pickle.load(sys.stdin.buffer).items()}
told = {key: (type(x).__name__, str(x.dtype), x.stride(), x.requires_grad, x.float().detach().numpy(),
              vars(x).get("tag")) for key, x in read.items()}
sys.stdout.buffer.write(pickle.dumps((told, {key: pickle.dumps(x, 4) for key, x in made.items()})))
"""
_SPARSE = """
import pickle, sys, torch
from torch import sparse_coo_tensor as coo, tensor
made = [torch.eye(3).to_sparse(), coo(tensor([[0, 0]]), tensor([1., 2.]), (3,)), torch.eye(2).bfloat16().to_sparse(),
        coo(tensor([[0]]), torch.ones(1, 2), (2, 2)), torch.eye(3).to_sparse_csr(), torch.ones(2, 1).to_sparse_csc()]
read = pickle.loads(sys.stdin.buffer.read() or pickle.dumps(made))
told = [(str(x.layout), x.is_sparse and x.is_coalesced(), str(x.dtype), x.to_dense().tolist()) for x in read]
sys.stdout.buffer.write(pickle.dumps([told, *[pickle.dumps(made, protocol) for protocol in (2, 4)]]))
"""
_MAKE = """
x = torch.arange(6.).reshape(2, 3)
made = dict(plain=x, turned=x.t(), part=x[1:], leaf=x.clone().requires_grad_(), half=x.half(), bf=x.bfloat16(),
            whole=torch.tensor([1, 2]), bool=torch.tensor(True), conj=torch.tensor([1j]).conj().imag.neg(),
            param=torch.nn.Parameter(x), none=torch.empty(0, 3))
"""


def described(x):
    return (type(x).__name__, str(x.dtype), x.stride(), x.requires_grad, x.float().detach().numpy(),
            vars(x).get("tag"))


def same(ours, theirs):
    return ours[:4] == theirs[:4] and ours[5] == theirs[5] and np.array_equal(ours[4], theirs[4])


def test_pickles_of_sparse_tensors_are_read_in_both():
    def run(mode, written=b""):
        done = subprocess.run([sys.executable, "-W", "ignore", *mode, "-c", _SPARSE], input=written, timeout=60,
                              capture_output=True, env={**os.environ, "PYTHONPATH": str(_ROOT)}, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return pickle.loads(done.stdout)
    meant, *theirs = run([])
    for written in theirs:
        told, *ours = run(["-m", "tinytorch"], written)
        assert told == meant
    for written in ours:
        assert b"tinytorch" not in written and run([], written)[0] == meant


@pytest.fixture(scope="module")
def exchange():
    """(what torch wrote, how it was read there; what was made there, as it is read by torch)."""
    names = {"torch": torch}
    exec(_MAKE, names)
    names["made"]["tagged"] = names["x"].clone()
    names["made"]["tagged"].tag = "a"
    written = {key: pickle.dumps(x, 2) for key, x in names["made"].items()}
    done = subprocess.run([sys.executable, "-m", "tinytorch", "-c", _PROGRAM, _MAKE], input=pickle.dumps(written),
                          capture_output=True, timeout=60, env={**os.environ, "PYTHONPATH": str(_ROOT)}, check=False)
    assert done.returncode == 0, done.stderr.decode()
    told, back = pickle.loads(done.stdout)
    return names["made"], told, {key: pickle.loads(content) for key, content in back.items()}


def test_pickles_of_torch_are_read(exchange):
    made, told, _ = exchange
    assert told.keys() == made.keys()
    assert [key for key in made if not same(told[key], described(made[key]))] == []


def test_pickles_are_read_by_torch(exchange):
    made, _, back = exchange
    assert back.keys() == made.keys() - {"tagged"}
    assert [key for key in back if not same(described(back[key]), described(made[key]))] == []


_FUNCTIONS = """
import importlib, pickle, sys, torch
names, theirs = pickle.load(sys.stdin.buffer)
if sys.argv[1] == "override":
    class Sub(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})
ours = {}
for space, known in names.items():
    where = importlib.import_module(space) if space != "torch.Tensor" else torch.Tensor
    ours.update({f"{space}.{name}": getattr(where, name) for name in known if callable(getattr(where, name, None))})
written, refused = {}, []
for name, x in ours.items():
    try:
        written[name] = [pickle.dumps(x, protocol) for protocol in (2, 4)]
        if any([pickle.loads(content) != x for content in written[name]]):
            refused.append(f"{name}: comes back as another")
    except Exception as error:
        refused.append(f"{name}: {error}")
for name, contents in theirs.items():
    try:
        if name in ours and any([pickle.loads(content) != ours[name] for content in contents]):
            refused.append(f"{name}: torch's is read as another")
    except Exception as error:
        refused.append(f"{name}: torch's: {error}")
alike = {}                                     # by the function, which is what pickles keep
for name, x in ours.items():
    alike.setdefault(hash(x) if isinstance(x, type) or hasattr(x, "__name__") else name, []).append(name)
alike = {name: names for names in alike.values() for name in names}
sys.stdout.buffer.write(pickle.dumps((written, refused, alike)))
"""
_SPACES = """torch torch.Tensor torch.nn.functional torch.nn.init torch.linalg torch.fft torch.special torch.masked
    torch.signal.windows torch.func torch.autograd torch.autograd.graph torch.sparse torch.nn
    torch.nn.utils torch.optim torch.distributions torch.utils.data torch.testing torch.nn.utils.rnn
    torch.optim.lr_scheduler""".split()


@pytest.mark.parametrize("mode", ["plain", "override"])
def test_functions_and_classes_are_pickled_by_names_that_torch_has(mode):
    """Every public one, by either and read by either; with methods and functions that look for overrides, too."""
    names = {space: known for space, known in torch_names.read().items() if space in _SPACES}
    theirs = {}
    for space, known in names.items():
        for name in known:
            x = getattr(torch_names.space(space, torch), name)
            try:
                contents = [pickle.dumps(x, protocol) for protocol in (2, 4)]
                if callable(x) and all([pickle.loads(content) == x for content in contents]):
                    theirs[f"{space}.{name}"] = contents
            except (pickle.PicklingError, AttributeError, TypeError):
                pass
    done = subprocess.run([sys.executable, "-W", "ignore", "-m", "tinytorch", "-c", _FUNCTIONS, mode],
                          input=pickle.dumps((names, theirs)), capture_output=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": str(_ROOT)}, check=False)
    assert done.returncode == 0, done.stderr.decode()
    written, refused, alike = pickle.loads(done.stdout)
    assert len(theirs) > 1300 and [line for line in refused if line.partition(":")[0] in theirs] == []
    unread = []
    for name in written.keys() & theirs.keys():
        meant = [_torch_object(other) for other in alike[name]]
        try:
            unread += [name for content in written[name] if pickle.loads(content) not in meant]
        except Exception as error:
            unread.append(f"{name}: {error}")
    assert '\n'.join(sorted(unread)) == ''


def _torch_object(name):
    space, _, name = name.rpartition(".")
    return getattr(torch_names.space(space, torch), name)
