"""`python -m tinytorch script.py args...`: runs an unchanged program that says `import torch`.

    python -m tinytorch [-m module | -c code | script] [arguments]
"""
import runpy
import sys
from pathlib import Path
from types import ModuleType

from .environment.finder import install

_USAGE = "usage: python -m tinytorch [-m module | -c code | script] [arguments]"


def _run(source, name, **attributes):
    """Run source as the program. It stays `__main__` until the process ends, as pickles and new processes need it."""
    main = ModuleType("__main__")
    vars(main).update(attributes, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    try:
        code = compile(source, name, "exec")
    except SyntaxError as error:
        sys.excepthook(type(error), error, None)
        sys.exit(1)
    try:
        exec(code, vars(main))
    except Exception as error:                 # the traceback begins at the program's own lines
        sys.excepthook(type(error), error.with_traceback(error.__traceback__.tb_next), error.__traceback__)
        sys.exit(1)


def _run_file(name):
    path = Path(name)
    if path.is_dir() or path.suffix in (".zip", ".pyz"):
        del sys.path[0]
        install()
        runpy.run_path(name, run_name="__main__")
        return
    try:
        source = path.read_bytes()
    except OSError as error:
        sys.exit(f"can't open file {name!r}: {error.strerror}")
    sys.path[0] = str(path.resolve().parent)
    install()
    _run(source, name, __file__=str(path.resolve()), __cached__=None)


def main(arguments):
    """Run the module, code or script that the arguments name."""
    first, *rest = arguments or ["-h"]
    if first in ("-h", "--help"):
        print(_USAGE)
    elif first in ("-m", "-c") and not rest:
        sys.exit(f"argument expected for {first}: {_USAGE}")
    elif first == "-m":
        sys.argv = rest
        install()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path[0] = ""
        install()
        _run(rest[0], "<string>")
    else:
        sys.argv = arguments
        _run_file(first)


if __name__ == "__main__":
    main(sys.argv[1:])
