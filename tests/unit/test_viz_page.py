"""tinytorch.viz: the HTML pages of a graph and of memory in a real browser."""
import os
import re
import shutil

import pytest

import tinytorch as torch
from tinytorch import viz

from . import viz_models as models

pytest.importorskip("igraph", reason="pictures need the extra viz")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright from the package index")


def installed():
    """The path of a Chromium: of the system, or playwright's own; None without one."""
    found = [path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path]
    if not found:
        with playwright.sync_playwright() as started:
            found = [path for path in [started.chromium.executable_path] if os.path.exists(path)]
    return found[0] if found else None


BROWSER = installed()
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs a chromium: apt-get install chromium, or playwright")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def shown(browser, tmp_path):
    """Opens the page of a Graph or a Memory without a network; it must raise no error and ask for nothing else."""
    context, errors, asked = browser.new_context(viewport={"width": 1600, "height": 900}, offline=True), [], []

    def show(graph, **options):
        path = tmp_path / "graph.html"
        graph.save(path, **options)
        page = context.new_page()
        page.set_default_timeout(10000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page
    yield show
    context.close()
    assert not errors and len(set(asked)) == 1


def element(graph, name, kind="op"):
    """The place in the page of the first element of a name."""
    found = next(e for e in graph.view()["elements"] if e["name"] == name and e["kind"] == kind)
    return f'.forward [data-element="{found["id"]}"]'


def drawn(text):
    """What a picture shows: all boxes with their places, all texts, all wires."""
    boxes = re.findall(r'data-element="(\d+)".*?<rect x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)"', text)
    return ([[float(x) for x in box] for box in boxes],
            re.findall(r'<text [^>]*>([^<]*)<', text), len(re.findall(r'<path class="wire', text)))


@pytest.mark.parametrize("name", ["layer", "gru", "gates", "gpt", "branches", "frozen"])
@pytest.mark.parametrize("unfold", [(), "all"])
def test_the_page_draws_what_the_svg_shows(shown, name, unfold):
    graph = getattr(models, name)()
    page = shown(graph, unfold=unfold)
    there = drawn(page.inner_html("#picture"))
    here = drawn(graph.svg(unfold))
    assert here[1] == there[1] and here[2] == there[2] and len(here[0]) == len(there[0]) > 3
    for a, b in zip(here[0], there[0]):
        assert a == pytest.approx(b, abs=.15)          # rounded to tenths


def test_a_repeat_unfolds_to_one_turn_then_to_all_and_folds(shown):
    graph = models.gates()
    page = shown(graph)
    repeat, heights = element(graph, "Gates x28", "repeat"), []
    cells = page.locator(".forward .group.open", has_text="cell: Gates")
    assert cells.count() == 0 and page.locator(".forward", has_text="sigmoid").count() == 0
    page.click(repeat)
    assert "(one turn of 28)" in page.inner_html("#picture") and cells.count() == 1
    assert page.locator(".forward text", has_text="sigmoid").count() == 2
    heights.append(page.locator("#picture svg").get_attribute("height"))
    page.click(f"{repeat} .handle")
    assert page.locator(".forward .group", has_text="cell: Gates").count() == 28
    page.click(f"{repeat} .handle")
    assert page.locator(".forward .group", has_text="cell: Gates").count() == 0
    heights.append(page.locator("#picture svg").get_attribute("height"))
    assert float(heights[0]) > float(heights[1])
    page.click("#all")
    assert page.locator("#picture [data-element]").count() > 500
    page.click("#none")
    assert page.locator("#picture [data-element]").count() < 50
    page.locator(repeat).focus()
    page.keyboard.press("Enter")
    assert "(one turn of 28)" in page.inner_html("#picture")


def test_hovering_shows_formula_rules_and_what_is_kept(shown):
    graph = models.layer()
    page = shown(graph)
    page.hover(element(graph, "tanh"))
    said = page.inner_text("#about")
    assert "tanh / TanhBackward0" in said and "fine.tanh, input" in said and "derivative by input" in said
    assert re.search(r"viz_models\.py:\d+", said) and re.search(r"ops/elementwise/\w+\.py:\d+", said)
    assert "result [3, 8] float32: 96 B of activation, counted here" in said
    assert re.search(r"made by (\S+: )?tanh; needed by the backward of tanh, mse_loss", said)
    page.hover(element(graph, "mse_loss"))
    said = page.inner_text("#about")
    assert "counted elsewhere" in said and "given from outside" in said and "derivative" in said
    page.hover(element(graph, "fc.weight", "parameter"))
    assert "makes [8, 4] float32" in page.inner_text("#about")


def test_a_click_follows_the_gradient(shown):
    graph = models.gates()
    page = shown(graph, unfold="Gates x28")
    number = [e["id"] for e in graph.view()["elements"] if e["name"] == "tanh"][1]     # of the turn that is shown
    tanh = f'.forward [data-element="{number}"]'
    page.click(tanh)
    names = page.locator(".forward .lit").all_inner_texts()
    text = " ".join(page.locator(".forward .lit text").all_text_contents())
    assert names and "tanh" in text and "nll_loss" in text and "cell.x.weight" in text and "rsub" not in text
    assert "output" in text and page.locator(".backward .lit text", has_text="TanhBackward0").count() == 1
    assert page.locator(".forward .wire.lit").count() > 5 and page.locator(".backward .wire.lit").count() > 5
    opacity = "e => getComputedStyle(e).opacity"
    assert float(page.locator(".forward g.op:not(.lit), .forward g.red:not(.lit)").first.evaluate(opacity)) < .5
    assert float(page.locator(tanh).evaluate(opacity)) == 1
    page.click(tanh)
    assert page.locator(".path").count() == 0


def test_find_by_operation_module_and_shape(shown):
    graph = models.gpt()
    page = shown(graph)
    page.fill("#find", "softmax")
    assert page.inner_text("#found") == "1 found" and page.locator(".forward .found").count() == 0
    page.press("#find", "Enter")
    assert "softmax" in page.locator(".forward .found").text_content()
    assert "softmax / SoftmaxBackward0" in page.inner_text("#about")
    assert page.locator(".forward .found").evaluate("e => { const r = e.getBoundingClientRect();"
                                                    "return r.top > 0 && r.bottom < innerHeight; }")
    page.fill("#find", "h.1.mlp")
    assert int(page.inner_text("#found").split()[0]) >= 4
    page.fill("#find", "[2, 16, 128]")
    assert int(page.inner_text("#found").split()[0]) == 2
    page.fill("#find", "no such thing")
    assert page.inner_text("#found") == "0 found" and page.locator(".found").count() == 0


def test_light_and_dark(shown):
    page = shown(models.layer())
    ground = "e => getComputedStyle(e).fill"
    seen = [page.locator(".ground").evaluate(ground)]
    page.click("#theme")
    seen.append(page.locator(".ground").evaluate(ground))
    assert seen == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]
    page.uncheck("#backward")
    assert page.locator(".backward").count() == 0 and page.locator(".forward .op, .forward .red").count() == 3


