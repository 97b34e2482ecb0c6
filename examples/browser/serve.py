"""Serves the page that trains in a browser, with the package that is installed here.

    npm install pyodide
    python examples/browser/serve.py --pyodide node_modules/pyodide [--numpy WHEEL] [--data FOLDER] [--port 8000]

--pyodide  the folder of Pyodide: npm's package, or a full release, which has NumPy in it
--numpy    NumPy's wheel for that Pyodide, where the folder has none (npm's package has none)
--data     a folder with MNIST's four files; without it the page trains on digits that tinytorch draws

It is for one person on one machine: it listens on 127.0.0.1 and serves these files alone. Any other server of files
does too: give it index.html, page.js, worker.js, train.py, and what `--write FOLDER` writes for it: tinytorch.zip.
"""
import argparse
import io
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import tinytorch

HERE = Path(__file__).resolve().parent
PAGE = ("index.html", "page.js", "worker.js", "train.py")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript",
         ".json": "application/json", ".wasm": "application/wasm", ".py": "text/x-python; charset=utf-8",
         ".zip": "application/zip"}
MNIST = [f"{part}-{kind}-ubyte{end}" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")
         for end in ("", ".gz")]


def package():
    """The bytes of a zip file with tinytorch as it is installed, without native kernels: they are for this machine."""
    folder, written = Path(tinytorch.__file__).parent, io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder.parent)
            if (path.is_file() and "__pycache__" not in inside.parts and path.suffix not in (".c", ".h", ".pyi", ".so",
                                                                                             ".dll")
                    or path.name == "functions.c"):
                file.write(path, inside)
    return written.getvalue()


def server(pyodide=None, numpy=None, data=None, port=0):
    """The server, on a port of 127.0.0.1 (0: a free one)."""
    files = {f"/{name}": HERE / name for name in PAGE}
    files["/"] = HERE / "index.html"
    for folder, below in (pyodide, "/pyodide/"), (data, "/data/"):
        if folder is not None:
            files |= {below + path.name: path for path in Path(folder).iterdir()
                      if path.is_file() and (below != "/data/" or path.name in MNIST)}
    if numpy is not None:
        files["/pyodide/" + Path(numpy).name] = Path(numpy)
    zipped = package()

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self):
            name = self.path.partition("?")[0]
            if name == "/tinytorch.zip":
                return self.answer(200, zipped, ".zip")
            if name == "/data/":               # what there is: the page asks for no more
                return self.answer(200, "\n".join(sorted(k[6:] for k in files if k.startswith(name))).encode(), "")
            if name not in files:
                return self.answer(404, b"not here", "")
            self.answer(200, files[name].read_bytes(), files[name].suffix)

        def answer(self, status, body, suffix):
            self.send_response(status)
            self.send_header("Content-Type", TYPES.get(suffix, "application/octet-stream"))
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-cache")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *args):
            pass
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pyodide", help="folder of Pyodide")
    parser.add_argument("--numpy", help="NumPy's wheel for that Pyodide")
    parser.add_argument("--data", help="folder with MNIST's files")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--write", metavar="FOLDER", help="write the page and tinytorch.zip there, and serve nothing")
    args = parser.parse_args(argv)
    if args.write:
        for name in PAGE:
            (Path(args.write) / name).write_bytes((HERE / name).read_bytes())
        (Path(args.write) / "tinytorch.zip").write_bytes(package())
        return
    with server(args.pyodide, args.numpy, args.data, args.port) as running:
        print(f"http://127.0.0.1:{running.server_address[1]}/")
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
