"""Ranks that do not fit together, and MPI's own errors: each is PyTorch's, and says what was called."""
import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tinytorch.distributed as dist
from tests.parity import ranks

mpi = pytest.mark.skipif(bool(ranks.missing()), reason=ranks.missing())
PROGRAM = Path(ranks.__file__).with_name("ranks_programs") / "unlike.py"


def is_error(outcome):
    return isinstance(outcome, tuple) and outcome[:2] == ("error", "RuntimeError")


# ------------------------------------------------------------------ ranks that do not call the same
@mpi
@pytest.mark.parametrize("size", [2, 3])
def test_what_mpi_shows(size):
    sender, receiver = ranks.run(PROGRAM, "tinytorch", size)[:2]
    fits = {name for name in receiver if name.startswith("fit")}
    assert len(fits) == 3 and not [name for name in fits if is_error(sender[name]) or is_error(receiver[name])]
    assert len(receiver) == len(fits) + (12 if size == 2 else 10)
    for name in receiver.keys() - fits:
        assert sender[name] is None
        assert is_error(receiver[name]) and "MPI_ERR" not in receiver[name][2].split("(")[0], receiver[name]
        words = receiver[name][2]
        assert words.startswith(f"{name.split()[0]} on rank 1 of group "), words
        if "object" not in name and not name.startswith("broadcast"):
            sent, received = re.search(r"rank 0 sent (\d+) bytes, and this rank receives (\d+)\.", words).groups()
            assert int(sent) != int(received) and re.search(r"torch\.[a-z0-9]+ \[\d+\]", words)
    assert "rank 0 sent 800000 bytes, and this rank receives 40." in receiver["recv much too long"][2]
    if size == 2:
        assert "another rank sent another length than this one receives" in receiver["broadcast shape"][2]
        assert "has 3 objects, and that of rank 0 2" in receiver["broadcast_object_list length"][2]


#: What is named besides the functions, shapes and dtypes.
ASPECTS = {"all_reduce op": "Reduce op: (SUMvs MAX|MAXvs SUM)$", "reduce root": "Root: (0vs 1|1vs 0)$",
           "broadcast root": "Root: (0vs 1|1vs 0)$", "async_op": "async_op: (Truevs False|Falsevs True)$",
           "all_to_all_single splits": "Splits: rank 1 sends 3 elements to rank 0, which receives 2$",
           "all_to_all lists": "Splits: rank 1 sends 3 elements to rank 0, which receives 2$",
           "all_to_all dtype": "Tensor Tensor dtypes: (Floatvs Int|Intvs Float)$",
           "recv dtype": "RECV, TensorShape=.10., TensorDtypes=Double.*SEND, TensorShape=.10., TensorDtypes=Float"}


@mpi
@pytest.mark.parametrize("size", [2, 3])
def test_detail_sees_all(size):
    outcomes = ranks.run(PROGRAM, "tinytorch", size, TORCH_DISTRIBUTED_DEBUG="DETAIL")
    for rank, results in enumerate(outcomes):
        assert len(results) == (35 + 13 if rank < 2 else 35), len(results)
        for name, outcome in results.items():
            if name.startswith("fit") or rank == 0 and name.startswith(("recv", "irecv")):
                assert not is_error(outcome), (name, outcome)
                continue
            assert is_error(outcome), (rank, name, outcome)
            assert outcome[2].startswith(f"Detected mismatch between collectives on ranks. Rank {rank} is running")
            assert re.search(ASPECTS.get(name, "Tensor shapes: |Tensor dtypes: |Op type: |Reduce op: |Root: "),
                             outcome[2]), (name, outcome)


