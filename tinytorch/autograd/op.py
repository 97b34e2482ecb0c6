"""`@op`: makes a function on arrays into an operation that the tape can record.

An op is a plain function on ndarrays with its derivative rules above it. A rule is keyed by the
argument it differentiates, and its own parameter names say what it needs:

    g       the gradient of the output
    ans     the output
    aux     what the forward function returned beside its output (ops with `aux=True`)
    shape   the shape of the argument being differentiated
    args    all arguments (joint rules)
    NAME    the argument NAME of the op

    @op(input=lambda g, other: g * other,
        other=lambda g, input: g * input)
    def mul(input, other): ...

The tape saves the values that rules name, and `Op.kept` says when, as torch does: a rule names
`ans` where torch's derivatives.yaml says `result`, and an input where derivatives.yaml names that
input. Rules use operators and other ops alone, so one text serves two modes: backward calls them
with ndarrays (an op called on ndarrays just runs), `create_graph=True` calls them with Tensors and
they are recorded in turn. Broadcasting is the engine's job: a rule may return a gradient of the
output's shape.

There are four wrappers, which differ in the work that a call needs: `op` (positional arguments),
`single` (the same for one tensor), `unary` and `binary` (element by element, with torch's promotion
and torch's public signature). They repeat the few lines that make a Tensor and a Node, because a
function call for each would cost as much as an op does.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy import ndarray

from .. import dtypes as dt
from ..kernels import native
from ..kernels.errstate import another, quiet
from ..kernels.layout import operand_order
from ..seam import UNSEEN, known_as, seam, set_cell
from ..tensor import Tensor, new_instance, new_tensor_state, wrap
from ..types import Number
from .grad_mode import all_threads, mode
from .node import ANS, Node, Op, next_sequence_nr
from .outputs import NOTHING, UNWATCHED, wrap_outputs
from .overridable import Repeats, answer, has_override, not_an_operand
from .promotion import (
    CONVERTED,
    FLOATS,
    FOUND,
    NUMBERS,
    of_numbers,
    on_arrays,
    to_default,
    unlike,
    unusual_arguments,
    unusual_binary,
    unusual_unary,
    write_out,
)
from .public import Public, enter
from .views import refresh, track_view

if TYPE_CHECKING:
    class Primitive(Protocol):
        """What the decorators here make: a function of Tensors, and the attributes that it carries."""

        __name__: str
        __qualname__: str
        __wrapped__: Callable              # the forward
        op: Op
        make: tuple[Callable, tuple]       # the wrapper that made it, and its settings
        widened: Primitive | None          # its form for bfloat16, made when it is first needed
        stored: dict[np.dtype, Primitive]  # its forms for the other dtypes that are stored as records

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

#: All primitives that the wrappers made. They live as long as their modules, so nothing removes them.
CALLS: list[Primitive] = []

#: The least int that is too large for int64: ints from here on take the path that checks them.
_LONG = 1 << 63
BFLOAT16, listening = dt.BFLOAT16, native.listening
#: Characters of the dtypes that take a Python int as it is. (A float: FLOATS.)
_SIGNED, _WHOLE = np.typecodes["Integer"], FLOATS + np.typecodes["AllInteger"]


def op(name: str | None = None, **said: Any) -> Callable[[Callable], Callable]:
    """Decorator: an op called with positional arguments, its tensors from position `first` on.

    `said` holds the settings and attributes of Op (node.py), and derivative rules by the names of the arguments. Some
    of the attributes:

    `steps`: torch computes the rules as several operations, and rounds half precision after each. Without it a rule
    counts as one operation. The ops of `unary` and `binary` have it.
    `elementwise`: the memory of the result is in the order of the memory of the tensors.
    `batches`: how the op computes on all samples of a vmap at once (func/batch_rules/families.py): on "elements" one
    by one, along "dims" (its argument `dim` or `dims`), at "places" along a dimension or by an index ("indexed") along
    it, with "leading" dimensions in front, or with the samples as more "examples" in the first dimension. Without it
    the op has a batching rule, or computes as NumPy's functions do.
    """
    return lambda forward: finish(_general, _op(forward, name, said))


def single(name: str | None = None, **said: Any) -> Callable[[Callable], Callable]:
    """Decorator: as `op`, for an op of one output whose first argument, and no other, is a tensor."""
    return lambda forward: finish(_single, _op(forward, name, said))


def _op(forward, name, said):
    """The Op made from settings, attributes and derivative rules."""
    settings = {what: value for what, value in said.items() if what in _SETTINGS}
    rules = {argument: rule for argument, rule in said.items() if argument not in settings}
    return Op(forward, name, rules=rules, **settings)


#: The keywords that are settings or attributes of an Op. Any other keyword is an argument with its derivative rule.
_SETTINGS = {*inspect.signature(Op).parameters, *vars(Op)}


def unary(rule: Callable | None = None, name: str | None = None, to_float: bool = False, method: bool | str = True,
          inplace: bool | Callable = True, casts: bool | str = False, aliases: str = "", repeats: bool = False,
          **said: Any) -> Callable[[Callable], Callable]:
    """Decorator for `f(input, *, out=None)`, element by element.

    `to_float`: integer and bool inputs are first converted to the default dtype. `casts`: `out` may have another dtype
    than the result (with `to_float` it always may; "complex": it may for complex input alone). `method`, `inplace`,
    `aliases` and `repeats` as for `public`; by default the op is the Tensor method `f` with the in-place form `f_`. An
    op named _f is not public. `said` holds the same as for `op`, and:

    `ufunc`: NumPy's function that does the same as `f`. It is called in place of `f` for arrays with fewer elements
    than native kernels take, which saves a tenth of the time of a small operation.
    `foreach`: torch has the function for lists of tensors too (ops/foreach.py).
    `of_zero`: the function maps 0 to 0, and torch computes it on the stored values of sparse tensors
    (sparse/arithmetic.py).
    """
    def decorate(forward):
        o = Op(forward, name, rules=rule and {"input": rule}, steps=True, batches="elements", **said)
        return _entered(finish(_unary, o, to_float, casts, repeats), forward, method, inplace, aliases)
    return decorate


def binary(name: str | None = None, to_float: bool = False, method: bool | str = True, inplace: bool | Callable = True,
           numbers: str = "both", mixed: Callable | None = None, aliases: str = "", ioperator: str | None = None,
           wraps: bool = False, wide_scalar: bool = False, batches: str | None = "elements", repeats: bool = False,
           **said: Any) -> Callable[[Callable], Callable]:
    """Decorator for `f(input, other, *, out=None)`, element by element, with torch's promotion.

    `to_float`: integers are first converted to the default dtype.
    `numbers`: where a Python number may stand: "both", "other" or "none"; with "any" both operands may be numbers.
    `mixed`: a check of operands whose dtypes differ.
    `wraps`: a Python int takes the tensor's dtype and wraps around as in C (in arithmetic the result wraps around).
    `wide_scalar`: in half precision a single number for `other` is not rounded first, but taken in float32.
    The other parameters are those of `unary`.
    """
    def decorate(forward):
        o = _op(forward, name, {"steps": True, "batches": batches, **said})
        if wide_scalar:
            o.wide_scalar = finish(_general, o.with_wide_scalar())
        call = finish(_binary, o, to_float, numbers, mixed, wraps, None, repeats)
        return _entered(call, forward, method, inplace, aliases, ioperator)
    return decorate


def _entered(call, forward, method, inplace, aliases, ioperator=None):
    if forward.__name__[0] != "_":
        enter(Public(forward, elementwise=not call.op.is_product), known_as(call), method, inplace, aliases, ioperator)
    return call


def operator(function: Primitive, otherwise: Callable = lambda input, other: NotImplemented) -> Primitive:
    """`function`, made by `binary`, as a Python operator. `otherwise` answers for an operand that is neither a tensor
    nor a number."""
    make, (to_float, _, mixed, wraps, *_) = function.make
    return finish(make, function.op, to_float, "both", mixed, wraps, otherwise)


def finish(make: Callable, o: Op, *flags: Any) -> Primitive:
    call = make(o, o.forward, *flags)
    call.__name__ = call.__qualname__ = o.forward.__name__
    call.__doc__, call.__module__ = o.forward.__doc__, o.forward.__module__
    call.__wrapped__ = o.forward               # inspect reads its source, and its signature unless one is set below
    if make in _SIGNATURES:
        call.__signature__ = _SIGNATURES[make]
        call.__annotations__ = _ANNOTATIONS[make]
    call.op, call.make, call.widened, call.stored = o, (make, flags), None, {}
    CALLS.append(call)
    return call


def renamed(function: Primitive, name: str, *inside: int | tuple) -> Primitive:
    """The primitive `function` under another name on the tape, for one of several names that torch has for it.

    `inside`: what `next_functions` shows in place of its edges (see `Step` in node.py).
    """
    make, flags = function.make
    op = function.op.renamed(name)
    if inside:
        op.shown_as = lambda node: inside
    return finish(make, op, *flags)


def _for_few(o):
    """(The function for arrays with few elements, the number of elements from which `forward` is used instead.)"""
    return (o.forward, 0) if o.ufunc is None else (o.ufunc, native.LEAST)


# ------------------------------------------------------------------ the wrappers (hot path)
# Each wrapper is one long function, because a call of a helper costs a tenth of a small operation. Their paths, in the
# order in which they are asked for:
#   1. somebody watches calls (`seam.up`): the seam may answer
#   2. no tensors: a derivative rule computes on plain arrays, or the operand is refused
#   3. `out`, dtypes that need conversion, and numbers that do not fit: promotion.py converts and calls again. Before
#      that what is kept of earlier calls may answer this one, if it will not be recorded (repeats.py)
#   4. the forward runs; when it raises, promotion.py looks for the reason (another kind of array, a wrong dtype)
#   5. the result becomes a Tensor, in the memory order that torch would give it
#   6. in grad mode, with an operand that requires grad, a Node is made with the arrays that the rules name
def _unary(o, forward, to_float, casts, repeated=False):
    repeats = Repeats() if repeated else None
    keeps_input, keeps_output = 0 in o.kept(1), ANS in o.kept(1)
    differentiable = o.differentiable
    exact = None if to_float or casts is True else FOUND
    plain, quietly = o.computes_in, quiet()
    quick, least = _for_few(o)
    public: Any = None

    def call(input, *, out=None):
        if (up := seam.up) and public is not None and (
                seen := seam.see(public, (input,), {} if out is None else {"out": out})) is not UNSEEN:
            return seen
        if not isinstance(input, Tensor):
            if input.__class__ is ndarray and mode.graph_task:
                return (o.of_batches or forward if seam.up else forward)(input)    # in a derivative rule, on arrays
            return on_arrays(o, input)
        if out is not None:
            size_of_complex = casts and input._array.dtype.kind in dt.COMPLEX
            return write_out(out, call(input), input, exact=None if size_of_complex else exact)
        if repeats is not None and not (up or input._requires_grad):
            if (found := repeats.again((input,))) is not None:
                return repeats.learn((input,), call, (input,), {}) if found is True else found
        array = input._array
        if to_float and array.dtype.kind not in plain:
            return unusual_unary(o, call, input, None)
        run = quietly
        while True:
            try:
                if up:
                    result = run(o.of_batches or forward, array)
                elif array.size < least:
                    result = run(native.heard(quick) if listening else quick, array)
                else:
                    result = run(forward, array)
                break
            except (TypeError, ValueError, MemoryError) as error:
                return unusual_unary(o, call, input, error)
            except RuntimeError as error:
                run = another(error)
        if type(result) is not ndarray and result.__class__ is not ndarray:    # stand-ins say that they are arrays
            result = np.asarray(result)
        if input._view_info is not None:
            if result.strides != array.strides and not o.own_order:
                result = operand_order(result, array)
            if differentiable:
                refresh(input)
        tensor = new_instance(Tensor)
        tensor._array = result
        tensor._version_counter = version = [0]
        tensor._view_info = None
        if differentiable and input._requires_grad and (recorder := not all_threads.in_special_mode or mode.grad_now):
            node = Node()
            node.op = o
            source = input._node or input
            node.edges = (source,)
            if keeps_input:
                node.saved = (array, result if keeps_output else None, None)
                node.versions = (input._version_counter, input._version_counter[0])
                if keeps_output:
                    node.versions += (version, 0)
            elif keeps_output:
                node.saved = (None, result, None)
                node.versions = (version, 0)
            else:
                node.saved = node.versions = NOTHING
            node.sequence_nr = next_sequence_nr()
            node.shape = source.shape if source.__class__ is Node else result.shape    # to share a tuple is quicker
            node.hooks = None
            if recorder is not True:
                recorder(node, result, (input,))
            tensor._node = node
            tensor._requires_grad = True
        else:
            tensor._node = None
            tensor._requires_grad = False
            if new_tensor_state.cell is not None:
                tensor._version_counter = new_tensor_state.cell()
        return tensor
    return call


def _binary(o, forward, to_float, numbers, mixed, wraps=False, otherwise=None, repeated=False):
    repeats = Repeats() if repeated else None
    number_first, tensors_only = numbers in ("both", "any"), numbers == "none"
    whole = FLOATS if wraps else _WHOLE
    small = whole + _SIGNED
    differentiable = o.differentiable
    # which values to save, by the operands that want gradients: (input?, other?, output?)
    keeps = [(0 in kept, 1 in kept, ANS in kept) for kept in map(o.kept, range(4))]
    keeps_nothing = not any(keeps[3])
    keeps_operands = [kept == (True, True, False) for kept in keeps]
    keeps_beside_number = 0 in o.needs[0], ANS in o.needs[0]
    quietly = quiet()
    quick, least = _for_few(o)
    halves = o.in_bfloat16 if hasattr(o.in_bfloat16, "program_of") else None       # an expression
    public: Any = None

    def call(input, other, *, out=None):
        if (up := seam.up) and public is not None and (
                seen := seam.see(public, (input, other), {} if out is None else {"out": out})) is not UNSEEN:
            return seen
        if not isinstance(input, Tensor):
            if input.__class__ is ndarray and other.__class__ is ndarray and mode.graph_task:
                return (o.of_batches or forward if seam.up else forward)(input, other)    # in a derivative rule
            if otherwise is not None:
                raise TypeError(f"descriptor '{o.name}' for 'Tensor' objects doesn't apply to a "
                                f"'{type(input).__name__}' object")
            if isinstance(other, Tensor):
                if not number_first or not isinstance(input, NUMBERS):
                    return not_an_operand(o, 1, input, other)
                return write_out(out, unlike(o, call, input, other, to_float, out), input, other)
            return of_numbers(o, call, input, other, out) if numbers == "any" else on_arrays(o, input, other)
        if repeats is not None and out is None and not (up or input._requires_grad):
            if (found := repeats.again((input, other))) is not None:
                return repeats.learn((input, other), call, (input, other), {}) if found is True else found
        a = input._array
        dtype = a.dtype
        usual_order = True                     # for views NumPy may choose another memory order than torch
        if input._view_info is not None:
            usual_order = False
            if differentiable:
                refresh(input)
        mask = 1 if input._requires_grad else 0
        if isinstance(other, Tensor):
            b = other._array
            if dtype is not b.dtype and dtype != b.dtype:          # an unpickled array has its own dtype object
                if mixed is not None:
                    mixed(input, other)
                return write_out(out, unlike(o, call, input, other, to_float, out), input, other)
            if other._view_info is not None:
                usual_order = False
                if differentiable:
                    refresh(other)
            if other._requires_grad:
                mask += 2
        else:
            if tensors_only:
                return not_an_operand(o, 2, input, other)
            char = dtype.char
            if other.__class__ is float and char in FLOATS or other.__class__ is int and (
                    -129 < other < 128 and char in small or char in whole and -_LONG <= other < _LONG):
                b = other
            elif not isinstance(other, NUMBERS):
                if otherwise is not None:
                    return answer(public, (input, other)) if has_override(call, (other,)) else otherwise(input, other)
                return not_an_operand(o, 2, input, other)
            else:
                if mixed is not None:
                    mixed(input, other)
                return write_out(out, unlike(o, call, input, other, to_float, out), input, other)
        if to_float and dtype.kind in dt.INTEGRAL:
            return write_out(out, call(to_default(input), to_default(other), out=CONVERTED), input, other)
        run = quietly
        while True:
            try:
                if up:
                    result = run(o.of_batches or forward, a, b)
                elif dtype is BFLOAT16 and halves is not None and b is not other and a.shape == b.shape and (
                        type(a) is type(b) is ndarray):        # lazy arrays compute by themselves
                    result, usual_order = run(halves, a, b), False
                elif a.size < least and (a.ndim or b is other or b.size < least):
                    result = run(native.heard(quick) if listening else quick, a, b)
                else:
                    result = run(forward, a, b)
                break
            except (ValueError, TypeError, OverflowError, MemoryError, NotImplementedError) as error:
                return write_out(out, unusual_binary(o, call, input, other, error, out), input, other)
            except RuntimeError as error:
                run = another(error)
        if type(result) is not ndarray and result.__class__ is not ndarray:    # stand-ins say that they are arrays
            result = np.asarray(result)
        if (not usual_order or out is CONVERTED) and not o.is_product and result.strides != a.strides:
            result = operand_order(result, a, b) if o.number_counts or b is not other else operand_order(result, a)
        tensor = new_instance(Tensor)
        tensor._array = result
        tensor._version_counter = version = [0]
        tensor._view_info = None
        if mask and differentiable and (recorder := not all_threads.in_special_mode or mode.grad_now):
            node = Node()
            node.op = o
            if mask == 1:
                node.edges = (input._node or input, None)
            elif mask == 2:
                node.edges = (None, other._node or other)
            else:
                node.edges = (input._node or input, other._node or other)
            if keeps_nothing:
                node.saved = node.versions = NOTHING
            elif keeps_operands[mask] and b is not other:
                node.saved = (a, b, None, None)
                one, two = input._version_counter, other._version_counter
                node.versions = (one, one[0], two, two[0])
            else:
                keep_a, keep_b, keep_ans = keeps[mask]
                if b is other:                 # a number
                    keep_a, keep_ans = keeps_beside_number
                kept_a = a if keep_a else None
                kept_b = b if keep_b else None
                node.saved = (kept_a, kept_b, result if keep_ans else None, None)
                versions = (input._version_counter, input._version_counter[0]) if keep_a else NOTHING
                if keep_b:
                    if b is not other:
                        versions += (other._version_counter, other._version_counter[0])
                    elif not versions:
                        versions = UNWATCHED
                node.versions = versions + (version, 0) if keep_ans else versions
            node.sequence_nr = next_sequence_nr()
            node.shape = result.shape
            node.hooks = None
            if recorder is not True:
                recorder(node, result, (input, other))
            tensor._node = node
            tensor._requires_grad = True
        else:
            tensor._node = None
            tensor._requires_grad = False
            if new_tensor_state.cell is not None:
                tensor._version_counter = new_tensor_state.cell()
        return tensor if out is None or out is CONVERTED else write_out(out, tensor, input, other)
    return call


def _single(o, forward):
    aux, keep_flag, is_view = o.aux, o.keep_flag, o.view
    keeps_input, keeps_output = 0 in o.kept(1), ANS in o.kept(1)
    differentiable, quietly = o.differentiable, quiet()

    def call(input, *attributes):
        if not isinstance(input, Tensor):      # a derivative rule computes on plain arrays
            compute = o.of_batches or forward if seam.up else forward
            result = compute(input, *attributes, False) if keep_flag else compute(input, *attributes)
            return result[0] if aux else result
        array, extra = input._array, None
        if input._view_info is not None and differentiable:
            refresh(input)
        recorder = not all_threads.in_special_mode or mode.grad_now
        record = differentiable and input._requires_grad and recorder is not False
        run = quietly
        while True:
            try:
                compute = o.of_batches or forward if seam.up else forward
                result = run(compute, array, *attributes, record) if keep_flag else run(compute, array, *attributes)
                break
            except (TypeError, ValueError, MemoryError) as error:
                return unusual_arguments(o, call, (input, *attributes), error)
            except RuntimeError as error:
                run = another(error)
        if aux:
            result, extra = result
        if type(result) is not ndarray and result.__class__ is not ndarray:    # stand-ins say that they are arrays
            result = np.asarray(result)
        tensor = new_instance(Tensor)
        tensor._array = result
        if is_view:
            track_view(tensor, input)
            version = input._version_counter
        else:
            tensor._version_counter = version = [0]
            tensor._view_info = None
        if record:
            node = Node()
            node.op = o
            node.edges = (input._node or input,)
            kept = array if keeps_input else None
            node.saved = (kept, *attributes, result if keeps_output else None, extra)
            node.versions = (input._version_counter, input._version_counter[0]) if keeps_input else NOTHING
            if keeps_output:
                node.versions += (version, version[0])
            elif extra is not None and not keeps_input:
                node.versions = UNWATCHED
            node.sequence_nr = next_sequence_nr()
            node.shape = result.shape
            node.hooks = None
            if recorder is not True:
                recorder(node, result, (input, *attributes))
            tensor._node = node
            tensor._requires_grad = True
        else:
            tensor._node = None
            tensor._requires_grad = False
            if new_tensor_state.cell is not None and not is_view:
                tensor._version_counter = new_tensor_state.cell()
        return tensor
    return call


#: Ops with more tensors than this loop over them; the others have generated code for their number of arguments.
_MOST = 9


def _general(o, forward):
    """At its first call, an op of one result gets code generated for the number of arguments of its forward
    (positional.py). That code has the same free variables as `call` in `_counted`. Calls with fewer arguments, and ops
    of other kinds, go through the loop in `fallback`. An op whose forward takes any number of tensors gets a function
    for each number of arguments that it is called with."""
    fallback = _looped(o, forward)
    count = forward.__code__.co_argcount - o.keep_flag
    varies = forward.__code__.co_flags & inspect.CO_VARARGS
    if o.multi and o.inputs == 1 and not (o.first or o.aux or o.view or o.keep_flag or varies):
        return _plainly(o, forward, fallback)
    if o.multi or count - o.first > _MOST or varies and o.keep_flag:
        return fallback
    if not varies:
        return _counted(o, forward, fallback, count)
    made: dict[int, Callable] = {}

    def of_any(*args):
        return (made.get(len(args)) or of_so_many(len(args)))(*args)

    def of_so_many(count):
        if not 0 < count - o.first <= _MOST:
            return fallback
        from .positional import code
        call: Any = _counted(o, forward, fallback, count)
        names = call.__code__.co_freevars
        call.__code__ = code(count, o.first, names)
        set_cell(call, "call", of_any)
        made[count] = call
        return call
    return of_any


def _counted(o, forward, fallback, count):
    aux, keep_flag, view, differentiable, elementwise = o.aux, o.keep_flag, o.view, o.differentiable, o.elementwise
    known, quietly = o._kept, quiet()

    def call(*args):
        from .positional import code  # loaded with the first call of an operation

        def free():                            # names the free variables that the generated code reads
            return fallback, aux, count, differentiable, elementwise, forward, keep_flag, known, o, quietly, view
        call.__code__ = code(count, o.first, call.__code__.co_freevars)
        return call(*args)
    return call


def _looped(o, forward):
    first, aux, multi, keep_flag, view = o.first, o.aux, o.multi, o.keep_flag, o.view
    differentiable, elementwise, known, quietly = o.differentiable, o.elementwise, o._kept, quiet()

    def call(*args):
        arrays, tensors, edges = list(args), [], []
        mask, usual_order = 0, True
        recorder: Any = differentiable and (not all_threads.in_special_mode or mode.grad_now)
        for i in range(first, len(args)):
            arg = args[i]
            if isinstance(arg, Tensor):
                tensors.append(i)
                arrays[i] = arg._array
                if arg._view_info is not None:
                    usual_order = False
                    if differentiable:
                        refresh(arg)
                if recorder and arg._requires_grad:
                    mask |= 1 << (i - first)
                    edges.append(arg._node or arg)
                    continue
            if recorder:
                edges.append(None)
        recorder = mask and recorder
        recording = bool(recorder)
        run = quietly
        while True:
            try:
                compute = o.of_batches or forward if seam.up else forward
                result = run(compute, *arrays, recording) if keep_flag else run(compute, *arrays)
                break
            except (TypeError, ValueError, MemoryError) as error:
                return unusual_arguments(o, call, args, error)
            except RuntimeError as error:
                run = another(error)
        if not tensors:                        # a derivative rule computes on plain arrays
            return result[0] if aux else result
        extra = None
        if aux:
            result, extra = result
        if multi:
            return wrap_outputs(o, args, arrays, tensors, edges, mask, result, extra, recording)
        if type(result) is not ndarray and result.__class__ is not ndarray:    # stand-ins say that they are arrays
            result = np.asarray(result)
        if elementwise and (not usual_order or not arrays[tensors[0]].flags.c_contiguous):
            result = operand_order(result, *[arrays[i] for i in tensors])
        tensor = new_instance(Tensor)
        tensor._array = result
        tensor._version_counter = version = [0] if new_tensor_state.cell is None else new_tensor_state.cell()
        tensor._view_info = None
        if view:
            track_view(tensor, args[first])
            version = tensor._version_counter
        if not recording:
            tensor._node = None
            tensor._requires_grad = False
            return tensor
        kept = known[mask] if mask in known else o.kept(mask)
        versions: list[Any] = []
        for i in tensors:
            if i in kept:
                cell = args[i]._version_counter
                versions += (cell, cell[0])
            else:
                arrays[i] = None
        if ANS in kept:
            versions += (version, version[0])
            arrays += (result, extra)
        else:
            arrays += (None, extra)
        node = Node()
        node.op = o
        node.edges = edges
        node.saved = arrays
        node.versions = versions or (
            UNWATCHED if extra is not None or o.of_wide_scalar and 1 in kept else NOTHING)
        node.sequence_nr = next_sequence_nr()
        node.shape = result.shape
        node.hooks = None
        if recorder is not True:
            recorder(node, result, args)
        tensor._node = node
        tensor._requires_grad = True
        return tensor
    return call


def unwatched(input: Tensor, view: bool = False) -> bool:
    """Whether nobody records or sees what is done with a tensor: then a result needs no more than to be wrapped. With
    `view` the tensor may be a view of one that wants no gradient; the caller sees to the order of the result."""
    shown = input._view_info
    return (input.__class__ is Tensor and not input._requires_grad and not seam.up and type(input._array) is ndarray
            and (shown is None or view and not shown.base._requires_grad))


def _plainly(o, forward, looped):
    """The function of an op of several results, with a short way if its first argument is `unwatched` and no other one
    is a tensor. What the forward raises there, it raises again on the long way, which says why."""
    quietly = quiet()

    def call(input, *args):
        if not unwatched(input):
            return looped(input, *args)
        for x in args:
            if isinstance(x, Tensor):
                return looped(input, *args)
        try:
            results = quietly(forward, input._array, *args)
        except Exception:
            return looped(input, *args)
        return tuple([wrap(x if x.__class__ is ndarray else np.asarray(x)) for x in results])
    set_cell(looped, "call", call)             # for operands that need conversion: `call` gets the attributes
    return call


def _like_unary(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    raise NotImplementedError


def _like_binary(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    raise NotImplementedError


#: The signatures that inspect shows for functions of these two wrappers, whose forwards take arrays.
_SIGNATURES = {_unary: inspect.signature(_like_unary), _binary: inspect.signature(_like_binary)}
_ANNOTATIONS = {_unary: _like_unary.__annotations__, _binary: _like_binary.__annotations__}