def test_no_text_leaves_its_box_in_the_browser(shown):
    page = shown(models.gpt(), unfold="all")
    outside = page.evaluate("""() => [...document.querySelectorAll("[data-element]:not(.open)")].filter((g) => {
        const box = g.querySelector("rect").getBBox();
        return [...g.querySelectorAll("text")].some((t) => {
            const b = t.getBBox(), right = b.x + b.width, low = b.y + b.height;
            return b.x < box.x || right > box.x + box.width || b.y < box.y || low > box.y + box.height;
        });
    }).length""")
    assert outside == 0 and page.locator("[data-element]:not(.open)").count() > 100


# ------------------------------------------------------------------ memory
def measured():
    """A small GPT and what a step of it keeps."""
    model, indices = models.GPT(blocks=3), torch.zeros(2, 16, dtype=torch.int64)
    return viz.graph(model, indices, indices), viz.memory(lambda: model(indices, indices).backward(), model)


def test_memory_page(shown):
    _, report = measured()
    table = report.checkpoints(repeats=1)
    page = shown(report)
    rows = page.locator("#lives tbody tr")
    assert rows.count() == len(report) > 10 and page.locator("#checkpoints tbody tr").count() == len(table) > 3
    cells = [row.locator("td").all_text_contents() for row in rows.all()]
    assert cells == [[str(x) for x in row] for row in report]
    assert page.inner_text("#checkpoints").splitlines()[0] == "modules under checkpoint"
    assert report.last in page.inner_text("#memory") and "at most" in report.last
    texts = page.locator(".tinytorch-timeline text").all_text_contents()
    assert any(report.at_peak.name in text for text in texts)
    box = page.locator(".tinytorch-timeline").bounding_box()
    assert box["width"] == 760
    for k in (0, 20, report.events.index(report.at_peak)):
        x = 80 + (760 - 80 - 16) * (k + .5) / len(report.events)
        page.mouse.move(box["x"] + x, box["y"] + 150)
        said, event = page.inner_text("#moment"), report.events[k]
        assert said.startswith(f"{k}: {event.phase} of {event.name}") and event.module in said and "at most" in said
    number = next(k for k, row in enumerate(report) if row[1] == "result")     # of softmax, in all blocks
    rows.nth(number).hover()
    life = page.locator(".tinytorch-timeline .life").bounding_box()
    step = (760 - 80 - 16) / len(report.events)
    assert life["width"] == pytest.approx(step * (report.rows[number][8] - report.rows[number][7]), abs=3)
    assert "http" not in page.content().replace("http://www.w3.org/2000/svg", "")


