"""A notebook as a program: its cells one after the other, and what a cell ends with is printed."""
import ast
import json
import re

#: Commands to the notebook's shell, alone in their lines, and what only a file can begin with.
_COMMAND = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?+\s*|from __future__ import .*)$", re.MULTILINE)
#: What may stand above the lines of a cell that is Python; another %%word says that it is something else.
_STILL_PYTHON = re.compile(r"^\s*%%(?:time|capture)\b")


def _cells(text):
    """The source of every cell that holds code."""
    book = json.loads(text)
    cells = book.get("cells") or [cell for sheet in book.get("worksheets", []) for cell in sheet["cells"]]
    return ["".join(cell.get("source", cell.get("input", ""))) for cell in cells if cell["cell_type"] == "code"]


def _shown(cell):
    """The cell with a print() of its last line where a notebook would show that; without commands to the shell."""
    if cell.lstrip().startswith("%%") and not _STILL_PYTHON.match(cell):
        return ""
    cell = _COMMAND.sub(r"\1pass", cell)
    try:
        body = ast.parse(cell).body
    except SyntaxError:                         # of an older Python: the notebook's other cells still run
        return ""
    if not body or not isinstance(body[-1], ast.Expr) or cell.rstrip().endswith(";"):
        return cell
    lines, last = cell.splitlines(), body[-1]
    if len(body) > 1 and body[-2].end_lineno == last.lineno:
        return cell
    value = "\n".join(lines[last.lineno - 1:])
    return "\n".join([*lines[:last.lineno - 1], f"_shown = (\n{value}\n)",
                      "if _shown is not None:", "    print(repr(_shown))"])


def as_program(text):
    """The notebook, which is JSON, as Python source."""
    return "\n\n".join(filter(None, [_shown(cell) for cell in _cells(text)])) + "\n"
