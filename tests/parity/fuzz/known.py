"""What differs from torch on purpose, or cannot be the same, with the reasons."""
import re

from . import known_by_family

#: (the line where it shows, the kind of difference, what it says, why): the first and third are regular expressions;
#: instead of the third, a function that looks at what it says.
#: Instead of the first, two: one for the program up to the line, one for the line (empty at the end of the program).
KNOWN = [
    ("", "stride of one", "", "no element is reached by the stride of a dimension of size 1: NumPy sets it as it likes "
     "in results and in reshape"),
    ("", "error", "not resizable", "torch resizes no memory that NumPy has seen, as it has when values are compared"),
    ("grad", "error", "Function (Conj|NegView)Backward0 returned an invalid gradient", "torch replays the views of a "
     "tensor whose shape was changed in place in its old shape"),
    ((r"squeeze_\(|\.t_\(|transpose_\(|\.data = ", "grad|backward"), "error",
     "^no error for RuntimeError: .*Function .* returned an invalid gradient", "as before, or in the shape of other "
     "memory that it was given"),
    ((r"\.expand\(", r"T\.(nan)?median\(\w"), "value", "", "torch takes an expanded tensor for one whose elements "
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
    ("", "error", "INTERNAL ASSERT FAILED", "torch's own fault"),
    ("", "error", r'^NotImplementedError: .*" not implemented for .* for (Runtime|Index|Type|Value)Error|'
     r'^(Runtime|Index|Type|Value|_LinAlg)Error: .* for NotImplementedError: .*" not implemented for', "another of two "
     "refusals comes first: the other is that of a dtype, which torch looks at in its kernel"),
    ("", "error", r"^\w+Error: .* for RuntimeError: .*functions with out=", "another of two refusals comes first"),
    ("", "error", r"^IndexError: .* for RuntimeError: .*dtypes? match", "another of two refusals comes first"),
    ((r"(?s)nn\.(RNN|LSTM|GRU)\w*\(.*dropout=.*T\.b?float16", "^g"), "value", r"np\.float(16|32)", "roundings of half "
     "precision add up over the steps of a sequence; in double precision dropout draws other numbers"),
    ((r"(?s)(inf|1e30).*T\.einsum\(", "^g+ = "), "value", r"\(-?(inf|nan)\) for np\.\w+\(-?(inf|nan)\)", "products of "
     "infinite numbers and zeros are nan by which are multiplied first"),
    ((r"\.transpose\(", r"\[.*T\.tensor\("), "stride", "", "of indices in several dimensions torch has C order"),
    ((r"T\.zeros\(\(0,", r"T\.matmul\("), "error", "^no error for RuntimeError: .*same dtype", "of no elements nothing "
     "is multiplied"),
    ((r"(?s)float16.*T\.prod\(", "^gg = "), "value", r"np\.float(16|32)\(", "second derivatives of half precision are "
     "rounded after each product, in the order that these are made in"),
    ((r"(?s)complex\(.*(inf|nan)", r"T\.pairwise_distance\("), "value", r"for np\.float\d+\(nan\)", "torch's absolute "
     "value of infinity and nan is nan in whole vectors, and infinite elsewhere"),
    (r"T\.addbmm\(.*out=", "error", "^no error for .*functions with out=", "of no products nothing is recorded"),
    ((r"nn\.(RNN|LSTM|GRU)\w*\((?s:.*)\.to\(T\.b?float16\)", r"^y = m\(|^g"), "value",
     r"np\.(b?float\d+)\((-?\d+\.\d)\S* for np\.\1\(\2", "as before, in the digits of half precision"),
    ((r"float16(?s:.*)channels_last(?s:.*)F\.batch_norm\(", "^g = "), "value", r"for np\.float(16|32)\(-?0\.0\)",
     "torch rounds the statistics to half precision in contiguous memory, and not in this: what is left of a gradient "
     "that cancels"),
    ((r"\.set_\(|\.data = ", ""), "history", "setStorage", "a view of what was given other memory, which is too "
     "small for it"),
    (r"index_(fill|copy|reduce)", "error", r"setStorage|index \d is out of bounds for dimension \d with size 0",
     "torch goes through memory that is not there: what it says hangs on how much there is"),
    ("", "error", "(scatter|index)_reduce does not support automatic differentiation", "complex numbers have right "
     "gradients here"),
    (r"^g+ = ", "error", r"index_fill_\(\): Expected dtype int64",
     "torch's index_reduce takes int32, its derivative not"),
    (r"^g+ = ", "error", r"Expected isFloatingType\(grad", "torch gives up on a real operand among complex ones"),
    (r"scatter_reduce_?\(.*'am(ax|in)', include_self=False", "value", "complex", "complex numbers have no extremes"),
    ((r"(?s)nn\.(Hardshrink|Softshrink|Hardswish|Hardtanh|ReLU6|[CS]?ELU)\(.*\('nan'\)", "^g"), "value", "",
     "what torch does with NaN hangs on whether the element is among those that fill a vector of the machine's"),
    ((r"F\.pad\(x, \([^)]*-[^)]*\), 'reflect'\)", "^g"), "value", "", "torch's gradient of what reflection "
     "cuts off is whatever lay in memory"),
    (r"^g", "error", "^no error for .*grad_input must be contiguous", "torch's loss of classes of images cannot be "
     "differentiated, if they are not contiguous"),
    ((r"(?s)nn\.GELU\(\).*\('inf'\)", ""), "value", r"for np\.float32\(nan\)",
     "torch's gelu of infinity is NaN in a tensor of several elements"),
    ((r"(?s)nn\.BatchNorm[^\n]*\n.*\.transpose\(", "^g"), "value", r"g\[[0-2]\]: ", "torch reads a contiguous gradient "
     "as one with channels last, if the input has sizes of 1 and may be seen as either"),
    ((r"(?s)nn\.MultiMarginLoss\(.*zeros\(\(0, ", ""), "value", r"at \(\) of \(\)", "torch's mean over no examples is "
     "whatever lay in memory"),
    ((r"F\.conv_transpose", "^g, gg"), "error", "^no error for .*Only zero batch or zero channel inputs are "
     "supported", "torch makes outputs without elements, whose gradient it then refuses to differentiate"),
    (r"[-+]=|T\.(diff|dist|pairwise_distance|trapezoid)\(|\.index_add_?\(", "value", r"(inf|j).*\) for np\.\w+\(.*nan",
     "torch multiplies what it adds or subtracts by the alpha 1 + 0j, and infinity times 0 is nan"),
    ((r"(?s)([-+]=|\.(add|sub|index_add)_\().*\Z", "^$"), "value",
     r"np\.complex\d+\(.*inf.*\) for np\.complex\d+\(.*nan", "as before, in place"),
    (("T.trapezoid", "^g"), "value", r"(inf|j).*\) for np\.\w+\(.*nan", "as before, in what widths there are"),
    ((r"T\.angle\(", r"\.reshape\("), "view", "", "torch has the angles of complex numbers in C order"),
    ((r"(?s)T\.angle\(.*\.reshape\(", ""), "memory", "", "as before"),
    (r"T\.angle\(", "stride", "", "torch has the angles of complex numbers in C order, others in that of the numbers"),
    (r"pickle\.loads", "stride", "", "a pickle holds the elements, and not the memory around them"),
    (("pickle\\.loads", "^$"), "memory", "", "as before"),
    (r"^y = (m\(|\(lambda q)", "view", "", "whether the last of the operations that a layer consists of makes a view"),
    (r" [-+] |T\.r?sub\(|T\.add\(|\.(add|sub)_\(", "value",
     r"np\.complex\d+\(.*inf.*\) for np\.complex\d+\(.*nan",
     "torch multiplies what it adds by the alpha 1 + 0j, and infinity times 0 is nan"),
    ((r"T\.(sgn|abs)\(", r"^(g+|c|d|e) = .*(grad|sgn)\("), "value", r" for np\.complex\d+\(.*nan.*\)",
     "torch's vector code and its code for the rest divide infinite numbers by their size in two ways"),
    (r"T\.log1p\(", "value", r"\(inf[+-]1\.57.*nan\+nanj",
     "torch's is nan of an infinite imaginary part beside a real one of -1 to 0"),
    ("out=", "error", r"^RuntimeError: .*functions with out=.* for (no error$|NotImplementedError: .*div_floor_cpu)",
     "torch records some of them, with a history that cannot be differentiated, or that of what was overwritten "
     "(docs/caveats.md)"),
    ((r"T\.addr\(", r"^g+ = "), "error", "^no error for RuntimeError: .*addmv input tensors must have the same dtype",
     "torch has no derivatives of operands of different dtypes"),
    (r"^y = T\.matmul\(", "view", "", "a matrix and batches of matrices are one product, of which torch's is a view"),
    (r"T\.inner\(.*out=", "error", r"^NotImplementedError: .*addmm_impl_cpu_.* for no error$",
     "torch goes by another routine, to which bools are numbers"),
    (r"^g+ = ", "error", r"^no error for RuntimeError: .*(Subtraction|Negation), the `-` operator",
     "torch's derivatives compute with a bool operand that they have saved before its conversion, and cannot"),
    ("", "error", "^no error for RuntimeError: .*Autograd not support dtype", "torch records in-place comparisons of "
     "integers and bools with tensors that require grad, and then cannot go on"),
    ((r"(?s)dtype=T\.uint8.*(\*\*|T\.pow\()", "^gg = "), "value", "nan",
     "torch subtracts 1 from exponents as they are: unsigned zeros wrap around"),
    ((r"(?s)dtype=T\.b?float16.*T\.(rsqrt|asin|acos|asinh|acosh)\(", r"^g+ = |rsqrt"), "value",
     r"np\.float(16|32)\(",
     "torch rounds the square root in rsqrt in what is left of a vector, not in whole vectors"),
    ((r"\.transpose\(|\.t\(|\.m?[HT]\b", r"^[d-k] = ([b-h] \S+ \w|T\.[\w.]+\(\w, \w(, \w)?(, out=.*)?\))$"), "stride",
     "", "of operands that disagree and are no views NumPy takes an order of its own: to look would cost every "
     "operation"),
    ((r"(?s)(\.transpose\(|\.t\(|\.m?[HT]\b).*\n[d-k] = [b-h] \S+ \w\n", r"^[e-k] = T\.\w+\([d-k]\)$"), "stride", "",
     "as before, of what such an operation gave"),
    (r"^g+ = ", "stride", "", "gradients lie as the last of several operations leaves them"),
    (r"^g+ = ", "value", r"np\.complex\d+\(.*(inf|nan).*\) for np\.complex\d+\(.*(inf|nan)",
     "which parts of products of infinite complex numbers are nan hangs on their order"),
    (r"\.view\(T\.", "error", r"^no error for RuntimeError: .*self\.stride\(-?\d\) must be",
     "torch looks at the strides of dimensions of size 1 too, which NumPy sets as it likes"),
    ("", "error", "^no error for RuntimeError: .*some elements of the input tensor and the written-to",
     "as before: torch tells a partial overlap by all strides"),
    (("out=[a-f]\\)", ""), "value", "^[a-f]: ", "an `out` that is too small a view grows in torch in the memory of its "
     "base, and here has new memory"),
    (r"T\.ldexp\(.*out=", "error", "can't be cast to the desired output type", "another of two refusals comes first"),
    (r"index_reduce_?\(", "error", r"^IndexError: .* for NotImplementedError: .*index_reduce_func_exclude_input_init",
     "another of two refusals comes first"),
    ((r"T\.cumprod\(.*", "^g+ = "), "value", "nan", "beside zeros torch divides by what comes before the first of "
     "them, infinite numbers too"),
    ((r"\.data = ", "^g+ = "), "error", "^no error for RuntimeError: .*view_as_real (is only|doesn't)", "torch replays "
     "the views of what a tensor was before it was given other memory"),
    ("^g+ = |backward", "error",
     "^no error for RuntimeError: .*(derivative for set_ is not implemented|output with shape .* doesn't match the "
     "broadcast shape)", "as before: views are replayed in the shape that they had"),
    (r"out=\w\)", "shape", "", "torch gives `out` its shape before it refuses to write there"),
    (("out=[a-h]\\)", "^$"), "shape", "", "as before"),
    (("out=[a-h]\\)", "^$"), "memory", "", "an `out` that is too small a view grows in torch in the memory of its "
     "base, and here has new memory"),
    ((r"T\.linalg\.(matrix_)?norm\(", "^g"), "value", r"nan.*\) for", "no singular value is the largest, once the norm "
     "was given the last bit of torch's"),
    (r"T\.(std|var)(_mean)?\(", "value", r" for np\.float\d+\(0\.0\)", "of equal numbers torch finds no difference at "
     "all, one after the other; here it is in the last bit of their sum"),
    (r"scatter_reduce_\(", "error", "^NotImplementedError: .*scatter_gather_tensor.* for RuntimeError: .*unsupported",
     "another of two refusals comes first"),
    (r"scatter_reduce_\(", "error", "^NotImplementedError: .*scatter_gather_tensor.* for RuntimeError: .*out of bounds",
     "another of two refusals comes first"),
    (r"\.put_\(", "error", "^IndexError: .*out of range.* for RuntimeError: .*unsupported operation",
     "another of two refusals comes first"),
    (r"T\.(badd|add)(bmm|mm|mv)\(", "error", "^RuntimeError: .*dtypes? must .* for NotImplementedError",
     "another of two refusals comes first"),
    (r"T\.masked_fill\(|\.masked_fill\(", "error", "^RuntimeError: .*without overflow.* for no error", "torch looks "
     "at the number of a complex tensor for each element, of which there is none"),
    (r"T\.angle\(", "value", r"3\.1415927\) for np\.float\d+\(0\.0\)", "the sign of a zero that was negated"),
    ((r"T\.acosh\(", "^g"), "value", r"\(-?(\d+\.?\d{0,4})\S* for np\.complex\d+\(-?\1",
     "which side of the cut a signed zero is on"),
    (r"T\.where\(", "stride", "", "of operands of different dtypes, one of which has no order, torch has C order"),
    ((r"nn\.(RReLU|PReLU|SoftMarginLoss|LocalResponseNorm|HuberLoss)\(", "^y = m"), "stride", "", "of expanded or "
     "permuted inputs torch's kernels take an order each of their own"),
    ((r"(?s)nn\.MultiMarginLoss\(.*(zeros\(\(0, |reshape\(\(0,\))", "^y"), "value", r"at \(\) of \(\)", "torch's "
     "mean over no examples is whatever lay in memory"),
    ((r"T\.special\.i0e\(", "^g = "), "value", "", "the slope of i0e of 1e30 is a difference of two equal numbers, "
     "which a steep function behind it makes large"),
    (r"T\.polar\(.*out=", "error", "^NotImplementedError: .*polar_cpu.* for RuntimeError: .*argument 'out'",
     "another of two refusals comes first"),
    ((r"(?s)Norm\w*\([^\n]*eps=0\..*float16", "^g = "), "value", r"result: np\.float(16|32)\((-?\d\.?\d?)\S* for "
     r"np\.float(16|32)\(\2", "divided by the deviation of equal numbers that rounding left"),
    ((r"complex", "^g+ = "), "value", r"(inf|nan)\S* for|for np\.\w+\(\S*(inf|nan)", "which parts of products of "
     "infinite complex numbers are nan hangs on their order, and one times infinity has nan for its other part"),
    ("^gg = ", "value", r"(inf|nan)\S* for|for np\.\w+\(\S*(inf|nan)", "second derivatives of what is infinite are "
     "nan by the order of products and sums"),
    ((r"\.data = ", ""), "error", "^no error for RuntimeError: .*view_as_real (is only|doesn't)", "views replayed of "
     "what a tensor was before"),
    ((r"(?s)float16.*T\.addcdiv\(", "^gg = "), "value", r"np\.float(16|32)\(-?0\.0", "second derivatives of a number "
     "divided by itself cancel up to a rounding of half precision"),
    (r"resolve_conj|T\.abs\(", "stride", "", "of memory that an expanded tensor gave by `set_`"),
    (r"conj_physical_\(", "error", "^no error for RuntimeError: .*more than one element", "torch looks at memory "
     "that it does not write to"),
    (r"out=e\)$", "error", "^RuntimeError: .*doesn't match the broadcast shape.* for no error$", "an `out` that is a "
     "conjugate of other memory"),
    ((r"\.data = ", "^g = |backward"), "error", "^(ValueError|IndexError: .*for array).* for no error$",
     "views replayed in a shape that they have lost"),
    (r"index_select\(", "error", "^IndexError: .* for RuntimeError: .*INDICES element", "of no elements, in other "
     "words"),
    (r"T\.matmul\(.*out=", "error", "^no error for RuntimeError: .*functions with out=", "of no elements"),
    (r"T\.addmv\(", "error", "^no error for RuntimeError: .*AddmvBackward0 returned an invalid gradient", "torch's "
     "of no elements"),
    (r"^g = ", "error", "^no error for RuntimeError: .*AddmvBackward0 returned an invalid gradient", "as before"),
    (r"T\.pow\(.*out=", "error", "^NotImplementedError: .*ComplexHalf.* for RuntimeError: .*can't be cast", "another "
     "of two refusals comes first"),
    (r"T\.addcdiv\(", "error", "^no error for NotImplementedError: .*ComplexHalf", "of no elements"),
    ((r"(?s)(nan|inf).*", r"T\.(matmul|mm|bmm|baddbmm|addmm|mv|einsum|linalg\.multi_dot)\("), "value",
     r"for np\.\w+\(.*nan", "OpenBLAS leaves out what is multiplied by zero"),
    (r"T\.(badd|add)(bmm|mm|mv)\(", "error", "^RuntimeError: .*can't be cast.* for no error$", "of products without "
     "elements"),
    (r"storage_offset", "type", "^s: result: 0 for", "of no elements NumPy forgets where they begin"),
    ((r"zeros\(\([\d, ]*\b0\b", r"\.is_set_to\("), "type", "^s: result: True for False", "of no elements NumPy forgets "
     "the strides"),
    ((r"(?s)-(128|32768)\b.*dtype=T\.int(8|16)\).*T\.pow\(", "^gg? = "), "value", "", "torch subtracts 1 from an "
     "exponent in its dtype, whose least integer has none below"),
    (r"%|remainder|fmod", "value", r"for np\.float\d+\(nan\)", "of quotients too large for the dtype torch's vectors "
     "keep no remainder"),
    ((r"(?s)_conj\(.*\.data = ", r""), "history", "for view_as_real doesn't", "a view of what was given a conjugate "
     "as data is made anew in torch"),
    ((r"(?s) // ", r"^g+ = "), "error", "for RuntimeError: .*floor_divide is not implemented", "another of two "
     "refusals comes first"),
    ((r"(?s)T\.(_neg_view|_conj)\((\w)\).*out=\2\b", ""), "value", "", "memory that `out=` had to enlarge is new: a "
     "view keeps the old"),
    (r"\.view\(", "error", "^RuntimeError: .*stride.* must be divisible by 2 .* for no error$", "the stride of a "
     "dimension of size 1"),
    (r"index_put_|\] = ", "error", "^IndexError: .*out of bounds.* for RuntimeError: .*(dtypes match|shape mismatch)",
     "another of two refusals comes first"),
    ((r"(?s)\.unsqueeze_\(", "^g+ = "), "error", "^no error for IndexError: .*Dimension out of range", "torch counts "
     "the dimensions of a view as they were before"),
    ((r"(?s)(\w) = (\w)\.(mH|H|mT|T)\n.*T\.(imag|real)\(\2\).*\1\.(imag|real) = ", ""), "value", "", "memory is "
     "written that is read in another order"),
    (r"T\.gcd\(", "value", r"result: np\.int\d+\((\d+)\) for np\.int\d+\(-\1\)", "beside the least integer "
     "torch's divisors are negative"),
    (r"T\.ldexp\(", "stride", "", "of a number and a tensor of integers in another order"),
    ((r"(?s)complex.*svdvals", "^gg = "), "value", r"np\.complex64", "torch's second derivative is up to 2e-4 off in "
     "complex64"),
    ((r"(?s)nan.*\.hardshrink\(", "^g"), "value", "", "what torch does with NaN hangs on whether the element is "
     "among those that fill a vector of the machine's"),
    ((r"(?s)\.unfold\(.*(index_\w+|scatter\w*|masked_\w+|put|cum\w+)_\(", ""), "value", "", "of a tensor whose "
     "elements overlap every place is written anew here, and the last write counts"),
    (r"\] = ", "error", "^IndexError: .*shape of the mask.* for RuntimeError: .*modified inplace", "another of two "
     "refusals comes first"),
    (r"T\.dist\(", "value", r"(inf|nan).* for np\.\w+\(", "which parts of products of infinite complex numbers are nan "
     "hangs on their order"),
    ((r"T\.dist\(", "^g"), "value", r"nan.* for np\.\w+\(", "as before"),
    ((r"\nw = [^\n]*/ 0\)", r"^y = F\.conv"), "value", r"np\.float32\(nan\) for np\.float32\(",
     "zeros of padding times infinite numbers, which oneDNN leaves out"),
    ((r"dtype=T\.uint8\)(?s:.*)T\.lerp\(", "^g+ = "), "value", "", "torch subtracts an unsigned weight from 1, below "
     "which it wraps around"),
    (r"_\(", "error", "^NotImplementedError: .* for RuntimeError: .*more than one element of the written-to",
     "another of two refusals comes first"),
    (r"_\(", "error", "^RuntimeError: .*doesn't match the broadcast shape.* for NotImplementedError: .*ComplexHalf",
     "another of two refusals comes first"),
    (r"\.fill_\(", "history", "", "torch records what is written to integers too"),
    ((r"\.data = ", "^g = "), "error", "^KeyError: .* for RuntimeError: .*invalid gradient", "views replayed in a "
     "shape and dtype that they have lost"),
    ((r"(?s)complex\(.*T\.cum(prod|sum)\(a, -?\d, dtype=T\.float", "^g+ = "), "value", "", "torch's derivative takes "
     "the input as it was before it was made real"),
    ((r"T\.pairwise_distance\(a, b, 0\.", "^gg = "), "value", "", "powers of the small number that is added to zero: "
     "which digits of it are left hangs on the order of sums"),
    ((r"(?s)float16.*T\.cumprod\(", "^gg = "), "value", r"result: np\.float(16|32)\((-?\d)\S* for np\.float(16|32)\(\2",
     "in half precision divisions by the elements are rounded one after the other"),
    (r"^g+ = ", "error", "^no error for RuntimeError: .*INDICES element is out of DATA bounds", "torch looks for "
     "rows of a tensor without elements"),
    (r"T\.linalg\.solve_triangular\(", "value", r"np\.complex\d+\(.*(inf|nan).* for np\.complex\d+\(.*(inf|nan)",
     "which parts of complex numbers divided by zero are nan hangs on the way of dividing"),
    (r"T\.matmul\(", "error", "^RuntimeError: .*same dtype.* for no error$", "without elements torch looks at no "
     "dtypes"),
    ((r"nn\.LayerNorm\(", "^g"), "value", r"result: np\.float32\((-?\d+\.?\d{2})\S* for np\.float32\(\1", "divided "
     "by the deviation of numbers that are almost equal"),
    ((r"(?s)(inf|nan).*T\.addc(div|mul)\(", "^g+ = "), "value", r"\(-?(inf|nan)", "as before, in the derivatives of "
     "quotients and products"),
    (r"index_reduce_?\(.*'mean'|T\.prod\(", "value", r"np\.complex\d+\(.*(inf|nan).* for np\.complex\d+\(.*(inf|nan)",
     "which parts of products of infinite complex numbers are nan hangs on their order"),
    ((r"T\.logcumsumexp\(", "^g"), "value", "np.complex.* for .*nan", "as before, of exponentials"),
    (r"T\.(std|var)(_mean)?\(", "value", r" for np\.float\d+\(inf\)", "torch's squares of large numbers overflow"),
    (r"T\.add\(.*alpha=", "value", r"\(nan\) for np\.float\d+\(-?inf\)",
     "torch multiplies and adds in one step, without overflow in between"),
    ("^g+ = ", "history", r"\(True, False\) for \(False, True\)",
     "torch's derivatives of what is linear do not depend on what requires grad"),
    ((r"T\.amax|T\.amin", ""), "error", "amax does not support automatic differentiation", "of no elements"),
    ((r"T\.angle\(", "^[d-k] = "), "stride", "", "as before, of what is made of the angles"),
    (r"\.lerp_\(", "error", "NotImplementedError: .*lerp_kernel_scalar", "another of two refusals comes first"),
    (r"index_reduce_\(", "error", "for NotImplementedError: .*index_func_.*Complex",
     "another of two refusals comes first"),
    ((r"bfloat16", r"T\.signbit\("), "value", r"False_ for np\.True_", "the sign of NaN that came of an operation"),
    ("^gg = ", "value", r"np\.float\d+\((-?inf|nan)\) for np\.float\d+\((-?inf|nan)\)", "products of what is too large "
     "and what is too small are infinite, or nan, by their order"),
    ((r"(?s)float16.*o\.step\(\)", ""), "value", r"np\.float(16|32)\(-?(inf|nan)", "numbers that training made too "
     "large for half precision: which step overflows hangs on the rounding before"),
    ((r"o\.step\(\)", "^[gv] = "), "value", r"result: np\.float32\((-?\d+\.?\d{2})\S* for np\.float32\(\1",
     "sums of large numbers of both signs, in single precision"),
    ((r"\.data = ", "^g = |backward"), "error", "^ValueError: .* for RuntimeError: .*returned an invalid gradient",
     "as before: another of two refusals of shapes that do not fit"),
    ((r"(conj\(|mH|adjoint\()(?s:.*)\.data = ", "^g+ = "), "value", "np.complex", "a conjugate given other memory is "
     "replayed by its place in that, which torch conjugates as the memory that it had"),
    ((r"\.data = ", "^g = |backward"), "error", "^UFuncTypeError", "views replayed of memory of another dtype"),
    ((r"\.expand\((?s:.*)\.conj_physical_\(", "^g = "), "error", "^no error for .*more than one element of the written",
     "torch writes nothing to a real tensor here, but its derivative then does so to a view as it lies"),
    ((r"(?s)T\.(imag|real)\(.*\.unsqueeze_\(.*\.cum(sum|prod)_\(", "^g+ = "), "value", "np.complex", "torch replays "
     "parts whose shape was changed in place in their old shape, in which they are added up along another dimension"),
    ((r"(?s)(conj|_neg_view|mH|adjoint)\(?.*\.t_\(\)", "^g = "), "value", "", "torch replays views of a square "
     "matrix that was transposed in place: they are of the transposed one"),
    ((r"(?s)= (\w) / \1\n.*T\.(acos|asin)\(", "^g+ = "), "value", "np.complex", "at a branch point the derivative is "
     "so large that it shows in which digit those of a number by itself cancel"),
    (r"T\.logaddexp\(", "value", r"np\.complex128\(.*\) for np\.complex128\(nan\+nanj", "torch's exponentials of "
     "complex numbers in double precision are nan below -708, where they are 0"),
    (r"(T|\w)\.addc(div|mul)_?\(", "value", r"np\.complex\d+\(.*inf.*\) for np\.complex\d+\(.*nan",
     "torch multiplies by the value 1 + 0j, and infinity times 0 is nan"),
    (r"T\.logdet\(", "value", r"np\.complex\d+\(-inf\+0j\) for np\.complex\d+\(-inf\+nanj", "as before"),
    ((r"(?s)float16.*T\.(logaddexp2?|atan2|ldexp|softmax)\(", "^gg = "), "value", r"np\.float(16|32)\(",
     "second derivatives of opposite signs cancel up to a rounding of half precision"),
    (r"T\.clamp_m(in|ax)\(.*out=", "error", "^NotImplementedError: .* for RuntimeError: .*(can't be cast|with out=)",
     "another of two refusals comes first"),
    ((r"T\.addcdiv\(", "^g+ = "), "error", "^no error for RuntimeError: .*Float can't be cast to the desired output",
     "torch divides by an operand of integers in place"),
    (r"T\.ldexp\(", "value", r"result: np\.float64\((-?\d+\.\d{5})\S* for np\.float64\(\1", "the last bit of a power "
     "of 2 in single precision, beside a number in double precision"),
    (r"T\.ldexp\(.*out=", "error", "^NotImplementedError: .*ldexp_cpu_exp.* for RuntimeError: .*functions with out=",
     "another of two refusals comes first"),
    ((r"(?s)bfloat16.*channels_last.*F\.conv[123]d\(", "^g"), "value", r"g\[1\]: result: np\.float32\(0\.0\) for",
     "oneDNN's gradient of what of a kernel lies on padding alone is whatever lay in memory"),
    (r"out=T\.empty\(0, dtype=T\.(float64|complex128|float32|complex64)\)", "value",
     r"result: np\.(\w+)\((-?\d\.?\d{0,4})\S* for np\.\1\(\2", "computed in less precision than `out` shows"),
    ((r"(?s)bfloat16.*channels_last_3d.*F\.conv3d\(.*padding=(\([^)]*)?[2-9]", "^g"), "value",
     r"g\[1\]: result: np\.float32", "oneDNN loses part of what is added up where much of a kernel lies on padding"),
    ((r"(?s)\.(real|imag)\b.*as_strided", "^g+ = "), "value", "", "torch drops the gradient of what as_strided reaches "
     "between the elements of the tensor it is called on"),
    ((r"(?s)1e30.*T\.cumprod\(", "^gg = "), "value", "", "divided by elements so large, what rounding left of a sum is "
     "larger than the sum"),
    ((r"(?s)complex.*T\.linalg\.(matrix_)?norm\(a, (-?2|'nuc')", "^gg? = "), "error", "svd_backward.* for no error$",
     "of a singular matrix the phase shows in a second derivative that torch has no check in"),
    (r"\] = ", "error", r"^RuntimeError: .*dtypes match.* for IndexError: .*size 0", "another of two refusals "
     "comes first"),
    (r"T\.matmul\(", "error", r"^RuntimeError: .*same dtype.* for NotImplementedError: .*bmm.*Bool",
     "another of two refusals comes first"),
    ((r"(?s)dtype=T\.(float32|complex64|b?float16).*", r"T\.einsum\("), "value",
     r"result: np\.(\w+)\((-?\d\.?\d{0,4})\S* for np\.\1\(\2", "computed in less precision than the result shows"),
    ((r"1e30", r"T\.vander\("), "value", r"np\.complex\d+\(.*(inf|nan).* for np\.complex\d+\(.*(inf|nan)",
     "which parts of products of infinite complex numbers are nan hangs on their order"),
    ((r"T\.relu\(", "^g+ = "), "value", r"\(nan\) for np\.float\d+\(", "its derivative multiplies by 0 where torch "
     "chooses: nan is left, and choosing would cost every network"),
    ((r"\.set_\(", r"repr\("), "type", "Backward0>.* for .*CopySlices>", "a view that is given other memory leaves the "
     "history of its base alone, which in torch cannot be differentiated any more (docs/caveats.md)"),
    (r"repr\(", "type", "PowBackward0>.* for .*PowBackward1>", "one operation for a number and a tensor, which torch "
     "counts as two"),
    (r"T\.pow\(.*out=", "error", "^RuntimeError: .*without overflow.* for NotImplementedError: .*ComplexHalf",
     "another of two refusals comes first"),
    ((r"(?s)complex\(.*(inf|nan)", "^g+ = "), "value", r"np\.float\d+\((-?inf|nan)\) for np\.float\d+\((-?inf|nan)\)",
     "which parts of products of infinite complex numbers are nan hangs on their order; a real gradient is one part"),
    ((r"(?s)(inf|nan).*T\.prod\(", "^gg = "), "value", "nan", "products of zeros and infinite numbers are nan by which "
     "are multiplied first"),
    (r"index_reduce_\(", "error", "^NotImplementedError: .*index_reduce_func.* for RuntimeError: .*unsupported "
     "operation", "another of two refusals comes first"),
    ((r"(?s)1e-30.*T\.cumprod\(", "^gg = "), "value", r"np\.complex64\(.*e\+\d\d.* for np\.complex64\(.*e\+\d\d",
     "divided by elements near the smallest there are, what rounding left of a sum is larger than the sum"),
    (r"T\.linalg\.(matrix_)?norm\(a, (-?2|'nuc')", "error", "^_LinAlgError: .*non-finite.* for no error",
     "whether LAPACK fails with infinite numbers, or has nan for them, is the library's own affair"),
    ((r"1e30, .*dtype=T\.float32\)", r"T\.(cosine_similarity|linalg\.vector_norm|norm)\("), "value",
     r"at \(\) of \(\)", "torch squares the one element of a tensor without dimensions, if a dimension is named"),
    ((r"(?s)(\w) = T\.selu\((\w)\)\n\w = T\.div\(\1, \2\)", "^gg = "), "value", "", "the derivatives of a quotient "
     "that is constant cancel up to rounding"),
    ((r"(?s)complex\(-?1e30.*T\.prod\(", "^g+ = "), "value", "np.complex.*np.complex", "divided by elements so large, "
     "what rounding left of a product is larger than the product"),
    (r"\.scatter_reduce_?\(", "error", r"^NotImplementedError: .*not implemented for .* for RuntimeError: .*out of "
     "bounds", "another of two refusals comes first"),
    (r"T\.matmul\(", "view", "", "a product with batches that is made of one of matrices ends with a "
     "view in torch"),
    ((r"(?s)T\.int8.* (\*\*|T\.pow\()", "^g+ = "), "value", "", "torch takes 1 from an exponent in int8: of -128, 127"),
    (r"T\.addmv\(.*out=", "error", "^IndexError: .* for RuntimeError: .*functions with out=", "another of two refusals "
     "comes first"),
    (r"T\.(inner|tensordot)\(", "error", "^no error for NotImplementedError: .*dot.*Bool", "of one row and one column "
     "torch makes another product, which it has not for all dtypes"),
    ((r"T\.(nan)?quantile\(", "^g = "), "value", "", "which of equal elements has the gradient hangs on "
     "torch's sorting"),
    (r"T\.cosine_similarity\(", "value", r"result: np\.float64\((-?\d\.?\d{0,4})\S* for np\.float64\(\1",
     "computed in less precision than the result shows"),
    (("unsqueeze_", "grad"), "error", "^no error for IndexError: .*too many indices", "torch replays the views of a "
     "tensor whose shape was changed in place in its old shape"),
    ((r"(?s)1e-30.*(\w) (/ |= T\.\w*div\w*\(.*)\1", "^gg = "), "value", "np.complex", "the derivatives of a quotient "
     "that is constant cancel up to rounding"),
    ((r"(?s)inf.*dtype=T\.complex|complex\([^\n]*inf", r"= \w \* \w$|T\.(mul|square)\("), "value", r"\bnan",
     "whether a product of infinite parts, less another, is nan hangs on whether the last is rounded before it is "
     "taken off"),
    ((r"(?s)bfloat16.*F\.conv\dd\(", "^g = "), "value", r"g\[1\]: result: np\.float32\(0\.0\) for", "torch multiplies "
     "padding by what memory held, another number in every call"),
    ((r"T\.zeros\(\([\d, ]*\b0\b", r"T\.(baddbmm|addbmm|bmm|addmm|addmv|mm)\("), "error",
     "^no error for RuntimeError: .*(result type|functions with out=)", "of no elements nothing is multiplied"),
    ((r"complex\(-?float\('inf'\)", r"T\.(addr|addmm|addmv|baddbmm|addbmm)\("), "value",
     r"\(-?inf[+-](0|nan)j\) for np\.complex\d+\(-?inf[+-](0|nan)j", "an infinite part times the 0j of beta and alpha "
     "is nan, if it is multiplied"),
    ((r"float\('inf'\)|1e30", r"T\.linalg\.(matrix_)?norm\(a, (-?2|'nuc')"), "error", "^no error for _LinAlgError",
     "whether LAPACK fails with infinite numbers, or has nan for them, is the library's own affair"),
    ((r"(?s)1e-30.*T\.polar\(", "^gg = "), "value", r"np\.float32\(\S*e\+\d\d\) for np\.float32\(\S*e\+\d\d", "the "
     "direction of a number does not depend on its size: what rounding leaves of that derivative, divided by the size"),
    (r"^gg = ", "error", "^no error for RuntimeError: .*Double backward is unsupported", "torch has no second "
     "derivatives of a product with two zeros"),
    (r"index_add_\(", "error", "^IndexError: .*out of range.* for RuntimeError: .*more than one element of the written",
     "another of two refusals comes first"),
    ((r"\.data = ", "^g = |backward"), "error", "^KeyError: .* for RuntimeError: .*isFloatingType", "views replayed "
     "in a dtype that they have lost"),
    (r"\.step\(", "error", "^AssertionError: .*row_var and col_var.* for ZeroDivisionError", "the state of another "
     "parameter is refused here before any parameter takes its step"),
    ((r"nn\.(RNN|LSTM|GRU)\w*\((?s:.*)\.to\(T\.bfloat16\)", "^g"), "value",
     r"g\[\d\]: result: np\.float32\(-?0?\.\d+\) for np\.float32\(-?0?\.\d+\)",
     "roundings of bfloat16 in sums over layers and steps that cancel to less than 1"),
    ((r"nn\.L1Loss\(.*'none'", r"^y = m\("), "stride", "", "of operands that disagree and of which one was converted, "
     "NumPy takes an order of its own"),
]


#: What a statement may begin with, which is seen in the program up to it.
_WITHIN = re.compile(r"^with T\.(?!autograd).*?\): (?=\w+ = )")


def reason_for(lines, found):
    """Why the difference is known, or None."""
    line = _WITHIN.sub("", lines[found.line]) if found.line < len(lines) else ""
    before = "\n".join(lines[:found.line + 1])
    for where, kind, says, reason in KNOWN + known_by_family.KNOWN:
        earlier, where = where if isinstance(where, tuple) else ("", where)
        if found.kind == kind and re.search(earlier, before) and re.search(where, line) and (
                says(found.text) if callable(says) else re.search(says, found.text)):
            return reason
    return None