def test_memory_below_the_graph(shown):
    graph, report = measured()
    page = shown(graph, memory=report)
    assert page.locator("#lives tbody tr").count() == len(report) and page.locator("#checkpoints").count() == 0
    number = next(k for k, row in enumerate(report) if row[1] == "result")
    assert page.locator(".forward text", has_text="softmax").count() == 0
    page.locator("#lives tbody tr").nth(number).click()
    assert "softmax" in page.locator(".forward .found").text_content()
    assert page.locator(".forward text", has_text="softmax").count() == 1      # of the turn that is shown
    page.wait_for_timeout(300)                 # what comes to lie under the pointer takes nothing away
    assert page.inner_text("#about").startswith("softmax / SoftmaxBackward0")
    page.hover(element(graph, "embedding"))
    assert page.inner_text("#about").startswith("embedding / EmbeddingBackward0")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_memory_light_and_dark(shown, theme):
    _, report = measured()
    page = shown(report, theme=theme)
    fill = "e => getComputedStyle(e).fill"
    grounds = {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}
    ground, text = page.locator(".tinytorch-timeline .ground"), page.locator(".tinytorch-timeline text").first
    assert ground.evaluate(fill) == grounds[theme] and text.evaluate(fill) != grounds[theme]
    page.click("#theme")
    assert ground.evaluate(fill) != grounds[theme]


def test_no_text_of_a_timeline_is_cut_or_covered(shown):
    reports = [measured()[1]]
    x, late = torch.ones(64, 64, requires_grad=True), torch.nn.Linear(64, 64)
    reports.append(viz.memory(lambda: x.exp().sum().backward()))

    def long():                                # backward begins late
        y = x
        for _ in range(40):
            y = y.exp()
        late(y).sum().backward(inputs=[late.bias])
    reports.append(viz.memory(long))
    for report in reports:
        page = shown(report)
        boxes = page.evaluate("""() => [...document.querySelectorAll(".tinytorch-timeline text")].map((t) => {
            const b = t.getBBox();
            return [b.x, b.y, b.x + b.width, b.y + b.height];
        })""")
        assert all(b[0] >= 0 and b[1] >= 0 and b[2] <= 760 and b[3] <= 316 for b in boxes)
        for k, a in enumerate(boxes):
            assert not [b for b in boxes[:k] if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] - 2 and b[1] < a[3] - 2]
