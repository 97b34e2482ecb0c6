"""Runs an example with either library. For torch the imports of the same file are replaced.

    python benchmarks/swapped.py torch mnist_rnn --data FOLDER --epochs 1

The last line of its output is JSON: `rows`, one (epoch, mean loss, accuracy, seconds) per epoch, and `megabytes`,
the peak of the resident memory.
"""
import json
import sys
import types
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SWAP = [("import tinytorch as torch", "import torch"), ("from tinytorch import nn", "from torch import nn"),
        ("from tinytorch.utils.data", "from torch.utils.data"), ("    torch.install()", "    pass")]


def load(name, library):
    """An example as a module in which `torch` is the library of this name. The module, and those that the examples
    share, are then in sys.modules. The data sets stay tinytorch's, because torch has none; they are ndarrays."""
    for part in ("common", name):
        source = (EXAMPLES / f"{part}.py").read_text(encoding="utf-8")
        if library == "torch":
            for ours, theirs in SWAP:
                source = source.replace(ours, theirs)
        module = sys.modules[part] = types.ModuleType(part)
        exec(compile(source, f"{part}.py ({library})", "exec"), module.__dict__)
    return sys.modules[name]


def main():
    library, name, *options = sys.argv[1:]
    _, rows = load(name, library).main(options)
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    print(json.dumps({"rows": rows, "megabytes": peak}))


if __name__ == "__main__":
    main()
