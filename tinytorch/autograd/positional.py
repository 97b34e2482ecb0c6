"""Generated code for the functions that `op` makes (op.py), without a loop over their arguments.

A loop that finds the tensors among three arguments takes as long as adding two small arrays. So the first call of an op
with as many arguments as its forward has replaces the code of its function by code made for that number of arguments.
"""
from __future__ import annotations

import os
from functools import cache
from types import CodeType


@cache
def code(count: int, first: int, free: tuple[str, ...]) -> CodeType:
    """The code of `call` in op.py for `count` arguments, with tensors among those from `first` on, and these free
    variables."""
    given, tensors = range(count), range(first, count)
    args, arrays = ["".join([f"{letter}{i}, " for i in given]) for letter in "ax"]
    look = "".join([f"""
        if isinstance(a{i}, Tensor):
            x{i} = a{i}._array
            if a{i}._view_info is not None:
                usual_order = False
                if differentiable:
                    refresh(a{i})
            if a{i}._requires_grad:
                mask += {1 << (i - first)}""" for i in tensors])
    operands = ", ".join([f"*[x{i}] * (x{i} is not a{i})" for i in tensors])
    leading = "".join([f"x{i} if x{i} is not a{i} else " for i in tensors]) + f"x{first}"
    keep = "".join([f"""
        if x{i} is not a{i}:
            if {i} in kept:
                cell = a{i}._version_counter
                versions += (cell, cell[0])
            else:
                x{i} = None""" for i in tensors])
    edges = ", ".join([f"(a{i}._node or a{i}) if mask & {1 << (i - first)} else None" for i in tensors])
    text = f"""
def make({", ".join(free)}):
    def call(*args):
        if len(args) != count:
            return fallback(*args)             # the loop over the arguments
        {arrays}= {args}= args
        mask, usual_order = 0, True{look}
        recorder = mask and differentiable and (not all_threads.in_special_mode or mode.grad_now)
        run = quietly
        while True:
            try:
                compute = o.of_batches or forward if seam.up else forward
                result = run(compute, {arrays}bool(recorder)) if keep_flag else run(compute, {arrays})
                break
            except (TypeError, ValueError, MemoryError) as error:
                return unusual_arguments(o, call, args, error)
            except RuntimeError as error:
                run = another(error)
        if {" and ".join([f"x{i} is a{i}" for i in tensors])}:       # a derivative rule computes on plain arrays
            return result[0] if aux else result
        extra = None
        if aux:
            result, extra = result
        if type(result) is not ndarray and result.__class__ is not ndarray:
            result = np.asarray(result)
        if elementwise and (not usual_order or not ({leading}).flags.c_contiguous):
            result = operand_order(result, {operands})
        tensor = new_instance(Tensor)
        tensor._array = result
        tensor._version_counter = version = [0] if new_tensor_state.cell is None else new_tensor_state.cell()
        tensor._view_info = None
        if view:
            track_view(tensor, a{first})
            version = tensor._version_counter
        if not recorder:
            tensor._node = None
            tensor._requires_grad = False
            return tensor
        kept = known[mask] if mask in known else o.kept(mask)
        versions = []{keep}
        if ANS in kept:
            versions += (version, version[0])
        node = Node()
        node.op = o
        node.edges = [{edges}]
        node.saved = [{arrays}result if ANS in kept else None, extra]
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
"""
    made = compile(text, os.path.join(os.path.dirname(__file__), f"<op of {count} arguments>"), "exec")
    for name in ("make", "call"):
        made = next(inside for inside in made.co_consts if getattr(inside, "co_name", "") == name)
    assert made.co_freevars == free
    return made
