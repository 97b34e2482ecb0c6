"""Draw and run programs: `python -m tests.parity.fuzz [FAMILY ...] [--programs N] [--seed S]`."""
import argparse
import collections
import random
import time

from . import families
from .program import difference, reduced, reproduction


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("family", nargs="*")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20, help="how many differences to reduce and print")
    options = parser.parse_args()
    for name, draw in families().items():
        if options.family and name not in options.family:
            continue
        start, kinds, shown = time.time(), collections.Counter(), 0
        for k in range(options.programs):
            lines = draw(random.Random(f"{name} {options.seed} {k}"))
            found = difference(lines)
            if found is None:
                continue
            kinds[found.kind] += 1
            if shown < options.show:
                shown += 1
                print(f"\n# {name} {options.seed} {k}\n" + reproduction(*reduced(lines, found)), flush=True)
        print(f"\n{name}: {kinds.total()} of {options.programs} programs differ {dict(kinds)}, "
              f"{time.time() - start:.0f} s", flush=True)


main()
