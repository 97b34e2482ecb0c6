"""torchvision.datasets.utils: files fetched, checked and unpacked."""
import gzip
import importlib
import os
import shutil
import tarfile
import zipfile
from pathlib import Path

from ...missing import namespace as _namespace

__all__ = ["calculate_md5", "check_integrity", "check_md5", "download_and_extract_archive",
           "download_file_from_google_drive", "download_url", "extract_archive", "iterable_to_str", "list_dir",
           "list_files", "verify_str_arg"]


# ------------------------------------------------------------------ checks
def calculate_md5(fpath, chunk_size=1024 * 1024):
    """The MD5 of a file, in hexadecimal."""
    import hashlib  # hashlib and urllib take longer to import than all other modules
    md5 = hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            md5.update(chunk)
    return md5.hexdigest()


def check_md5(fpath, md5, **kwargs):
    return md5 == calculate_md5(fpath, **kwargs)


def check_integrity(fpath, md5=None):
    """Whether there is a file of this name, with this MD5 if one is given."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def iterable_to_str(iterable):
    return "'" + "', '".join(map(str, iterable)) + "'"


def verify_str_arg(value, arg=None, valid_values=None, custom_msg=None):
    """The value, if it is a str and one of `valid_values`. ValueError if not."""
    if not isinstance(value, str):
        place = "" if arg is None else f" for argument {arg}"
        raise ValueError(f"Expected type str{place}, but got type {type(value)}.")
    if valid_values is not None and value not in valid_values:
        raise ValueError(custom_msg or f"Unknown value '{value}' for argument {arg}. Valid values are "
                                       f"{{{iterable_to_str(valid_values)}}}.")
    return value


def list_dir(root, prefix=False):
    """The folders in a folder: their names, or paths with `prefix`."""
    return _entries(root, prefix, os.path.isdir)


def list_files(root, suffix, prefix=False):
    """The files in a folder whose names end with `suffix`: their names, or paths with `prefix`."""
    return _entries(root, prefix, lambda path: os.path.isfile(path) and path.endswith(suffix))


def _entries(root, prefix, wanted):
    root = os.path.expanduser(root)
    names = [name for name in os.listdir(root) if wanted(os.path.join(root, name))]
    return [os.path.join(root, name) for name in names] if prefix is True else names


# ------------------------------------------------------------------ downloads
def download_url(url, root, filename=None, md5=None, max_redirect_hops=3):
    """Fetch a file into the folder `root`, unless it is there with this MD5.

    RuntimeError if the downloaded file has another MD5, URLError if the download fails. No part of a file is left.
    """
    root = os.path.expanduser(root)
    path = os.fspath(os.path.join(root, filename or os.path.basename(url)))
    os.makedirs(root, exist_ok=True)
    if check_integrity(path, md5):
        return
    import urllib.error
    try:
        _fetch(url, path, md5)
    except (urllib.error.URLError, OSError):
        if not url.startswith("https:"):
            raise
        _fetch(url.replace("https:", "http:", 1), path, md5)


def _fetch(url, path, md5):
    import urllib.request
    part = f"{path}.part"
    request = urllib.request.Request(url, headers={"User-Agent": "pytorch/vision"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response, open(part, "wb") as file:
            for block in _progress(response, os.path.basename(path)):
                file.write(block)
        if not check_integrity(part, md5):
            raise RuntimeError("File not found or corrupted.")
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def _progress(response, name):
    """The blocks of a response, shown as a progress bar where tqdm is installed."""
    blocks = iter(lambda: response.read(1 << 16), b"")
    try:
        from tqdm import tqdm
    except ImportError:
        yield from blocks
        return
    length = response.headers.get("Content-Length")
    with tqdm(total=int(length) if length else None, unit="B", unit_scale=True, desc=name) as bar:
        for block in blocks:
            bar.update(len(block))
            yield block


def download_file_from_google_drive(file_id, root, filename=None, md5=None):
    """Fetch a file of Google Drive's, with the package gdown. RuntimeError if that is not installed."""
    try:
        import gdown
    except ModuleNotFoundError:
        raise RuntimeError("To download files from GDrive, 'gdown' is required. You can install it with 'pip install "
                           "gdown'.") from None
    root = os.path.expanduser(root)
    path = os.fspath(os.path.join(root, filename or file_id))
    os.makedirs(root, exist_ok=True)
    if check_integrity(path, md5):
        return
    gdown.download(id=file_id, output=path, quiet=False)
    if not check_integrity(path, md5):
        raise RuntimeError("File not found or corrupted.")


