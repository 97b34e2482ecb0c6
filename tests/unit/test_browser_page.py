"""The example that trains in a browser: its program, its server, and its page in a headless Chromium, as far as what is
here lets it go. Pyodide comes from npm's package `pyodide`, or from the folder that PYODIDE in the environment names.
NumPy for it is in that folder, or the page has to say that it is missing."""
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

import tinytorch as torch

FOLDER = Path(__file__).parents[2] / "examples" / "browser"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="no examples beside these tests")
#: Stands in for Pyodide: losses fall as they do, and every function that worker.js calls is there.
STANDIN = """
export async function loadPyodide({ indexURL }) {
  const written = {};
  return {
    written,
    runPython: (code) => code.includes("numpy") ? "2.4.6" : code.includes("site") ? "/site" : "3.14.2",
    loadPackage: async (wheel) => { if (!wheel.endsWith(".whl")) throw new Error(wheel); },
    unpackArchive: (bytes, kind) => { if (kind !== "zip" || bytes.byteLength < 1e5) throw new Error("no zip"); },
    FS: { mkdirTree() {}, writeFile: (name, text) => { written[name] = text; } },
    pyimport: (name) => ({ train(report, folder, limit, epochs) {
      if (!written[`/home/pyodide/${name}.py`].includes("def train(report")) throw new Error("no program");
      if (FAILS) throw new Error("ValueError: of Python's");
      report("data", limit, 0.25);
      for (let step = 1; step <= 40; step++) report("loss", step, 2.3 / step);
      for (let epoch = 1; epoch <= epochs; epoch++) report("accuracy", epoch, 0.5 + epoch / 10);
    } }),
  };
}
"""


def loaded(name, folder=FOLDER):
    """A module of its own. That of another test may have been made for torch."""
    spec = importlib.util.spec_from_file_location(f"browser_{name}", folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def serving():
    """serving(**where): the address of the page from a server for these folders."""
    running = []

    def start(**where):
        server = loaded("serve").server(**where)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}/"
    yield start
    for server, thread in running:
        server.shutdown()
        thread.join(timeout=10)
        server.server_close()


def test_the_program_trains_the_papers_network():
    program, said = loaded("train"), []
    program.train(lambda *told: said.append(told), limit=600, epochs=4, every=1)
    losses = [value for kind, _, value in said if kind == "loss"]
    assert said[0][:2] == ("data", 600) and len(losses) == 24 and losses[-1] < 0.9 * losses[0]
    accuracies = [(at, value) for kind, at, value in said if kind == "accuracy"]
    assert [at for at, _ in accuracies] == [1, 2, 3, 4] and accuracies[-1][1] > 0.15


def test_its_network_is_that_of_the_other_example(monkeypatch):
    pytest.importorskip("tqdm", reason="the examples show their progress by tqdm")
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    states = []
    for net in loaded("train").Net, loaded("mnist_rnn", FOLDER.parent).Net:
        torch.manual_seed(0)
        states.append(net().state_dict())
    for name, value in states[0].items():
        assert torch.equal(value, states[1].pop(name))
    assert not states[1]


def test_the_server_has_the_page_and_the_package(serving, tmp_path):
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(b"1")
    (tmp_path / "secret").write_bytes(b"2")
    address = serving(data=tmp_path)

    def got(name):
        with urllib.request.urlopen(address + name, timeout=20) as answer:
            return answer.headers["Content-Type"], answer.read()
    assert got("")[1] == got("index.html")[1] == (FOLDER / "index.html").read_bytes()
    assert got("worker.js")[0] == "text/javascript"        # else browsers refuse a module
    assert got("data/")[1] == b"t10k-images-idx3-ubyte.gz"
    names = set(zipfile.ZipFile(io.BytesIO(got("tinytorch.zip")[1])).namelist())
    assert {"tinytorch/__init__.py", "tinytorch/nn/__init__.py", "tinytorch/standins/refused.txt"} <= names
    assert not [name for name in names if name.endswith((".so", ".dll", ".pyc", ".h"))]
    for missing in "data/secret", "serve.py", "../serve.py", "pyodide/pyodide.mjs":
        with pytest.raises(urllib.error.HTTPError) as caught:
            got(missing)
        caught.value.close()
        assert caught.value.code == 404


def test_the_packed_package_trains(serving, tmp_path):
    """What a browser gets has all that the program needs."""
    (tmp_path / "tinytorch.zip").write_bytes(loaded("serve").package())
    shutil.copy(FOLDER / "train.py", tmp_path)
    done = subprocess.run([sys.executable, "train.py", "--limit", "200", "--epochs", "1"], cwd=tmp_path, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(tmp_path / "tinytorch.zip"),
                                                    "TINYTORCH_NATIVE": ""})
    assert not done.returncode and done.stdout.startswith("data"), done.stderr


