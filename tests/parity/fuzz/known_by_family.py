"""The same as in known.py, for what one family of programs alone makes: transforms and dual numbers, what comes from
NumPy."""
import re


def last_digit(text):
    """Whether numbers that were printed with many digits differ in the last one."""
    numbers = [complex(x) for x in re.findall(r"'\(?(-?\d+\.\d{5,}[\de+.-]*j?)\)?'", text)]
    return len(numbers) == 2 and abs(numbers[0] - numbers[1]) <= 1e-6 * abs(numbers[1])


_FORWARD = "forward_ad|jvp|jacfwd|hessian|linearize"
_WITHIN = r"[a-z]_\((?s:.*)(forward_ad|T\.func)"

IN_TRANSFORMS = [
    (_FORWARD, "error", "for RuntimeError: .*more than one element of the written-to",
     "torch copies a tangent to memory that is laid out like an expanded primal's, which it then refuses to write "
     "to"),
    ("linearize", "error",
     "for RuntimeError: .*(aten::_make_dual|out of a tracing tensor)|"
     "^RuntimeError: .*modified by an inplace.* for no error",
     "torch linearizes what it has traced, and cannot within a vmap"),
    (r"vmap\(", "error", "for AssertionError: .*arg_spec must not be None",
     "torch cannot map in chunks over nothing"),
    (r"vmap\(|hessian|jac", "error",
     "^no error for RuntimeError: .*cannot reshape tensor of 0 elements|for RuntimeError: .*not support vmap over dims "
     "of size 0",
     "torch's rules for batches cannot tell where no elements belong"),
    (r"vmap\(|jacfwd|hessian", "error", r"for IndexError: .*index 0 out of range for tensor of size .*0\]",
     "as before"),
    (r"vmap\(|jacfwd|hessian", "error", "for RuntimeError: .*SmallVector",
     "torch's rules for batches, of what was squeezed in place"),
    ("out_dims=-?1", "error", "^IndexError: .*Dimension out of range.* for no error",
     "torch writes the number of samples behind the end of the sizes of a result that is the same for all"),
    ("out_dims=-?1", "error", r"for RuntimeError: .*(expanded size|expand\(|SmallVector|DefaultCPUAllocator|"
     "Storage size calculation)",
     "as before"),
    ("out_dims=-?1", "shape", r" for \(.*\d{10}", "as before"),
    (("out_dims=-?1", "^$"), "memory", r"\('g', 0\)\]\] for (?!.*'g')", "as before: of no elements by accident"),
    ("out_dims=-?1", "error", "^IndexError: .*Dimension out of range.* for RuntimeError",
     "as before, before a refusal"),
    (r"vmap\(", "error", "^RuntimeError: .*(zero-dimensional tensor .* cannot be concatenated|split expects at least a|"
     "'weight' must be 2-D).* for IndexError: .*Dimension out of range|"
     "^IndexError: .*tensor has no dimensions.* for RuntimeError: .*Shape mismatch",
     "another of two refusals comes first: torch's rules for batches look at the dimensions first"),
    (r"vmap\(", "error", "^(Value|Runtime)Error: .*target.* for AssertionError: .*0D or 1D target",
     "another of two refusals comes first"),
    ((r"T\.tri[ul]\(", r"vmap\("), "error", "^RuntimeError: .*tri[ul]: input tensor must have at least 2 dim",
     "torch's rule for batches of vectors takes them for matrices, and goes on"),
    ((r"- |T\.r?sub\(", r"vmap\("), "error", "^RuntimeError: .*Subtraction, the .* for no error",
     "torch's rule for batches subtracts from bools"),
    (r"vmap\(", "error", r"^(no error|IndexError: .*) for RuntimeError: .*(masked_fill_\(self|calling .item\(\))",
     "torch's rules for batches fall over what they do not know"),
    (r"vmap\(", "error", "^RuntimeError: .*output with shape .* for (no error|TypeError)",
     "torch broadcasts what is written within a vmap by the sizes of all samples"),
    ((r"dtype=T\.(float32|b?float16)", _FORWARD), "dtype", r"torch\.(float32|b?float16) for torch\.float64",
     "torch forgets in forward mode within a vmap that a number was one: beside a tensor without dimensions it "
     "decides"),
    ((r"T\.(std|var)\w*\(", _FORWARD), "dtype", "float16 for torch.float32",
     "the tangent of the deviation of one number is a nan of the default dtype in torch"),
    ((_WITHIN, ""), "value", "^[ab]: ", "what both refuse was written to here before, in torch afterwards"),
    ((_WITHIN, ""), "history", "^[ab]: ", "what is written to from within a transform"),
    ((_WITHIN, ""), "shape", "^[ab]: ", "the shape of a tensor is not changed from within a transform"),
    ((r"[a-z]_\(", _FORWARD), "error",
     "^RuntimeError: .*(modified by an inplace|returns multiple views).* for no error",
     "what carries a tangent is recorded here, and its tangent is computed when it is asked for"),
    (r"forward_ad|T\.func", "history",
     r"\((True, True|False, True)\) for \(True, False\)|\(True, False\) for \(False, True\)",
     "whether a derivative that is the tangent itself, or zero, has a history"),
    ((r"T\.func\.(linearize|jacfwd)", "^$"), "memory", "",
     "what torch linearizes copies what it reads; a tangent may be in memory that has ones in it anyway"),
    (r"forward_ad|T\.func", "stride", "", "torch lays out a tangent as its primal"),
    ((r"T\.(std|var)\w*\(", _FORWARD), "error", "^no error for RuntimeError: .*expected both vectors",
     "the tangent of the deviation of one number has the default dtype in torch, which a product then refuses"),
    ((r"T\.aminmax\(", r"vmap\("), "error", "^RuntimeError: .*empty dimension.* for IndexError: .*non-zero size",
     "torch's rule for batches reduces the dimensions of a sample"),
    (("floor_divide|heaviside|cdist|gcd|//", _FORWARD), "error", "for NotImplementedError: .*use forward AD",
     "torch looks for the forward derivative where it computes, here it is looked for where a tangent is"),
    (_FORWARD, "error",
     r"^(no error|RuntimeError: .*) for IndexError: .*max\(\): Expected reduction dim \d to have non-zero size",
     "torch cannot differentiate logcumsumexp of no elements forwards"),
    (_FORWARD, "error",
     "^no error for RuntimeError: .*(Subtraction, the `-` operator|forward gradient that has a different size)",
     "torch's forward derivatives take bools for numbers, and tangents for what their primals were"),
    (r"vmap\(", "error", "^no error for NotImplementedError: .*not implemented for 'Bool'",
     "torch's rules for batches make other products of bools"),
    (r"vmap\(", "dtype", r"torch\.(float32|b?float16) for torch\.float(32|64)",
     "torch forgets within a vmap that a sample without dimensions is a number beside others"),
    ((r"T\.dist\(", r"T\.func"), "error", "^no error for RuntimeError: .*output 0 of (MaskedFill|AsStrided)",
     "torch's derivative of the norm writes to what its own derivative needs"),
    ("linearize", "error", "^no error for RuntimeError: .*a leaf Variable that requires grad",
     "torch traces what it linearizes, and takes for a constant what has no elements"),
    (_FORWARD, "error", "^no error for RuntimeError: .*(Found dtype|result type .* can't be cast)",
     "torch's forward derivatives of losses take no operands of two dtypes"),
    ((r"F\.embedding\(", _FORWARD), "error", "^IndexError: .*no dimensions.* for RuntimeError: .*'weight' must be 2-D",
     "a weight that requires grad is refused by another error, and dual numbers say that they do (docs/caveats.md)"),
    ((r"T\.nextafter\(", _FORWARD), "dtype", r"torch\.float(32|64) for torch\.(b?float16|float32)$",
     "torch's tangent of nextafter has the dtype of the first operand"),
    ((r"T\.cross\((\w)\(a, b\), \1\(a, b\)\)(?s:.*)(recip|rsqrt|log| / |div)", ""), "value", r"\(-?inf\) for",
     "torch's product of a vector with itself is what rounding leaves of zero, by which a number is then divided"),
    ((r"F\.embedding\(", _FORWARD), "error",
     "^IndexError: .*out of range in self.* for RuntimeError: .*indexing axis dim should be positive",
     "another of two refusals of a weight without rows"),
    ((r"squeeze_\(", "forward_ad"), "shape", r"^g\[\d\]\[1\]: .* for \(\)$",
     "torch squeezes the tangent of a tensor with that of a view of all of it"),
    ((r"T\.(minimum|maximum|clamp_min|fmax)\(", _FORWARD), "value", r"np\.float\d+\(0\.0\) for np\.float\d+\(1\.0\)",
     "beside NaN torch's forward derivative is that of the other operand, its backward one is not"),
    ((r"T\.zeros\(\((?s:.*)F\.cross_entropy\(", _FORWARD), "value", r"\(nan\) for np\.float\d+\(-?0\.0\)",
     "the tangent of a mean over nothing, which is itself NaN, is 0 in torch"),
    ((r"squeeze_\(\)(?s:.*)\.mT\b", r"vmap\("), "error",
     "^RuntimeError: .*mT is only supported on matrices.* for no error",
     "torch counts the dimension of a batch among those of what was squeezed in place within it"),
    ((r"F\.glu\(", _FORWARD), "error", "for NotImplementedError: .*glu_jvp_cpu",
     "torch has no kernel for tangents of glu in half precision"),
    (("huber_loss", _FORWARD), "error", "for NotImplementedError: .*use forward AD",
     "torch has no forward derivative of the derivative of a loss"),
    ((r"F\.prelu\(", r"vmap\(.*jac|jac.*vmap\("), "error", "^no error for RuntimeError: .*split_with_sizes",
     "torch's rule for batches of gradients of prelu with one weight adds a dimension"),
    ("jac", "error", "^no error for RuntimeError: .*derivative for aten::heaviside is not implemented",
     "a Jacobian of no elements has no rows that a backward would have to compute"),
    ((r"\.expand\(", r"vmap\("), "error", "^no error for RuntimeError: .*more than one element of the written-to",
     "a sample by itself may be written to here, if the samples lie at one place"),
    ((r"T\.kron\(", ""), "error", "^no error for .*view size is not compatible",
     "torch cannot, for some operands that are not contiguous"),
    ("out_dims=-?1", "time", "^torch takes", "torch writes the number of samples behind the end of the sizes of a "
     "result that is the same for all"),
    ((r"T\.cross\((\w)\(a, b\), \1\(a, b\)\)", ""), "value", "", "what cancels in the cross product of a vector with "
     "itself is 0, or a rounding"),
    ((r"T\.pow\(\w\(a, b\), \w\(a|\(a, b\) \*\* \w\(a", ""), "value", r"\(nan\) (for|at)", "a sum that is whole up to "
     "a rounding is the exponent of a negative number"),
    (("F.cosine_similarity", "T.func"), "error", "^no error for RuntimeError: .*output 0 of AsStrided", "torch writes "
     "to what its derivative has saved, within a vmap"),
    ((r"zeros\(", r"vmap\("), "error", "^RuntimeError: .*more than one element of the written-to.* for no error",
     "of no elements torch writes none"),
    (("F.binary_cross_entropy_with_logits", _FORWARD), "dtype", r"torch\.float32 for torch\.b?float16",
     "within a transform torch makes it of others, which autocast leaves alone"),
    (("autocast", r"T\.func"), "error", "^RuntimeError: .*same dtype.* for no error",
     "within a transform torch casts what its rules are made of"),
    (("autocast", r"T\.func"), "error", "^no error for RuntimeError: .*(Expected both inputs to be|Type promoting)",
     "as before"),
    ((r"autocast(?s:.*)F\.normalize\(", _FORWARD), "value", r"result: np\.float(16|32)\(-?\d",
     "second derivatives of what was rounded to half precision cancel"),
    ((r"T\.kron\(", "^y = "), "view", "", "torch has the product in the order of the memory of its operands"),
    (("autocast", r"T\.func"), "error", "^no error for NotImplementedError: .*storage of TensorWrapper",
     "torch's own fault"),
    (("F.binary_cross_entropy_with_logits", r"T\.func"), "error", "^RuntimeError: .*can't be cast to the desired "
     "output type (Long|Bool).* for no error", "within a transform torch makes it of others, which take integers"),
    ((r"float16(?s:.*)F\.layer_norm\(", r"^g = .*T\.func"), "value", r"for np\.float16\(nan\)", "the cube of the "
     "inverse of a deviation of zero overflows in half precision"),
    ((r"1e30(?s:.*)F\.layer_norm\(", "^[gy] = "), "value", r"for np\.float\d+\(nan\)", "where squares overflow, "
     "torch's result is NaN or 0 by the length of a row"),
    ((r"F\.gelu\(", "^[gy] = "), "value", r"\(inf\) for np\.float\d+\(nan\)",
     "torch's gelu of infinity is NaN in a tensor of several elements"),
    ((r"F\.scaled_dot_product_attention", "^[gy] = "), "error",
     "^NotImplementedError: .*not implemented for .*Complex.* for no error", "of no elements"),
    (("out=", _FORWARD), "error", r"^RuntimeError: .*functions with out=.* for NotImplementedError: .*forward AD",
     "forward mode runs on the tape, whose refusal it gives"),
    (("out=", r"vmap\("), "error", "^no error for RuntimeError: .*Batching rule not implemented for aten::.*out",
     "torch cannot write to `out` within a vmap"),
    ((r"conj\(|\.mH|adjoint", r"^g = .*vmap\("), "memory", "", "within a vmap conjugates are computed at once"),
    ((r"conj\(|\.mH|adjoint(?s:.*)vmap\(", "^$"), "memory", "", "as before"),
    ((r"F\.nll_loss\(", r"^g = "), "error", "^no error for RuntimeError: .*(size mismatch|Index tensor must have)",
     "torch has no gradient, and no rule for batches, of a single example whose target has a dimension"),
    ((r"T\.scatter_add\(", _FORWARD), "error", "^RuntimeError: .*ScatterAddBackward0 returned an invalid gradient",
     "forward derivatives are those of the backward rules, of which torch's has no gradient of a larger source"),
    (r"^[gy] = ", "error", "^RuntimeError: .*number of dimensions as src.* for IndexError: .*Dimension out of range",
     "another of two refusals comes first"),
    (("F.bilinear", ""), "error", "^RuntimeError: .*leading, non-existing.* for IndexError", "as before"),
    ((r"complex\((?s:.*) [-+] |complex\((?s:.*)T\.(add|sub)", "^[gy] = "), "value",
     r"np\.complex\d+\(.*inf.*\) for np\.complex\d+\(.*nan", "torch multiplies what it adds by the alpha 1 + 0j, and "
     "infinity times 0 is nan"),
    ((r"T\.(baddbmm|addbmm)\(", r"vmap\("), "error", "^IndexError: .*out of range.* for RuntimeError: .*mismatch",
     "another of two refusals comes first: torch's rules for batches look at the dimensions first"),
    ((r"(?s)^(?=.*autocast).*F\.scaled_dot_product_attention", "T.func"), "error", "^no error for RuntimeError: "
     ".*expected (m1 and m2 to have the same dtype|scalar type)", "torch cannot differentiate attention within "
     "autocast and a transform"),
]

