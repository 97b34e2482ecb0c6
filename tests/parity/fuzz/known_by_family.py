"""The same as in known.py, for what one family of programs alone makes: transforms and dual numbers, what comes from
NumPy."""

_FORWARD = "forward_ad|jvp|jacfwd|hessian|linearize"
_WITHIN = r"[a-z]_\((?s:.*)(forward_ad|T\.func)"

IN_TRANSFORMS = [
    (_FORWARD, "error", "for RuntimeError: .*more than one element of the written-to",
     "torch copies a tangent to memory that is laid out like an expanded primal's, which it then refuses to write "
     "to"),
    ("linearize", "error",
     "for RuntimeError: .*aten::_make_dual|^RuntimeError: .*modified by an inplace.* for no error",
     "torch linearizes what it has traced, and cannot within a vmap"),
    (r"vmap\(", "error", "for AssertionError: .*arg_spec must not be None",
     "torch cannot map in chunks over nothing"),
    (r"vmap\(|hessian|jac", "error",
     "^no error for RuntimeError: .*(cannot reshape tensor of 0 elements|not support vmap " "over dims of size 0)",
     "torch's rules for batches cannot tell where no elements belong"),
    (r"vmap\(", "error", r"for IndexError: .*index 0 out of range for tensor of size .*0\]", "as before"),
    ("out_dims=-?1", "error", "^IndexError: .*Dimension out of range.* for no error",
     "torch writes the number of samples behind the end of the sizes of a result that is the same for all"),
    ("out_dims=-?1", "error", r"for RuntimeError: .*(expanded size|expand\(|SmallVector|DefaultCPUAllocator)",
     "as before"),
    ("out_dims=-?1", "shape", "", "as before"),
    (r"vmap\(", "error", r"^\w+: .* for (IndexError|RuntimeError: .*Shape mismatch)",
     "another of two refusals comes first: torch's rules for batches look at the dimensions first"),
    (r"vmap\(", "error", "^ValueError: .*target.* for AssertionError", "another of two refusals comes first"),
    ((r"T\.tri[ul]\(", r"vmap\("), "error", "^RuntimeError: .*must have at least 2 dim.* for no error",
     "torch's rule for batches of vectors takes them for matrices"),
    ((r"- |T\.r?sub\(", r"vmap\("), "error", "^RuntimeError: .*Subtraction, the .* for no error",
     "torch's rule for batches subtracts from bools"),
    (r"vmap\(", "error", r"^no error for RuntimeError: .*(masked_fill_\(self|calling .item\(\))",
     "torch's rules for batches fall over what they do not know"),
    (r"vmap\(", "error", "^RuntimeError: .*output with shape .* for no error",
     "torch broadcasts what is written within a vmap by the sizes of all samples"),
    ((r"dtype=T\.(float32|b?float16)", _FORWARD), "dtype", r"torch\.(float32|b?float16) for torch\.float64",
     "torch forgets in forward mode within a vmap that a number was one: beside a tensor without dimensions it "
     "decides"),
    ((r"T\.(std|var)\w*\(", _FORWARD), "dtype", "float16 for torch.float32",
     "the tangent of the deviation of one number is a nan of the default dtype in torch"),
    ((r"a\.requires_grad_\(\)|grad\(.*grad\(", r"forward_ad|T\.func"), "error",
     "for RuntimeError: .*a view of a leaf Var",
     "a dual number may be written to here, if the tensor that it was made of is a leaf"),
    ((r"a\.requires_grad_\(\)", r"vmap\("), "error",
     "^no error for RuntimeError: .*a leaf Variable that requires grad",
     "as before, for what a vmap maps over"),
    ((_WITHIN, ""), "value", "^[ab]: ", "what both refuse was written to here before, in torch afterwards"),
    ((_WITHIN, ""), "history", "^[ab]: ", "what is written to from within a transform"),
    ((_WITHIN, ""), "shape", "^[ab]: ", "the shape of a tensor is not changed from within a transform"),
    ((r"[a-z]_\(", _FORWARD), "error",
     "^RuntimeError: .*(modified by an inplace|returns multiple views).* for no error",
     "what carries a tangent is recorded here, and its tangent is computed when it is asked for"),
    (r"forward_ad|T\.func", "history", r"\((True, True|False, True)\) for \(True, False\)",
     "whether a derivative that is the tangent itself, or zero, has a history"),
    ((r"T\.func\.(linearize|jacfwd)", "^$"), "memory", "",
     "what torch linearizes copies what it reads; a tangent may be in memory that has ones in it anyway"),
    (r"forward_ad|T\.func", "stride", "", "torch lays out a tangent as its primal"),
    ((r"T\.(minimum|maximum|clamp_min|fmax)\((?s:.*)(nan|rsqrt|log|sqrt|asin)", _FORWARD), "value",
     r"nan|np\.float\d+\(1\.0\) for np\.float\d+\(0\.0\)",
     "beside NaN torch's forward derivative is that of the other operand, its backward one is not"),
    (("floor_divide|heaviside|cdist|//", _FORWARD), "error", "for NotImplementedError: .*use forward AD",
     "torch looks for the forward derivative where it computes, here it is looked for where a tangent is"),
    (_FORWARD, "error", r"^no error for IndexError: .*max\(\): Expected reduction dim 0 to have non-zero size",
     "torch cannot differentiate logcumsumexp of no elements forwards"),
    ((r"zeros\(\(|\.expand\(\(.*\b0\b", _FORWARD), "value", r"\(nan\)",
     "the tangent of a mean of no elements is a mean of no elements in torch"),
    (("1e30", _FORWARD), "value", "", "products that are too large cancel"),
    (("nan|remainder", _FORWARD), "value", r"\(nan\)", "products of nan and zero, by which are made first"),
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
    (r"^\w = \[.*\] - ", "error", "^RuntimeError: .*Subtraction, the .* for TypeError", "another of two refusals"),
    (r"^\w = T\.\w*Tensor\(", "stride", "", "torch has no strides of 0 from NumPy"),
]

