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
