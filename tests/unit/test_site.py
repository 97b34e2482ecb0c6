"""The site (.ci/site/build) in a real browser: every page and link, the search, the embedded graphs."""
import functools
import http.server
import importlib.util
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

pytest.importorskip("igraph", reason="pictures need the extra viz")
pytest.importorskip("material", reason="the site needs the extra docs")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright from the package index")

from .test_viz_page import BROWSER  # noqa: E402

pytestmark = [                                 # it takes a minute and a half: .ci/run runs it
    pytest.mark.skipif(BROWSER is None, reason="needs a chromium: apt-get install chromium, or playwright"),
    pytest.mark.sweep]
ROOT = Path(__file__).parents[2]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site. The build takes warnings for errors."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(["bash", str(ROOT / ".ci/site/build"), str(folder)], capture_output=True, text=True,
                          env={**os.environ, "PYTHON": sys.executable})
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def address(site):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield running
        running.close()


def test_every_page_and_link(site, address, browser):
    """Each page loads without an error, asks for nothing from elsewhere, and its links lead to pages and places that
    there are."""
    page, errors, asked = browser.new_page(), [], set()
    page.set_default_timeout(120000)           # the page of torch's top has a thousand entries
    page.on("pageerror", lambda error: errors.append((page.url, str(error))))
    page.on("console", lambda message: message.type == "error" and errors.append((page.url, message.text)))
    page.on("request", lambda request: asked.add(request.url))
    page.on("response", lambda response: response.status >= 400 and errors.append((response.url, response.status)))
    paths = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html") if path.name != "404.html")
    links, places = {}, {}
    for path in paths:
        url = urljoin(address, path.removesuffix("index.html"))
        page.goto(url, wait_until="domcontentloaded")
        text = (site / path).read_text(encoding="utf-8")
        assert len(text) > 1000, path
        links[url] = [urljoin(url, target) for target in re.findall(r'<a [^>]*?href="([^"]*)"', text)]
        places[url] = set(re.findall(r' id="([^"]*)"', text))
    assert len(paths) > 60 and not errors
    assert not [url for url in asked if urlsplit(url).scheme in ("http", "https") and not url.startswith(address)]
    lost = []
    for url, targets in links.items():
        for target in targets:
            whole, place = urldefrag(target)
            if whole.startswith(address) and (
                    whole not in places and not (site / whole[len(address):]).is_file()
                    or place and whole in places and unquote(place) not in places[whole]):
                lost.append((url, target))
    assert not lost


def test_search(address, browser):
    for words, wanted in (("logsumexp", "#logsumexp"), ("ConvTranspose2d", "#ConvTranspose2d"),
                          ("differentiable graphs", "differentiable_graphs")):
        page = browser.new_page()
        page.set_default_timeout(120000)
        page.goto(address)
        page.locator("input.md-search__input").press_sequentially(words)
        page.wait_for_function("wanted => [...document.querySelectorAll('.md-search-result__link')].some("
                               "a => a.href.includes(wanted))", arg=wanted)
        page.close()


def test_embedded_graphs(address, browser):
    """The pages of tinytorch.viz are in frames, drawn, and a box answers a click."""
    page = browser.new_page()
    page.goto(address + "graphs/", wait_until="load")
    frames = [frame for frame in page.frames if frame is not page.main_frame]
    assert len(frames) == 3
    for frame in frames:
        frame.wait_for_selector("svg")
        assert frame.evaluate("() => document.querySelectorAll('svg g').length") > 3


def test_every_public_name_has_an_entry(site):
    """Of the modules that the reference shows: a heading for each name, and its examples."""
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / ".ci/site/hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    count = 0
    for rooms in hooks.GROUPS.values():
        for room in rooms:
            text = (site / hooks.path_of(room).removesuffix(".md") / "index.html").read_text(encoding="utf-8")
            headings = set(re.findall(r'<h2 id="([^"]+)"', text))
            names = set(hooks.entries_of(room))
            assert names and names <= headings, (room, names - headings)
            count += len(names)
    assert count > 2400