IN_MODES = [
    (("inference_mode", ""), "value", "", "torch writes to an inference tensor before it refuses to"),
    (("inference_mode", ""), "error",
     "^RuntimeError: .*[Ii]nference tensors? .* for no error|^no error for RuntimeError: .*" "[Ii]nference tensor",
     "torch lets a detached inference tensor be written to"),
    ((r"(un)?squeeze_\(|\.t_\(", ""), "type", "OutgrownBackward0",
     "the history of a tensor whose shape was changed in place under no_grad has a node of its own for that"),
    ((r"(un)?squeeze_\(|\.t_\(", "^g = "), "shape", "", "as before: a gradient has the shape that the leaf has now"),
    (r"^s = ", "type", "'(AsStrided|Alias|View|Reshape)Backward0' for '|'CopyBackwards' for 'CopySlices'",
     "a view whose base has changed is replayed in one step"),
    ((r"\.data = ", "^g"), "error", "^ValueError", "another of two refusals of a gradient of another shape"),
]

IN_STATES = [
    ((r"o\.step\(", r"^(s|r) = "), "type", r"^s: result: keys",
     "of a step that is refused, torch has made more states before"),
    ((r"load_state_dict\((?s:.*)o\.step\(", "^s = "), "value", r"'step'\]", "as before: states of another shape"),
]

IN_HALVES = [
    (r"F\.max_pool1d\(", "view", "", "one operation here; in torch a view of pooled images of one row"),
    (r"F\.embedding\(", "error", "^(RuntimeError|IndexError): .* for (IndexError|RuntimeError)",
     "another of two refusals"),
    (r"F\.cross_entropy\(", "error", "^ValueError: .* for RuntimeError: .*target tensor expected",
     "another of two refusals"),
    (r"F\.conv1d\(", "shape", "", "without input channels torch makes no output channels"),
    ((r"T\.autocast", r"T\.einsum\("), "dtype", "",
     "a sum over one element is no product of matrices in torch, and stays in the dtype that it has"),
]

#: All of them.
KNOWN = IN_TRANSFORMS + IN_FOREIGN + IN_MODES + IN_STATES + IN_HALVES
