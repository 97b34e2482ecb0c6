"""torch.package: names to import. Code is not written into files here."""
from ._refused import refused_names
from .missing import namespace as _namespace

_REFUSED = refused_names(__name__, "code is not written into files here; save the state_dict", "is_from_package",
                         """Directory GlobGroup Importer OrderedImporter PackageExporter PackageImporter""")
globals().update(_REFUSED)
__all__ = ["EmptyMatchError", "ObjMismatchError", "ObjNotFoundError", "PackagingError", *_REFUSED]


class PackagingError(Exception):
    """What PackageExporter raises."""


class EmptyMatchError(Exception):
    """What PackageExporter raises where a pattern matches nothing."""


class ObjNotFoundError(Exception):
    """What importers raise for a name that is not there."""


class ObjMismatchError(Exception):
    """What importers raise where a name stands for another object."""


__getattr__ = _namespace(__name__)
