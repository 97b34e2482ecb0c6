"""Writes tinytorch/capture/schemas.txt: the forms of ATen's operators that are functions here, as torch declares them.
And tinytorch/capture/unsupported.txt: the names of the operators that nothing here runs.

    python -m tests.aten_schemas

A line is a schema without "aten::": name.form(arguments) -> results. Forms that write to `out`, name dimensions, or
take a generator of their own are left out, and those that torch's Python never calls.
"""
import re
import textwrap
from pathlib import Path

PATH = Path(__file__).parents[1] / "tinytorch" / "capture" / "schemas.txt"
NAMES = PATH.with_name("unsupported.txt")
#: Operators that no program calls: derivatives, and those of torch's own optimisers and storages.
_BELOW = re.compile("_foreach_|_fused_|.*_backward|_cudnn|_sparse|_nested|_test|quantize|set_$|set_data|_has_same")
#: Arguments of types that are not here.
_OTHERS = re.compile("Dimname|Generator[?] generator,|hacked_twin|[.]prim_|Storage|Stream|Dict|[( ]t[] (]")
#: Forms that Python's functions leave to those that take a tensor.
_NEVER = re.compile(r"(add|sub|mul|div|true_divide)_?\.Scalar(_mode)?\(")


def schemas():
    """The lines."""
    import torch

    from tinytorch.capture.schema import _RUN, runs
    lines = {}
    for schema in torch._C._jit_get_all_schemas():
        space, name = schema.name.split("::")
        text = str(schema).removeprefix("aten::")
        packet = getattr(torch.ops.aten, name, None) if space == "aten" and not name.startswith("__") else None
        below = _BELOW.match(name) and name not in _RUN
        if packet is None or below or _NEVER.match(text) or "Tensor" not in text:
            continue
        if _OTHERS.search(text) or (
                re.search(r"\.\w*out\(|!\) out\b|\*, .*Tensor\([a-z]!\)", text.split(") -> ")[0] + ")")
                or schema.overload_name not in [x.replace("default", "") for x in packet.overloads()]):
            continue
        if runs(name):
            lines[text] = None
    return list(lines)


def unsupported():
    """The names of ATen's operators that torch.ops.aten has and nothing here runs. Operators of TorchScript's texts,
    lists and numbers take no tensor and are none of them."""
    import torch

    from tinytorch.capture.schema import runs
    found = set()
    for schema in torch._C._jit_get_all_schemas():
        space, name = schema.name.split("::")
        if space == "aten" and "Tensor" in str(schema) and name[:2] != "__" and hasattr(torch.ops.aten, name):
            found.add(name)
    return sorted([name for name in found if not runs(name)])


def main():
    """Writes the table and the names."""
    PATH.write_text("".join([f"{line}\n" for line in schemas()]), encoding="utf-8")
    NAMES.write_text("\n".join(textwrap.wrap(" ".join(unsupported()), 118)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
