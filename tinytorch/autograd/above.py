"""What autograd uses of the files that stand on it: they put it here when they are loaded.

stack, relaid, without_part    of ops/layout
sparse, sparse_array           sparse/install.py: functions of sparse tensors, and what these hold for an ndarray
custom                         func/custom.py: a Function under torch.func's transforms
module                         nn/modules/module.py: the class Module
"""
stack = relaid = without_part = sparse = sparse_array = custom = module = None
