"""The example of a model behind HTTP."""
import importlib.util
import json
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import tinytorch as torch

SOURCE = Path(__file__).parents[2] / "examples" / "serve" / "app.py"


@pytest.fixture
def served(tmp_path):
    spec = importlib.util.spec_from_file_location("app", SOURCE)
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    model = app.network()
    torch.save(model.state_dict(), tmp_path / "model.pt")
    server = app.server(tmp_path / "model.pt", 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield model, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join(timeout=10)
    server.server_close()
    assert not thread.is_alive()


def post(address, content):
    request = urllib.request.Request(address, content if isinstance(content, bytes) else json.dumps(content).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def test_answers(served):
    model, address = served
    x = torch.randn(2, 784)
    found = post(address + "/predict", {"inputs": x.tolist()})["outputs"]
    torch.testing.assert_close(torch.tensor(found), model(x).detach())
    for path, content, status in [("/predict", b"{", 400), ("/predict", {"inputs": [[1.0]]}, 400),
                                  ("/predict", {}, 400), ("/other", {}, 404)]:
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(address + path, content)
        with caught.value as answer:
            assert answer.code == status and "error" in json.load(answer)
