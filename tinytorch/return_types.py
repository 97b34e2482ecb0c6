"""The named tuples that functions with several results return (`torch.return_types.max` ...)."""
from operator import itemgetter


class _Structure(tuple):
    """A tuple whose items have names too. Made of its items, or as torch's of a sequence of them."""

    # Not of collections.namedtuple: that takes a tenth of a millisecond for each of the thirty.
    __slots__ = ()

    def __new__(cls, *values):
        together = len(values) == 1 or values[1].__class__ is dict        # (items, {}) is how Python pickles its own
        return tuple.__new__(cls, values[0] if together else values)

    def __reduce__(self):
        return type(self), (tuple(self), {})

    def __repr__(self):
        fields = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
        return f"torch.return_types.{type(self).__name__}(\n{fields})"


def _structure(name, *fields):
    names = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    return type(name, (_Structure,), {
        "__slots__": (), "__module__": __name__, "_fields": fields, "n_fields": len(fields),
        "n_sequence_fields": len(fields), "n_unnamed_fields": 0, **names})


max = _structure("max", "values", "indices")
min = _structure("min", "values", "indices")
aminmax = _structure("aminmax", "min", "max")
median = _structure("median", "values", "indices")
nanmedian = _structure("nanmedian", "values", "indices")
mode = _structure("mode", "values", "indices")
sort = _structure("sort", "values", "indices")
topk = _structure("topk", "values", "indices")
kthvalue = _structure("kthvalue", "values", "indices")
cummax = _structure("cummax", "values", "indices")
cummin = _structure("cummin", "values", "indices")
histogram = _structure("histogram", "hist", "bin_edges")
histogramdd = _structure("histogramdd", "hist", "bin_edges")
frexp = _structure("frexp", "mantissa", "exponent")
svd = _structure("svd", "U", "S", "V")
qr = _structure("qr", "Q", "R")
slogdet = _structure("slogdet", "sign", "logabsdet")
_lu_with_info = _structure("_lu_with_info", "LU", "pivots", "info")
triangular_solve = _structure("triangular_solve", "solution", "cloned_coefficient")
lu_unpack = _structure("lu_unpack", "P", "L", "U")
geqrf = _structure("geqrf", "a", "tau")
linalg_lu = _structure("linalg_lu", "P", "L", "U")
linalg_lu_factor = _structure("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = _structure("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_ldl_factor = _structure("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = _structure("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_cholesky_ex = _structure("linalg_cholesky_ex", "L", "info")
linalg_inv_ex = _structure("linalg_inv_ex", "inverse", "info")
linalg_solve_ex = _structure("linalg_solve_ex", "result", "info")
linalg_svd = _structure("linalg_svd", "U", "S", "Vh")
linalg_qr = _structure("linalg_qr", "Q", "R")
linalg_eig = _structure("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = _structure("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_slogdet = _structure("linalg_slogdet", "sign", "logabsdet")
linalg_lstsq = _structure("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
