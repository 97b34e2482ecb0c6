"""Matrix products, factorisations and solutions of linear systems."""
from ..later import namespace as _namespace

__getattr__ = _namespace(__name__, "householder lapack lu")
