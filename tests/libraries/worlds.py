"""Programs of libraries made for torch, in an environment where tinytorch is installed as torch and PyTorch is not,
compared with what they gave under torch: .ci/worlds.

    python -m tests.libraries.worlds                       run them, compare with worlds.json
    python -m tests.libraries.worlds --record PYTHON       write worlds.json; PYTHON finds torch and the libraries
"""
import argparse
import json
import sys
import time

from . import running

RECORD = running.FOLDER / "worlds.json"
PROGRAMS = "example_nanogpt", "example_hf_trainer", "with_lightning", "with_skorch", "with_stable_baselines3"


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.libraries.worlds")
    parser.add_argument("--record", metavar="PYTHON")
    options = parser.parse_args(arguments)
    if options.record:
        found = {name: running.run_program(name, options.record, "-W", "ignore") for name in PROGRAMS}
        assert all([outcome for outcome, _ in found.values()]), found
        RECORD.write_text(json.dumps({name: outcome for name, (outcome, _) in found.items()}) + "\n", encoding="utf-8")
        return
    wrong = 0
    expected = json.loads(RECORD.read_text(encoding="utf-8"))
    for name in PROGRAMS:
        start = time.perf_counter()
        ours, error = running.run_program(name, sys.executable, "-W", "ignore")
        said = f"does not run: {error}" if ours is None else running.compared(ours, expected[name])
        wrong += said != "equal"
        print(f"-- {name}: {said} ({time.perf_counter() - start:.0f} s)", flush=True)
    sys.exit(wrong)


if __name__ == "__main__":
    main(sys.argv[1:])
