"""Writes docs/coverage.md: torch's public names, which of them are here, and what is known of the functions.

    python -m tests.coverage_page
"""
import types
from pathlib import Path

import tinytorch
from tinytorch.autograd.public import TABLE

from . import torch_names

PATH = Path(tinytorch.__file__).parent.parent / "docs" / "coverage.md"
_HEAD = """# torch's names, here and not here

Written by `python -m tests.coverage_page` from the registrations above the functions (`tinytorch/autograd/public.py`)
and from torch's own lists of its names and of its test tables (`tests/torch_names.txt`). A name that is not here is an
AttributeError (ImportError in `from torch import name`) that names this page.

"method" and "in place": the Tensor methods that the function makes. "dtypes": those of the function in torch's table
(half: float16 and bfloat16), in which it is compared; without an entry there, what its registration says, if
anything. "derivatives": those that torch's table has and that are compared: first, second, forward mode. "table":
which of torch's test tables runs on it (`tests/parity/test_op_db*.py`, `test_module_db.py`, `test_optim_db.py`); what
stands in none is compared by programs in `tests/parity`. "checks": of arguments, by the registration before the
function runs ("door"), by the function itself, because it is called often ("own"), or as in torch, where it is
written in Python ("Python").
"""
_KINDS = {"b": "bool", "iu": "integer", "f": "float16/32/64", "V": "bfloat16", "c": "complex"}
_TABLE_KINDS = {"b": "bool", "i": "integer", "h": "half", "f": "float", "c": "complex"}
_ORDERS = {"1": "first", "2": "second", "f": "forward"}


def _row(names, record, known):
    inplace = [n for n in record.methods if n.endswith("_") and not n.startswith("__")]
    methods = [n for n in record.methods if n not in inplace and not n.startswith("__")]
    table, kinds, orders = next((known[n] for n in names if known.get(n, ("",))[0]), ("", "", ""))
    dtypes = [word for letter, word in _TABLE_KINDS.items() if letter in kinds] or [
        word for letters, word in _KINDS.items() if set(letters) & set(record.dtypes or "")]
    derivatives = [word for letter, word in _ORDERS.items() if letter in orders] or ["none"] * bool(table)
    return (f"| {', '.join(names)} | {', '.join(methods)} | {', '.join(inplace)} | {', '.join(dtypes)} | "
            f"{', '.join(derivatives)} | {table} | {record.checks} | "
            f"{record.function.__module__.removeprefix('tinytorch.').replace('.', '/')}.py |")


def _names(given, known):
    """Names one after the other, with the table that tests them unless it is that of operators."""
    return ", ".join([f"`{n}`" + f" ({known[n][0]})" * (known[n][0] not in ("", "op_db")) for n in given]) + ".\n"


def _section(space, known):
    module = torch_names.space(space, tinytorch)
    found = {n for n in (*known, *dir(module)) if hasattr(module, n)}      # loads those that are loaded when asked for
    functions = {}
    for name, value in sorted(vars(module).items()) if module and not isinstance(module, type) else ():
        value = getattr(value, "twin_of", value)       # an alias is a copy, so that handlers see its own name
        if not name.startswith("_") and isinstance(value, types.FunctionType) and value in TABLE:
            functions.setdefault(value, []).append(name)
    listed = {name for names in functions.values() for name in names}
    here = [n for n in known if n not in listed and n in found]
    missing = [n for n in known if n not in listed and n not in here]
    text = f"\n## {space}: {len(known) - len(missing)} of torch's {len(known)} names\n"
    if functions:
        text += ("\n| function | method | in place | dtypes | derivatives | table | checks | file |\n"
                 "|---|---|---|---|---|---|---|---|\n")
        text += "\n".join([_row(names, TABLE[call], known) for call, names in functions.items()]) + "\n"
    if here:
        text += f"\n{'Here too' if functions else 'Here'}: " + _names(here, known)
    if missing:
        text += "\nNot here: " + ", ".join([f"`{n}`" for n in missing]) + ".\n"
    return text


def page():
    return _HEAD + "".join([_section(space, known) for space, known in torch_names.read().items()])


if __name__ == "__main__":
    PATH.write_text(page(), encoding="utf-8")
