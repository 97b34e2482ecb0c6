"""torch.package: names to import. Code cannot be saved in files here."""
from ._refused import refused_names
from .missing import namespace as _namespace

_REFUSED = refused_names(__name__, "code cannot be saved in files here; save the state_dict", "is_from_package",
                         """Directory GlobGroup Importer OrderedImporter PackageExporter PackageImporter""")
globals().update(_REFUSED)
__all__ = ["EmptyMatchError", "ObjMismatchError", "ObjNotFoundError", "PackagingError", *_REFUSED]


class PackagingError(Exception):
    """An error of PackageExporter."""


class EmptyMatchError(Exception):
    """A pattern of PackageExporter matches nothing."""


class ObjNotFoundError(Exception):
    """An importer does not find a name."""


class ObjMismatchError(Exception):
    """A name in an importer belongs to another object."""


__getattr__ = _namespace(__name__)