_REFUSED = r"must be (int|Tensor|tuple of ints), (not|but)"

IN_FOREIGN = [
    ((r"import copy, math, operator", r"\] .?= "), "error", "for TypeError: .*can't assign a numpy.",
     "torch assigns no number of NumPy's but those that Python takes for its own"),
    (r"from_numpy|as_tensor|asarray", "memory", "",
     "an array knows what memory it is a part of, which torch does not ask"),
    ((r"from_numpy|as_tensor|asarray", "^$"), "memory", "", "as before"),
    (r"np\.\w+\(", "error", "^no error for TypeError: .*(ScalarType|unexpected keyword)",
     "torch gives NumPy's functions no arrays of bfloat16, and calls its own of the same name"),
    ("", "error", f"^TypeError: .*{_REFUSED}.* for (no error|RuntimeError|IndexError)",
     "torch takes an array or a tensor of one whole number for a size, if not for a dimension"),
    (r"\.size\(", "error", "^IndexError: .*but tensor has no dimensions.* for TypeError", "another of two refusals"),
    (r"F\.pad\(a, range", "error", "^no error for TypeError",
     "a range is a sequence of ints here wherever a tuple is"),
    (r"\.to\(", "error", r"^TypeError: .*'device' must be torch.device.* for no error",
     "torch takes a number for the device of that index, and then has none to look for"),
    (r"Tensor\(\[", "error", "^TypeError: .*(must be real number|can't convert np.ndarray)",
     "torch drops imaginary parts of zero and the precision of long doubles"),
    (r"^\w = T\.\w*Tensor\(", "stride", "", "torch has no strides of 0 from NumPy"),
    (r"T\.(tensor|as_tensor|Tensor|FloatTensor)\(\[|T\.tensor\(\[np", "error",
     "len.. of unsized object|must be real number",
     "torch takes an array without dimensions for a sequence, and looks at complex numbers first"),
    (r"T\.(as_)?tensor\(\[", "error", "^no error for TypeError: .*'numpy.bool_?' object cannot be interpreted",
     "a list of arrays of truth values makes integers, as such an array does"),
    ("longdouble", "error", "can't convert np.ndarray of type numpy.longdouble",
     "torch takes such a number for a Python float"),
    (r"^\w = np\.", "error", "NotImplementedError|requires grad|byte order|infer output dtype|Expected reduction dim|"
     "support complex input",
     "NumPy's function calls the method of the same name here, and an array's own in torch"),
    (r"np\.array\(\[", "error", "^ValueError: .*setting an array element with a sequence.* for (TypeError|no error)",
     "NumPy makes no string of what has items and a length"),
    (r"^\w = T\.\w*Tensor\((np\.\w+\(|T\.tensor\((-?[\d.]+|True|False), )", "value", "",
     "a number is a size, and what lies in new memory comes from nowhere"),
    (r"resize_\(", "error", "^RuntimeError: .*cannot resize variables that require grad.* for TypeError",
     "another of two refusals"),
    (r"np\.array\(True\)\]", "error", "^no error for IndexError",
     "a truth value of NumPy's indexes as one of Python's"),
    (("np\\.(reshape|transpose)", "^$"), "memory", "", "NumPy's functions make views of the memory as it is"),
    (r"\.split\(", "error", "^no error for TypeError: .*unsized", "as above"),
    (r"a\[\S+:\]$", "error",
     "^IndexError: .*slice.* cannot be applied to a 0-dim.* for TypeError: .*(slice indices must|only integer scalar)",
     "another of two refusals"),
    (r"(format|str|repr)\(a\.sum\(|\{a\.sum\(", "type", last_digit, "the last digit of a sum"),
    (r"np\.arg(max|min)\(", "error", "does not support bool input.* for no error", "a method takes the `out=None` that "
     "NumPy gives it, and refuses bools; of torch's refusal of the keyword NumPy makes an array of the tensor"),
    (r"\.split\(np", "error", "^(no error|RuntimeError: .*) for TypeError", "an integer of NumPy's is one here"),
    ((r"\+= .*complex\(", r"dtype=T\.float|\.real"), "value", r"for np\.float\d+\(nan\)", "torch multiplies what it "
     "adds by the alpha 1 + 0j, and infinity times 0 is nan"),
    (r"copy_\(np", "error", "^RuntimeError: .*without overflow", "of no elements none is converted in torch"),
]

