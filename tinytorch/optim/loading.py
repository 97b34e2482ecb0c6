"""The first part of `Optimizer.load_state_dict`: it finds state by name, and refuses state that does not fit."""
from ..errors import warn
from ..nn.parameter import is_lazy
from ..tensor import Tensor

__all__ = ["by_names", "check_sizes", "leave_out_misfits", "warn_of_another_order"]


def check_sizes(groups, saved):
    """ValueError if the numbers of groups, or of parameters in a group, differ."""
    if len(groups) != len(saved):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
        raise ValueError("loaded state dict contains a parameter group that doesn't match the size of "
                         "optimizer's group")


# ------------------------------------------------------------------ names
def by_names(groups, state_dict, strict):
    """The state dict in the form that an optimiser with these groups would have saved: state and options come from the
    parameters of the same names.

    ValueError if there are no names, or a name twice, and if parameters of one group were saved with different values
    of an option; if `strict`, for names that are only on one side.
    """
    theirs = _by_name(state_dict["param_groups"])
    ours = [[name for name, _ in _named(group, "this optimizer")] for group in groups]
    if strict:
        _check_names([name for names in ours for name in names], theirs)
    state = {key: value for key, value in state_dict["state"].items()
             if key not in {number for number, _ in theirs.values()}}
    new_groups, next_number = [], 0
    for i, (group, names) in enumerate(zip(groups, ours)):
        numbers = range(next_number, next_number + len(names))
        next_number += len(names)
        found = [(number, *theirs[name]) for number, name in zip(numbers, names) if name in theirs]
        for number, saved_number, _ in found:
            if saved_number in state_dict["state"]:
                state[number] = state_dict["state"][saved_number]
        options = _options_of([saved_group for _, _, saved_group in found], i)
        if not found:
            options = {key: value for key, value in group.items() if key != "params"}
        new_groups.append({**options, "params": list(numbers), "param_names": names})
    return {**state_dict, "state": state, "param_groups": new_groups}


def _by_name(saved):
    """{name: (number, group)} of the parameters of saved groups."""
    found = {}
    for group in saved:
        for name, number in _named(group, "the loaded state dict"):
            if name in found:
                raise ValueError(f"the loaded state dict has two parameters with the name {name!r}")
            found[name] = number, group
    return found


def _check_names(ours, theirs):
    """ValueError unless both sides have the same names."""
    missing = [name for name in ours if name not in theirs]
    unexpected = [name for name in theirs if name not in set(ours)]
    problems = [f"{what}: {', '.join(map(repr, names))}"
                for what, names in (("it has no state of", missing), ("this optimizer has no", unexpected)) if names]
    if problems:
        raise ValueError("the names in the loaded state dict are not those of the parameters (strict=False loads "
                         f"what has the same name): {'; '.join(problems)}")


def _named(group, whose):
    """(name, parameter or number) of a group's parameters."""
    names = group.get("param_names")
    if names is None:
        raise ValueError(f"by_name=True needs names, and {whose} has none: make the optimizer of "
                         "model.named_parameters()")
    return zip(names, group["params"], strict=True)


def _options_of(saved, i):
    """The options that saved groups have in common."""
    if not saved:
        return {}
    options = {key: value for key, value in saved[0].items() if key not in ("params", "param_names")}
    for other in saved[1:]:
        for key in options:
            if other is not saved[0] and not _equal(options[key], other.get(key)):
                raise ValueError(f"parameter group {i} has parameters that were saved with different values of "
                                 f"{key!r}: {options[key]} and {other.get(key)}")
    return options


def _equal(a, b):
    return a is b or bool(a == b)


def warn_of_another_order(groups, saved):
    """Warn if both sides have the same names in another order: then loading by order is surely wrong."""
    sides = [[name for group in side for name in group.get("param_names") or ()] for side in (groups, saved)]
    if sides[0] != sides[1] and sorted(sides[0]) == sorted(sides[1]):
        first = next(i for i, (a, b) in enumerate(zip(*sides)) if a != b)
        warn("the loaded state dict has the names of this optimizer's parameters in another order (parameter "
             f"{first} is {sides[0][first]!r} here and {sides[1][first]!r} there), and is loaded by order. "
             "load_state_dict(state_dict, by_name=True) goes by name.")


# ------------------------------------------------------------------ shapes
def leave_out_misfits(shape_of, params, groups, saved, state, strict):
    """{number: state} without the state of parameters with a tensor whose shape is not that of shape_of(parameter, key)
    (None: any). If `strict`, a ValueError names these parameters, if there are any.

    `params`: parameters by number; `groups` and `saved`: those of the optimiser and of the loaded state dict.
    """
    fitting, problems = dict(state), []
    for number, p in params.items():
        parts = state.get(number)
        if not isinstance(parts, dict) or is_lazy(p):
            continue
        misfits = [(key, tensor.shape, shape) for key, value in parts.items()
                   if (shape := shape_of(p, key)) is not None for tensor in _tensors(value) if tensor.shape != shape]
        if misfits:
            del fitting[number]
            key, has, wants = misfits[0]
            problems.append(f"{_place(p, number, groups, saved)}: {key!r} has shape {list(has)}, and {list(wants)} is "
                            "wanted")
    if strict and problems:
        raise ValueError("loaded state dict does not fit the parameters (with strict=False, these start with new "
                         "state):\n    " + "\n    ".join(problems))
    return fitting


def _tensors(value):
    if isinstance(value, Tensor):
        return [value]
    return [tensor for part in value for tensor in _tensors(part)] if isinstance(value, (list, tuple)) else []


def _place(p, number, groups, saved):
    """The place and shape of a parameter, for messages, and the name of the parameter that was saved in its place."""
    for i, (group, old) in enumerate(zip(groups, saved)):
        for j, (own, saved_number) in enumerate(zip(group["params"], old["params"])):
            if own is p and saved_number == number:
                names = [side["param_names"][j] for side in (group, old) if side.get("param_names")]
                text = f"parameter {j} of group {i}, " + "".join([f"{names[0]!r}, "] if names else [])
                text += f"of shape {list(p.shape)}"
                return text + (f" (saved as {names[1]!r})" if len(set(names)) == 2 else "")
    raise AssertionError("a parameter that is in no group")
