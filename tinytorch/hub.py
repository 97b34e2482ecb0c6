"""torch.hub: files from the web, kept in a folder, and models of a local `hubconf.py`.

Code is never fetched from the web: `load` accepts `source="local"` alone.
"""
import builtins
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import urllib.request
from urllib.parse import urlparse

from .serialization import load as _load_file

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir", "urlparse"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_set = []


class _NoBar:
    """Takes the place of tqdm's bar if tqdm is not installed, and prints nothing."""

    def __init__(self, total=None, disable=False, **kwargs):
        self.total, self.disable, self.n = total, disable, 0

    def update(self, n):
        self.n += n

    def set_description(self, *args, **kwargs):
        pass

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


try:
    from tqdm import tqdm
except ImportError:
    tqdm = _NoBar


def _get_torch_home():
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir():
    """The folder of downloads: the one set by `set_dir`, or $TORCH_HOME/hub, or ~/.cache/torch/hub."""
    return _set[-1] if _set else os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    """Set the folder of downloads."""
    _set.append(os.path.expanduser(d))


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Download `url` to the file `dst`. RuntimeError if its SHA-256 does not begin with `hash_prefix`."""
    folder = os.path.dirname(os.path.abspath(os.path.expanduser(dst)))
    request = urllib.request.Request(url, headers={"User-Agent": "torch.hub"})
    digest = hashlib.sha256()
    with urllib.request.urlopen(request) as response, tempfile.NamedTemporaryFile(
            dir=folder, suffix=".partial", delete=False) as file:
        try:
            length = response.headers.get("Content-Length")
            with tqdm(total=int(length) if length else None, disable=not progress, unit="B", unit_scale=True) as bar:
                while block := response.read(1 << 17):
                    file.write(block)
                    digest.update(block)
                    bar.update(len(block))
            file.close()
            if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
            shutil.move(file.name, os.path.expanduser(dst))
        finally:
            file.close()
            if os.path.exists(file.name):
                os.remove(file.name)


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None,
                             weights_only=False):
    """The result of `torch.load` for the file at `url`, which is fetched once and kept in `model_dir`, by default
    get_dir()/checkpoints.

    check_hash  the file's name must hold the beginning of its SHA-256: "name-0123abcd.pth"
    """
    model_dir = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(model_dir, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(model_dir, name)
    if not os.path.exists(path):
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found[1] if found else None, progress)
    return _load_file(path, map_location=map_location, weights_only=weights_only)


# ------------------------------------------------------------------ models of a hubconf.py
def _hubconf(folder, source):
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise NotImplementedError("torch.hub fetches no code here: clone the repository and say source='local'")
    folder = os.path.expanduser(folder)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, "hubconf.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    absent = [name for name in getattr(module, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if absent:
        raise RuntimeError(f"Missing dependencies: {', '.join(absent)}")
    return module


def _entry(module, name):
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def list(github, force_reload=False, skip_validation=False, trust_repo="check", verbose=True, source="local"):
    """The names of the models in a folder's `hubconf.py`."""
    module = _hubconf(github, source)
    return [name for name, value in builtins.list(vars(module).items()) if callable(value) and not name.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo="check", source="local"):
    """The docstring of a model in a folder's `hubconf.py`."""
    return _entry(_hubconf(github, source), model).__doc__


def load(repo_or_dir, model, *args, source="github", trust_repo="check", force_reload=False, verbose=True,
         skip_validation=False, **kwargs):
    """model(*args, **kwargs) from a folder's `hubconf.py`. NotImplementedError unless source="local"."""
    return _entry(_hubconf(repo_or_dir, source), model)(*args, **kwargs)
