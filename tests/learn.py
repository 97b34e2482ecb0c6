"""The course in docs/learn: its chapters as blocks, and the files that are written from them.

    PYTHONPATH=. python -m tests.learn

This writes the notebooks, the reader's package docs/learn/tiny and the pictures. A chapter is a Markdown file:

```python      a block; the blocks of a chapter run in order in one namespace
```text        directly below a block: what the block prints ("..." stands for any text)
```py          a quotation from a file of tinytorch, whose first line says `# path, function`
# tiny/x.py    as the first line of a block: the block belongs to this file of the reader's package; what follows a
               colon is the docstring of the file
![...](x.svg)  the picture of the graph that the chapter's blocks call `x`
"""
from __future__ import annotations

import ast
import contextlib
import doctest
import io
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "learn"
CHAPTERS = sorted(FOLDER.glob("[1-8]_*.md"))

_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n*```text\n(.*?)^```\n)?", re.M | re.S)
_FILE = re.compile(r"# (tiny/\w+\.py)(?:: (.*))?\n")
_QUOTE = re.compile(r"^```py\n# ([\w/.]+), ([\w.]+)\n(.*?)^```\n", re.M | re.S)
_PICTURE = re.compile(r"!\[[^\]]*\]\((\w+)\.svg\)")


class Block(NamedTuple):
    """A block of code. `line`: where its code begins in the page; `output`: what it prints, or None if nothing."""

    code: str
    output: str | None
    line: int


def cells(text: str) -> list[str | Block]:
    """A page as pieces of Markdown and blocks of code, in order."""
    found: list[str | Block] = []
    end = 0
    for match in _BLOCK.finditer(text):
        if prose := text[end:match.start()].strip("\n"):
            found.append(prose)
        found.append(Block(match[1], match[2], text.count("\n", 0, match.start(1)) + 1))
        end = match.end()
    if prose := text[end:].strip("\n"):
        found.append(prose)
    return found


def blocks(text: str) -> list[Block]:
    return [cell for cell in cells(text) if isinstance(cell, Block)]


# ------------------------------------------------------------------ running a chapter
@contextlib.contextmanager
def _own_modules() -> Iterator[None]:
    """Has `import tiny` find the reader's package, which is imported anew for each chapter: chapters change it."""
    def forget():
        found = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "tiny"}
        for name in found:
            del sys.modules[name]
        return found
    before = forget()
    sys.path.insert(0, str(FOLDER))
    try:
        yield
    finally:
        sys.path.remove(str(FOLDER))
        forget()
        sys.modules.update(before)


def run(text: str, name: str = "page") -> dict:
    """Runs the blocks of a page; the namespace that they leave. AssertionError where a block prints something else
    than the page says; an error of a block has the line of the page in its traceback."""
    namespace = {"__name__": "__main__"}
    checker = doctest.OutputChecker()
    with _own_modules():
        for block in blocks(text):
            said = io.StringIO()
            code = compile("\n" * (block.line - 1) + block.code, name, "exec")
            with contextlib.redirect_stdout(said):
                exec(code, namespace)
            if not checker.check_output(block.output or "", said.getvalue(), doctest.ELLIPSIS):
                raise AssertionError(f"{name}, line {block.line}: the block prints\n{said.getvalue()}\nand the page "
                                     f"says\n{block.output or ''}")
    return namespace


# ------------------------------------------------------------------ what is written from the chapters
def package() -> dict[str, str]:
    """{path below docs/learn: text} of the reader's package."""
    parts: dict[str, list[str]] = {"tiny/__init__.py": ['"""The code of the course, chapter by chapter."""\n']}
    for page in CHAPTERS:
        for block in blocks(page.read_text(encoding="utf-8")):
            if match := _FILE.match(block.code):
                code = block.code[match.end():]
                if match[2]:
                    code = f'"""{match[2]}"""\n{code}'
                parts.setdefault(match[1], []).append(code)
    return {path: "\n\n".join(found) for path, found in parts.items()}


def _source(text: str) -> list[str]:
    return text.rstrip("\n").splitlines(keepends=True)


def notebook(text: str) -> str:
    """The notebook of a page, in version 4.5 of the format."""
    found: list[dict] = []
    count = 0
    for number, cell in enumerate(cells(text)):
        if isinstance(cell, Block):
            count += 1
            outputs = [] if cell.output is None else [
                {"name": "stdout", "output_type": "stream", "text": cell.output.splitlines(keepends=True)}]
            found.append({"cell_type": "code", "execution_count": count, "id": f"cell-{number}", "metadata": {},
                          "outputs": outputs, "source": _source(cell.code)})
        else:
            linked = re.sub(r"\]\(([1-8]_\w+)\.md\)", r"](\1.ipynb)", cell)
            found.append({"cell_type": "markdown", "id": f"cell-{number}", "metadata": {}, "source": _source(linked)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": found, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
             "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def pictures(text: str, namespace: dict) -> dict[str, str]:
    """{name of a file: SVG} of the pictures that a page shows, from the namespace that its blocks left."""
    return {f"{name}.svg": namespace[name].svg() + "\n" for name in _PICTURE.findall(text)}


# ------------------------------------------------------------------ quotations
def _code_lines(text: str) -> list[str]:
    """The lines of code, without comments, blank lines, docstrings and common indentation."""
    lines = [re.sub(r"(^|\s+)#( .*|:.*)?$", "", line) for line in textwrap.dedent(text).splitlines()]
    return [line.strip() for line in lines if line.strip()]


def function_text(path: str, name: str) -> str:
    """The source of a function, method, class or top-level assignment of a file. LookupError if there is none."""
    source = (ROOT / path).read_text(encoding="utf-8")
    body: list[ast.stmt] = ast.parse(source).body
    for part in name.split("."):
        for node in body:
            if isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            else:
                names = [getattr(node, "name", "")]
            if part in names:
                break
        else:
            raise LookupError(f"{path} has no {name}")
        body = getattr(node, "body", [])
    first = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", [])]])
    return "\n".join(source.splitlines()[first - 1:node.end_lineno])


def check_quotes(text: str) -> int:
    """Compares the quotations of a page with the files, without regard to comments; how many there are. "..." alone on
    a line stands for lines that are left out. AssertionError for lines that the function does not have."""
    found = _QUOTE.findall(text)
    for path, name, quoted in found:
        lines, at = _code_lines(function_text(path, name)), 0
        for part in re.split(r"^\s*\.\.\.\n", quoted, flags=re.M):
            wanted = _code_lines(part)
            places = [i for i in range(at, len(lines)) if lines[i:i + len(wanted)] == wanted]
            if not places:
                raise AssertionError(f"{path}, {name} has not, or not in this order, the lines\n" + "\n".join(wanted))
            at = places[0] + len(wanted)
    return len(found)


def main() -> None:
    written = package()
    (FOLDER / "tiny").mkdir(exist_ok=True)
    for path, text in written.items():         # first, for the chapters import it
        (FOLDER / path).write_text(text, encoding="utf-8")
    for page in CHAPTERS:
        text = page.read_text(encoding="utf-8")
        page.with_suffix(".ipynb").write_text(notebook(text), encoding="utf-8")
        for name, svg in pictures(text, run(text, page.name)).items():
            (FOLDER / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
