"""The parts of the tape: Op (an operation and its derivative rules) and Node (one use of it)."""
from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..kernels.expressions import LARGE, in_one_pass
from ..tensor import Tensor, wrap
from .hooks import RemovableHandle, add_hook, checked_gradient

#: Later nodes get smaller numbers, so that a min-heap yields them youngest first. Creation order
#: is a topological order: an operation can only read tensors that exist already.
next_sequence_nr = count(0, -1).__next__

#: The value of `versions` after backward has released the saved arrays.
FREED = ("freed",)

#: Where a node's `saved` holds the op's output and its aux, whatever the number of arguments.
ANS, AUX = -2, -1
#: The versions of a node that saves no tensor, but must not run twice.
UNWATCHED = ([0], 0)

_SHAPE, _ARGS = object(), object()
#: Parameters of rules that are no arguments of the op, and the values that they receive.
_PLACES = {"ans": ANS, "aux": AUX, "shape": _SHAPE, "args": _ARGS}


#: The views that show the same memory in another way: (whether they conjugate, whether they negate).
BITS = {"conj": (True, False), "neg_view": (False, True)}


class Op:
    """Name, forward function and derivative rules of one operation.

    name      torch's, with the number that the overload has in the name of its node: "sum" (SumBackward0), "sum.1"
    first     position of the first tensor argument
    aux       forward returns (output, other values that backward needs)
    multi     forward returns a tuple of outputs
    view      the output shares the input's memory
    rules     {argument: rule}; op.py lists the parameters of rules; as an attribute it has "joint" too
    joint     one rule for all inputs: joint(g, wanted, ...) -> a gradient per tensor argument
    inputs    with a joint rule: how many arguments, from `first` on, can have a gradient (None: all)
    decomposition   the same function in ordinary ops, for higher derivatives of a joint rule
    stand_ins       {argument: function(aux)}: arrays for the decomposition's arguments that are not saved
    kernel          torch's name of the kernel in messages about a dtype, where it is not the op's own name
    backward_name   of its nodes, where it does not follow from the name
    """

    name: str
    backward_name: str
    node_classes: dict[str, type[Node]]        # the classes of a Function's nodes by their names
    function: Any = None       # the autograd.Function, if the op is one
    batched: Any = None        # the forward that takes batches too, once vmap has been used (func/dispatch.py)
    run_of_batches: Any = None  # the rules that take batches too
    original: Op | None = None  # the op that this one was renamed from
    of_wide_scalar = False     # whether it is an operation made by `with_wide_scalar`
    computes_in = dt.NATIVE + dt.COMPLEX       # kinds of dtypes that the forward takes without conversion
    # Attributes that a registration may set:
    batches: Any = None        # how the forward takes batches of vmap: see `op` in op.py
    ufunc: Any = None          # NumPy's function for arrays with few elements, in place of the forward: see `unary`
    is_product = False         # two operands: not computed element by element, nor in their memory order
    converts = False           # it converts between dtypes: its rule takes records unconverted
    over: Op | None = None     # the op of its in-place form, where that has another rule: by the output
    wide_scalar: Any = None    # the op for a tensor in half precision and a number, if the number is taken in float32
    of_number: Any = None      # function(input, number), where `other` is a number that does not become a tensor
    of_first_number: Any = None  # function(number, input, other) for another op; `input` is the number as a tensor
    beside_integer: Any = None  # function(input, other, dtype) for a tensor of integers and a floating one, unconverted
    out_beside_number = True   # `out` may be given where `input` is a number
    one_by_one = False         # its rules cannot take gradients of many calls at once: rules of sparse tensors
    answers = False            # it compares: torch looks for the kernel before it checks `out`
    number_counts = True       # a number beside a tensor counts as an operand for the result's memory order
    elementwise = False        # the result's memory is in the order of the tensors' memory
    foreach = of_zero = False  # of one operand: see `unary` in op.py
    without_tangent = ()       # numbers of operands whose tangents torch drops: they give the result no tangent
    enters = False             # it takes a tensor into a transform: `saved[AUX]` names the leaf that the tensor was
    steps = False              # torch rounds to bfloat16 after each operation in its rules, not at their end
    saved_outputs: Any = None  # of an op of many outputs: the numbers of the outputs in `ans` (None: all)
    called: dict[str, str] = {}  # argument, or "result" -> torch's name for the saved value, where it differs
    apart = False              # a value that several rules read is kept only if one of their arguments wants a gradient
    own_order: bool = False    # whether the forward lays out its result without regard to the operands
    in_bfloat16: Any = None    # the forward for bfloat16, where torch rounds in its middle; True: `forward` itself
    #: Dtypes of records other than bfloat16 for which torch has the op: computed as widened, and rounded.
    stored: tuple[np.dtype, ...] = ()
    on_records: Any = None     # the forward for arrays of such records, where torch rounds in its middle
    begins: Op | None = None   # the first of several ops that are one node in torch, if this is the last: see `as_one`
    shown_as: Any = None       # function(node) -> what `next_functions` shows, where torch has several nodes: see Step
    _widened: Op | None = None

    through = staticmethod(lambda forward: None)       # makes a forward that takes batches from one that does not

    # How many ops have been made. It is in a list, because a write to a class attribute empties Python's caches for
    # attributes of that class.
    made = [0]
    #: Every op, in order of creation; the op of a Function is dropped with its class.
    registry: weakref.WeakKeyDictionary[Op, None] = weakref.WeakKeyDictionary()
    #: While a thread records, a function(op) that makes the forward that notes its calls (capture/exchanged.py).
    noted: list[Callable[[Op], Callable] | None] = [None]

    def __init__(self, forward: Callable, name: str | None = None, first: int = 0, aux: bool = False,
                 multi: bool = False, view: bool = False, rules: dict[str, Callable] | None = None,
                 joint: Callable | None = None, decomposition: Callable | None = None, inputs: int | None = None,
                 kernel: str | None = None, backward_name: str | None = None,
                 stand_ins: dict[str, Callable] | None = None, **said: Any) -> None:
        code = forward.__code__
        self.forward = forward
        self._set_name(name or forward.__name__.strip("_"))
        self.kernel, self.backward_name = kernel, backward_name or self.backward_name
        self.params = code.co_varnames[:code.co_argcount]
        self.keep_flag = self.params[-1:] == ("keep",)     # the forward asks whether the call is recorded
        if self.keep_flag:
            self.params = self.params[:-1]
        self.first, self.aux, self.multi, self.view, self.inputs = first, aux, multi, view, inputs
        self.decomposition = decomposition
        self.stand_ins = {self.params.index(argument): make for argument, make in (stand_ins or {}).items()}
        # By tensor argument: function(g, saved, edge) -> gradient, and the places in `saved` it reads.
        self.backs: list[Any] = [None] * (len(self.params) - first)
        self.needs: list[tuple] = [()] * len(self.backs)
        self.rules = dict(rules) if rules else {}
        by_element = not said.get("is_product") and (said.get("elementwise") or said.get("batches") == "elements")
        for argument, rule in self.rules.items():
            i = self.params.index(argument) - first
            back, self.needs[i] = self._adapt(rule)
            self.backs[i] = self._adapt_to_large(rule, back) if by_element else back
        self.joint: Any = None
        if joint is not None:
            self.joint, self.joint_needs = self._adapt_joint(joint)
            self.rules["joint"] = joint
        self.run = self._all_rules()           # function(g, saved, edges) -> a gradient or None per edge
        self._kept: dict[int, frozenset[int]] = {}
        for what, value in said.items():
            setattr(self, what, value)
        if self.in_bfloat16 is True:
            self.in_bfloat16 = forward
        self.registry[self] = None
        self.made[0] += 1

    @property
    def of_batches(self) -> Any:
        """The forward while the seam is up: `batched`, or one that notes its calls while a thread records."""
        note = self.noted[0]
        return self.batched if note is None or self.function is not None else note(self)

    def _set_name(self, name):
        self.name, _, overload = name.partition(".")
        # log1p: Log1PBackward0
        self.backward_name = self.name.title().replace("_", "") + "Backward" + (overload or "0")

    def takes_tangent(self, k: int) -> bool:
        """Whether the result has a tangent if operand number `k` has one; the tangent may be zero."""
        return k not in self.without_tangent and (self.joint is not None or k >= len(self.backs)
                                                  or self.backs[k] is not None or not any(self.backs))

    def renamed(self, name: str) -> Op:
        """The same operation under another name."""
        op = copy.copy(self)
        op._set_name(name)
        op.original, op.called = self, self.called if op.name == self.name else {}
        self.registry[op] = None
        self.made[0] += 1
        return op

    def widened(self) -> Op:
        """The same operation for bfloat16: computed in float32, and its result rounded."""
        if self._widened is None:
            forward, aux = self.forward, self.aux

            def compute(*args):
                result = forward(*dt.widened(args))
                return (dt.narrowed(result[0]), result[1]) if aux else dt.narrowed(result)
            op = self._widened = copy.copy(self)
            op.forward, op.computes_in, op.ufunc = self.in_bfloat16 or compute, dt.DIFFERENTIABLE, None
            op.batched = self.through(op.forward)
            self.made[0] += 1
        return self._widened

    def of_records(self, record: np.dtype) -> Op:
        """The same operation for records other than bfloat16: computed as widened, and its result rounded. In its
        rules, the result of each operation is rounded."""
        forward, run = self.forward, self.run_of_batches or self.run

        def by_steps(g, saved, edges):
            return run(g, saved, edges) if isinstance(g, Tensor) else run_by_steps(run, g, saved, edges)
        op = copy.copy(self)
        op.forward = self.on_records or (lambda *args: dt.stored(forward(*map(dt.numbers, args)), record))
        op.computes_in, op.ufunc, op.batched = dt.DIFFERENTIABLE, None, self.through(op.forward)
        op.run, op.run_of_batches, op.converts, op.stored = by_steps, None, True, (record,)
        self.made[0] += 1
        return op

    def with_wide_scalar(self) -> Op:
        """The same operation for a tensor in half precision and a number, or a float32 tensor of one element. It is
        computed in float32, and its result and gradients are rounded."""
        forward = self.forward

        def compute(input, other):
            return dt.cast(forward(dt.cast(input, _FLOAT32), other), input.dtype)
        op = copy.copy(self)
        op.forward, op.computes_in, op.converts = compute, dt.DIFFERENTIABLE, True
        op.ufunc, op.in_bfloat16, op.on_records, op.stored = None, None, None, ()
        op.batched = self.through(compute)
        op.elementwise = op.of_wide_scalar = True
        op.backs = [back and _of_single_number(back, i) for i, back in enumerate(self.backs)]
        op.run, op.run_of_batches = op._all_rules(), None
        self.made[0] += 1
        return op

    def _places(self, rule, given):
        """The places in `saved` of a rule's parameters, after the first `given`, which the engine passes itself."""
        code, params = rule.__code__, self.params
        names = code.co_varnames[given:code.co_argcount]
        return names and tuple([_PLACES[name] if name in _PLACES else params.index(name) for name in names])

    def _adapt(self, rule):
        at = self._places(rule, 1)
        needs = at if _SHAPE not in at else tuple([i for i in at if i is not _SHAPE])
        if not at:
            return (lambda g, saved, edge: rule(g)), needs
        if at == (_SHAPE,):
            return (lambda g, saved, edge: rule(g, shape_of(edge))), needs
        if len(at) == 1:
            i, = at
            return (lambda g, saved, edge: rule(g, saved[i])), needs
        if len(at) == 2 and _SHAPE not in at:
            i, j = at
            return (lambda g, saved, edge: rule(g, saved[i], saved[j])), needs
        if _SHAPE not in at:
            return (lambda g, saved, edge: rule(g, *[saved[i] for i in at])), needs
        return (lambda g, saved, edge: rule(
            g, *[shape_of(edge) if i is _SHAPE else saved[i] for i in at])), needs

    def _adapt_to_large(self, rule, back):
        """`back`, the adapted rule of an elementwise op, which computes large gradients in one pass."""
        at = self._places(rule, 1)
        if _SHAPE in at or hasattr(rule, "program_of"):        # an expression already
            return back
        large = in_one_pass(rule)
        return lambda g, saved, edge: back(g, saved, edge) if g.__class__ is not np.ndarray or g.nbytes < LARGE \
            else large(g, *[saved[i] for i in at])

    def _adapt_joint(self, rule):
        at = self._places(rule, 2)
        return (lambda g, wanted, saved: rule(
            g, wanted, *[saved[:ANS] if i is _ARGS else saved[i] for i in at])), at

    def _all_rules(self):
        """The rules of all tensor arguments as one function. Rules of two and three arguments are written out, since a
        loop would slow down most nodes."""
        if self.joint is not None:
            joint = self.joint
            return lambda g, saved, edges: joint(g, [edge is not None for edge in edges], saved)
        backs = self.backs
        if len(backs) == 1:
            back, = backs
            return lambda g, saved, edges: (back(g, saved, edges[0]),)
        if len(backs) == 2 and None not in backs and self.forward.__defaults__ is None:
            one, two = backs

            def run_two(g, saved, edges):
                first = None if edges[0] is None else one(g, saved, edges[0])
                return first, None if edges[1] is None else two(g, saved, edges[1])
            return run_two
        if len(backs) == 3 and None not in backs and self.forward.__defaults__ is None:
            one, two, three = backs

            def run_three(g, saved, edges):
                first = None if edges[0] is None else one(g, saved, edges[0])
                second = None if edges[1] is None else two(g, saved, edges[1])
                return first, second, None if edges[2] is None else three(g, saved, edges[2])
            return run_three
        return lambda g, saved, edges: [None if edge is None or back is None else back(g, saved, edge)
                                        for edge, back in zip(edges, backs)]

    def run_recorded(self, g: Any, saved: Sequence[Any], edges: Sequence[Any]) -> Sequence[Any]:
        """`run` while the rules are recorded: in torch's order, by the names of the arguments (the first is `self`).
        Gradients of these gradients are added up in the order in which the rules were recorded."""
        if self.joint is not None or len(self.backs) == 1:
            return (self.run_of_batches or self.run)(g, saved, edges)
        names = ["self" if name == "input" else name for name in self.params[self.first:]]
        grads: list[Any] = [None] * len(edges)
        for i in sorted(range(len(edges)), key=names.__getitem__):
            if edges[i] is not None and self.backs[i] is not None:
                grads[i] = self.backs[i](g, saved, edges[i])
        return grads

    def kept(self, mask: int) -> frozenset[int]:
        """The places of `saved` that are kept for backward when the tensor arguments in bit set `mask` want gradients.

        As in torch, a value that only one argument's rule reads is kept if that argument wants a gradient; the output,
        and values that several rules read (unless `apart` is set), are kept if any argument does. This decides which
        writes between forward and backward are errors.
        """
        if mask not in self._kept:
            if self.joint is not None:
                needs = self.joint_needs
            else:
                read = [i for need in self.needs for i in set(need)]
                needs = {i for k, need in enumerate(self.needs) if mask >> k & 1 for i in need}
                needs |= {i for i in read if mask and (i == ANS or read.count(i) > 1 and not self.apart)}
            every = range(64) if _ARGS in needs else ()
            self._kept[mask] = frozenset(i for i in needs if i is not _ARGS) | frozenset(every)
        return self._kept[mask]

    @property
    def differentiable(self) -> bool:
        return self.joint is not None or any(self.backs)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def _of_single_number(back, position):
    """The rule for the argument at a position, rounded to the half precision of g after each operation. The second
    argument is a single number in float32: its gradient is summed before it is converted back."""
    def rule(g, saved, edge):
        if isinstance(g, Tensor):
            d = back(g, saved, edge)
            return d.sum().reshape(shape_of(edge)).to(dt.float32) if position else d.to(g.dtype)
        return rule(wrap(g), [wrap(s) if isinstance(s, np.ndarray) else s for s in saved], edge)._array
    return rule


