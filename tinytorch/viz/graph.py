"""`viz.graph`: the differentiable graph of a loss, of a module or of any function."""
from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..autograd.node import Node
from ..errors import warn
from ..nn.modules.module import Module
from ..tensor import Tensor
from .comparison import Comparison
from .dot import dot
from .files import png, save
from .grouping import Group, grouped
from .layers import plans
from .page import page
from .recorder import Recorder
from .svg import draw, unfolded
from .tape import ACTIVATION, INPUT, PARAMETER, Tape
from .view import view

if TYPE_CHECKING:
    from .memory import Memory


class Graph:
    """A recorded computation, and the memory that its backward keeps.

    tape     the operations in order (`tape.steps`), leaves and storages
    program  the same operations as a tree of module calls, in which repetitions are folded
    error    the exception that ended the forward early, or None; `error_text` is its text, with the shapes of tensors
    """

    def __init__(self, tape: Tape, error: BaseException | None = None, error_text: str = "") -> None:
        self.tape, self.error, self.error_text = tape, error, error_text
        self.program: Group = grouped(tape.steps)
        self._view: dict | None = None

    @property
    def totals(self) -> dict[str, int]:
        """The bytes that are kept for backward, of activations, inputs and parameters. Each storage counts once.

        >>> import tinytorch as torch
        >>> graph(torch.nn.Linear(4, 2), torch.ones(3, 4)).totals
        {'activation': 0, 'input': 48, 'parameter': 0}
        """
        return {kind: self.tape.kept_bytes(kind) for kind in (ACTIVATION, INPUT, PARAMETER)}

    def compare(self, other: Graph) -> Comparison:
        """The memory that `other` keeps for backward and this graph does not, and the other way round.

        >>> import tinytorch as torch
        >>> x = torch.ones(4, requires_grad=True)
        >>> print(graph(x.exp()).compare(graph(x.exp().exp())))
        kept for backward in the one and in the other
         difference  first  second  kind        module  operation  name
                 16     16      32  activation          exp        result
        activations 16 B and 32 B, inputs 0 B and 0 B, parameters 0 B and 0 B
        """
        return Comparison(self, other)

    def view(self) -> dict:
        """The graph as plain data, for drawing; see view.py.

        >>> import tinytorch as torch
        >>> data = graph(torch.nn.Linear(4, 2), torch.ones(3, 4)).view()
        >>> data["title"], [element["name"] for element in data["elements"] if element["kind"] == "op"]
        ('Linear', ['addmm'])
        """
        if self._view is None:
            self._view = plans(view(self))
        return self._view

    def svg(self, unfold: str | Iterable[str] = (), theme: str | None = None, backward: bool = True) -> str:
        """The picture as SVG. Repeats are folded, and so are groups where there would be too many boxes.

        unfold    names or module paths of the groups to unfold; a repeat unfolds to one of its turns; "all": all groups
        theme     "light" or "dark"; None: the preference of the reader's system
        backward  whether the picture shows the backward graph beside the forward graph

        ValueError if nothing has a name in `unfold`.

        >>> import tinytorch as torch
        >>> blocks = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh()) for _ in "abc"])
        >>> picture = graph(blocks, torch.ones(2, 4))
        >>> "Sequential x3" in picture.svg(), "tanh" in picture.svg(), "tanh" in picture.svg("Sequential x3")
        (True, False, True)
        """
        data = self.view()
        return draw(data, unfolded(data, unfold), theme, backward)

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | os.PathLike, unfold: str | Iterable[str] = (), theme: str | None = None,
             memory: Memory | None = None) -> None:
        """Writes the picture: .svg, .png, .dot or .html by the suffix of `path`. The HTML page is one file that folds
        and unfolds in a browser. `unfold` and `theme` as in `svg`; DOT has all operations, and no theme.

        memory    the result of `viz.memory` for a step, which the HTML page shows below the graph: a click on one of
                  its rows finds the operation

        ValueError for another suffix, and for memory in another file than the page.

        >>> import tempfile, tinytorch as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph(model, torch.ones(3, 4)).save(f"{folder}/model.svg")
        """
        files = {".svg": lambda: self.svg(unfold, theme), ".png": lambda: png(self.svg(unfold, theme or "light")),
                 ".dot": lambda: dot(self.view()), ".html": lambda: page(self.view(), unfold, theme, memory)}
        save(os.fspath(path), files if memory is None else {".html": files[".html"]})

    def __repr__(self) -> str:
        ended = f", ended by {type(self.error).__name__}" if self.error is not None else ""
        return (f"<graph of {len(self.tape.steps)} operations, {len(self.tape.leaves)} leaves, "
                f"{self.totals[ACTIVATION]} bytes of activations kept{ended}>")


