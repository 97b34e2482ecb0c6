"""tinytorch.viz: pictures of a graph: what is drawn, where, and how large."""
import re
import sys

import pytest

import tinytorch as torch
from tinytorch import nn, viz
from tinytorch.viz.captions import size
from tinytorch.viz.place import CHARACTER, SIZES, Places, width
from tinytorch.viz.svg import unfolded
from tinytorch.viz.view import view

from . import viz_models as models

pytest.importorskip("igraph", reason="pictures need the extra viz")
NETWORKS = [models.layer, models.gru, models.gates, models.gpt, models.branches, models.frozen]
#: Unfolded to one turn: the outermost repeat of each network, and what is in it.
TURNS = {"gru": "GRUCell x28", "gates": "Gates x28", "gpt": "Block x12"}


def states(network):
    yield ()
    if network.__name__ in TURNS:
        yield TURNS[network.__name__]
    yield "all"


CASES = [pytest.param(network, state, id=f"{network.__name__}-{state or 'folded'}")
         for network in NETWORKS for state in states(network)]


class Scene:
    """The rectangles of a picture: `bodies` (rectangle, element, depth), `labels` (rectangle, text)."""

    def __init__(self, graph, unfold=()):
        self.data = graph.view()
        self.places = Places(self.data, unfolded(self.data, unfold))
        self.root = self.places.box(self.data["root"])
        self.bodies, self.labels, self.frames = [], [], []
        self._walk(self.root, 0, 0)

    def _walk(self, box, x, y):
        bx, by, bw, bh = box.body
        rectangle = (x + bx, y + by, x + bx + bw, y + by + bh)
        (self.frames if box.state else self.bodies).append((rectangle, box.element))
        if box.state:
            head, = [self.places.head(box.element, box.state)[0]]
            self.labels.append(((x + 8, y + 5, x + 8 + width(*head), y + 16), head[0]))
        for at, down, (words, style) in box.texts:
            self.labels.append(((x + at, y + down - 9, x + at + width(words, style), y + down + 2), words))
        for inner, a, b in box.inner:
            self._walk(inner, x + a, y + b)


def overlap(a, b):
    return a[0] < b[2] - .01 and b[0] < a[2] - .01 and a[1] < b[3] - .01 and b[1] < a[3] - .01


def inside(a, b):
    return a[0] >= b[0] - .01 and a[1] >= b[1] - .01 and a[2] <= b[2] + .01 and a[3] <= b[3] + .01


def clashes(rectangles):
    """The pairs that overlap, found along y."""
    found, near = [], []
    for r in sorted(rectangles, key=lambda r: r[0][1]):
        near = [other for other in near if other[0][3] > r[0][1]]
        found += [(other[1], r[1]) for other in near if overlap(other[0], r[0])]
        near.append(r)
    return found


@pytest.mark.parametrize("network, unfold", CASES)
def test_nothing_overlaps_and_no_text_is_cut(network, unfold):
    scene = Scene(network(), unfold)
    bodies = [(r, e["name"]) for r, e in scene.bodies]
    assert len(bodies) > 3 and not clashes(bodies + scene.labels)
    picture = (0, 0, scene.root.w, scene.root.h)
    for rectangle, _ in bodies + scene.labels + [(r, "") for r, _ in scene.frames]:
        assert inside(rectangle, picture)
    for a, one in scene.frames:                # frames lie in each other or apart
        assert all([inside(a, b) or inside(b, a) or not overlap(a, b) for b, _ in scene.frames]), one
        assert all([inside(b, a) or not overlap(a, b) for b, _ in bodies]), one["name"]
    for rectangle, element in scene.bodies:
        for lines in element["lines"]:
            assert all([width(*line) <= rectangle[2] - rectangle[0] for line in lines])
            assert len(lines) * 16 <= rectangle[3] - rectangle[1]


@pytest.mark.parametrize("network, unfold", CASES)
def test_wires_cross_no_box(network, unfold):
    scene = Scene(network(), unfold)
    boxes, lines = [], []

    def walk(box, x, y):
        if not box.state:
            bx, by, bw, bh = box.body
            boxes.append((x + bx, y + by, x + bx + bw, y + by + bh))
        for _, points, _ in box.wires:
            lines.extend([(x + a, y + b, x + c, y + d) for (a, b), (c, d) in zip(points, points[1:])])
        for inner, a, b in box.inner:
            walk(inner, x + a, y + b)
    walk(scene.root, 0, 0)
    assert lines
    for x0, y0, x1, y1 in lines:
        line = min(x0, x1), min(y0, y1) + .1, max(x0, x1), max(y0, y1) - .1
        if x0 == x1:                           # a straight piece, beside a row of boxes
            assert not [b for b in boxes if b[0] < x0 < b[2] and overlap((x0 - .1, line[1], x0 + .1, line[3]), b)]