_FLOAT32 = np.dtype(np.float32)


def run_by_steps(run: Callable, g: Any, saved: Sequence[Any], edges: Sequence[Any]) -> list:
    """The rules of an op on arrays of records, run on tensors, so that results are rounded after each operation."""
    many = g.__class__ is list or g.__class__ is tuple         # gradients of many outputs; other tuples are indices

    def wrapped(x, depth):
        if depth and (x.__class__ is list or x.__class__ is tuple):
            return x.__class__([wrapped(y, depth - 1) for y in x])
        return wrap(x) if isinstance(x, np.ndarray) else x

    return [d._array if isinstance(d, Tensor) else d for d in run(wrapped(g, 1), wrapped(saved, 1 + many), edges)]


class Extras:
    """Attributes that few nodes need: hooks, and a dictionary for the user.

    tensor_hooks  of the output: {id: hook(gradient)}; of a leaf: {id: hook(leaf)}, once its .grad is written
    kept          weak references to the tensors that keep the gradient (`retain_grad`)
    pre, post     of the node itself: {id: hook}
    metadata      for the user, and for anomaly mode
    """

    __slots__ = ("tensor_hooks", "kept", "pre", "post", "metadata")

    tensor_hooks: dict[int, Callable]
    kept: list[weakref.ref[Tensor]]
    pre: dict[int, Callable]
    post: dict[int, Callable]
    metadata: dict

    def __init__(self) -> None:
        self.tensor_hooks, self.kept, self.pre, self.post, self.metadata = {}, [], {}, {}, {}


