"""What differs from torch on purpose, or cannot be the same, with the reasons."""
import re

#: (the line where it shows, the kind of difference, what it says, why): the first and third are regular expressions.
#: Instead of the first, two: one for what stands before the line, one for the line (empty at the end of the program).
KNOWN = [
    ("", "stride of one", "", "no element is reached by the stride of a dimension of size 1: NumPy sets it as it likes "
     "in results and in reshape"),
    ("", "error", "not resizable", "torch resizes no memory that NumPy has seen, as it has when values are compared"),
    ("grad", "error", "Function (Conj|NegView)Backward0 returned an invalid gradient", "torch replays the views of a "
     "tensor whose shape was changed in place in its old shape"),
    ((r"squeeze_\(|\.t_\(|transpose_\(|\.data = ", "grad"), "error",
     "^no error for RuntimeError: .*Function .* returned an invalid gradient", "as before, or in the shape of other "
     "memory that it was given"),
    ((r"a = .*\.expand\(", r"T\.(nan)?median\(a"), "value", "", "torch takes an expanded tensor for one whose elements "
     "lie side by side, and reads behind it"),
    ((r"T\.(var|std)(_mean)?\(a, \(\)", "^g+ = "), "value", "", "torch takes no dimensions for one element in the "
     "derivative"),
    (r"T\.(einsum|addr|kron|matmul)\(", "stride", "", "of dimensions of size 1, or of equal strides, torch's iterator "
     "has an order of its own"),
    (r"T\.kron\(", "error", "view size is not compatible", "torch cannot, for some operands that are not contiguous"),
    (r"T\.cholesky_inverse\(", "value", "complex", "LAPACK takes part of the diagonal to be real, as it is not"),
    (r"left=False\)", "view", "", "torch's is a conjugate view"),
    (r"grad\(", "error", "output 0 of LinalgInvEx", "torch writes to what its linalg.cond has saved"),
    (r"^y = F\.(instance_norm|\w+_pool1d|max_unpool1d|pad)\(", "view", "",
     "one operation here; in torch a view of pooled images of one row, or of a batch norm"),
    ("", "error", "complex32", "float16 with a complex number is complex32 in torch, a dtype that is missing"),
    ("", "error", r"^(no error|(UFuncTypeError|NotImplementedError): .*) for TypeError: .*numpy\.(float|int|uint|bool)",
     "operations take NumPy's numbers: derivative rules hand them what reductions of arrays give"),
    ("", "error", "^no error for OverflowError: .*int too big",
     "a float tensor takes any int, whose size nothing looks at"),
    ("", "error", "INTERNAL ASSERT FAILED", "torch's own fault"),
    (r"index_(fill|copy|reduce)", "error", r"setStorage|index 0 is out of bounds for dimension \d with size 0",
     "torch goes through memory that is not there: what it says hangs on how much there is"),
    ("", "error", "(scatter|index)_reduce does not support automatic differentiation", "complex numbers have right "
     "gradients here"),
    (r"^g+ = ", "error", r"index_fill_\(\): Expected dtype int64",
     "torch's index_reduce takes int32, its derivative not"),
    (r"^g+ = ", "error", r"Expected isFloatingType\(grad", "torch gives up on a real operand among complex ones"),
    (r"scatter_reduce_?\(.*'am(ax|in)', include_self=False", "value", "complex", "complex numbers have no extremes"),
    (("^g", r"EmbeddingBag\([^\n]*scale_grad_by_freq=True"), "value", "", "torch divides by how often another "
     "row was taken: the one at the place in the sorted indices that the row has among those taken"),
    (("^g", r"(?s)nn\.(Hardshrink|Softshrink|Hardtanh|ReLU6|[CS]?ELU)\(.*\('nan'\)"), "value", "",
     "what torch does with NaN hangs on whether the element is among those that fill a vector of the machine's"),
    (("^g", r"F\.pad\(x, \([^)]*-[^)]*\), 'reflect'\)"), "value", "", "torch's gradient of what reflection "
     "cuts off is whatever lay in memory"),
    (("^g", r"(?s)float16.*F\.batch_norm|nn\.BatchNorm[^\n]*\n[^\n]*float16"), "value", r"g\[1\]: .*np\.float16",
     "torch adds up gradients of weights in float16 in an order of its own, if the input is not contiguous"),
    (r"^g", "error", "^no error for .*grad_input must be contiguous", "torch's loss of classes of images cannot be "
     "differentiated, if they are not contiguous"),
    (("", r"(?s)nn\.GELU\(\).*\('inf'\)"), "value", r"for np\.float32\(nan\)", "torch's gelu of infinity is NaN in a tensor "
     "of several elements"),
    (("", r"(?s)nn\.MultiMarginLoss\(.*zeros\(\(0, "), "value", r"at \(\) of \(\)", "torch's mean over no examples is "
     "whatever lay in memory"),
    (("^g, gg", r"F\.conv_transpose"), "error", "^no error for .*Only zero batch or zero channel inputs are "
     "supported", "torch makes outputs without elements, whose gradient it then refuses to differentiate"),
    (r"[-+]=|T\.(diff|dist|pairwise_distance|trapezoid)\(|\.index_add_?\(", "value", r"(inf|j).*\) for np\.\w+\(.*nan",
     "torch multiplies what it adds or subtracts by the alpha 1 + 0j, and infinity times 0 is nan"),
    ((r"([-+]=|\.(add|sub|index_add)_\().*\Z", "^$"), "value", r"np\.complex\d+\(.*inf.*\) for np\.complex\d+\(.*nan",
     "as before, in place"),
    (("T.trapezoid", "^g"), "value", r"(inf|j).*\) for np\.\w+\(.*nan", "as before, in what widths there are"),
    (r"T\.angle\(", "stride", "", "torch has the angles of complex numbers in C order, others in that of the numbers"),
    (r"pickle\.loads", "stride", "", "a pickle holds the elements, and not the memory around them"),
    (("pickle\\.loads", "^$"), "memory", "", "as before"),
    (r"^y = (m\(|\(lambda q)", "view", "", "whether the last of the operations that a layer consists of makes a view"),
]


def reason_for(lines, found):
    """Why the difference is known, or None."""
    line = lines[found.line] if found.line < len(lines) else ""
    before = "\n".join(lines[:found.line])
    for where, kind, says, reason in KNOWN:
        earlier, where = where if isinstance(where, tuple) else ("", where)
        if found.kind == kind and re.search(earlier, before) and re.search(where, line) and re.search(says, found.text):
            return reason
    return None