IN_MODES = [
    (("inference_mode", ""), "error",
     "^RuntimeError: .*[Ii]nference tensors? .* for no error|^no error for RuntimeError: .*" "[Ii]nference tensor",
     "torch lets a detached inference tensor be written to"),
    ((r"(un)?squeeze_\(|\.t_\(", ""), "type", "OutgrownBackward0",
     "the history of a tensor whose shape was changed in place under no_grad has a node of its own for that"),
    ((r"(un)?squeeze_\(|\.t_\(", "^g = "), "shape", "", "as before: a gradient has the shape that the leaf has now"),
    (r"^s = ", "type", "'(AsStrided|Alias|View|Reshape)Backward0' for '|'CopyBackwards' for 'CopySlices'",
     "a view whose base has changed is replayed in one step"),
    ((r"\.data = ", "^g|backward"), "error", "^RuntimeError: .*returned an invalid gradient",
     "a gradient has the shape that the leaf has now, which torch looks at later, or not at all"),
    ("", "error", "^(IndexError|no error): .* for RuntimeError: .*(view was created in|leaf Variable that requires)",
     "another of two refusals comes first"),
    ("", "error", "^IndexError: .* for RuntimeError: .*is a view and its base or another view of its base has been",
     "another of two refusals comes first"),
    ((r"\.expand\(", r"\.copy_\("), "error", "^no error for RuntimeError: .*more than one element of the written-to",
     "torch compares the strides of dimensions of size 1 too, to tell that a tensor is copied to itself"),
    (r"retain_grad|requires_grad = ", "error", "^RuntimeError: .*view was created in",
     "torch looks at a view's history later"),
    ((r"squeeze_\(|\.t_\(", r"backward\("), "error", "^no error for RuntimeError: .*returned an invalid gradient",
     "a gradient has the shape that the leaf has now"),
    (r"^(with .*: )?\w = \w \* \w$", "stride", "", "of operands that disagree, one of which is no view"),
    ((r"(?m)^(with .*: )?\w = \w \* \w$", r"^(with .*: )?\w = \w\.(data\b|detach\(\))"), "stride", "",
     "as before, of what such an operation gave"),
    ((r"\.data = ", "^g = "), "shape", "", "a gradient has the shape that the leaf has now"),
    ((r"\.grad = a\.detach", "backward"), "error", "more than one element of the written-to",
     "torch adds to a gradient in place, and may not where it was expanded"),
]