class _NodeHooks:
    """`register_hook` and `register_prehook` for a class with `extras()`."""

    __slots__ = ()
    extras: Callable[..., Extras]

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(grad_inputs, grad_outputs) when this node has run; a tuple that it returns replaces
        grad_inputs. Returns a handle with `remove()`."""
        return add_hook(self.extras().post, hook)

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """Call hook(grad_outputs) before this node runs; a tuple that it returns replaces grad_outputs.
        Returns a handle with `remove()`."""
        return add_hook(self.extras().pre, hook)

    @property
    def metadata(self) -> dict:
        return self.extras().metadata


class Node(_NodeHooks):
    """A recipe for one step of backward.

    op        the operation, with its derivative rules
    edges     where each tensor argument's gradient goes: a Node, a leaf Tensor, or None
    saved     the op's arguments by position, its output, its aux; None in place of arrays that no rule names
    versions  (version cell, version) of every saved tensor, flat
    sequence_nr  a number that falls with each new node
    shape     of the output (a tuple of shapes for an op of many outputs)
    hooks     Extras, or None

    Saved values are attributes: `_saved_self`, `_saved_other`, `_saved_result` ...; the node of a
    `Function` has the attributes of its `ctx` as well.
    """

    __slots__ = ("op", "edges", "saved", "versions", "sequence_nr", "shape", "hooks", "__weakref__")
    op: Op
    edges: Sequence[Any]
    saved: Any                                 # a sequence; None after backward has released it
    versions: Sequence[Any]
    sequence_nr: int
    shape: Any
    hooks: Extras | None

    def name(self) -> str:
        return self.op.backward_name

    def __repr__(self) -> str:
        room = "" if self.op.function is None else "torch.autograd.function."
        return f"<{room}{self.name().rpartition(':')[2]} object at {id(self):#x}>"

    def inputs(self) -> Sequence[int]:
        """The places among `edges` of the arguments that can have a gradient."""
        op = self.op
        if op.function is not None:
            return [i for i, given in enumerate(self.saved[0]._inputs) if given is not None]
        if op.joint is None:
            return [i for i, back in enumerate(op.backs[:len(self.edges)]) if back is not None]
        return range(len(self.edges) if op.inputs is None else op.inputs)

    @property
    def next_functions(self) -> tuple[tuple[Node | AccumulateGrad | None, int], ...]:
        """(node, output number) of each input. Leaves appear as AccumulateGrad, and a node for which torch has several
        appears as those."""
        if self.op.begins is not None:
            return _beginning(self, self.op.begins).next_functions
        if self.op.shown_as is not None:
            return _shown_in(self, self.op.shown_as(self))
        return tuple(function_of(self.edges[i]) for i in self.inputs())

    def extras(self) -> Extras:
        if self.hooks is None:
            self.hooks = Extras()
        return self.hooks

    def _sequence_nr(self):
        return -self.sequence_nr
    # __call__ is in engine.py, __getattr__ and __dir__ in saved.py.


#: Where a gradient goes: a node, a leaf, or nowhere.
Edge = Node | Tensor | None


def new_node(op: Op, edges: Sequence[Edge], saved: Sequence[Any], versions: Sequence[Any], shape: Any) -> Node:
    """A Node with these attributes. (Node has no __init__, because the wrappers of op.py set attributes quicker.)"""
    node = Node()
    node.op, node.edges, node.saved, node.versions, node.shape = op, edges, saved, versions, shape
    node.sequence_nr = next_sequence_nr()
    node.hooks = None
    return node


def shape_of(edge: Node | Tensor) -> tuple:
    """Shape that the gradient sent along `edge` must have."""
    return edge.shape if isinstance(edge, Node) else edge._array.shape


class AccumulateGrad(_NodeHooks):
    """How a leaf appears in `next_functions`: the end of the graph, where `.grad` is written."""

    __slots__ = ("variable", "__weakref__")

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def next_functions(self) -> tuple:
        return ()

    def _sequence_nr(self):
        return 2 ** 64 - 1                     # run before all others

    def extras(self) -> Extras:
        if self.variable._accumulating is None:
            self.variable._accumulating = Extras()
        return self.variable._accumulating

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {id(self):#x}>"


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """The AccumulateGrad of a leaf: the same object for as long as somebody holds it."""
    reference = leaf._accumulator
    node = None if reference is None else reference()
    if node is None or node.variable is not leaf:
        node = AccumulateGrad(leaf)
        leaf._accumulator = weakref.ref(node)
    return node


class Step:
    """A node that torch has where the tape here has one node for several, as the TBackward0 between a linear layer and
    its weight. It exists for `next_functions` only: a hook on it is refused, because nothing runs it.

    `Op.shown_as` gives a tuple for each op: an item is the number of an edge, or the name of a step followed by the
    items that the step leads to, as in (2, 0, ("TBackward0", 1)). A step whose edges all lead nowhere is not shown.
    """

    __slots__ = ("node", "inside", "metadata", "__weakref__")

    #: {(id of the node, place in it): step}: the same object for as long as somebody holds it
    made: weakref.WeakValueDictionary[tuple, Step] = weakref.WeakValueDictionary()
    node: Node
    inside: tuple
    metadata: dict

    def name(self) -> str:
        return type(self).__name__

    @property
    def next_functions(self) -> tuple:
        return _shown_in(self.node, self.inside)

    def _sequence_nr(self):
        return self.node._sequence_nr()

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """RuntimeError: see the class."""
        raise self.refusal()

    register_prehook = register_hook

    def refusal(self) -> RuntimeError:
        return RuntimeError(f"{self.name()} is a step inside of {self.node.name()}, which is computed as one: no "
                            f"gradient can be had there, and hooks belong on the node or on a tensor")

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


def _shown_in(node, inside):
    """The (node, output number) pairs of a node's inside, as `Op.shown_as` describes it."""
    return tuple([function_of(node.edges[item]) if item.__class__ is int else (_step(node, item), 0)
                  for item in inside])