def graph(loss_or_module: Tensor | Module | Callable, *inputs: Any,
          params: Mapping[str, Tensor] | None = None) -> Graph:
    """The graph of a loss (a tensor, or several in a tuple or list), or of the call of a module or function with
    `inputs`. Only the graph of a call knows the line of the program that made an operation.

    params   names of leaves, for instance dict(model.named_parameters()); those of a module are known

    If the forward raises, the graph has the operations that ran before, and its `error` is the exception.

    >>> import tinytorch as torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    >>> graph(model, torch.ones(3, 4))
    <graph of 3 operations, 4 leaves, 96 bytes of activations kept>
    """
    named = dict(params or {})
    if not callable(loss_or_module):
        if inputs:
            raise TypeError("graph(): inputs are given to a module or a function, not to a loss")
        return Graph(Tape(_roots(loss_or_module), named))
    if isinstance(loss_or_module, Module):
        named = dict(loss_or_module.named_buffers()) | dict(loss_or_module.named_parameters()) | named
    given = dict(named_tensors(inputs[0] if len(inputs) == 1 else inputs, "input"))
    with Recorder(loss_or_module) as recorder:
        try:
            roots, error, text = _roots(loss_or_module(*inputs)), None, ""
        except Exception as raised:
            roots, error, text = _unused(recorder.origins), raised, _told(raised)
            warn(f"graph(): the forward ended early: {text}")
        tape = Tape(roots, named, given, recorder.origins, recorder.before)
    return Graph(tape, error, text)


def named_tensors(value: Any, name: str) -> Iterator[tuple[str, Tensor]]:
    """(name, tensor) of the tensors in some arguments."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, x in value.items():
            yield from named_tensors(x, f"{name} {key}")
    elif isinstance(value, (tuple, list)):
        for k, x in enumerate(value):
            yield from named_tensors(x, f"{name} {k}")


def _roots(value: Any) -> list[Tensor]:
    """The tensors in a result from which backward could start. RuntimeError if there is none."""
    found = [t for _, t in named_tensors(value, "") if t.requires_grad]
    if not found:
        raise RuntimeError("graph(): no tensor in the result requires grad, so that nothing was recorded")
    return found


def _unused(nodes: Iterable[Node]) -> list[Node]:
    """The nodes to which no other node leads."""
    nodes = list(nodes)
    used = {id(e) for node in nodes for edge in node.edges for e in (edge, *getattr(edge, "edges", ()))}
    return [node for node in nodes if id(node) not in used]


def _told(error):
    """The text of an error, and the shapes of the tensors among the variables of the function that raised it. If
    possible this is a function outside of this package."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    package = __name__.split(".")[0]
    own = [f for f in frames if f.f_globals.get("__name__", "").split(".")[0] != package]
    frame = (own or frames)[-1]
    shapes = [f"{name} {list(x.shape)} {x.dtype.name}" for name, x in frame.f_locals.items() if isinstance(x, Tensor)]
    where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    return f"{type(error).__name__}: {error}" + (f" ({where}, with {', '.join(shapes)})" if shapes else f" ({where})")
