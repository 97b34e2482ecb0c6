"""The programs that are run: programs.csv, a row each."""
import csv
from dataclasses import dataclass
from pathlib import Path

_ROWS = Path(__file__).parent / "programs.csv"


@dataclass(frozen=True)
class Program:
    """A row: what is run, where, for how long, on which data."""
    repository: str     # owner/name
    commit: str
    path: str           # of the program in the repository
    arguments: str      # split as a shell splits them
    before: str         # a program of the repository that is to run first, where the program runs, or empty
    folder: str         # in which it runs, in the repository; empty: its own
    seconds: int        # of processor time, after which it is stopped
    data: str           # "MNIST:ROOT", "FILE:PLACE" or "folder:PLACE", separated by spaces; seen from where it runs
    seed: str           # "own": it sets one; "given": the runner does
    without: str        # a regular expression: what is taken out of what it prints (times, versions)

    @property
    def name(self):
        """What --only is compared with."""
        return f"{self.repository}/{self.path}" + (f" {self.arguments}" if self.arguments else "")

    @property
    def runs_in(self):
        """The folder in the repository in which it runs."""
        return self.folder or str(Path(self.path).parent)


def programs():
    """All rows, in the order of the file."""
    with _ROWS.open(encoding="utf-8", newline="") as file:
        return [Program(**row | {"seconds": int(row["seconds"])}) for row in csv.DictReader(file)]
