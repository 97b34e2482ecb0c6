"""What differs from torch on purpose, or cannot be the same, with the reasons."""
import re

#: (the line where it shows, the kind of difference, what it says, why): the first and third are regular expressions.
KNOWN = [
    ("", "error", "complex32", "float16 with a complex number is complex32 in torch, a dtype that is missing"),
    ("", "error", r"^no error for TypeError: .*numpy\.(float|int|uint|bool)",
     "operations take NumPy's numbers: derivative rules hand them what reductions of arrays give"),
    ("", "error", "^no error for OverflowError: .*int too big",
     "a float tensor takes any int, whose size nothing looks at"),
]


def reason_for(lines, found):
    """Why the difference is known, or None."""
    line = lines[found.line] if found.line < len(lines) else ""
    for where, kind, says, reason in KNOWN:
        if found.kind == kind and re.search(where, line) and re.search(says, found.text):
            return reason
    return None
