"""repr() of a sparse tensor, in torch's form."""
from ..memory_format import sparse_coo, sparse_csr
from ..printing import array_text, default_dtypes, graph_suffix, with_suffixes


def sparse_text(tensor):
    """The text of `tensor`."""
    array, prefix = tensor._array, "tensor("
    if array.layout is sparse_coo:
        parts = {"indices": array.plan}
    else:
        names = ("crow_indices", "col_indices") if array.layout is sparse_csr else ("ccol_indices", "row_indices")
        parts = dict(zip(names, array.plan))
    parts["values"] = array.values
    indent, texts = len(prefix), []
    for name, x in parts.items():
        text = array_text(x, indent + len(name) + len("=tensor("))
        texts.append(f"{name}=tensor({text}{f', size={x.shape}' if not x.size else ''})")
    suffixes = [f"size={array.shape}", f"nnz={array.nnz}"]
    if tensor.dtype not in default_dtypes():
        suffixes.append(f"dtype={tensor.dtype}")
    suffixes += [f"layout={array.layout}", *graph_suffix(tensor)]
    return with_suffixes(prefix + (",\n" + " " * indent).join(texts), suffixes, indent, array.layout is sparse_coo)
