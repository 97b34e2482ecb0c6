"""Runs the programs of the list under tinytorch and under torch and writes docs/programs.md.

    python -m tests.programs --mirror DIR --data DIR --torch PYTHON [--tiny PYTHON] [--torchvision DIR]
                             [--only WORD ...]

DIR of --mirror holds copies of the repositories, as owner+name/repo; that of --data what the rows name; PYTHON is an
interpreter that finds torch and torchvision, and for --tiny one that has the other libraries and no torch.
"""
import argparse
import sys

from . import page, running
from .listing import programs


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.programs")
    parser.add_argument("--mirror", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--torch", required=True)
    parser.add_argument("--tiny", default=sys.executable)
    parser.add_argument("--torchvision", help="a folder with torchvision, for programs that ask for its models")
    parser.add_argument("--only", nargs="*", default=[""], help="only programs with one of these in their names")
    options = parser.parse_args(arguments)
    for program in programs():
        if any([word in program.name for word in options.only]):
            found = running.tried(program, options.mirror, options.data, options.tiny, options.torch,
                                  options.torchvision)
            print(program.name, *found, sep=" | ", flush=True)
            page.write({program: found})


if __name__ == "__main__":
    main(sys.argv[1:])
