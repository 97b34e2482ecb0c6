"""How the house is built: imports run one way, and public functions show their own source."""
import ast
from pathlib import Path

import tinytorch as torch
from tinytorch.autograd.node import Op

ROOT = Path(torch.__file__).parent

#: From the ground up: a file imports from its own floor and from those below, in functions too.
FLOORS = [
    "__future__ environment __main__ missing version torch_version _refused _removed _absent",
    "_utils kernels.allocator kinds dtypes errors device memory_format return_types utils._pytree seam",
    "tensor",
    "kernels",
    "arguments random printing types kinds.table",
    "autograd",
    "ops sparse",
    "storage checkpoint.sharing checkpoint.shown ops.creation.legacy runtime overrides _C _ops library _custom_ops amp "
    "__config__ _tensor _tensor_str _checks _library _prims_common",
    "accelerator backends cpu cuda mps xpu mtia nested monitor package linalg special fft signal masked "
    "functional quasirandom testing _inductor _rare _lowrank _lobpcg",
    "nn func _functorch _higher_order_ops futures distributed fx capture _dynamo.exc "
    "_subclasses ao quantization",
    "optim distributed.optim distributed.algorithms._checkpoint utils export jit onnx _jit_internal serialization "
    "checkpoint _weights_only_unpickler hub profiler multiprocessing _vmap_internals func.tails "
    "capture.exchanged capture.steps capture.calls capture.backward capture.build capture.reads capture.effects "
    "capture.ready capture.quick capture.compiled "
    "capture.selfcheck capture.lowered",
    "compiler _dynamo c_export distributions vision viz debug autograd.profiler autograd.profiler_util",
]
_FLOOR_OF = {name: i for i, names in enumerate(FLOORS) for name in names.split()}


def floor_of(name):
    """Of a file, or of the folder that it is in."""
    while name not in _FLOOR_OF:
        name = name.rpartition(".")[0]
        assert name, "this file has no floor"
    return _FLOOR_OF[name]


def modules():
    """{name below tinytorch: (path, imported names below tinytorch)}; nested imports count."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "standins"]
        package = parts[:-1]
        if parts[-1] == "__init__":
            parts.pop()
        names = set()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
                node.body = []                 # for hints alone: never run
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = package[:len(package) - node.level + 1] + (node.module or "").split(".")
                base = [part for part in base if part]
                for alias in node.names:
                    names.add(".".join([*base, alias.name]))
        found[".".join(parts)] = names
    known = set(found)

    def module_of(name):
        while name and name not in known:
            name = name.rpartition(".")[0]
        return name
    return {name: {module_of(imported) for imported in names} - {name, ""} for name, names in found.items()}


MODULES = modules()


def test_imports_never_run_up():
    upward = {f"{name} -> {imported}" for name, names in MODULES.items() for imported in names if name
              and floor_of(imported) > floor_of(name)}
    assert len(MODULES) > 200 and not upward


def test_imports_run_in_no_circle():
    """Packages that gather what their files offer count as their files' users, not the other way round."""
    left = {name: {n for n in names if not name.startswith(n + ".")} for name, names in MODULES.items()}
    while True:
        free = {name for name, names in left.items() if not names & left.keys()}
        if not free:
            break
        left = {name: names for name, names in left.items() if name not in free}
    # what remains only imports a circle, or is in one
    while True:
        imported = {n for names in left.values() for n in names if n in left}
        if imported >= left.keys():
            break
        left = {name: names for name, names in left.items() if name in imported}
    assert not left, {name: sorted(names & left.keys()) for name, names in left.items()}


def test_no_module_defines_a_name_twice():
    """A second function of a name would take the place of the first one wherever that is called."""
    twice, seen = [], 0
    for path in ROOT.rglob("*.py"):
        names = [node.name for node in ast.parse(path.read_text()).body
                 if isinstance(node, (ast.FunctionDef, ast.ClassDef))
                 and "overload" not in map(ast.unparse, node.decorator_list)]
        seen += len(names)
        twice += [(path.name, name) for name in set(names) if names.count(name) > 1]
    assert seen > 3000 and not twice


def test_late_bound_names_are_set_at_import():
    from tinytorch.autograd import late_bound
    names = "stack", "relaid", "without_part", "custom", "module", "vmap"
    assert all(getattr(late_bound, name) is not None for name in names)


def test_every_layer_says_what_it_computes_and_shows_it():
    layers = [cls for cls in vars(torch.nn).values() if isinstance(cls, type) and issubclass(cls, torch.nn.Module)]
    silent = [cls.__name__ for cls in layers if ">>> " not in (vars(cls).get("__doc__") or "")]
    assert not silent, f"these layers have no example (>>>) in their docstring: {silent}"
    assert len(layers) > 160


