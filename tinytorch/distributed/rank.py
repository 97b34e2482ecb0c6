"""The program that the launcher starts as each rank: `rank.py LOCAL_WORLD_SIZE [-m | --no-python] program arguments`.

It is run as a file, and imports nothing of the package, so that the program decides what is loaded. It translates the
variables of MPI's launcher to the names that torchrun sets, and then runs the program as if it had been started
directly. If a program ends with a code that is not 0, it ends the other ranks too.
"""
import os
import runpy
import sys

#: MPI's launchers' names for the rank, the number of ranks, and the rank on this machine: Open MPI's, MPICH's, PMIx'.
_RANK = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
_SIZE = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_LOCAL = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")


def _said(names, otherwise):
    return next((os.environ[name] for name in names if name in os.environ), otherwise)


def name_rank(local_size):
    """Sets RANK, LOCAL_RANK and the other variables of a rank."""
    rank = int(_said(_RANK, "0"))
    os.environ.update({
        "RANK": str(rank), "WORLD_SIZE": _said(_SIZE, "1"), "LOCAL_RANK": _said(_LOCAL, str(rank % local_size)),
        "LOCAL_WORLD_SIZE": str(local_size), "GROUP_RANK": str(rank // local_size), "ROLE_RANK": str(rank),
        "GROUP_WORLD_SIZE": str(-(-int(_said(_SIZE, "1")) // local_size)), "ROLE_NAME": "default",
        "ROLE_WORLD_SIZE": _said(_SIZE, "1"), "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_MAX_RESTARTS": "0"})


def _end_all(code):
    """Ends all ranks if MPI is in use. If it is not, mpirun sees the code."""
    sys.stdout.flush()
    sys.stderr.flush()
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        mpi.COMM_WORLD.Abort(code)


def main():
    """Runs the program."""
    name_rank(int(sys.argv[1]))
    how, sys.argv = sys.argv[2], sys.argv[2:]
    if how in ("-m", "--no-python"):
        sys.argv = sys.argv[1:]
    if how == "--no-python":
        os.execvp(sys.argv[0], sys.argv)
    try:
        if how == "-m":
            sys.path[0] = os.getcwd()          # as `python -m` sets it
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        if end.code:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            _end_all(end.code if isinstance(end.code, int) else 1)
        raise


if __name__ == "__main__":
    main()
