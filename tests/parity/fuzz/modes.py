"""Grad modes between the lines: views made and written to under no_grad, enable_grad and inference_mode, leaves that
change what they require, versions, hooks, what backward leaves behind."""
from .layout import _axis, _index
from .values import FLOATS, broadcastable, number, shape, strided, tensor

MODES = ["T.no_grad()"] * 4 + ["T.enable_grad()", "T.inference_mode()", "T.set_grad_enabled(False)",
                               "T.inference_mode(False)",
                               "T.autograd.grad_mode.set_multithreading_enabled(False)", "T.set_grad_enabled(True)"]
VIEWS = ["[0]", "[..., :1]", "[None]", ".t()", ".mT", ".view(-1)", ".reshape(-1)", ".detach()", ".data",
         ".unsqueeze(0)",
         ".squeeze()", ".expand(2, *{v}.shape)", ".split(1)[0]", ".unbind(0)[-1]", ".chunk(2)[0]", ".diagonal()",
         ".flatten()",
         ".transpose(0, -1)", ".view_as({v})", ".clone()", ".contiguous()", ".requires_grad_()", ".real",
         ".unfold(0, 1, 1)",
         ".narrow(0, 0, 1)", ".as_strided((1,), (1,))", ".movedim(0, -1)", ".detach_()", ".ravel()", ".select(0, 0)"]
WRITES = [".mul_(2)", ".add_({w})", ".zero_()", ".fill_({n})", ".copy_({w})", ".exp_()", ".mul_({w})", ".squeeze_()",
          ".t_()", ".unsqueeze_(0)",
          ".detach_()", ".requires_grad_()", ".requires_grad_(False)", ".masked_fill_({v} > 0, {n})",
          ".clamp_(min=0)", ".tanh_()",
          ".sub_({w}, alpha=2)", ".index_fill_(0, T.tensor([0]), {n})", ".addcmul_({w}, {w})", ".retain_grad()",
          ".relu_()"]
LOOKS = ["[e._version for e in ({all})]", "[type(e.grad_fn).__name__ for e in ({all})]",
         "[e.is_inference() for e in ({all})]",
         "[(e.requires_grad, e.is_leaf) for e in ({all})]", "[e._base is None for e in ({all})]",
         "[e.output_nr for e in ({all})]"]


def program(rng):
    sizes, dtype = shape(rng, size=3), rng.choice(["float32"] * 3 + FLOATS + ["int64", "complex64"])
    lines, names, leaf = [f"a = {strided(rng, sizes, dtype, .03)}"], ["a"], dtype != "int64" and rng.random() < .7
    if leaf:
        lines.append("a.requires_grad_()")
        lines.append(rng.choice(["b = a * 1", "b = a.clone()", "b = a.exp()", "b = a * a", "b = a.view_as(a)",
                                 "b = a.detach()"]))
        names.append("b")
    if rng.random() < .5:
        lines.append(f"w = {tensor(rng, broadcastable(rng, sizes), dtype, special=0)}")
        if leaf and rng.random() < .5:
            lines.append("w.requires_grad_()")
    others = "w" if lines[-1].startswith("w") else names[0]
    for name in "cdefhk"[:rng.randint(2, 6)]:
        v, w = rng.choice(names[-3:]), rng.choice([*names, others])
        way = rng.random()
        if way < .4:
            line = v + rng.choice(VIEWS).format(v=v)
        elif way < .75:
            line = v + rng.choice(["", "", "[0]", "[..., :1]", ".view(-1)", ".data",
                                   ".detach()"]) + rng.choice(WRITES).format(
                v=v, w=w, n=number(rng, dtype, 0))
        elif way < .83:
            line = rng.choice([f"{v} * {w}", f"{v} + 1", f"T.cat([{v}, {w}], {_axis(rng, len(sizes))})", f"{v}.sum()",
                               f"{v}.sin()"])
        else:
            line = ""
        mode = f"with {rng.choice(MODES)}: " if rng.random() < .5 else ""
        if line:
            lines.append(f"{mode}{name} = {line}")
            names.append(name)
        elif way < .9:
            value = rng.choice([number(rng, dtype, 0), w, f"{w} * 2"])
            place = _index(rng, sizes, advanced=rng.random() < .3)
            lines.append(f"{mode}{v}[{place}] {rng.choice(['=', '+=', '*='])} {value}")
        elif way < .94 and leaf:
            lines.append(f"loss({v}).backward({rng.choice(['', 'retain_graph=True'])})")
        else:
            value = rng.choice([w, "None", "True", f"{w}.detach()"])
            lines.append(f"{mode}{v}.{rng.choice(['data', 'grad', 'requires_grad'])} = {value}")
        if rng.random() < .25:
            lines.append(f"s = {rng.choice(LOOKS).format(all=', '.join(names) + ',')}")
    lines.append("s = [(e._version, e.requires_grad, e.is_leaf, type(e.grad_fn).__name__) "
                 f"for e in ({', '.join(names)},)]")
    if leaf:
        lines.append(f"g = T.autograd.grad(loss({', '.join(names[1:])}), [a], allow_unused=True, retain_graph=True)")
        if rng.random() < .5:
            lines += [f"loss({', '.join(rng.sample(names[1:], min(2, len(names) - 1)))}).backward()",
                      "g = [e.grad for e in (a, w)]" if others == "w" else "g = a.grad"]
    return lines