def drawn(svg):
    """How often each element is drawn."""
    numbers = [int(n) for n in re.findall(r'data-element="(\d+)"', svg)]
    return {n: numbers.count(n) for n in numbers}


@pytest.mark.parametrize("network", NETWORKS)
def test_all_nodes_are_there_forward_and_backward(network):
    graph = network()
    elements = graph.view()["elements"]
    times = drawn(graph.svg("all"))
    for e in elements:
        only_forward = e["kind"] in ("input", "parameter") and not e["grad"]
        assert times[e["id"]] == 1 + (not only_forward), e["name"]
    assert set(drawn(graph.svg("all", backward=False)).values()) == {1}
    assert len([e for e in elements if e["kind"] == "op"]) == len(graph.tape.steps)


@pytest.mark.parametrize("network", NETWORKS)
def test_bytes_are_on_the_wires_and_each_is_counted_once(network):
    graph = network()
    data = graph.view()
    labelled = sum([t["bytes"] for t in data["tensors"]]) + sum([e.get("extra", 0) for e in data["elements"]])
    assert labelled == sum(graph.totals.values())
    assert data["elements"][data["root"]]["keeps"] == graph.totals
    svg = graph.svg("all")
    for tensor in data["tensors"]:
        assert not tensor["bytes"] or f">keeps {size(tensor['bytes'])}</text>" in svg
    for kind, n in graph.totals.items():
        assert f"{kind}s {size(n)}" in svg


def test_red_is_what_backward_needs():
    data = models.layer().view()
    by_name = {e["name"]: e for e in data["elements"]}
    assert by_name["tanh"]["red"] and by_name["mse_loss"]["red"]
    wires = {(data["elements"][data["tensors"][w["tensor"]]["from"]]["name"], data["elements"][w["to"]]["name"]):
             w["kept"] for w in data["wires"]}
    assert wires == {("input 0", "addmm"): "kept", ("fc.weight", "addmm"): "", ("fc.bias", "addmm"): "",
                     ("addmm", "tanh"): "", ("tanh", "mse_loss"): "kept", ("input 1", "mse_loss"): "kept",
                     ("mse_loss", "output"): ""}
    x = torch.ones(3, requires_grad=True)
    exp = viz.graph(x.exp().view(3, 1).cos().sum()).view()             # cos keeps the memory of exp through the view
    assert [w["kept"] for w in exp["wires"]] == ["", "kept", "alias", "", ""]
    data = viz.graph((x + 1).sum()).view()
    assert not [e for e in data["elements"] if e.get("red")]


def test_what_an_operation_makes_for_itself_is_not_its_inputs():
    lstm = nn.LSTM(8, 8)
    graph = viz.graph(lambda x: lstm(x)[0].sum(), torch.ones(5, 2, 8))
    bytes_of = {e["name"]: sum([t["bytes"] for t in graph.view()["tensors"] if t["from"] == e["id"]])
                for e in graph.view()["elements"]}
    assert bytes_of["input"] == 320 == graph.totals["input"]
    lstm, = [e for e in graph.view()["elements"] if e["name"] == "lstm"]
    assert lstm["extra"] + bytes_of["lstm"] == graph.totals["activation"]


def test_each_kept_storage_names_its_maker_and_who_needs_it():
    graph = models.layer()
    data = graph.view()
    names = [e["name"] for e in data["elements"]]
    storage, = [s for s in data["storages"] if s["maker"] is not None and names[s["maker"]] == "tanh"]
    assert storage["bytes"] == 96 and [names[k] for k in storage["keepers"]] == ["tanh", "mse_loss"]
    tanh = data["elements"][names.index("tanh")]
    assert tanh["file"].endswith("viz_models.py") and "tanh()" in tanh["text"] and tanh["calls"] == "(model): Layer"
    op = data["ops"][tanh["op"]]
    assert op["formula"]["text"] == "return shared(fine.tanh, input)" and op["rules"][0]["argument"] == "input"
    assert op["formula"]["line"] > 0 and op["formula"]["file"].endswith(".py")


def extent(svg):
    return tuple([float(x) for x in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()])


def test_folded_networks_fit_one_screen_and_grow_when_unfolded():
    for network, title in ((models.gru, "GRUCell x28"), (models.gates, "Gates x28"), (models.gpt, "Block x12")):
        graph = network()
        folded, one, every = [graph.svg(unfold) for unfold in ((), title, "all")]
        assert title in folded and extent(folded)[0] <= 1920 and extent(folded)[1] <= 1080
        assert f"{title} (one turn of {title.split('x')[1]})" in one
        assert extent(folded)[1] < extent(one)[1] < extent(every)[1]
        assert len(drawn(folded)) < len(drawn(one)) < len(drawn(every))


