"""Runs the programs of the list under tinytorch and under torch and writes docs/programs.md.

    python -m tests.programs --mirror DIR --data DIR --torch PYTHON [--tiny PYTHON] [--torchvision DIR]
                             [--only WORD ...] [--rounding]

DIR of --mirror holds copies of the repositories, as owner+name/repo; that of --data what the rows name; PYTHON is an
interpreter that finds torch and torchvision, and for --tiny one that has the other libraries and no torch. With
--rounding it writes nothing, and prints of each program what the page says of those whose numbers differ: what torch
with other kernels prints, what both print in double precision, and how far single steps of training are apart.
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
    parser.add_argument("--rounding", action="store_true", help="look into where other numbers come from")
    options = parser.parse_args(arguments)
    for program in [x for x in programs() if any([word in x.name for word in options.only])]:
        if options.rounding:
            print(program.name, running.looked_into(program, options.mirror, options.data, options.tiny,
                                                    options.torch), sep=" | ", flush=True)
        else:
            found = running.tried(program, options.mirror, options.data, options.tiny, options.torch,
                                  options.torchvision)
            print(program.name, *found, sep=" | ", flush=True)
            page.write({program: found})


if __name__ == "__main__":
    main(sys.argv[1:])
