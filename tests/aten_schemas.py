"""Writes tinytorch/capture/schemas.txt: the forms of ATen's operators that are functions here, as torch declares them.

    python -m tests.aten_schemas

A line is a schema without "aten::": name.form(arguments) -> results. Forms that write to `out`, name dimensions, or
take a generator of their own are left out, and those that torch's Python never calls.
"""
import re
from pathlib import Path

PATH = Path(__file__).parents[1] / "tinytorch" / "capture" / "schemas.txt"
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


def main():
    """Writes the table."""
    PATH.write_text("".join([f"{line}\n" for line in schemas()]), encoding="utf-8")


if __name__ == "__main__":
    main()
