"""Writes docs/coverage.md: every public function and what its registration says of it.

    python -m tests.coverage_page
"""
import functools
from pathlib import Path

import tinytorch
from tinytorch.autograd.public import TABLE

PATH = Path(tinytorch.__file__).parent.parent / "docs" / "coverage.md"
SPACES = ("torch", "torch.linalg", "torch.fft", "torch.special", "torch.signal.windows", "torch.masked",
          "torch.nn.functional")
_HEAD = """# Public functions

Written by `python -m tests.coverage_page` from the registrations above the functions (`tinytorch/autograd/public.py`).

"method" and "in place": the Tensor methods that the function makes. "dtypes": what it takes, where that is said; a
function without an entry decides inside. "checks": by the registration before the function runs ("door"), by the
function itself, because it is called often ("own"), or as in torch, where it is written in Python ("Python").
"""
_KINDS = {"b": "bool", "iu": "integer", "f": "float16/32/64", "V": "bfloat16", "c": "complex"}


def _row(names, call, record):
    inplace = [n for n in record.methods if n.endswith("_") and not n.startswith("__")]
    methods = [n for n in record.methods if n not in inplace and not n.startswith("__")]
    dtypes = ", ".join(word for letters, word in _KINDS.items() if set(letters) & set(record.dtypes or ""))
    return (f"| {', '.join(names)} | {', '.join(methods)} | {', '.join(inplace)} | {dtypes} | {record.checks} | "
            f"{record.function.__module__.removeprefix('tinytorch.').replace('.', '/')}.py |")


def page():
    parts = [_HEAD]
    for space in SPACES:
        module = functools.reduce(getattr, space.split(".")[1:], tinytorch)
        names = {}
        for name, value in sorted(vars(module).items()):
            if not name.startswith("_") and callable(value) and value in TABLE:
                names.setdefault(value, []).append(name)
        rows = [_row(given, call, TABLE[call]) for call, given in names.items()]
        parts.append(f"\n## {space}: {len(rows)} functions, {sum(map(len, names.values()))} names\n\n"
                     "| function | method | in place | dtypes | checks | file |\n|---|---|---|---|---|---|\n"
                     + "\n".join(rows) + "\n")
    return "".join(parts)


if __name__ == "__main__":
    PATH.write_text(page(), encoding="utf-8")
