"""What differs from torch on purpose, or cannot be the same, with the reasons."""
import re

#: (the line where it shows, the kind of difference, what it says, why): the first and third are regular expressions.
KNOWN = [
    (r"^y = F\.(instance_norm|\w+_pool1d|max_unpool1d|pad)\(", "view", "",
     "one operation here; in torch a view of pooled images of one row, or of a batch norm"),
]


def reason_for(lines, found):
    """Why the difference is known, or None."""
    line = lines[found.line] if found.line < len(lines) else ""
    for where, kind, says, reason in KNOWN:
        if found.kind == kind and re.search(where, line) and re.search(says, found.text):
            return reason
    return None
