"""Tables as text and as HTML."""
from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any


class Table:
    """Rows under headings, between a `title` and a last line; prints as text, and as HTML in a notebook. Numbers are
    aligned to the right.

    >>> print(Table("two rows", ("bytes", "name"), [(1024, "x"), (8, "longer")], "1032 in all"))
    two rows
     bytes  name
      1024  x
         8  longer
    1032 in all
    """

    def __init__(self, title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]], last: str = "") -> None:
        self.title, self.headings, self.last = title, tuple(headings), last
        self.rows = [tuple(row) for row in rows]

    def __iter__(self) -> Iterator[tuple]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        texts = [self.headings, *[[_text(x) for x in row] for row in self.rows]]
        widths = [max([len(text[k]) for text in texts]) for k in range(len(self.headings))]
        right = self._aligned_right()
        lines = ["  ".join([text.rjust(w) if r else text.ljust(w) for text, w, r in zip(line, widths, right)]).rstrip()
                 for line in texts]
        return "\n".join([self.title, *[" " + line for line in lines], *([self.last] if self.last else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        right = [' style="text-align:right"' if r else ' style="text-align:left"' for r in self._aligned_right()]
        head = "".join([f"<th{style}>{html.escape(h)}</th>" for style, h in zip(right, self.headings)])
        body = "".join(["<tr>" + "".join([f"<td{style}>{html.escape(_text(x))}</td>" for style, x in zip(right, row)])
                        + "</tr>" for row in self.rows])
        last = f"<p>{html.escape(self.last)}</p>" if self.last else ""
        return (f"<table><caption>{html.escape(self.title)}</caption><thead><tr>{head}</tr></thead>"
                f"<tbody>{body}</tbody></table>{last}")

    def _aligned_right(self):
        return [bool(self.rows) and all([isinstance(row[k], (int, float)) for row in self.rows])
                for k in range(len(self.headings))]


def _text(x):
    return f"{x:.3g}" if isinstance(x, float) else str(x)