IN_STATES = [
    (r"load_state_dict\(", "error", "^ValueError: .*loaded state dict does not fit the parameters.* for no error",
     "states of another shape are refused when they are loaded (docs/resuming.md)"),
    (r"o\.step\(", "error", "^AssertionError: .*variance should be defined.* for ZeroDivisionError", "another of two "
     "refusals: of a state that was loaded for a parameter of another shape"),
]

IN_HALVES = [
    ((r"1e30", r"F\.layer_norm\("), "value", r"\(-?0\.0\) for np\.float\d+\(nan\)",
     "where squares overflow, torch's result is NaN or 0 by the length of a row"),
    (("(float\\('(nan|inf)|1e30)(?s:.*)F\\.conv1d\\(", "^g = "), "value", r"\(nan\) for|for np\.float\d+\(nan\)",
     "which algorithm multiplies an infinite kernel by padding"),
    ((r"1e30(?s:.*)F\.layer_norm\(", "^g = "), "value", r"for np\.float\d+\(nan\)", "as before"),
    ((r"float16(?s:.*)T\.atan2\(", "^g = "), "value", r"\(-?inf\) for |for np\.float\d+\((-?inf|nan)\)",
     "the square of a small number is 0 in half precision, and torch divides by it"),
    ((r"nan", r"F\.scaled_dot_product_attention\("), "value", r"\(nan\) for np\.float\d+\(-?0\.0\)",
     "torch takes a query whose scores are NaN for one that attends to nothing, if there are four dimensions"),
    ((r"float16(?s:.*) \*\* s\n", "^g = "), "value", r"for np\.float\d+\(nan\)",
     "an exponent that was rounded to half precision, less 1, may be a whole number, which torch's is not"),
    (r"F\.max_pool1d\(", "view", "", "one operation here; in torch a view of pooled images of one row"),
    ("", "error", "^no error for RuntimeError: .*does not support automatic differentiation for outputs with complex",
     "complex numbers have derivatives here"),
    (r"F\.gelu\(", "value", r"\(inf\) for np\.float\d+\(nan\)",
     "torch's gelu of infinity is NaN in a tensor of several elements"),
]

