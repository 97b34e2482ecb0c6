"""The named tuples that functions with several results return (`torch.return_types.max` ...)."""
import sys
from operator import itemgetter

from .missing import words


class _Structure(tuple):
    """A tuple with names for its items. It is made from its items or, like torch's, from a sequence of them."""

    # collections.namedtuple is not used: it takes a tenth of a millisecond for each of the thirty classes.
    __slots__ = ()

    def __new__(cls, *values):
        together = len(values) == 1 or values[1].__class__ is dict        # torch's pickles hold (items, {})
        return tuple.__new__(cls, values[0] if together else values)

    def __reduce__(self):
        return type(self), (tuple(self), {})

    def __repr__(self):
        fields = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
        return f"torch.return_types.{type(self).__name__}(\n{fields})"


#: The name of each class, and the names of its items.
_FIELDS = {
    "max": "values indices", "min": "values indices", "aminmax": "min max", "median": "values indices",
    "nanmedian": "values indices", "mode": "values indices", "sort": "values indices", "topk": "values indices",
    "kthvalue": "values indices", "cummax": "values indices", "cummin": "values indices",
    "histogram": "hist bin_edges", "histogramdd": "hist bin_edges", "frexp": "mantissa exponent", "svd": "U S V",
    "qr": "Q R", "slogdet": "sign logabsdet", "_lu_with_info": "LU pivots info",
    "triangular_solve": "solution cloned_coefficient", "lu_unpack": "P L U", "geqrf": "a tau", "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots", "linalg_lu_factor_ex": "LU pivots info", "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info", "linalg_cholesky_ex": "L info", "linalg_inv_ex": "inverse info",
    "linalg_solve_ex": "result info", "linalg_svd": "U S Vh", "linalg_qr": "Q R",
    "linalg_eig": "eigenvalues eigenvectors", "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_slogdet": "sign logabsdet", "linalg_lstsq": "solution residuals rank singular_values"}


def _made(name):
    fields = tuple(_FIELDS[name].split())
    made = type(name, (_Structure,), {
        "__slots__": (), "__module__": __name__, "_fields": fields, "n_fields": len(fields),
        "n_sequence_fields": len(fields), "n_unnamed_fields": 0,
        **{field: property(itemgetter(i)) for i, field in enumerate(fields)}})
    likeness = sys.modules.get(f"{__package__}.environment.likeness")
    if likeness is not None:                   # the package stands in for torch, and its classes were renamed already
        likeness.made_since(made)
    return made


def __getattr__(name):
    """Each class is made when it is first used: making all of them took as long as importing many a module."""
    if name not in _FIELDS:
        raise AttributeError(words(f"torch.return_types.{name}"), name=name)
    return globals().setdefault(name, _made(name))     # two threads that ask at once get the same class


def __dir__():
    return sorted({*globals(), *_FIELDS})
