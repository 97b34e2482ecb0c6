"""What mkdocs is given beside the files in docs/: the first page, the reference, and pages with interactive graphs."""
import importlib
import inspect
import posixpath
import re
import tempfile
import textwrap
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]

#: Modules of the reference, by group. A page lists the public names of a module.
GROUPS = {
    "Tensors": ["", "Tensor", "linalg", "fft", "special", "signal.windows", "masked", "sparse", "random"],
    "Networks": ["nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize", "nn.attention"],
    "Training": ["optim", "optim.lr_scheduler", "optim.swa_utils", "amp", "utils.data", "utils.checkpoint",
                 "serialization"],
    "Derivatives": ["autograd", "autograd.functional", "autograd.forward_ad", "autograd.graph", "func"],
    "Distributions": ["distributions"],
    "Processes": ["distributed", "multiprocessing"],
    "Graphs": ["fx", "jit", "export", "onnx", "compiler", "viz"],
    "Tools": ["debug", "overrides", "library", "hub", "profiler", "testing", "vision.datasets", "vision.transforms"],
}


# ------------------------------------------------------------------ the reference
def public_names(owner):
    """The names that a module or a class offers, in alphabetical order, functions and classes before the rest."""
    if inspect.isclass(owner):
        names = [name for name in dir(owner) if name[0] != "_"]
    else:
        names = getattr(owner, "__all__", None) or [name for name in dir(owner) if name[0] != "_"]
    return sorted(set(names), key=lambda name: (name.lower(), name))


def described(name, value):
    """The lines of one entry."""
    lines = [f"## {name} {{: #{name} }}", ""]
    if callable(value):
        try:
            signature = str(inspect.signature(value))
        except (TypeError, ValueError):
            signature = "(...)"
        short = re.sub(r"(: |-> )'([^']*)'", r"\1\2", re.sub(r"tinytorch\.(tensor\.)?", "", signature))
        lines += ["```python", *textwrap.wrap(f"{name}{short}", 110, subsequent_indent="    "), "```", ""]
    return lines + [in_markdown(inspect.getdoc(value) or ""), ""]


def in_markdown(text):
    """A docstring as Markdown: examples in fences, and no mark-up that it does not mean."""
    lines, code = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith(">>> ") and not code:
            lines += ["", "```pycon"]
            code = True
        elif code and not line.strip():
            lines += ["```", ""]
            code = False
        if code:
            lines.append(line.strip() if line.lstrip().startswith((">>>", "...")) else line)
        elif line.startswith("    "):
            lines.append(line)                 # a table or a formula, as it stands
        else:
            lines.append(escaped(line))
    return "\n".join(lines + ["```"] * code)


def escaped(line):
    """A line of text, outside of its backticks, without what Markdown or HTML would take for mark-up."""
    parts = re.split(r"(`+[^`]*`+)", line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*_\[\]#|~])", r"\\\1", parts[i].replace("&", "&amp;").replace("<", "&lt;"))
    return "".join(parts)


def entries_of(room):
    """{name: value} of the public names of a module, `Tensor` for the class; modules are left out."""
    tinytorch = importlib.import_module("tinytorch")
    owner = tinytorch.Tensor if room == "Tensor" else importlib.import_module(f"tinytorch.{room}".rstrip("."))
    found = {}
    for name in public_names(owner):
        value = getattr(owner, name, None)
        documented = callable(value) or isinstance(inspect.getattr_static(owner, name, None), property)
        if documented and not inspect.ismodule(value):
            if inspect.isclass(owner):
                value = inspect.getattr_static(owner, name) if not callable(value) else value
            found[name] = value
    return found


def reference_page(room):
    """The page of a module."""
    shown = f"torch.{room}".rstrip(".")
    owner = importlib.import_module(f"tinytorch.{room}".rstrip(".")) if room != "Tensor" else None
    entries = entries_of(room)
    lines = [f"# {shown}", "", in_markdown(inspect.getdoc(owner) or "") if owner else "", "",
             f"{len(entries)} names.", ""]
    for name, value in entries.items():
        lines += described(name, value)
    return "\n".join(lines)


def path_of(room):
    return f"reference/{room or 'torch'}.md".lower() if room != "Tensor" else "reference/tensor_class.md"


# ------------------------------------------------------------------ the first page, and the graphs
def first_page():
    """The README, with its links as they are within the site."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"\[([^\]]*)\]\((?!https?:|docs/|#)[^)]*\)", r"`\1`", text)
    return text.replace("](docs/", "](")


def graphs():
    """{name: (title, page of HTML)} of interactive graphs: programs whose tape tinytorch.viz draws."""
    import tinytorch as torch
    from tinytorch import viz
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    gru = torch.nn.GRU(6, 5)
    drawn = {"mlp": ("A perceptron", viz.graph(net, torch.rand(3, 4))),
             "rnn": ("A recurrent cell, four steps", viz.graph(_four_steps(torch))),
             "gru": ("A GRU as one operation", viz.graph(gru, torch.rand(7, 2, 6)))}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (title, graph) in drawn.items():
            graph.save(f"{folder}/{name}.html")
            page = Path(folder, f"{name}.html").read_text(encoding="utf-8")
            found[name] = title, page.replace("<head>", '<head><link rel="icon" href="data:,">', 1)
    return found


def _four_steps(torch):
    cell, state = torch.nn.RNNCell(6, 5), torch.zeros(2, 5)
    for step in torch.rand(4, 2, 6):
        state = cell(step, state)
    return state.square().mean()


def graphs_page(found):
    lines = ["# Interactive graphs", "",
             "`tinytorch.viz.graph(...).save(\"graph.html\")` draws the tape of a computation as one page without "
             "dependencies. Click a box to fold or unfold it. A box says what backward keeps for it.", ""]
    for name, (title, _) in found.items():
        lines += [f"## {title}", "", f'<iframe src="../graphs/{name}.html" title="{title}" '
                  'style="width: 100%; height: 32rem; border: 1px solid #8888"></iframe>', ""]
    return "\n".join(lines)


# ------------------------------------------------------------------ mkdocs
def on_config(config):
    """The groups of the reference in the navigation."""
    for entry in config["nav"]:
        if "Reference" in entry:
            entry["Reference"] = [{group: [{f"torch.{room}".rstrip("."): path_of(room)} for room in rooms]}
                                  for group, rooms in GROUPS.items()]
    return config


def on_files(files, config):
    """Adds the pages that are written here."""
    found = graphs()
    pages = {"index.md": first_page(), "graphs.md": graphs_page(found)}
    pages |= {path_of(room): reference_page(room) for rooms in GROUPS.values() for room in rooms}
    pages |= {f"graphs/{name}.html": page for name, (_, page) in found.items()}
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to files outside of docs/ are their names."""
    def name(match):
        leads_out = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), match[2])).startswith("..")
        return f"`{match[1]}`" if leads_out else match[0]
    return re.sub(r"\[([^\]]*)\]\((\.\./[^)]*)\)", name, markdown)