def test_every_optimiser_and_schedule_says_what_it_computes_and_shows_it():
    schedules = torch.optim.lr_scheduler
    said = {name: getattr(module, name).__doc__ or "" for module, base in (
        (torch.optim, torch.optim.Optimizer), (schedules, schedules.LRScheduler)) for name in module.__all__
        if isinstance(getattr(module, name), type) and issubclass(getattr(module, name), base)
        and getattr(module, name) is not base}
    silent = [name for name, text in said.items() if ">>> " not in text or "=" not in text]
    assert not silent, f"these docstrings have no example (>>>) or no formula (=): {silent}"
    assert len(said) > 25


def test_what_a_module_offers_is_in_its_all():
    """`import *` brings it, and the tests of all optimisers read it."""
    from tinytorch.autograd.public import TABLE
    functions = {id(function) for function in TABLE}
    left = {f"{module.__name__}.{name}" for module in (torch.special, torch.linalg, torch.fft, torch.optim)
            for name, x in vars(module).items() if name[0] != "_" and name not in module.__all__
            and (id(x) in functions or isinstance(x, type) and issubclass(x, torch.optim.Optimizer))}
    assert not left, f"add these names to the `__all__` of their modules: {sorted(left)}"


def test_a_derivative_rule_calls_no_operation_without_rules():
    """Its gradient would have no gradient, and a second derivative would be wrong."""
    from tinytorch.autograd.op import CALLS
    found, seen = set(), 0
    for o in (call.op for call in CALLS):      # not those that pages and tests have made
        for argument, rule in o.rules.items() if o.forward.__module__.startswith("tinytorch.") else ():
            code = getattr(getattr(rule, "text", rule), "__code__", None)
            for name in code.co_names if code else ():
                called = getattr(getattr(rule, "text", rule).__globals__.get(name), "op", None)
                if isinstance(called, Op):
                    seen += 1
                    if not called.differentiable and not called.name.endswith("_mask"):      # a mask is constant
                        found.add(f"the rule of {o.name} for `{argument}` calls {called.name}, which has no rules")
    assert not found, sorted(found)
    assert seen > 200


#: File -> why it may list names that are public functions too.
LISTS = {
    "__init__.py": "the module of each name, which is not loaded before it is asked for",
    "c_export/operators.py": "the C of each operator",
    "c_export/program.py": "words that C has taken",
    "capture/rewritten.py": "functions whose operator takes other arguments, and which those are",
    "capture/traced.py": "methods of NumPy's arrays",
    "capture/schema.py": "operators that take other arguments than the functions that run them",
    "debug/finite.py": "Python's operators that write to their first operand",
    "func/batched.py": "methods of NumPy's arrays",
    "fx/code.py": "signs of Python's operators",
    "fx/proxy.py": "Python's operators",
    "jit/operators.py": "TorchScript's operators on numbers, lists and dicts",
    "kernels/native/table.py": "the kernels in C, what each takes",
    "kernels/meta.py": "functions of NumPy's",
    "kinds/lazy.py": "methods of NumPy's arrays",
    "nn/init.py": "names that calculate_gain takes",
    "ops/layout/scatter.py": "values of the argument `reduce`",
    "ops/reduction/segments.py": "values of the argument `reduce`",
    "onnx/aten/arithmetic.py": "ATen's names, of operators that ONNX calls otherwise",
    "onnx/aten/indexing.py": "values of the argument `reduce`",
    "return_types.py": "the fields of each class of results",
}


def names_listed(tree):
    """The strings of each literal tuple, list, set, dict (its keys), or string that is split, but not `__all__`."""
    exported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any([getattr(target, "id", "") == "__all__" for target in targets]):
                exported |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in exported:
            continue
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            yield [e.value for e in node.elts if isinstance(e, ast.Constant)]
        elif isinstance(node, ast.Dict):
            yield [e.value for e in node.keys if isinstance(e, ast.Constant)]
        elif (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split"
                and isinstance(node.func.value, ast.Constant) and isinstance(node.func.value.value, str)):
            yield node.func.value.value.split()


def test_what_a_registration_can_say_is_in_no_list():
    """No module lists five or more public functions by name: what sets them apart is said where they are defined."""
    from tinytorch.autograd.overridable import spaces
    from tinytorch.autograd.public import TABLE
    assert len(spaces()) > 5                   # those that are loaded when they are asked for are
    known = {function.__name__ for function in TABLE} | {name for record in TABLE.values() for name in record.methods}
    found = {}
    for path in ROOT.rglob("*.py"):
        for names in names_listed(ast.parse(path.read_text(encoding="utf-8"))):
            listed = [name for name in names if isinstance(name, str) and name in known]
            if len(listed) >= 5:
                found.setdefault(path.relative_to(ROOT).as_posix(), []).append(listed)
    assert len(known) > 800 and found.keys() == LISTS.keys(), {f: x for f, x in found.items() if f not in LISTS}
