"""What autograd uses of the files that stand on it: they put it here when they are loaded.

stack, relaid, without_part    of ops/layout
custom                         func/custom.py: a Function under torch.func's transforms
module                         nn/modules/module.py: the class Module
vmap                           func/inside.py: vmap, and what new and random tensors are under it
"""
stack = relaid = without_part = custom = module = vmap = None
