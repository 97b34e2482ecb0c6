"""One program under both libraries, in several processes: torch's by gloo, ours under mpirun.

A program is a Python file that defines `main(torch, rank, size)` and returns what can be pickled. `run` starts it and
gives what each rank returned. `plain` makes tensors and errors comparable.
"""
import importlib
import importlib.util
import os
import pickle
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 120                                    # seconds that a program may take


def mpirun():
    """The path of mpirun, beside this Python or on the path; None if there is none."""
    beside = Path(sysconfig.get_path("scripts"), "mpirun")
    return str(beside) if beside.exists() else shutil.which("mpirun")


def missing():
    """Why programs cannot run under MPI here; "" if they can."""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not installed"
    return "" if mpirun() else "mpirun is not installed"


def environment(**more):
    """The environment of a rank: one thread, Open MPI allowed to run as root, none of an outer launcher's names."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("OMPI_", "PMIX_", "PRTE_", "TORCH_DIST"))
            and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")}
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**kept, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **more}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def under_mpi(size, *command, limit=LIMIT, **more):
    """What subprocess.run gives of `command` (arguments of Python) on `size` ranks."""
    return subprocess.run([mpirun(), "-n", str(size), "--oversubscribe", sys.executable, *map(str, command)],
                          env=environment(**more), capture_output=True, text=True, timeout=limit)


def _under_gloo(size, command, limit, more):
    """Runs `command` once for each rank; the first that fails is an error with what it printed."""
    port, processes = free_port(), []
    for rank in range(size):
        env = environment(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1",
                          MASTER_PORT=str(port), **more)
        processes.append(subprocess.Popen([sys.executable, *map(str, command)], env=env, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    try:
        said = [process.communicate(timeout=limit)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, text in zip(processes, said):
        if process.returncode:
            raise AssertionError(text)


def run(program, library, size, limit=LIMIT, arguments=(), **more):
    """[what `main` of the file `program` returned on rank 0, 1, ...]; `more` is added to the environment."""
    with tempfile.TemporaryDirectory() as folder:
        command = [__file__, program, library, folder, *arguments]
        if library == "torch":
            _under_gloo(size, command, limit, more)
        else:
            done = under_mpi(size, *command, limit=limit, **more)
            if done.returncode:
                raise AssertionError(done.stdout + done.stderr)
        return [pickle.loads(Path(folder, str(rank)).read_bytes()) for rank in range(size)]


# ------------------------------------------------------------------ in a rank
def plain(torch, x):
    """Tensors, in tuples, lists and dicts too, as (dtype, shape, strides, bytes)."""
    if isinstance(x, torch.Tensor):
        bits = x.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if x.numel() else b""
        return str(x.dtype), tuple(x.shape), x.stride(), bits
    if isinstance(x, (tuple, list)):
        return [plain(torch, item) for item in x]
    return {key: plain(torch, item) for key, item in x.items()} if isinstance(x, dict) else x


def outcome(torch, function):
    """What `function()` gives, plain, or the type and the words of the error that it raises."""
    try:
        return plain(torch, function())
    except Exception as error:
        return "error", type(error).__name__, str(error)


def _main(program, library, folder):
    torch = importlib.import_module(library)
    dist = importlib.import_module(f"{library}.distributed")
    spec = importlib.util.spec_from_file_location("program", program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    dist.init_process_group("gloo" if library == "torch" else "mpi")
    rank, size = dist.get_rank(), dist.get_world_size()
    result = module.main(torch, rank, size)
    Path(folder, str(rank)).write_bytes(pickle.dumps(result))
    if library == "torch":
        # PyTorch's threads of gloo may abort a process that ends, so it is ended when all ranks are through.
        end = time.monotonic() + LIMIT / 2
        while not all([Path(folder, str(other)).exists() for other in range(size)]):
            if time.monotonic() > end:
                sys.exit("another rank did not come to its end")
            time.sleep(0.01)
        os._exit(0)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    _main(*sys.argv[1:4])
