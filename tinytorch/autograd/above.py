"""What autograd uses of the files that stand on it: they put it here when they are loaded.

stack, relaid, without_part    of ops/layout
sparse, sparse_primitive       sparse/install.py: (name, arguments, keywords) of a public function of which one is
                               sparse -> what it does; the same for (primitive, arguments, the error if there is none)
sparse_array                   what a sparse tensor has for an ndarray: SparseArray
custom                         func/custom.py: a Function under torch.func's transforms
module                         nn/modules/module.py: the class Module
vmap                           func/inside.py: vmap, and what new and random tensors are under it
"""
stack = relaid = without_part = sparse = sparse_primitive = custom = module = vmap = None


class sparse_array:
    """Of which there are none before that package is loaded."""
