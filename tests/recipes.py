"""Applies the patches of docs/recipes.md to a tree.

    python -m tests.recipes [folder]

A patch is a ```diff block: `# path` names a file, `@@` separates places in it, lines that begin with a space are there,
those that begin with "-" are taken away, and those that begin with "+" are added.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "recipes.md"


def patches(text):
    """[(path, [lines of a hunk])] of the diff blocks of a page, in order."""
    found = []
    for block in re.findall(r"^```diff\n(.*?)^```$", text, re.M | re.S):
        path = None
        for line in block.splitlines():
            if line.startswith("# "):
                path = line[2:]
                found.append((path, []))
            elif line == "@@":
                found.append((path, []))
            else:
                found[-1][1].append(line or " ")
    return found


def patch(root, path, hunk):
    """Changes one place of a file, or writes a new file. ValueError if the place is not there exactly once."""
    file = Path(root) / path
    before = [line[1:] for line in hunk if line[0] in " -"]
    after = [line[1:] for line in hunk if line[0] in " +"]
    if not before:
        if file.exists():
            raise ValueError(f"{path} is there already")
        file.write_text("\n".join(after) + "\n", encoding="utf-8")
        return
    lines = file.read_text(encoding="utf-8").split("\n")
    places = [i for i in range(len(lines)) if lines[i:i + len(before)] == before]
    if len(places) != 1:
        raise ValueError(f"{path}: these lines are there {len(places)} times:\n" + "\n".join(before))
    lines[places[0]:places[0] + len(before)] = after
    file.write_text("\n".join(lines), encoding="utf-8")


def apply(root, text=None):
    """Applies all patches of the page to the tree below `root`; the paths of the files."""
    found = patches(PAGE.read_text(encoding="utf-8") if text is None else text)
    for path, hunk in found:
        patch(root, path, hunk)
    return list(dict.fromkeys(path for path, _ in found))


if __name__ == "__main__":
    for path in apply(sys.argv[1] if len(sys.argv) > 1 else ROOT):
        print(path)
