"""A model behind HTTP with the standard library: POST /predict with {"inputs": [[...]]} answers {"outputs": [[...]]}.

    python app.py model.pt [port]

`model.pt` is a state dict from torch.save of PyTorch or of tinytorch; `network` is the model that it fits. With `import
torch` the file runs under PyTorch too.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import tinytorch as torch
from tinytorch import nn

LARGEST = 1 << 20                              # the largest number of bytes of a request


def network():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))


def server(path, port):
    """A server with the model at `path`, on a port (0 for any free one)."""
    model = network().eval()
    model.load_state_dict(torch.load(path, map_location="cpu", mmap=True))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                size = int(self.headers.get("Content-Length", 0))
                if self.path != "/predict" or size > LARGEST:
                    return self.answer(404 if self.path != "/predict" else 413, {"error": "POST /predict, up to 1 MB"})
                inputs = torch.tensor(json.loads(self.rfile.read(size))["inputs"], dtype=torch.float32)
                with torch.inference_mode():
                    self.answer(200, {"outputs": model(inputs).tolist()})
            except (ValueError, KeyError, TypeError, RuntimeError) as error:
                self.answer(400, {"error": str(error)})

        def answer(self, status, content):
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    return ThreadingHTTPServer(("", port), Handler)


if __name__ == "__main__":
    server(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8000).serve_forever()