IN_ALIASES = [
    (r"masked_scatter_\(", "error", "^RuntimeError: .*some elements of the input tensor.* for no error", "a source "
     "that lies in the memory that is written (docs/caveats.md)"),
    (r"\.scatter_\(", "error", "^RuntimeError: .*number of dimensions as src.* for IndexError: .*Dimension out of",
     "another of two refusals comes first"),
    (("resize_", "^$"), "memory", "", "a view that grows has new memory here, and not that of its base"),
    (("from_numpy(?s:.*)resize_", "^$"), "shape", "", "torch gives a tensor its shape before it refuses to resize "
     "memory"),
    ((r"\.set_\(", ""), "error", "^RuntimeError: .*a view of a leaf Variable.* for no error", "a view that was given "
     "the memory of another tensor is still a view here"),
    (r"_\(|out=", "error",
     "^RuntimeError: .*(some elements of the input tensor|more than one element of the written).* for no error",
     "some functions of torch do not look whether they write what they read, or one place twice "
     "(docs/caveats.md)"),
    (r"scatter_\(|\] = ", "error", "^RuntimeError: .*some elements of the input.* for IndexError",
     "another of two refusals"),
    ("out=", "error", "^IndexError: .* for RuntimeError|^RuntimeError: .*can't be cast.* for IndexError",
     "another of two refusals comes first"),
    (r"\.cum(sum|prod)_\(", "error", "^RuntimeError: .*Long can't be cast.* for (no error|NotImplementedError)",
     "bools have no sums in place, of which torch says otherwise, or of no elements nothing"),
    (r"resize_\(", "value", "", "what lies in memory that grew comes from nowhere"),
    ((r"\.unfold\(", r"_\("), "value", "", "of a tensor whose elements overlap each is written once here"),
    (r"(\w)\.addmm_\((\1|\w, \1)\b", "value", "", "torch writes what it still reads"),
    ((r"inf", r"\.(addmm|addmv|baddbmm|addbmm)_\("), "value", r"for np\.\w+\(.*nan", "OpenBLAS leaves out what is "
     "multiplied by zero"),
    ((r"\.set_\(", "^$"), "history", r"\(False, True\) for \(True, False\)", "a view that is given other memory leaves "
     "the history of its base alone (docs/caveats.md)"),
    ((r"inference_mode(?s:.*)\.set_\(", ""), "history", "for A view was created i", "a view made in inference mode of "
     "what was then given memory that requires grad"),
    ((r"\.set_\(", ""), "history", r"\(False, True\) for \(True, True\)", "torch's view of a view that was given other "
     "memory requires grad outside grad mode, and is a leaf"),
    (r"T\.diff\(.*out=", "error", "for IndexError: .*start out of range", "torch takes differences of nothing, but "
     "not to write them to an `out`"),
    ((r"dtype=T\.(u?int\d+|bool)(?s:.*)\] = ", "^$"), "history", r"\(False, True\) for \(True, False\)", "torch "
     "records what is filled into integers too"),
    (r"\.clamp_\(", "error", "^RuntimeError: .*single memory location.* for NotImplementedError: .*clamp is not "
     "supported for complex", "another of two refusals comes first"),
    (r"T\.aminmax\(.*out=\((\w), \1\)", "shape", r"^\w\[[01]\]: \(1,\) for \(\)", "torch takes away the reduced "
     "dimension of each of two results, which are one tensor"),
    ((r"T\.aminmax\(.*out=\((\w), \1\)", ""), "error", "^no error for .*(Dimension out of range|to a 0-dim tensor)",
     "as before"),
    (r"(\w)\.masked_scatter_\(.*, \1\)", "value", "", "torch writes what it still reads"),
    ((r"(?m)(\w)\.addmm_\((\1|\w, \1)\b", "^$"), "value", "", "as before, in other names of that memory"),
    ((r"(?m)(\w)\.addmm_\((\1|\w, \1)\b", r"^n = "), "type", "result: np", "as before"),
    ((r"from_numpy(?s:.*)resize_\(", r"^n = "), "type", "result: .* for .*", "torch gives a tensor its shape before it "
     "refuses to resize memory"),
]

