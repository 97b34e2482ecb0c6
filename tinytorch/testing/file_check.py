"""Checks for lines in a text, in order."""
from __future__ import annotations

import re

__all__ = ["FileCheck"]


class FileCheck:
    """A list of expectations about a text. Each `check...` searches behind the match of the previous one. `run(text)`
    raises RuntimeError for the first expectation that fails.

    >>> import tinytorch as torch
    >>> torch.testing.FileCheck().check("relu").check_not("neg").check("add").run("x = relu(y); add(x, z)")
    >>> torch.testing.FileCheck().check("neg").run("relu")
    Traceback (most recent call last):
    ...
    RuntimeError: Expected to find "neg" but did not find it
    """

    def __init__(self) -> None:
        self._checks: list[tuple[str, str, int]] = []

    def _with(self, kind: str, text: str, count: int = 1) -> FileCheck:
        self._checks.append((kind, text, count))
        return self

    def check(self, text: str) -> FileCheck:
        """The text comes next."""
        return self._with("check", text)

    def check_next(self, text: str) -> FileCheck:
        """The text is in the next line."""
        return self._with("next", text)

    def check_same(self, text: str) -> FileCheck:
        """The text comes next, in the same line."""
        return self._with("same", text)

    def check_not(self, text: str) -> FileCheck:
        """The text does not come before the match of the next check."""
        return self._with("not", text)

    def check_dag(self, text: str) -> FileCheck:
        """The text comes next. The texts of several such checks in a row may come in any order."""
        return self._with("dag", text)

    def check_count(self, text: str, count: int, exactly: bool = False) -> FileCheck:
        """The text comes `count` times, and with `exactly` not once more."""
        self._with("check", text, count)
        return self._with("not", text) if exactly else self

    def check_regex(self, text: str) -> FileCheck:
        """A match of the regular expression comes next."""
        return self._with("regex", text)

    def run(self, test_file: object) -> None:
        """Checks the text, or the str() of another object."""
        text, place, absent, start, reached = str(test_file), 0, [], 0, 0
        for i, (kind, wanted, count) in enumerate(self._checks):
            if kind == "not":
                absent.append(wanted)
                continue
            if kind == "dag":                                     # all of a row from one position
                if not i or self._checks[i - 1][0] != "dag":
                    start = reached = place
                found, end = self._found(kind, wanted, text, start)
                place = reached = max(reached, end)
                continue
            for _ in range(count):
                found, end = self._found(kind, wanted, text, place)
                self._lacks(absent, text[place:found])
                place, absent = end, []
        self._lacks(absent, text[place:])

    @staticmethod
    def _lacks(absent, text):
        for wanted in absent:
            if wanted in text:
                raise RuntimeError(f'Expected to not find "{wanted}" but found it')

    @staticmethod
    def _found(kind, wanted, text, place):
        match = re.compile(wanted if kind == "regex" else re.escape(wanted)).search(text, place)
        lines = text[place:match.start()].count("\n") if match else 0
        if match is None or kind == "same" and lines or kind == "next" and lines != 1:
            where = {"same": " in the same line", "next": " in the next line"}.get(kind, "")
            raise RuntimeError(f'Expected to find "{wanted}" but did not find it{where}')
        return match.span()
