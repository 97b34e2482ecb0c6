"""torch.__version__: a string that is compared as a version."""
import re
from typing import Any

from .version import __version__ as _text

__all__ = ["TorchVersion"]

_FORM = (r"\s*v?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|rc|alpha|beta|c|pre|preview)[-_.]?(\d*))?(?:[-_.]?(post)\d*)?"
         r"(?:[-_.]?(dev)\d*)?(?:\+([a-z0-9.]+))?\s*")


def _key(version):
    """The key that orders versions: (numbers, kind of pre-release, whether it is a post-release, local part).
    ValueError for a text that is not a version."""
    if not isinstance(version, str):
        version = ".".join([str(part) for part in version]) if isinstance(version, (tuple, list)) else str(version)
    found = re.fullmatch(_FORM, version, re.IGNORECASE)
    if found is None:
        raise ValueError(f"Invalid version: '{version}'")
    release = [int(part) for part in found[1].split(".")]
    while release and not release[-1]:
        release.pop()
    if found[2]:                               # alpha, beta, release candidate
        before = (0, found[2][0].lower(), int(found[3] or 0))
    else:
        before = (-1,) if found[5] else (1,)   # a development version, a final version
    return release, before, bool(found[4]), found[6] or ""


class TorchVersion(str):
    """A version that compares with strings, tuples of numbers and versions of the library packaging.

    >>> import tinytorch as torch
    >>> torch.__version__ >= (2, 0), torch.__version__ < "2.14", torch.__version__ > "2.9"
    (True, True, True)
    """

    __slots__ = ()
    __hash__ = str.__hash__


def _comparing(name):
    def method(self: TorchVersion, other: Any) -> bool:
        try:
            return getattr(_key(self), name)(_key(other))
        except (TypeError, ValueError):        # the other text is not a version
            return getattr(str, name)(self, other)
    method.__name__ = name
    return method


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(TorchVersion, _name, _comparing(_name))

__version__ = TorchVersion(_text)
