"""Run at the start of every Python that is a child of a process in which tinytorch stands for torch.

`tinytorch.install()` puts two entries on PYTHONPATH: this folder, and `OWN`, a path that does not exist and names the
interpreter that called it. In another interpreter (another environment, or another version) `OWN` is different, and
this file takes the folder off the path again: there `import torch`, the metadata of torch and everything else are as if
tinytorch were not installed. The folder holds this file alone, so that this is true even where it is not run (python
-S).

Every version of Python can run this file. site.py imports it by its name. It hides the next module of that name on the
path, and therefore imports that module at the end.
"""
import os
import sys

FOLDER = os.path.dirname(__file__)
_PREFIX = os.path.realpath(sys.prefix)
for _sign, _code in ("%", "%25"), ("/", "%2F"), ("\\", "%5C"), (":", "%3A"):
    _PREFIX = _PREFIX.replace(_sign, _code)
#: A path that names this version of Python in this environment.
OWN = os.path.join(FOLDER, "python" + ".".join(map(str, sys.version_info[:2])) + getattr(sys, "abiflags", ""), _PREFIX)


class Home:
    """A finder of the tinytorch to which this file belongs, which is that of the parent process."""

    #: The folder that is put on sys.path because of the parent's `install`.
    directory = os.path.join(os.path.dirname(FOLDER), "_installed")

    def find_spec(self, name, path=None, target=None):
        if name != "tinytorch":
            return None
        from importlib.machinery import PathFinder
        return PathFinder.find_spec(name, [os.path.dirname(os.path.dirname(os.path.dirname(FOLDER)))])


def begin():
    """Replaces this folder on the path by that of the package torch that becomes tinytorch; in another interpreter by
    nothing."""
    place = sys.path.index(FOLDER)
    own = OWN in sys.path
    for entry in list(sys.path):
        if entry == FOLDER or entry.startswith(FOLDER + os.sep):
            sys.path.remove(entry)
            sys.path_importer_cache.pop(entry, None)
    if own:
        sys.path.insert(place, Home.directory)
        sys.meta_path.insert(0, Home())


if __name__ == "sitecustomize" and FOLDER in sys.path:
    begin()
    del sys.modules[__name__]
    import sitecustomize  # noqa: F401