def _step(node, item):
    name, *inside = item
    if not _leads_on(node, inside):
        return None
    step = Step.made.get((id(node), item))
    if step is None:
        if name not in _step_classes:
            _step_classes[name] = type(name, (Step,), {"__slots__": (), "__module__": "builtins"})
        step = Step.made[id(node), item] = _step_classes[name]()
        # The step holds the node, so no other object gets the id in its key.
        step.node, step.inside, step.metadata = node, tuple(inside), {}
    return step


def as_one(node: Any, begins: Op, backward_name: str | None = None) -> None:
    """Show a node, and the nodes before it down to the one of `begins`, as the one node that torch has: under the name
    of that first node or `backward_name`, with its `next_functions`. Hooks on it get the gradients of `node` itself."""
    first = _beginning(node, begins)
    if first is not None and (first is not node or backward_name is not None):
        key = node.op, begins, backward_name or begins.backward_name
        if key not in _ends:
            op = _ends[key] = copy.copy(node.op)
            op.backward_name, op.begins = key[2], None if first is node else begins
        node.op = _ends[key]


_ends: dict[tuple, Op] = {}


def _beginning(node, begins):
    while isinstance(node, Node) and begins not in (node.op, node.op.original) and node.op is not begins._widened:
        node = node.edges[0] if node.edges else None
    return node if isinstance(node, Node) else None