IN_CASTS = [
    ((r"T\.kron\(", ""), "stride", "", "torch's iterator has an order of its own, of dimensions of size 1 too"),
    ((r"T\.cdist\(", r"jac|hessian|vmap"), "value", "", "torch's rule for batches of gradients of cdist gives others "
     "than its backward, of plain numbers too"),
    (r"vmap\(", "error", "^no error for RuntimeError: .*Batching rule not implemented for aten::_neg_view", "torch has "
     "no negated views within a vmap"),
    (("out=", r"vmap\("), "error", "for RuntimeError: .*Batching rule not implemented for aten::.*out", "torch cannot "
     "write to `out` within a vmap, and says so before another refusal"),
    ((r"F\.group_norm\(", r"vmap\("), "error", "^no error for RuntimeError: .*Expected X.is_contiguous", "torch's rule "
     "for batches hands its kernel memory that it refuses"),
    ((r"T\.complex64|complex\(", _FORWARD), "error", "^NotImplementedError: .*sum_cpu.*ComplexHalf.* for no error",
     "forward derivatives are those of the backward rules, whose sums there are none of in complex half precision"),
    ((r"T\.complex\(", r"vmap\("), "error", "^RuntimeError: .*expected scalar type .* but found .* for no error",
     "torch's rule for batches of no elements looks at no dtypes"),
    ((r"T\.(baddbmm|addbmm|addmm|addmv|addr)\(", r"vmap\("), "error",
     "^RuntimeError: .*(expanded size|must have the same dtype).* for no error", "torch's rules for batches add by "
     "broadcasting and in whatever dtypes"),
    (("autocast", r"T\.func"), "error", "^no error for NotImplementedError: .*cdist", "within a vmap torch casts "
     "nothing for cdist"),
    (("F.binary_cross_entropy_with_logits", _FORWARD), "dtype", r"torch\.b?float16 for torch\.float32",
     "within a transform torch makes it of others, whose dtype is the larger one"),
]

IN_THREADS = [
    (r"\w [*+-] \w", "stride", "", "of operands that disagree, one of which is no view (docs/caveats.md)"),
    ("pool.*is_anomaly_enabled", "type", "False for True", "anomaly detection belongs to a thread (docs/caveats.md)"),
    (r"functional\.jacobian", "error", "^no error for RuntimeError: .*stack expects a non-empty", "torch stacks no "
     "rows"),
    (r"jvp|jacfwd", "error",
     "^no error for RuntimeError: .*(Nested forward mode AD|no level exists|access a forward AD level)",
     "a dual level belongs to a thread, and jvp works within one (docs/caveats.md)"),
    (r"T\.func", "error", "^no error for RuntimeError: .*don't yet support saved tensor hooks",
     "transforms work within hooks of saved tensors here (docs/caveats.md)"),
]

#: All of them.
KNOWN = IN_ALIASES + IN_CASTS + IN_THREADS + IN_TRANSFORMS + IN_FOREIGN + IN_MODES + IN_STATES + IN_HALVES
