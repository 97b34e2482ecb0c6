"""Runs the programs of this folder under tinytorch and under torch and writes docs/libraries.md.

    python -m tests.libraries [names] [--torch PYTHON]      PYTHON: an interpreter that finds torch and the libraries
"""
import argparse
import sys

from . import running


def _line(name, under_torch):
    outcome = running.outcome(name, under_torch)
    print(name, *outcome, flush=True)
    return outcome


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.libraries")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--torch", default=sys.executable)
    options = parser.parse_args(arguments)
    found = {name: _line(name, options.torch) for name in options.names or running.PROGRAMS}
    if not options.names:
        running.PAGE.write_text(running.page(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