def _leads_on(node, inside):
    return any([node.edges[item] is not None if item.__class__ is int else _leads_on(node, item[1:])
                for item in inside])


_step_classes: dict[str, type[Step]] = {}


#: The op of one output of an operation with many: the engine hands its gradient to slot `saved[0]`.
SELECT = Op(lambda outputs, index: outputs[index], name="select")


#: The op of a tensor that was given other elements outside grad mode: its history is still that of the old elements,
#: and accepts gradients in their shape.
OUTGROWN = Op(lambda input: input, name="outgrown", rules={
    "input": lambda g, shape: checked_gradient(g, shape, "a function")})


#: The op of a view without history whose base requires gradients: the view requires them too, but they end there.
NOWHERE = Op(lambda: None, name="nowhere")


def function_of(edge: Edge) -> tuple[Node | AccumulateGrad | None, int]:
    """An edge as torch shows it: (grad_fn, output number)."""
    if edge is None or isinstance(edge, Node) and edge.op is NOWHERE:
        return None, 0
    if not isinstance(edge, Node):
        return accumulator(edge), 0
    if edge.op is OUTGROWN:
        return function_of(edge.edges[0])
    if edge.op is SELECT:
        return shown(edge.edges[0]), edge.saved[0]
    return shown(edge), 0