# ------------------------------------------------------------------ archives


def _opens(module):
    """The `open` of a module that is imported when it is needed: not every Python has bz2 and lzma."""
    return lambda *args: importlib.import_module(module).open(*args)


_OPEN = {".bz2": _opens("bz2"), ".gz": gzip.open, ".xz": _opens("lzma")}
_ALIASES = {".tbz": (".tar", ".bz2"), ".tbz2": (".tar", ".bz2"), ".tgz": (".tar", ".gz")}


def _kind(file):
    """(.tar, .zip or None, the compression or None), by the end of the name. RuntimeError for other names."""
    suffixes = Path(file).suffixes
    if not suffixes:
        raise RuntimeError(f"File '{file}' has no suffixes that could be used to detect the archive type and "
                           "compression.")
    *before, last = suffixes
    if last in _ALIASES:
        return last, *_ALIASES[last]
    if last in (".tar", ".zip"):
        return last, last, None
    if last not in _OPEN:
        known = sorted({*_ALIASES, ".tar", ".zip", *_OPEN})
        raise RuntimeError(f"Unknown compression or archive type: '{last}'.\nKnown suffixes are: '{known}'.")
    if before and before[-1] in (".tar", ".zip"):
        return before[-1] + last, before[-1], last
    return last, None, last


def extract_archive(from_path, to_path=None, remove_finished=False):
    """Unpack a .tar, .zip or compressed file into the folder `to_path`, by default its own. Returns the folder.

    No member of an archive is written outside of that folder.
    """
    to_path = os.path.dirname(from_path) if to_path is None else to_path
    suffix, archive, compression = _kind(from_path)
    result = to_path
    if archive == ".tar":
        with tarfile.open(from_path, f"r:{(compression or '.')[1:]}") as tar:
            if hasattr(tarfile, "data_filter"):
                tar.extractall(to_path, filter="data")
            else:
                tar.extractall(to_path, [member for member in tar if _is_inside(member, to_path)])
    elif archive == ".zip":
        with zipfile.ZipFile(from_path) as file:
            file.extractall(to_path)
    else:
        result = os.path.join(to_path, os.path.basename(from_path).replace(suffix, ""))
        with _OPEN[compression](from_path, "rb") as packed, open(result, "wb") as file:
            shutil.copyfileobj(packed, file)
    if remove_finished:
        os.remove(from_path)
    return os.fspath(result) if isinstance(from_path, str) else Path(result)


def _is_inside(member, folder):
    """Whether a member is a file or a folder that would lie inside of `folder`. It is for Pythons whose tarfile has no
    filters."""
    folder = os.path.realpath(folder)
    return (member.isreg() or member.isdir()) and os.path.commonpath(
        [folder, os.path.realpath(os.path.join(folder, member.name))]) == folder


def download_and_extract_archive(url, download_root, extract_root=None, filename=None, md5=None, remove_finished=False):
    """`download_url`, then `extract_archive`, by default into the same folder."""
    download_root = os.path.expanduser(download_root)
    filename = filename or os.path.basename(url)
    download_url(url, download_root, filename, md5)
    extract_archive(os.path.join(download_root, filename), extract_root or download_root, remove_finished)


__getattr__ = _namespace(__name__)
