"""What autograd uses of the files that stand on it: they put it here when they are loaded.

stack, relaid, without_part    of ops/layout
custom                         func/custom.py: a Function under torch.func's transforms
module                         nn/modules/module.py: the class Module
vmap                           func/batch_rules/random.py: random operations under vmap
"""
stack = relaid = without_part = custom = module = vmap = None