def test_what_several_turns_use_stands_outside_of_them():
    data = models.gru().view()
    root = data["elements"][data["root"]]
    inside = [data["elements"][m]["name"] for m in root["members"]]
    assert {"cell.weight_ih", "cell.bias_hh", "input 0", "GRUCell x28"} <= set(inside)
    repeat, = [e for e in data["elements"] if e["kind"] == "repeat"]
    assert len(repeat["turns"]) == 28
    assert "made here" in [data["elements"][m]["name"] for m in repeat["turns"][0]]    # zeros, for the first turn alone


def test_unfold_by_name_and_by_path():
    graph = models.gpt()
    shown = graph.svg("h.3.attn")
    assert "attn: Attention" in shown and "attn: Attention" not in graph.svg()
    with pytest.raises(ValueError, match="nothing to unfold that is called 'attention'"):
        graph.svg("attention")


def test_an_error_is_drawn_above_what_ran():
    with pytest.warns(UserWarning, match="ended early"):
        graph = viz.graph(models.Wrong(), torch.ones(3, 4))
    scene = Scene(graph)
    assert not clashes([(r, e["name"]) for r, e in scene.bodies] + scene.labels)
    places = {e["name"]: r for r, e in scene.bodies}
    assert places["RuntimeError"][3] < places["relu"][1] < places["addmm"][1]
    svg = graph.svg()
    assert "3x8 and 7x2" in svg and "hidden [3, 8]" in svg and "backward</text>" not in svg


def test_both_grounds_have_colours_of_their_own():
    graph = models.layer()
    light, dark = graph.svg(theme="light"), graph.svg(theme="dark")
    assert "#ffffff" in light and "#0d1117" not in light and "#0d1117" in dark
    own = graph._repr_svg_()
    assert "prefers-color-scheme: dark" in own and "#ffffff" in own and "#0d1117" in own


def test_text_is_never_wider_than_measured():
    pytest.importorskip("matplotlib", reason="the font of PNG pictures comes with matplotlib")
    from matplotlib import get_data_path
    from matplotlib.ft2font import FT2Font
    for name in ("DejaVuSansMono", "DejaVuSansMono-Bold"):
        font = FT2Font(f"{get_data_path()}/fonts/ttf/{name}.ttf")
        font.set_size(100, 72)
        for c in "mW@[]0.xé":
            assert font.load_char(ord(c)).linearHoriAdvance / 65536 <= CHARACTER * 100
    assert width("ab", "name") == 2 * CHARACTER * SIZES["name"] and width("日本", "note") == 2 * width("ab", "note")


def test_save_by_suffix(tmp_path):
    graph = models.layer()
    graph.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == graph.svg()
    graph.save(str(tmp_path / "a.html"))
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "http://www.w3.org/2000/svg" in page and not re.search(r"(src|href)=|@import|url\(|fetch\(", page)
    for path in ("a.pdf", "a"):
        with pytest.raises(ValueError, match=r"as .svg, .png, .dot or .html, not as"):
            graph.save(tmp_path / path)


def test_png_shows_text_without_fonts_of_the_system(tmp_path):
    pytest.importorskip("resvg_py", reason="PNG needs the extra viz")
    image = pytest.importorskip("matplotlib.image", reason="PNG needs the extra viz")
    graph = models.layer()
    graph.save(tmp_path / "a.png")
    pixels = image.imread(tmp_path / "a.png")
    w, h = extent(graph.svg())
    assert abs(pixels.shape[0] - 2 * h) <= 2 and abs(pixels.shape[1] - 2 * w) <= 2
    legend = pixels[-140:-110, 40:600, :3]     # text alone: dark on white
    assert legend.max() == 1 and legend.min() < .6


def test_dot_holds_all_operations(tmp_path):
    graph = models.gpt()
    graph.save(tmp_path / "a.dot")
    text = (tmp_path / "a.dot").read_text(encoding="utf-8")
    data = graph.view()
    assert text.startswith("digraph {") and text.count("{") == text.count("}")
    assert text.count("->") == len(data["wires"]) and text.count("style=dotted") == len(
        [w for w in data["wires"] if w["kept"] == "alias"]) > 0
    for e in data["elements"]:
        assert ("subgraph cluster_" if e["kind"] in ("group", "repeat") else "n") + str(e["id"]) in text


def test_without_igraph_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    graph = models.gru()
    with pytest.raises(ImportError, match=r'pip install "tinytorch-numpy\[viz\]"'):
        graph.svg()
    assert view(graph)["elements"]             # the data needs nothing


def test_names_are_escaped():
    class Odd(nn.Module):
        def forward(self, x):
            return x * torch.ones(2, requires_grad=True)
    Odd.__name__ = "</script><b>&"
    graph = viz.graph(Odd(), torch.ones(2))
    assert "<b>" not in graph.svg() and "&lt;b&gt;&amp;" in graph.svg()
    from tinytorch.viz.page import page
    assert "</script><b>" not in page(graph.view())