_node_classes: dict[str, type[Node]] = {}


def shown(node: Node) -> Node:
    """A node as the user gets it: of a class with the operation's name. Nodes are made as plain Node, because
    few are ever shown."""
    if node.__class__ is Node:
        name = node.name().rpartition(":")[2]
        classes = _node_classes if node.op.function is None else node.op.node_classes
        if name not in classes:
            room = "builtins" if node.op.function is None else "torch.autograd.function"
            classes[name] = type(name, (Node,), {"__slots__": (), "__module__": room})
        node.__class__ = classes[name]
    return node


class GradientEdge(NamedTuple):
    """A place in the graph: output `output_nr` of `node`. `grad` and `backward` accept it in place of a tensor."""

    node: Any
    output_nr: int
    ownership_token: Any = None

    def edge(self) -> Node | Tensor:
        """The edge that leads here, as nodes keep it."""
        if self.ownership_token is not None:
            return self.ownership_token
        if isinstance(self.node, AccumulateGrad):
            return self.node.variable
        if isinstance(self.node, Step):
            raise self.node.refusal()
        if not self.node.op.multi:
            return self.node
        return new_node(SELECT, (self.node,), (self.output_nr, None, None), (), self.node.shape[self.output_nr])

    def shape(self) -> tuple:
        return shape_of(self.edge())