# ------------------------------------------------------------------ in a browser
@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright from the package index")
    found = [path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path]
    with playwright.sync_playwright() as started:
        own = started.chromium.executable_path
        if not found and not os.path.exists(own):
            pytest.skip("needs a chromium: apt-get install chromium, or playwright")
        running = started.chromium.launch(executable_path=(found or [own])[0], args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def shown(chromium):
    """shown(address, seconds): the page, when its run has ended."""
    context = chromium.new_context()

    def show(address, seconds=30):
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("body[data-ended]", timeout=1000 * seconds)
        return page
    yield show
    context.close()


def states(page):
    return page.eval_on_selector_all("#stages li", "items => items.map((item) => item.dataset.state)")


def test_a_page_without_pyodide_says_where_it_looked(serving, shown):
    address = serving()
    page = shown(address + "?start")
    assert states(page) == ["missing", "", "", "", ""]
    assert f"There is no Pyodide at {address}pyodide/" in page.inner_text("#said")
    assert page.is_enabled("#start")


@pytest.fixture
def standin(tmp_path):
    def write(fails=False, wheel=True):
        (tmp_path / "pyodide.mjs").write_text(STANDIN.replace("FAILS", json.dumps(fails)))
        lock = {"packages": {"numpy": {"file_name": "numpy-wasm.whl"}}}
        (tmp_path / "pyodide-lock.json").write_text(json.dumps(lock))
        if wheel:
            (tmp_path / "numpy-wasm.whl").write_bytes(b"")
        return tmp_path
    return write


def test_the_page_draws_what_the_program_reports(serving, shown, standin):
    page = shown(serving(pyodide=standin()) + "?start&epochs=2&limit=300")
    assert states(page) == ["done"] * 5
    page.wait_for_function("document.querySelector('polyline').getAttribute('points').split(' ').length == 40")
    heights = [float(point.split(",")[1]) for point in page.get_attribute("polyline", "points").split()]
    assert heights == sorted(heights) and heights[0] < 50 < 240 < heights[-1]      # from the top to the bottom
    assert page.inner_text("#data span").startswith("300 of tinytorch's own drawing")
    assert page.inner_text("#said").startswith("The training ended")
    page.click("#start")                       # once more, from the beginning
    page.wait_for_selector("body[data-ended=done]")


@pytest.mark.parametrize("fails, wheel, at, said", [
    (True, True, ["done", "done", "done", "missing", ""], "ValueError: of Python's"),
    (False, False, ["done", "missing", "", "", ""], "NumPy's wheel is missing: ")])
def test_the_page_says_what_failed(fails, wheel, at, said, serving, shown, standin):
    page = shown(serving(pyodide=standin(fails, wheel)) + "?start")
    assert states(page) == at and said in page.inner_text("#said")


@pytest.mark.sweep
def test_under_pyodide(serving, shown, tmp_path):
    """Its Python reads every file of the package, and has 32 bits; the training runs where NumPy can be had."""
    folder = os.environ.get("PYODIDE")
    if folder is None:
        if shutil.which("npm") is None:
            pytest.skip("needs npm, or PYODIDE, the folder of a Pyodide")
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "pyodide@314"], cwd=tmp_path, timeout=120,
                              capture_output=True, text=True)
        if done.returncode:
            pytest.skip("npm's package pyodide could not be had")
        folder = tmp_path / "node_modules" / "pyodide"
    address = serving(pyodide=folder)
    page = shown(address + "?start&limit=600&epochs=2", 240)
    print(page.inner_text("#stages"), page.inner_text("#said"))
    compiled, bits = page.evaluate("""async () => {
        const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", location.href).href);
        const python = await loadPyodide({ indexURL: new URL("pyodide/", location.href).href });
        python.unpackArchive(await (await fetch("tinytorch.zip")).arrayBuffer(), "zip", { extractDir: "/all" });
        return JSON.parse(python.runPython(`
import json, struct
from pathlib import Path
files = sorted(Path("/all/tinytorch").rglob("*.py"))
for path in files:
    compile(path.read_bytes(), str(path), "exec")
json.dumps([len(files), 8 * struct.calcsize("P")])`));
    }""")
    assert compiled > 400 and bits == 32
    name = json.loads((Path(folder) / "pyodide-lock.json").read_text())["packages"]["numpy"]["file_name"]
    if (Path(folder) / name).exists():
        assert states(page) == ["done"] * 5
        assert page.evaluate("document.querySelector('polyline').getAttribute('points').split(' ').length") == 2
    else:
        assert states(page) == ["done", "missing", "", "", ""]
        assert f"NumPy's wheel is missing: {address}pyodide/{name}" in page.inner_text("#said")