# ------------------------------------------------------------------ MPI's errors
FAILING = """
import inspect, json, os, pickle, sys
import numpy as np
import tinytorch as torch, tinytorch.distributed as dist
from mpi4py import MPI
from tinytorch.distributed import detail, world

dist.init_process_group("mpi")
first, calls, fail_at = dist.group.WORLD, 0, -1
x, x4 = torch.ones(4), lambda: torch.ones(4)


def step(name):
    '''Raises what MPI raises, at the call whose turn it is.'''
    global calls
    calls += 1
    if calls - 1 == fail_at:
        raise MPI.Exception(MPI.ERR_OTHER)


class Failing:
    '''A communicator, a message or a request, of which one of the calls fails.'''

    def __init__(self, of):
        self.of = of

    def __getattr__(self, name):
        found = getattr(self.of, name)
        if not callable(found) or name in ("Get_rank", "Get_size"):
            return found

        def call(*args, **how):
            step(name)
            given = found(*args, **how)
            return Failing(given) if isinstance(given, (MPI.Comm, MPI.Request, MPI.Message)) else given
        return call


def received():
    works = [dist.irecv(x4(), 0), dist.isend(x, 0)]
    [work.wait() for work in works]


def from_self(message, receive):
    '''A recv whose message is already there. (DETAIL has no messages to oneself that wait.)'''
    if not detail.on:
        request = dist.group.WORLD.comm.of.Isend(message, 0, 0)
        receive()
        request.Wait()


text = np.frombuffer(pickle.dumps(1), np.uint8)
objects = np.concatenate([np.array([1, text.size]).view(np.uint8), text])
CALLS = {
    "all_reduce": lambda **how: dist.all_reduce(x4(), **how),
    "all_reduce_coalesced": lambda **how: dist.all_reduce_coalesced([x4(), x4()], **how),
    "reduce": lambda **how: dist.reduce(x4(), 0, **how),
    "reduce_scatter": lambda **how: dist.reduce_scatter(x4(), [x], **how),
    "reduce_scatter_single": lambda **how: dist.reduce_scatter_single(x4(), x, **how),
    "reduce_scatter_tensor": lambda **how: dist.reduce_scatter_tensor(x4(), x, **how),
    "broadcast": lambda **how: dist.broadcast(x4(), 0, **how),
    "gather": lambda **how: dist.gather(x, [x4()], 0, **how),
    "scatter": lambda **how: dist.scatter(x4(), [x], 0, **how),
    "all_gather": lambda **how: dist.all_gather([x4()], x, **how),
    "all_gather_single": lambda **how: dist.all_gather_single(x4(), x, **how),
    "all_gather_into_tensor": lambda **how: dist.all_gather_into_tensor(x4(), x, **how),
    "all_to_all_single": lambda **how: dist.all_to_all_single(x4(), x, **how),
    "all_to_all": lambda **how: dist.all_to_all([x4()], [x], **how),
    "barrier": lambda **how: dist.barrier(**how),
    "isend": received, "irecv": received,
    "batch_isend_irecv": lambda: [work.wait() for work in dist.batch_isend_irecv(
        [dist.P2POp(dist.irecv, x4(), 0), dist.P2POp(dist.isend, x, 0)])],
    "send": lambda: dist.send(x, 1), "recv": lambda: from_self(x.numpy(), lambda: dist.recv(x4(), 0)),
    "send_object_list": lambda: dist.send_object_list([1], 1),
    "recv_object_list": lambda: from_self(objects, lambda: dist.recv_object_list([None], 0)),
    "all_gather_object": lambda: dist.all_gather_object([None], 1),
    "gather_object": lambda: dist.gather_object(1, [None], 0),
    "broadcast_object_list": lambda: dist.broadcast_object_list([1], 0),
    "scatter_object_list": lambda: dist.scatter_object_list([None], [1], 0),
    "monitored_barrier": dist.monitored_barrier, "new_group": lambda: dist.new_group([0]),
    "new_subgroups": lambda: dist.new_subgroups(1),
    "new_subgroups_by_enumeration": lambda: dist.new_subgroups_by_enumeration([[0]]),
    "destroy_process_group": lambda: dist.destroy_process_group(dist.new_group([0])),
}
#: Of these the first call fails: there is no other rank to answer the next.
NEED_ANOTHER = {"send", "send_object_list", "monitored_barrier"}
missing, found = [name for name in sys.argv[1:] if name not in CALLS], []
for level in (dist.DebugLevel.OFF, dist.DebugLevel.DETAIL):
    dist.set_debug_level(level)
    for name, function in CALLS.items():
        takes_async = "async_op" in inspect.signature(getattr(dist, name)).parameters
        for mode in ("", "async")[:1 + takes_async]:
            for fail_at in range(1 if name in NEED_ANOTHER else 50):
                group = world.ProcessGroup(first.comm.Dup(), [0], "0", "mpi", first.mpi)       # nothing under way
                group.comm, group.control = Failing(group.comm), Failing(group.control)
                group.count += name in NEED_ANOTHER
                world.world.default, world.world.groups, calls, error = group, [group], 0, None
                try:
                    function(async_op=True).wait() if mode else function()
                except Exception as raised:
                    error = raised
                found.append((level.name, name, mode, error and type(error).__name__, str(error)))
                if calls <= fail_at:
                    break
print(json.dumps([missing, found]), flush=True)
os._exit(0)
"""

#: Of the functions that MPI is called by, those that call others, whose names the messages have.
BY = {"reduce_scatter_tensor": "reduce_scatter_single", "all_gather_into_tensor": "all_gather_single",
      "batch_isend_irecv": "(isend|irecv)", "isend": "(isend|irecv)", "irecv": "(isend|irecv)", "send": "isend",
      "new_subgroups": "new_group", "new_subgroups_by_enumeration": "new_group",
      "destroy_process_group": "(destroy_process_group|new_group)"}


def functions():
    """The functions of torch.distributed that call MPI: those of these modules that take a group, or make one."""
    asks = ("get_", "is_", "set_", "supports", "Debug", "P2POp", "ReduceOp", "Process", "Group", "Backend", "group",
            "default_", "init_process_group", "_make")
    return [name for name, module in dist._OF.items() if not name.startswith(asks)
            and module in ("collectives", "point_to_point", "objects", "detail", "world")]


@mpi
def test_mpis_errors_are_pytorchs():
    """MPI fails at the first, second ... call of each function: waiting and async, with DETAIL and without."""
    done = subprocess.run([sys.executable, "-c", FAILING, *functions()], capture_output=True, text=True, timeout=120,
                          env=ranks.environment(RANK="0", WORLD_SIZE="1"))
    assert done.returncode == 0, done.stderr
    missing, found = json.loads(done.stdout)
    assert not missing
    failed = {}
    for level, name, mode, kind, words in found:
        if kind is not None:
            assert kind == "DistBackendError", (level, name, mode, kind, words)
            assert re.match(f"{BY.get(name, name)} on rank 0 of group [01] ", words) and "MPI failed" in words, words
            failed[level, name, mode] = failed.get((level, name, mode), 0) + 1
    for name in functions():
        assert failed.get(("OFF", name, "")), name
    asynchronous = [name for level, name, mode in failed if mode and level == "OFF"]
    assert len(asynchronous) == 15 and all(failed["OFF", name, "async"] >= 2 for name in asynchronous)


CALLERS = {"messages", "point_to_point", "announced", "detail", "world", "collectives", "mpi"}


def test_mpi_is_called_where_its_errors_are_caught():
    """A communicator is used in no other file, and a collective outside messages.py in one place, all_reduce."""
    used = {}
    for path in Path(dist.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute)
                    and node.value.attr in ("comm", "control")):
                used.setdefault(path.stem, []).append(node.attr)
    assert used.keys() <= CALLERS and used["collectives"] == ["Allreduce"]
