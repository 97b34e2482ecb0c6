"""What differs from torch on purpose, or cannot be the same, with the reasons."""
import re

#: (the line where it shows, the kind of difference, what it says, why): the first and third are regular expressions.
KNOWN = [
    (r"T\.(einsum|addr|kron|matmul)\(", "stride", "", "of dimensions of size 1, or of equal strides, torch's iterator "
     "has an order of its own"),
    (r"T\.kron\(", "error", "view size is not compatible", "torch cannot, for some operands that are not contiguous"),
    (r"T\.cholesky_inverse\(", "value", "complex", "LAPACK takes part of the diagonal to be real, as it is not"),
    (r"left=False\)", "view", "", "torch's is a conjugate view"),
    (r"grad\(", "error", "output 0 of LinalgInvEx", "torch writes to what its linalg.cond has saved"),
    ("", "error", "not resizable", "torch resizes no memory that NumPy has seen, as it has when values are compared"),
    ("grad", "error", "Function (Conj|NegView)Backward0 returned an invalid gradient", "torch replays the views of a "
     "tensor whose shape was changed in place in its old shape"),
]


def reason_for(lines, found):
    """Why the difference is known, or None."""
    line = lines[found.line] if found.line < len(lines) else ""
    for where, kind, says, reason in KNOWN:
        if found.kind == kind and re.search(where, line) and re.search(says, found.text):
            return reason
    return None
